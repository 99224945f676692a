/* SPDX-License-Identifier: MIT */
#include "audit/live/load_code.h"

#include <errno.h>    /* EACCES */
#include <stdbool.h>
#include <sys/mman.h> /* PROT_READ */

#include "audit/live/announce.h"
#include "audit/live/cyg.h"
#include "audit/live/entry.h"
#include "audit/live/entry_stub.h"
#include "audit/live/unwinder.h"
#include "audit/live/values.h"
#include "runtime/base/maps.h"
#include "runtime/base/search.h"
#include "runtime/process/process.h"
#include "x86_64/sys.h"
#include "x86_64/tramp.h" /* tramp_gate_intercept */

#define PAGE		4096ul
#define GIVE_BACK_PAGES 32

int load_code_segment(const struct load *load, uint64_t address, uint64_t *end)
{
	for (unsigned i = 0; i < load->phnum; i++) {
		const Elf64_Phdr *p = &load->phdr[i];
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || address < p->p_vaddr ||
			address >= p->p_vaddr + p->p_filesz)
			continue;
		*end = p->p_vaddr + p->p_filesz;
		return (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) | PROT_EXEC;
	}
	return 0;
}

/* ---- stubs and bytes ---- */

/* Number of functions with cells, of the kinds before this one. TRACE_KIND_COUNT: of all kinds. */
static uint32_t cells_before(const struct object *object, unsigned kind)
{
	uint32_t n = 0;

	for (unsigned k = 0; k < kind; k++)
		n += kind_rows[k].stub == KIND_STUB_CELL ? object->sites.of[k].functions : 0;
	return n;
}

/* The number of a function's cell among those of the load. */
static uint32_t cell_of(const struct object *object, uint32_t function)
{
	unsigned kind = object->sites.function[function].kind;

	return cells_before(object, kind) + function - object->sites.of[kind].function;
}

/*
 * The stubs of a load lie at this distance below it. So stubs of different loads don't overlap, as the loads don't,
 * since stubs are smaller than their load; and the distance is equal in every process. Directly below a load there
 * often is another mapping, since the kernel uses the highest gap that is large enough. This far below there usually is
 * none, since mappings begin at the top.
 */
#define STUBS_BELOW (1536ul << 20)

static uint64_t place(const struct load *load, size_t size)
{
	/* A program at fixed addresses lies at the bottom of the address space. */
	return load->start - (load->start > 2 * STUBS_BELOW ? STUBS_BELOW : size);
}

uint64_t load_code_place(const struct load *load)
{
	uint64_t at = place(load, 1ul << 20) + ((load->stubs.size + PAGE - 1) & ~(PAGE - 1));

	for (const struct entry_block *block = load->entries; block; block = block->next)
		at += block->pages.size;
	return at;
}

enum trace_reason load_code_reserve(struct load *load)
{
	const struct object *object = load->object;
	uint32_t cells = cells_before(object, TRACE_KIND_COUNT);
	int xray = object->sites.of[TRACE_KIND_XRAY].functions != 0;
	size_t size = stub_size(xray, object->sites.events, cells);

	/* Guards need no stubs. */
	if (load->stubs.start || (!xray && !cells))
		return TRACE_REASON_TRACED;
	if (stub_reserve(&load->stubs, place(load, size), load->start, load->end, xray, object->sites.events, cells))
		return TRACE_REASON_NO_ROOM;
	return TRACE_REASON_TRACED;
}

/* Index of a site in the object's event sleds. */
static uint32_t event_of(const struct object *object, uint32_t n)
{
	const struct site_event *event = object->sites.event;
	uint32_t low = 0, high = object->sites.events;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (event[middle].site <= n)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void tell_event(const void *arg, uint32_t n, struct stub_event *to)
{
	const struct load *load = arg;
	const struct site_event *event = &load->object->sites.event[n];
	const struct site *site = &load->object->sites.site[event->site];

	to->resume = load->base + site->address + site->length;
	to->arguments = event->sled.arguments;
	sys_copy(to->source, event->sled.source, sizeof(to->source));
}

enum trace_reason load_code_stubs(struct load *load)
{
	struct object *object = load->object;

	if (load->stubs.written)
		return TRACE_REASON_TRACED;
	/*
	 * Ids of functions with sleds are base + index, whatever is selected: patched text must not depend on the
	 * rules.
	 */
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		int based = kind_has(kind, KIND_EVENTS) && kind_rows[kind].stub != KIND_STUB_COPY;
		uint32_t functions = based ? object->sites.of[kind].functions : 0;
		if (functions && !object->base[kind] && !(object->base[kind] = announce_take_ids(object, functions)))
			return TRACE_REASON_IDS_USED_UP;
	}
	enum trace_reason reason = load_code_reserve(load);
	if (reason != TRACE_REASON_TRACED)
		return reason;
	int r = stub_write(&load->stubs, object->base[TRACE_KIND_XRAY], tell_event, load);
	return r == 0 ? TRACE_REASON_TRACED : r == -EACCES ? TRACE_REASON_PROTECTION : TRACE_REASON_NO_ROOM;
}

size_t load_code_patched(const struct load *load, uint32_t n, uint8_t out[16], int *from)
{
	const struct object *object = load->object;
	const struct site *site = &object->sites.site[n];
	const struct site_range *range = site_range_of(&object->sites, n);
	uint64_t stub;

	if (range->target)
		return sled_patched(site->type, 0, range->target[n - range->site], out, from);
	if (sled_row(site->type)->displaces)
		return entry_patched(load, site->function, out, from);
	if (sled_is_event(site->type))
		stub = stub_event(&load->stubs, event_of(object, n));
	else if (kind_rows[object->sites.function[site->function].kind].stub == KIND_STUB_XRAY)
		stub = stub_xray(&load->stubs, site->type);
	else
		stub = stub_rest(&load->stubs, cell_of(object, site->function));
	return sled_patched(site->type, site->function - range->function,
		(int64_t)(stub - (load->base + site->address)), out, from);
}

uint8_t *load_code_original(const struct object *object, uint32_t n)
{
	const struct site_set *set = &object->sites;
	unsigned kind = kind_home(set->function[set->site[n].function].kind);

	if (sled_is_event(set->site[n].type))
		return set->event[event_of(object, n)].sled.bytes;
	return object->original[kind] ? object->original[kind][n - set->of[kind].site] : NULL;
}

/* Is the target known that the site's patch jumps to? */
static bool has_target(const struct load *load, uint32_t n)
{
	return load->stubs.written || site_range_of(&load->object->sites, n)->target ||
	       sled_row(load->object->sites.site[n].type)->displaces;
}

unsigned load_code_look(const struct load *load, uint32_t n)
{
	const struct site *site = &load->object->sites.site[n];
	const uint8_t *p = (const uint8_t *)(uintptr_t)(load->base + site->address);
	uint8_t patched[16];
	int from, known = has_target(load, n) && load_code_patched(load, n, patched, &from);

	unsigned state =
		sled_look(site->type, p, site->length, load_code_original(load->object, n), known ? patched : NULL);

	/* Where the jump stands, the stub's cell tells. */
	if (state == SLED_IS_ON && sled_row(site->type)->displaces && !entry_is_on(load, site->function))
		state = SLED_IS_OFF | SLED_IS_READY;
	return state;
}

bool load_code_is_on(const struct load *load, uint32_t function)
{
	const struct site_function *f = &load->object->sites.function[function];

	if (cyg_is(load->object, function))
		return load->cyg && load->object->marks && load->object->marks[function] & FUNCTION_ON;
	for (uint32_t i = 0; i < f->count; i++)
		if (load_code_look(load, f->first + i) != SLED_IS_ON)
			return false;
	return f->count != 0 && f->reason == TRACE_REASON_TRACED;
}

bool load_code_is_displaced(const struct load *load, uint32_t function)
{
	const struct site_function *f = &load->object->sites.function[function];

	return kind_rows[f->kind].stub == KIND_STUB_COPY &&
	       load_code_look(load, f->first) & (SLED_IS_ON | SLED_IS_READY);
}

/* A function with event sleds alone raises no event when it is called. */
static bool has_calls(const struct object *object, uint32_t function)
{
	const struct site_function *f = &object->sites.function[function];

	for (uint32_t i = f->first; i < f->first + f->count; i++)
		if (!sled_is_event(object->sites.site[i].type))
			return true;
	return cyg_is(object, function);
}

int64_t load_code_function_at(const struct object *object, uint64_t address)
{
	const struct site_function *function = object->sites.function;
	uint32_t low = SEARCH(i, 0, object->usable_functions, function[object->functions[i]].address < address);

	if (low < object->usable_functions && function[object->functions[low]].address == address &&
		has_calls(object, object->functions[low]))
		return object->functions[low];
	return -1;
}

struct stub_cell *load_code_cell(const struct load *load, uint32_t function)
{
	const unsigned kind = load->object->sites.function[function].kind;
	uint64_t stub;

	if (kind_rows[kind].stub == KIND_STUB_COPY)
		return entry_cell(load, function, &stub);
	return kind_rows[kind].stub == KIND_STUB_CELL && load->stubs.start
		       ? stub_cell(&load->stubs, cell_of(load->object, function))
		       : NULL;
}

void load_code_fill_cell(struct load *load, uint32_t function)
{
	struct object *object = load->object;
	const struct site_function *f = &object->sites.function[function];
	const struct site *site = &object->sites.site[f->first];
	int intercept = kind_has(f->kind, KIND_RETURNS) && unwinder_allows() &&
			!(object->marks[function] & FUNCTION_ENTRY);

	struct stub_cell *cell = load_code_cell(load, function);
	/* A cell is filled once and not changed again: a thread may be in the stub of a site that was on before. */
	if (!cell || cell->gate)
		return;
	if (kind_rows[f->kind].stub == KIND_STUB_CELL)
		cell->body = load->base + site->address + site->length;
	values_fill_cell(cell, object, f->address, f->name, announce_id(object, function), intercept, false);
}

/* ---- pages ---- */

static bool is_touched(const struct load *load, uint64_t page)
{
	return load->touched && load->touched[page / 8] & 1u << page % 8;
}

void load_code_touch(struct load *load, uint64_t address, size_t size)
{
	if (!load->touched)
		load->touched = arena_alloc(&load->arena, ((load->end - load->start) / PAGE + 7) / 8);
	if (!load->touched || !size)
		return;
	for (uint64_t page = (address - load->start) / PAGE; page <= (address + size - 1 - load->start) / PAGE; page++)
		load->touched[page / 8] |= (uint8_t)(1u << page % 8);
}

void load_code_count_pages(struct load *load)
{
	struct object *object = load->object;
	uint32_t text = 0, sites = 0, patched = 0;
	uint64_t last = ~0ull;

	for (unsigned i = 0; i < load->phnum; i++) {
		const Elf64_Phdr *p = &load->phdr[i];
		if (p->p_type == PT_LOAD && p->p_flags & PF_X && p->p_memsz)
			text += (uint32_t)((p->p_vaddr + p->p_memsz - 1) / PAGE - p->p_vaddr / PAGE + 1);
	}
	for (uint32_t i = 0; i < object->usable; i++) {
		const struct site *site = &object->sites.site[object->by_address[i]];
		const struct sled_row *sled = sled_row(site->type);
		/* Behind the jump of a displaced entry a call may be written. */
		int calls = sled->displaces && entry_of(object, site->function)->index->flags & INDEX_ENDS_IN_CALL;
		size_t size = calls && site->length > sled->size - sled->before ? sled->before + site->length
										: sled->size;
		uint64_t low = site->address - sled->before, first = low / PAGE, end = (low + size - 1) / PAGE;
		for (uint64_t page = first; page <= end; page++) {
			/*
			 * Sites come in order of address, so a page that was counted already can only be the last one.
			 */
			if (last == ~0ull || page > last) {
				sites++;
				last = page;
			}
		}
	}
	for (uint64_t page = 0; load->touched && page < (load->end - load->start) / PAGE; page++)
		patched += is_touched(load, page) != 0;
	if (object->text_pages == text && object->site_pages == sites && object->patched_pages == patched)
		return;
	object->text_pages = text;
	object->site_pages = sites;
	object->patched_pages = patched;
	announce_pages(object);
}

/*
 * Finds the numbers by which the kernel shows the descriptor's file in mappings. Returns as maps_find(), or -2 when it
 * can't be mapped.
 */
static int find_file(int fd, struct mapping *file)
{
	void *p = sys_mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	if (sys_is_error(p))
		return -2;
	int found = maps_find((uint64_t)(uintptr_t)p, file);
	sys_munmap(p, PAGE);
	return found;
}

bool load_code_is_mapped_file(int fd, uint64_t address)
{
	struct mapping object, file;
	struct process_held held;

	process_lock(&held);
	int found = find_file(fd, &file);
	/* Without /proc the build-id and the bytes of each site must be enough. */
	int is = found != -2 && (found != 1 || maps_find(address, &object) != 1 ||
					(object.device == file.device && object.inode == file.inode));
	process_unlock(&held);
	return is;
}

bool load_code_is_as_file(const struct object *object, uint64_t address)
{
	long fd = sys_open(object_file(object), O_RDONLY, 0);

	if (fd < 0)
		return false;
	bool is = load_code_is_mapped_file((int)fd, address);
	sys_close((int)fd);
	return is;
}

/* Compares words: sys_same() compares bytes. */
static bool is_same_page(const void *a, const void *b)
{
	typedef uint64_t __attribute__((may_alias)) word;
	const word *p = a, *q = b;

	for (size_t i = 0; i < PAGE / sizeof(*p); i++)
		if (p[i] != q[i])
			return false;
	return true;
}

/*
 * The mappings at the addresses of the load. A program may have moved its text, or a part, to other memory since it was
 * loaded (usually onto large pages). The lock guards it.
 */
static struct {
	struct mapping file; /* the file that was opened */
	struct mapping mapping[64]; /* the first of them: pages after these are not given back */
	long mappings;
	int pages; /* /proc/self/pagemap; -1: it is not there, or not to be asked */
} view SYS_LARGE;

static int look_at_mappings(const struct load *load, int fd)
{
	/* Without /proc there is no way to know. */
	if (find_file(fd, &view.file) != 1)
		return 0;
	view.mappings = maps_list(load->start, load->end, view.mapping, sizeof(view.mapping) / sizeof(*view.mapping));
	return view.mappings > 0;
}

/* Is this page mapped read-only, from that file at that offset? */
static bool is_mapped_from(uint64_t address, uint64_t offset)
{
	for (long i = 0; i < view.mappings; i++) {
		const struct mapping *m = &view.mapping[i];
		if (address >= m->low && address < m->high)
			return m->device == view.file.device && m->inode == view.file.inode &&
			       m->offset + (address - m->low) == offset &&
			       sys_same(m->rights, "r-xp", sizeof(m->rights));
	}
	return false;
}

/* File offset of the text page at a link-time address, if it is still mapped from there; else -1. */
static int64_t file_offset(const struct load *load, uint64_t address)
{
	for (unsigned i = 0; i < load->phnum; i++) {
		const Elf64_Phdr *p = &load->phdr[i];
		uint64_t low = p->p_vaddr & ~(PAGE - 1), offset = (p->p_offset & ~(PAGE - 1)) + (address - low);
		if (p->p_type == PT_LOAD && p->p_flags & PF_X && !(p->p_flags & PF_W) && address >= low &&
			address < p->p_vaddr + p->p_filesz)
			return is_mapped_from(load->base + address, offset) ? (int64_t)offset : -1;
	}
	return -1;
}

/*
 * Number of pages from the first touched one on to a last one, in a row in the file too, up to what one read takes; if
 * we may ask for them, with others between them. *page: the first; *offset: that in the file; -1: it has none. Returns
 * 0 when there are no more.
 */
static size_t touched_run(const struct load *load, uint64_t *page, int64_t *offset)
{
	uint64_t pages = (load->end - load->start) / PAGE, address;
	size_t n = 0, run = 0;

	while (*page < pages && !is_touched(load, *page))
		++*page;
	address = load->start + *page * PAGE - load->base;
	*offset = file_offset(load, address);
	while (n < GIVE_BACK_PAGES && *page + n < pages && (view.pages >= 0 || is_touched(load, *page + n)) &&
		(n == 0 || file_offset(load, address + n * PAGE) == *offset + (int64_t)(n * PAGE))) {
		n++;
		run = is_touched(load, *page + n - 1) ? n : run;
	}
	return run;
}

/* Gives back pages whose bytes are the file's, so that no private copy is needed. Returns how many were touched. */
static size_t drop(struct load *load, uint64_t page, size_t n)
{
	size_t touched = 0;

	if (sys_madvise((void *)(uintptr_t)(load->start + page * PAGE), n * PAGE, MADV_DONTNEED))
		return 0;
	for (uint64_t i = page; i < page + n; i++) {
		touched += is_touched(load, i) != 0;
		load->touched[i / 8] &= (uint8_t)~(1u << i % 8);
	}
	return touched;
}

/* Entries of pagemap: the page is in memory, or in swap, or in memory and a file's. */
#define IN_MEMORY 1ull << 63
#define IN_SWAP	  1ull << 62
#define OF_FILE	  1ull << 61

/* Of each page: is it nobody's private copy? Without reading it, as its file may have become shorter. */
static void look_at_pages(uint64_t address, size_t n, bool *clean)
{
	static uint64_t entry[GIVE_BACK_PAGES]; /* the lock guards it */
	long got = view.pages < 0 ? 0
				  : sys_call(__NR_pread64, view.pages, (long)entry, (long)(n * sizeof(*entry)),
					    (long)(address / PAGE * sizeof(*entry)), 0, 0);

	for (size_t i = 0; i < n; i++)
		clean[i] = got == (long)(n * sizeof(*entry)) && !(entry[i] & (IN_SWAP)) &&
			   (!(entry[i] & (IN_MEMORY)) || entry[i] & (OF_FILE));
}

/* Gives back what can be of a run of pages, whose bytes in the file are these. Returns how many were touched. */
static size_t drop_run(struct load *load, uint64_t page, size_t n, const uint8_t *own)
{
	const uint64_t address = load->start + page * PAGE;
	bool clean[GIVE_BACK_PAGES] = { 0 };
	size_t pages = 0;

	if (view.pages >= 0)
		look_at_pages(address, n, clean);
	for (size_t i = 0; i < n; i++)
		if (is_touched(load, page + i))
			clean[i] = is_same_page((const uint8_t *)(uintptr_t)address + i * PAGE, own + i * PAGE);
	for (size_t i = 0, end; i < n; i = end + 1) {
		/* From one that was touched to the last such one. */
		for (size_t at = end = i; at < n && clean[at] && (at > i || is_touched(load, page + i)); at++)
			end = is_touched(load, page + at) ? at + 1 : end;
		if (end > i)
			pages += drop(load, page + i, end - i);
	}
	return pages;
}

size_t load_code_give_back(struct load *load, bool stopped)
{
	static uint8_t own[GIVE_BACK_PAGES * PAGE] SYS_LARGE; /* the lock guards it */
	const struct object *object = load->object;
	size_t pages = 0, n;

	if (!load->touched || load->textrel)
		return 0;
	long fd = sys_open(object_file(object), O_RDONLY, 0);
	if (fd < 0)
		return 0;
	/*
	 * The file is read, not mapped: one that was truncated meanwhile must not raise SIGBUS. Many pages in one call:
	 * under `xaudit ctl` each system call is two stops, so there pages that are only the file's are dropped along
	 * with those between which they lie. (While threads run, one of them might just be writing there.)
	 */
	if (look_at_mappings(load, (int)fd)) {
		int64_t offset;
		view.pages = stopped ? (int)sys_open("/proc/self/pagemap", O_RDONLY, 0) : -1;
		for (uint64_t page = 0; (n = touched_run(load, &page, &offset)); page += n) {
			long got =
				offset < 0 ? 0 : sys_call(__NR_pread64, fd, (long)own, (long)(n * PAGE), offset, 0, 0);
			if (got >= (long)PAGE)
				pages += drop_run(load, page, (size_t)got / PAGE, own);
		}
		if (view.pages >= 0)
			sys_close(view.pages);
	}
	sys_close((int)fd);
	return pages;
}

void load_code_merge(const struct load *load)
{
	static int said;
	char state = '0';

	if (!object_rules->merge || !load->touched)
		return;
	/* Whole segments: a part would split the mapping. The kernel looks at private pages only. */
	for (unsigned i = 0; i < load->phnum; i++) {
		const Elf64_Phdr *p = &load->phdr[i];
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		uint64_t low = (load->base + p->p_vaddr) & ~(PAGE - 1),
			 high = (load->base + p->p_vaddr + p->p_memsz + PAGE - 1) & ~(PAGE - 1);
		sys_madvise((void *)(uintptr_t)low, high - low, MADV_MERGEABLE);
	}
	if (said)
		return;
	said = 1;
	long fd = sys_open("/sys/kernel/mm/ksm/run", O_RDONLY, 0);
	if (fd >= 0) {
		sys_read((int)fd, &state, 1);
		sys_close((int)fd);
	}
	if (state != '1')
		process_say("merge = yes: the kernel merges no pages now (/sys/kernel/mm/ksm/run is not 1)");
}
