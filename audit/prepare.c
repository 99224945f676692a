/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/prepare.h"

#include <errno.h>    /* EACCES */
#include <fcntl.h>    /* O_RDONLY */
#include <string.h>   /* memcmp */
#include <sys/mman.h> /* PROT_READ */

#include "audit/describe.h"
#include "audit/glance.h"
#include "audit/never.h"
#include "audit/unwinder.h"
#include "runtime/maps.h"
#include "runtime/process.h"
#include "runtime/sys.h"
#include "x86_64/patch.h"
#include "x86_64/tramp.h" /* tramp_gate_intercept */

#define SLED_KINDS (1u << TRACE_KIND_XRAY | 1u << TRACE_KIND_PATCHABLE)

static void count(struct object *object, int kind, enum trace_reason reason, uint32_t n)
{
	object->counts[kind][reason] += n;
}

/* Gives up on what was selected, for this and later loads of the object. */
static void refuse_all(struct object *object, enum trace_reason reason)
{
	for (uint32_t i = 0; object->selected && i < object->sites.functions; i++) {
		if (!object->selected[i])
			continue;
		enum trace_reason before = object->selected[i] == SELECTED_ENTRY ? TRACE_REASON_ENTRY_ONLY : TRACE_REASON_TRACED;
		object->selected[i] = SELECTED_NOT;
		count(object, object->sites.function[i].kind, before, (uint32_t)-1);
		count(object, object->sites.function[i].kind, reason, 1);
	}
	object->planned = object->traced_count = 0;
}

/* ---- what is there, and what is wanted: once per object ---- */

/* Is the file behind fd the one that is mapped at address? Asked of the kernel about a mapping of each: so it works where stat tells other numbers. */
static int is_mapped_file(int fd, uint64_t address)
{
	struct process_held held;
	struct mapping object, file;
	void *p = sys_mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	if (sys_is_error(p))
		return 0;
	process_lock(&held);
	int known = maps_find(address, &object) == 1 && maps_find((uint64_t)(uintptr_t)p, &file) == 1;
	process_unlock(&held);
	sys_munmap(p, 4096);
	/* Without /proc the build-id and the bytes of each site must do. */
	return !known || (object.device == file.device && object.inode == file.inode);
}

static enum trace_reason scan_file(struct object *object, const struct image *image, unsigned kinds)
{
	long fd = sys_open(object->flags & TRACE_OBJECT_PROGRAM ? "/proc/self/exe" : object->path, O_RDONLY, 0);
	enum trace_reason reason = TRACE_REASON_TRACED;
	struct site_set *set = &object->sites;

	if (fd < 0)
		return TRACE_REASON_UNREADABLE;
	unsigned present = kinds & glance((int)fd);
	if (present && site_scan(set, (int)fd, present) != 0)
		reason = TRACE_REASON_DAMAGED;
	else if (set->functions && (set->build_id_len != image->build_id_len ||
					   memcmp(set->build_id, object->build_id, image->build_id_len) ||
					   !is_mapped_file((int)fd, image->start)))
		reason = TRACE_REASON_FILE_CHANGED;
	for (int kind = TRACE_KIND_XRAY; kind <= TRACE_KIND_PATCHABLE; kind++)
		if (!(present & 1u << kind))
			set->kind_reason[kind] = TRACE_REASON_NO_SITES;
	sys_close((int)fd);
	return reason;
}

/* Shell sort, ascending: no recursion, no memory. The list is nearly in order as a rule. */
static void sort_sites(uint32_t *index, uint32_t n, const struct site *site)
{
	for (uint32_t gap = n / 2; gap; gap /= 2) {
		for (uint32_t i = gap; i < n; i++) {
			uint32_t moved = index[i], j = i;
			for (; j >= gap && site[index[j - gap]].address > site[moved].address; j -= gap)
				index[j] = index[j - gap];
			index[j] = moved;
		}
	}
}

static void sort_addresses(uint64_t *address, uint32_t n)
{
	for (uint32_t gap = n / 2; gap; gap /= 2) {
		for (uint32_t i = gap; i < n; i++) {
			uint64_t moved = address[i];
			uint32_t j = i;
			for (; j >= gap && address[j - gap] > moved; j -= gap)
				address[j] = address[j - gap];
			address[j] = moved;
		}
	}
}

/* Selects functions, gives them ids, and lists their sites by address. Lock held. */
static void plan(struct object *object)
{
	struct site_set *set = &object->sites;
	uint32_t xray = set->first_patchable, patchable = set->functions - set->first_patchable, chosen = 0;

	object->selected = arena_alloc(&set->arena, set->functions);
	object->by_address = arena_alloc(&set->arena, set->sites * sizeof(*object->by_address));
	object->traced = arena_alloc(&set->arena, set->functions * sizeof(*object->traced));
	if (!object->selected || !object->by_address || !object->traced)
		return;
	for (uint32_t i = 0; i < set->functions; i++) {
		const struct site_function *f = &set->function[i];
		enum trace_reason reason = f->reason;
		if (reason == TRACE_REASON_TRACED && !rules_select(object->section, f->name, object->path, object->soname))
			reason = TRACE_REASON_NOT_SELECTED;
		if (reason == TRACE_REASON_TRACED) {
			int entry_only = f->kind == TRACE_KIND_PATCHABLE && f->name && never_intercept(f->name);
			object->selected[i] = entry_only ? SELECTED_ENTRY : SELECTED_WHOLE;
			reason = entry_only ? TRACE_REASON_ENTRY_ONLY : TRACE_REASON_TRACED;
			chosen++;
		}
		count(object, f->kind, reason, 1);
	}
	if (!chosen)
		return;
	object_selected = 1;
	/* Ids of sled functions are base + index, whatever is selected: patched text must not depend on the rules. */
	if ((xray && !(object->xray_base = object_take_ids(xray))) ||
		(patchable && !(object->patchable_base = object_take_ids(patchable)))) {
		refuse_all(object, TRACE_REASON_IDS_USED_UP);
		return;
	}
	for (uint32_t i = 0; i < set->sites; i++)
		if (object->selected[set->site[i].function])
			object->by_address[object->planned++] = i;
	sort_sites(object->by_address, object->planned, set->site);
	for (uint32_t i = 0; i < set->functions; i++)
		if (object->selected[i])
			object->traced[object->traced_count++] = set->function[i].address;
	sort_addresses(object->traced, object->traced_count);
}

/* Fills in the object's sites and plan. */
static void scan(struct object *object, const struct image *image, unsigned kinds)
{
	struct process_held held;
	enum trace_reason reason = image->textrel ? TRACE_REASON_TEXTREL : scan_file(object, image, kinds);
	struct site_set *set = &object->sites;

	/* Ids and counts are shared with bindings, which other threads may make now. */
	process_lock(&held);

	for (int kind = TRACE_KIND_XRAY; kind <= TRACE_KIND_PATCHABLE; kind++) {
		if (!(kinds & 1u << kind))
			continue;
		if (reason != TRACE_REASON_TRACED)
			count(object, kind, reason, 1);
		else if (set->kind_reason[kind] != TRACE_REASON_TRACED)
			count(object, kind, set->kind_reason[kind], 1);
	}
	if (reason == TRACE_REASON_TRACED && set->functions)
		plan(object);
	if (!object->planned) {
		/* Nothing to patch: keep none of it. */
		object->selected = NULL;
		site_free(set);
	}
	object->scanned = 1;
	describe_sleds(object);
	process_unlock(&held);
}

/* ---- patching: once per load ---- */

/* Protection and end of the executable segment that holds a link-time address; 0: none. */
static int segment_at(const struct image *image, uint64_t address, uint64_t *end)
{
	for (unsigned i = 0; i < image->phnum; i++) {
		const Elf64_Phdr *p = &image->phdr[i];
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || address < p->p_vaddr || address >= p->p_vaddr + p->p_filesz)
			continue;
		*end = p->p_vaddr + p->p_filesz;
		return (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) | PROT_EXEC;
	}
	return 0;
}

/* The bytes in memory once more: they are what we write over, whatever the file says. */
static int is_as_expected(const struct load *load, const struct site *site, uint64_t segment_end)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)(load->base + site->address);
	uint64_t available = segment_end - site->address;

	if (site->type <= SLED_XRAY_TYPED)
		return sled_check_xray(site->type, site->address, p, available) == TRACE_REASON_TRACED;
	if (sled_room(p, available, site->length < SLED_JUMP_SIZE ? site->length : SLED_JUMP_SIZE) == 0)
		return 0;
	if (site->type == SLED_PATCHABLE)
		return 1;
	int before = site->type == SLED_PATCHABLE_HOT ? SLED_JUMP_SIZE : SLED_JUMP_SIZE + SLED_ENDBR64_SIZE;
	return sled_nops(p - before, SLED_JUMP_SIZE) >= 1;
}

/* The stub that a site jumps to; fills in the cell of patchable ones. */
static uint64_t stub_of(struct load *load, const struct site *site)
{
	struct object *object = load->object;
	uint32_t n = site->function - object->sites.first_patchable;

	switch (site->type) {
	case SLED_XRAY_ENTRY:
		return stub_xray(&load->stubs, 0);
	case SLED_XRAY_EXIT:
		return stub_xray(&load->stubs, 1);
	case SLED_XRAY_TAIL:
		return stub_xray(&load->stubs, 2);
	default:
		break;
	}
	int intercept = unwinder_allows() && object->selected[site->function] == SELECTED_WHOLE;
	struct stub_cell *cell = stub_cell(&load->stubs, n);
	cell->word = TRACE_WORD(TRACE_ENTRY, object->patchable_base + n);
	cell->body = load->base + site->address + site->length;
	cell->gate = (uint64_t)(uintptr_t)(intercept ? tramp_gate_intercept : tramp_gate_point);
	return stub_rest(&load->stubs, n);
}

/* Builds the patches of one segment from plan[*next] on. Returns their number, or -1 when a site is not what it should be. */
static int64_t build(struct load *load, struct patch *patch, uint32_t *next, uint64_t segment_end)
{
	const struct object *object = load->object;
	int64_t n = 0;

	for (; *next < object->planned; ++*next) {
		const struct site *site = &object->sites.site[object->by_address[*next]];
		int from;
		if (site->address >= segment_end)
			break;
		if (!is_as_expected(load, site, segment_end))
			return -1;
		uint64_t address = load->base + site->address;
		size_t size = sled_patched(site->type, site->function, (int64_t)(stub_of(load, site) - address), patch[n].bytes, &from);
		if (!size)
			return -1;
		patch[n].address = address + (uint64_t)(int64_t)from;
		patch[n].size = (uint8_t)size;
		n++;
	}
	return n;
}

/* All segments. Nothing was written when it answers anything but TRACED, or all of it in earlier segments. */
static enum trace_reason patch_segments(struct load *load, const struct image *image, struct patch *patch)
{
	const struct object *object = load->object;
	uint32_t next = 0;

	while (next < object->planned) {
		uint64_t end = 0;
		size_t done;
		int prot = segment_at(image, object->sites.site[object->by_address[next]].address, &end);
		int64_t n = prot ? build(load, patch, &next, end) : -1;
		if (n < 0)
			return TRACE_REASON_SLED_BYTES;
		if (patch_at_load(patch, (size_t)n, prot, &done))
			return TRACE_REASON_PROTECTION;
	}
	return TRACE_REASON_TRACED;
}

static enum trace_reason patch_load(struct load *load, const struct image *image)
{
	struct object *object = load->object;
	struct site_set *set = &object->sites;
	uint32_t patchable = object->patchable_base ? set->functions - set->first_patchable : 0;
	struct arena memory = { 0 };
	struct patch *patch = arena_alloc(&memory, object->planned * sizeof(*patch));
	size_t size = stub_size(object->xray_base != 0, patchable);

	if (!patch)
		return TRACE_REASON_NO_ROOM;
	/* The place right below the object: ld.so maps downwards, so it is free as a rule, and its distance depends on the file alone. */
	int r = stub_map(&load->stubs, load->start - size, load->start, load->end, object->xray_base, patchable);
	enum trace_reason reason = r == -EACCES ? TRACE_REASON_PROTECTION : TRACE_REASON_NO_ROOM;
	if (r == 0)
		reason = patch_segments(load, image, patch);
	arena_free(&memory);
	return reason;
}

void prepare(struct load *load, const struct image *image)
{
	struct process_held held;
	struct object *object = load->object;
	unsigned kinds = object->section ? object->section->kinds & SLED_KINDS : 0;

	if (!kinds)
		return;
	/* ld.so's lock keeps everybody else from this object's sites. */
	if (!object->scanned)
		scan(object, image, kinds);
	if (!object->planned)
		return;
	if (object->patchable_base)
		unwinder_look();
	enum trace_reason reason = patch_load(load, image);
	if (reason == TRACE_REASON_TRACED)
		return;
	process_lock(&held);
	refuse_all(object, reason);
	process_unlock(&held);
}
