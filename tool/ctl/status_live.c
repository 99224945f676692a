/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/status_live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/model/object.h"
#include "runtime/base/search.h"
#include "runtime/process/process.h"
#include "tool/base/memory.h"
#include "tool/ctl/process.h"
#include "tool/ctl/status.h"
#include "x86_64/mirror.h"

#define PAGE	    4096ull
#define MOST_LISTED (1u << 16) /* objects, loads: more means that we follow garbage */
#define MOST_SITES  (1u << 22) /* of an object */
#define MOST_BOUND  (1u << 20) /* bindings */
#define MOST_PATHS  (64u << 20)

/* ---- memory by mapping ---- */

struct usage {
	uint64_t start, end, rss, private_dirty, anonymous;
	bool executable;
	char *path;
};

struct usages {
	struct usage *usage; /* in order */
	size_t count, room, path_bytes;
};

static void read_usages(struct usages *all, pid_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	FILE *file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		struct usage u = { 0 };
		char flags[8];
		int behind = 0;
		uint64_t kb;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n", &u.start, &u.end, flags, &behind) == 3 &&
			behind) {
			line[strcspn(line, "\n")] = '\0';
			all->path_bytes += strlen(line + behind);
			u.path = memory_text(line + behind, all->path_bytes < MOST_PATHS ? strlen(line + behind) : 0);
			u.executable = flags[2] == 'x';
			if (all->count == all->room) {
				all->room = all->room ? 2 * all->room : 256;
				all->usage = memory_resize(all->usage, all->room, sizeof(*all->usage));
			}
			all->usage[all->count++] = u;
			continue;
		}
		struct usage *last = all->count ? &all->usage[all->count - 1] : NULL;
		if (last && sscanf(line, "Rss: %" SCNu64, &kb) == 1)
			last->rss = kb;
		else if (last && sscanf(line, "Private_Dirty: %" SCNu64, &kb) == 1)
			last->private_dirty = kb;
		else if (last && sscanf(line, "Anonymous: %" SCNu64, &kb) == 1)
			last->anonymous = kb;
	}
	free(line);
	if (file)
		fclose(file);
}

static void free_usages(struct usages *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->usage[i].path);
	free(all->usage);
}

/* The first mapping that begins there or later. */
static size_t first_from(const struct usages *all, uint64_t start)
{
	return SEARCH(i, 0, all->count, all->usage[i].start < start);
}

static void add_pages(struct status_object *object, const struct usages *all, const struct load *load)
{
	for (size_t i = first_from(all, load->start); i < all->count && all->usage[i].end <= load->end; i++) {
		const struct usage *u = &all->usage[i];
		if (!u->executable)
			continue;
		object->has_pages = true;
		object->text += (u->end - u->start) / PAGE;
		object->patched += u->anonymous / 4;
		/* Pages of the file itself are not ours, though they may not have been written to the disk yet. */
		object->private_kb += u->private_dirty < u->anonymous ? u->private_dirty : u->anonymous;
	}
}

static void add_own_memory(struct status *status, const struct usages *all, const struct ctl_process *process)
{
	const struct ctl_mapping *module = ctl_mapping(process, process->block_at);
	uint64_t entry = ctl_at(process->block.entry);
	const struct ctl_mapping *text = ctl_mapping(process, entry);
	const char *name = text ? text->path : "";
	size_t folder = status->folder ? strlen(status->folder) : 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct usage *u = &all->usage[i];
		/* Its zeroed data has no name of its own. */
		if ((*name && !strcmp(u->path, name)) || (module && u->start == module->start))
			status->module_kb += u->rss;
		else if (folder && !strncmp(u->path, status->folder, folder) && u->path[folder] == '/')
			status->buffers_kb += u->rss;
		else if (!*u->path && u->start >= MIRROR_LOW && u->end <= MIRROR_HIGH)
			status->mirror_kb += u->rss;
	}
}

static uint64_t rss_within(const struct usages *all, uint64_t start, uint64_t size)
{
	uint64_t kb = 0;

	for (size_t i = first_from(all, start); i < all->count && all->usage[i].end - start <= size; i++)
		kb += all->usage[i].rss;
	return kb;
}

/* ---- sites ---- */

/* One page of text at a time: sites lie side by side. */
struct text {
	uint64_t at;
	bool there;
	uint8_t bytes[PAGE + 1];
};

static bool read_two(const struct ctl_process *process, struct text *text, uint64_t address, uint8_t two[2])
{
	uint64_t page = address & ~(PAGE - 1);

	if (address - page == PAGE - 1)
		return ctl_read(process, address, two, 2);
	if (page != text->at) {
		text->at = page;
		text->there = ctl_read(process, page, text->bytes, PAGE);
	}
	if (text->there)
		memcpy(two, text->bytes + (address - page), 2);
	return text->there;
}

/* The tables of an object, copied. */
struct tables {
	struct site *site;
	struct site_function *function;
	uint8_t *marks;
	uint32_t sites, functions;
	uint32_t first_entry; /* function of kind entry */
};

static void free_tables(const struct tables *t)
{
	free(t->site);
	free(t->function);
	free(t->marks);
}

static bool read_tables(const struct ctl_process *process, const struct object *object, struct tables *t)
{
	const struct site_set *set = &object->sites;

	*t = (struct tables){ .sites = set->sites, .functions = set->functions,
		.first_entry = set->of[TRACE_KIND_ENTRY].function };
	if (!object->scanned || !t->functions || !object->marks || t->sites > MOST_SITES || t->functions > MOST_SITES)
		return false;
	t->site = memory_zeroed(t->sites, sizeof(*t->site));
	t->function = memory_zeroed(t->functions, sizeof(*t->function));
	t->marks = memory_zeroed(t->functions, 1);
	if ((!t->sites || ctl_read(process, ctl_at(set->site), t->site, t->sites * sizeof(*t->site))) &&
		ctl_read(process, ctl_at(set->function), t->function, t->functions * sizeof(*t->function)) &&
		ctl_read(process, ctl_at(object->marks), t->marks, t->functions))
		return true;
	free_tables(t);
	return false;
}

/* The blocks of a load's displaced entries, newest first. */
struct blocks {
	struct entry_block block[4096]; /* each request may have made some; in older ones nothing counts as on */
	size_t count;
};

static void read_blocks(const struct ctl_process *process, struct status *status, const struct usages *all,
	const struct load *load, struct blocks *blocks)
{
	uint64_t next = ctl_at(load->entries);

	blocks->count = 0;
	while (next && blocks->count < sizeof(blocks->block) / sizeof(*blocks->block)) {
		struct entry_block *block = &blocks->block[blocks->count];
		if (!ctl_read(process, next, block, sizeof(*block)))
			break;
		blocks->count++;
		status->stubs_kb += rss_within(all, ctl_at(block->pages.start), block->pages.size);
		next = ctl_at(block->next);
	}
	status->cut |= next != 0;
}

/* Where the jump of a displaced entry stands, its stub's cell tells whether it is on. n: its number among them. */
static bool is_entry_on(const struct ctl_process *process, const struct blocks *blocks, uint32_t n)
{
	for (size_t i = 0; i < blocks->count; i++) {
		const struct entry_block *block = &blocks->block[i];
		struct stub_cell cell;
		if (n < block->first || n - block->first >= block->count)
			continue;
		uint64_t where = stub_cell_at(ctl_at(block->pages.start), block->pages.code_size, n - block->first);
		return ctl_read(process, where, &cell, sizeof(cell)) && stub_entry_is_on(cell.body, cell.target);
	}
	return false;
}

static void add_sites(const struct ctl_process *process, struct status_object *object, const struct tables *t,
	const struct load *load, const struct blocks *blocks)
{
	static struct text text;

	text.at = ~0ull;
	for (uint32_t i = 0; i < t->sites; i++) {
		const struct site *site = &t->site[i];
		uint64_t address = load->base + site->address;
		uint8_t two[2];
		if (site->function >= t->functions || t->function[site->function].kind >= TRACE_KIND_COUNT ||
			t->function[site->function].reason != TRACE_REASON_TRACED || address < load->start ||
			address >= load->end)
			continue;
		struct status_kind *kind = &object->kind[t->function[site->function].kind];
		kind->sites++;
		kind->on += read_two(process, &text, address, two) && sled_is_on((enum sled_type)site->type, two) &&
			    (!sled_row(site->type)->displaces ||
				    is_entry_on(process, blocks, site->function - t->first_entry));
	}
}

/* Functions that have no sites: their calls come to us, where the load is bound so. */
static void add_told(struct status_object *object, const struct tables *t, const struct load *load)
{
	struct status_kind *kind = &object->kind[TRACE_KIND_CYG];

	for (uint32_t i = 0; load->cyg && i < t->functions; i++) {
		if (t->function[i].kind != TRACE_KIND_CYG)
			continue;
		kind->sites++;
		kind->on += (t->marks[i] & FUNCTION_ON) != 0;
	}
}

/* ---- bindings ---- */

/* Kinds of a bound function, by address: a process has few of them at a time. */
static unsigned kind_of(const struct ctl_process *process, uint64_t function)
{
	struct bound_function f;

	return ctl_read(process, function, &f, sizeof(f)) && f.kind < TRACE_KIND_COUNT ? f.kind : TRACE_KIND_COUNT;
}

/* Is a binding's stub on? Its cell lies in the block that holds the stub. */
static bool is_bound_on(
	const struct ctl_process *process, const struct stub_pages *pages, size_t blocks, const struct binding *b)
{
	for (size_t i = 0; i < blocks; i++) {
		uint64_t start = ctl_at(pages[i].start);
		struct stub_cell cell;
		if (b->stub < start || b->stub - start >= pages[i].code_size)
			continue;
		return ctl_read(process, stub_cell_of(start, pages[i].code_size, b->stub), &cell, sizeof(cell)) &&
		       cell.target != cell.body;
	}
	return false;
}

static void add_bindings(const struct ctl_process *process, struct status *status, const struct usages *all,
	struct status_object *object, const struct load *load)
{
	enum { BLOCKS = 4096 };
	static struct stub_pages pages[BLOCKS];
	struct binding *bucket[OBJECT_BUCKETS];
	size_t blocks = 0;
	uint64_t next = ctl_at(load->blocks);

	while (next && blocks < BLOCKS) {
		struct stub_block block;
		if (!ctl_read(process, next, &block, sizeof(block)))
			break;
		status->stubs_kb += rss_within(all, ctl_at(block.pages.start), block.pages.size);
		pages[blocks++] = block.pages;
		next = ctl_at(block.next);
	}
	if (!load->bindings || !ctl_read(process, ctl_at(load->bindings), bucket, sizeof(bucket)))
		return;
	for (size_t i = 0; i < OBJECT_BUCKETS; i++) {
		size_t bound = 0;
		for (uint64_t p = ctl_at(bucket[i]); p; bound++) {
			struct binding b;
			status->cut |= bound == MOST_BOUND;
			if (bound == MOST_BOUND)
				break;
			if (!ctl_read(process, p, &b, sizeof(b)))
				break;
			p = ctl_at(b.next);
			unsigned kind = b.function ? kind_of(process, ctl_at(b.function)) : TRACE_KIND_COUNT;
			if (kind == TRACE_KIND_COUNT)
				continue;
			object->kind[kind].sites++;
			object->kind[kind].on += is_bound_on(process, pages, blocks, &b);
		}
	}
}

static void count_functions(const struct ctl_process *process, struct status_object *to, const struct object *object,
	const struct tables *t, bool *cut)
{
	for (uint32_t i = 0; t && i < t->functions; i++)
		if (t->function[i].kind < TRACE_KIND_COUNT && t->function[i].reason == TRACE_REASON_TRACED)
			to->kind[t->function[i].kind].functions++;
	size_t bound = 0;
	for (uint64_t p = ctl_at(object->bound); p; bound++) {
		struct bound_function f;
		*cut |= bound == MOST_BOUND;
		if (bound == MOST_BOUND || !ctl_read(process, p, &f, sizeof(f)))
			break;
		if (f.kind < TRACE_KIND_COUNT)
			to->kind[f.kind].functions++;
		p = ctl_at(f.all);
	}
}

/* ---- objects ---- */

struct loads {
	struct load *load;
	size_t count, room;
};

/* All loads, oldest last as in the process's own list. */
static void read_loads(const struct ctl_process *process, struct loads *loads, struct status *status)
{
	uint64_t next = 0;

	ctl_read(process, ctl_at(process->block.loads), &next, sizeof(next));
	while (next && loads->count < MOST_LISTED) {
		struct load load;
		if (!ctl_read(process, next, &load, sizeof(load)) || load.magic != LOAD_MAGIC)
			break;
		if (loads->count == loads->room) {
			loads->room = loads->room ? 2 * loads->room : 64;
			loads->load = memory_resize(loads->load, loads->room, sizeof(load));
		}
		loads->load[loads->count++] = load;
		status->waiting += load.state == LOAD_CLOSED || load.state == LOAD_DOOMED || load.state == LOAD_RETIRED;
		next = ctl_at(load.next);
	}
	status->cut |= loads->count == MOST_LISTED;
}

static void add_object(const struct ctl_process *process, struct status *status, const struct usages *all,
	const struct loads *loads, uint64_t address, const struct object *object)
{
	static struct blocks blocks;
	struct status_object *to;
	struct tables tables;
	bool has_tables = read_tables(process, object, &tables);

	status->object = memory_resize(status->object, status->objects + 1, sizeof(*to));
	to = &status->object[status->objects++];
	*to = (struct status_object){ .path = ctl_text(process, ctl_at(object->path)) };
	count_functions(process, to, object, has_tables ? &tables : NULL, &status->cut);
	for (size_t i = 0; i < loads->count; i++) {
		const struct load *load = &loads->load[i];
		if (load->state != LOAD_OPEN || ctl_at(load->object) != address)
			continue;
		to->loads++;
		read_blocks(process, status, all, load, &blocks);
		if (has_tables) {
			add_sites(process, to, &tables, load, &blocks);
			add_told(to, &tables, load);
		}
		status->stubs_kb += rss_within(all, ctl_at(load->stubs.start), load->stubs.size);
		add_bindings(process, status, all, to, load);
		add_pages(to, all, load);
	}
	if (has_tables)
		free_tables(&tables);
}

bool status_live(struct status *status, const struct ctl_process *process)
{
	const struct control_block *b = &process->block;
	uint32_t state = PROCESS_NONE;
	enum trace_mode mode;
	int recording;
	struct usages all = { 0 };
	struct loads loads = { 0 };
	uint64_t next = 0;

	*status = (struct status){ .pid = (uint32_t)process->pid, .alive = true };
	if (!ctl_read(process, ctl_at(b->state), &state, sizeof(state)) ||
		!ctl_read(process, ctl_at(b->epoch), &status->epoch, sizeof(status->epoch)) ||
		!ctl_read(process, ctl_at(b->mode), &mode, sizeof(mode)) ||
		!ctl_read(process, ctl_at(b->recording), &recording, sizeof(recording)) ||
		!ctl_read(process, ctl_at(b->objects), &next, sizeof(next))) {
		ctl_explain(process->pid, 0, ESRCH);
		return false;
	}
	status->switched_off = state == PROCESS_OFF;
	status->mode = mode;
	status->why = ctl_why(process);
	status->recording = recording && !status->switched_off && !status->why;
	status->folder = ctl_folder(process, &status->place);
	read_usages(&all, process->pid);
	read_loads(process, &loads, status);
	while (next && status->objects < MOST_LISTED) {
		struct object object;
		if (!ctl_read(process, next, &object, sizeof(object)))
			break;
		add_object(process, status, &all, &loads, next, &object);
		next = ctl_at(object.next);
	}
	status->cut |= status->objects == MOST_LISTED || ctl_limit_reached();
	add_own_memory(status, &all, process);
	free_usages(&all);
	free(loads.load);
	return true;
}
