/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/prepare/prepare.h"

#include <fcntl.h>  /* O_RDONLY */
#include <stdbool.h>
#include <string.h> /* memcmp */

#include "audit/bind/nointercept.h"
#include "audit/live/announce.h"
#include "audit/live/cyg.h"
#include "audit/live/entry.h"
#include "audit/live/entry_calls.h"
#include "audit/live/entry_stub.h"
#include "audit/live/load_code.h"
#include "audit/live/probe.h"
#include "audit/live/requests.h"
#include "audit/live/switch.h"
#include "audit/live/unwinder.h"
#include "audit/live/values.h"
#include "audit/live/xray.h"
#include "audit/prepare/entry.h"
#include "audit/site/hint.h"
#include "runtime/base/text.h"
#include "runtime/process/process.h"
#include "x86_64/patch.h"
#include "x86_64/sys.h"

/* Kinds that sections announce, and kinds that notes announce. */
#define IN_SECTIONS kinds_with(KIND_BY_SECTION)
#define IN_NOTES    kinds_with(KIND_BY_NOTE)

/* Gives up on the object's sites, for this and later loads. */
static void refuse_all(struct object *object, enum trace_reason reason)
{
	object->refused = reason;
	for (uint32_t i = 0; object->marks && i < object->sites.functions; i++) {
		if (!(object->marks[i] & (FUNCTION_ON | FUNCTION_READY)) || cyg_is(object, i))
			continue;
		object->marks[i] &= (uint8_t)~(FUNCTION_ON | FUNCTION_READY);
		object->counts[object->sites.function[i].kind][object->counted[i]]--;
		object->counts[object->sites.function[i].kind][reason]++;
		object->counted[i] = (uint8_t)reason;
	}
}

/* ---- which sites there are, and which are wanted: once per object ---- */

static enum trace_reason scan_file(struct object *object, const struct image *image, unsigned kinds)
{
	long fd = sys_open(object_file(object), O_RDONLY, 0);
	enum trace_reason reason = TRACE_REASON_TRACED;
	struct site_set *set = &object->sites;

	if (fd < 0)
		return TRACE_REASON_UNREADABLE;
	/* The file's section names tell of the kinds that sections announce; notes were found in the image. */
	unsigned present = kinds & (kinds & IN_SECTIONS ? ~IN_SECTIONS | site_hint((int)fd) : ~IN_SECTIONS);
	if (present && site_scan(set, (int)fd, present) != 0)
		reason = TRACE_REASON_DAMAGED;
	else if (set->functions && (set->build_id_len != image->build_id_len ||
					   memcmp(set->build_id, object->build_id, image->build_id_len) ||
					   !load_code_is_mapped_file((int)fd, image->start)))
		reason = TRACE_REASON_FILE_CHANGED;
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (kind_has(kind, KIND_BY_SECTION) && !(present & 1u << kind))
			set->kind_reason[kind] = TRACE_REASON_NO_SITES;
	sys_close((int)fd);
	return reason;
}

/*
 * Shell sort of indices by the address that each item holds: no recursion, no memory. The list is in order as a rule.
 */
static void sort(uint32_t *index, uint32_t n, const void *first, size_t stride)
{
	const char *base = first;

#define ADDRESS(i) (*(const uint64_t *)(base + (i)*stride))
	uint32_t ordered = 1;
	while (ordered < n && ADDRESS(index[ordered - 1]) <= ADDRESS(index[ordered]))
		ordered++;
	if (ordered >= n)
		return;
	for (uint32_t gap = n / 2; gap; gap /= 2) {
		for (uint32_t i = gap; i < n; i++) {
			uint32_t moved = index[i], j = i;
			for (; j >= gap && ADDRESS(index[j - gap]) > ADDRESS(moved); j -= gap)
				index[j] = index[j - gap];
			index[j] = moved;
		}
	}
#undef ADDRESS
}

/*
 * Do the rules name the object for this kind? If not, it is looked at only for the XRay interface. Guards are on even
 * in objects that no section names: their authors expect that in a traced process.
 */
static bool is_asked(const struct object *object, int kind)
{
	if (!object->section)
		return kind_has((unsigned)kind, KIND_UNASKED);
	return object->section->kinds >> kind & 1;
}

/* Marks a function by the rules and by what was asked since. Returns the reason under which it is counted. */
static enum trace_reason choose(struct object *object, uint32_t i)
{
	const struct site_function *f = &object->sites.function[i];
	const struct rules *rules = object_rules;
	uint8_t *marks = &object->marks[i];
	int events = kind_has(f->kind, KIND_EVENTS);

	if (f->reason != TRACE_REASON_TRACED)
		return f->reason;
	int selected = is_asked(object, f->kind) &&
		       (!object->section || rules_select(object->section, f->name, object->path, object->soname));
	int now = selected && !rules->disabled && rules->prepare != RULES_PREPARE_NONE;
	if (kind_has(f->kind, KIND_RETURNS) && f->name && nointercept_name(f->name))
		*marks |= FUNCTION_ENTRY;
	for (const struct rules_pattern *p = events ? rules->below : NULL; p; p = p->next)
		if (rules_match(p, f->name, object->path, object->soname))
			*marks |= FUNCTION_BELOW;
	if (requests_selects(object, f->kind, f->name, now))
		*marks |= FUNCTION_ON;
	if (rules->prepare == RULES_PREPARE_ALL || (selected && rules->prepare == RULES_PREPARE_SELECTED))
		*marks |= FUNCTION_READY;
	if (events && (selected || *marks & FUNCTION_ON))
		object_selected = 1;
	if (*marks & FUNCTION_ON)
		return *marks & FUNCTION_ENTRY ? TRACE_REASON_ENTRY_ONLY : TRACE_REASON_TRACED;
	return selected ? TRACE_REASON_DISABLED : TRACE_REASON_NOT_SELECTED;
}

/* Do the bytes of the kind's sites differ, so that they must be kept? */
static bool has_own_bytes(int kind)
{
	for (unsigned type = 0; type < SLED_TYPES; type++)
		if (kind_rows[kind].types >> type & 1 && sled_row(type)->keeps)
			return true;
	return false;
}

/* Chooses functions, and lists those that can be used in order of address. Lock held. */
static void plan(struct object *object)
{
	struct site_set *set = &object->sites;
	int room = 1;

	object->counted = arena_alloc(&set->arena, set->functions);
	object->by_address = arena_alloc(&set->arena, set->sites * sizeof(*object->by_address));
	object->functions = arena_alloc(&set->arena, set->functions * sizeof(*object->functions));
	object->marks = arena_alloc(&set->arena, set->functions);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		object->original[kind] = NULL;
		if (!has_own_bytes(kind) || !set->of[kind].sites)
			continue;
		object->original[kind] = arena_alloc(&set->arena, set->of[kind].sites * sizeof(**object->original));
		room &= object->original[kind] != NULL;
	}
	if (!object->counted || !object->by_address || !object->functions || !object->marks || !room) {
		object->marks = NULL;
		return;
	}
	for (uint32_t i = 0; i < set->functions; i++) {
		object->counted[i] = (uint8_t)choose(object, i);
		object->counts[set->function[i].kind][object->counted[i]]++;
		if (kind_has(set->function[i].kind, KIND_EVENTS) && set->function[i].reason == TRACE_REASON_TRACED)
			object->functions[object->usable_functions++] = i;
	}
	for (uint32_t i = 0; i < set->sites; i++)
		if (set->function[set->site[i].function].reason == TRACE_REASON_TRACED)
			object->by_address[object->usable++] = i;
	if (set->sites)
		sort(object->by_address, object->usable, &set->site->address, sizeof(*set->site));
	sort(object->functions, object->usable_functions, &set->function->address, sizeof(*set->function));
}

/* The process forked while another thread was looking at the object's file: drops that thread's unfinished work. */
static void forget_half(struct object *object)
{
	struct process_held held;

	if (!object->marks && !object->sites.functions && !object->sites.arena.blocks && !object->index.head)
		return;
	process_lock(&held);
	sys_fill(&object->sites, 0, sizeof(object->sites));
	object->marks = NULL;
	object->told = NULL;
	object->index = (struct index){ 0 };
	object->entries = NULL;
	object->room_functions = object->room_sites = 0;
	object->usable = object->usable_functions = 0;
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (!kind_has(kind, KIND_BOUND))
			sys_fill(object->counts[kind], 0, sizeof(object->counts[kind]));
	process_unlock(&held);
}

/* Fills in the object's sites and plan. */
static void scan(struct object *object, const struct image *image, unsigned kinds)
{
	struct process_held held;
	struct site_set *set = &object->sites;
	struct index index;
	unsigned in_file = kinds & ~kinds_with(KIND_BY_INDEX);
	enum trace_reason reason = TRACE_REASON_TRACED, indexed = TRACE_REASON_TRACED;

	forget_half(object);
	if (image->textrel)
		reason = TRACE_REASON_TEXTREL;
	else if (in_file)
		reason = scan_file(object, image, in_file);
	if (kinds != in_file)
		indexed = entry_find(&index, object, image);

	/* Ids and counts are shared with bindings, which other threads may make now. */
	process_lock(&held);

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		enum trace_reason why = kind_has(kind, KIND_BY_INDEX)	 ? indexed
					: reason != TRACE_REASON_TRACED ? reason
									 : set->kind_reason[kind];
		/* That a kind has no sites is recorded only if the kind was asked for. */
		int asked = kind_has(kind, KIND_BY_SECTION) ? is_asked(object, kind)
							    : kinds >> kind & 1 && why != TRACE_REASON_NO_SITES;
		if (asked && !kind_has(kind, KIND_BOUND) && why != TRACE_REASON_TRACED)
			object->counts[kind][why]++;
	}
	if (reason == TRACE_REASON_TRACED && set->functions)
		plan(object);
	if (kinds != in_file && indexed == TRACE_REASON_TRACED)
		entry_plan(object, &index, kinds & ~in_file);
	object->counts[TRACE_KIND_XRAY][TRACE_REASON_EVENT_LEFT] += set->events_left;
	if (!object->usable && !(object->marks && set->of[TRACE_KIND_CYG].functions)) {
		/* No site could ever be patched: keep none. */
		object->marks = NULL;
		object->usable_functions = 0;
		site_free(set);
	}
	object->scanned = 1;
	process_unlock(&held);
}

/* ---- patching: once per load ---- */

/* Checks the bytes in memory again: we overwrite these, whatever the file says. Keeps the bytes of patchable sites. */
static bool is_as_expected(const struct load *load, uint32_t n, uint64_t segment_end)
{
	struct object *object = load->object;
	const struct site *site = &object->sites.site[n];
	const uint8_t *p = (const uint8_t *)(uintptr_t)(load->base + site->address);
	uint64_t available = segment_end - site->address;

	if (!sled_is_own(site->type, site->address, p, available))
		return false;
	if (sled_is_event(site->type)) {
		struct sled_event event;
		return sled_read_event(site->type, p, available, &event) &&
		       !memcmp(event.bytes, load_code_original(object, n), SLED_JUMP_SIZE);
	}
	if (sled_row(site->type)->keeps)
		sled_keep(site->type, p, load_code_original(object, n));
	return true;
}

/* The patch that a site needs at load; size 0: no patch. Returns 0 when it can't be patched. */
static int build_one(struct load *load, uint32_t n, struct patch *patch)
{
	const struct object *object = load->object;
	const struct site *site = &object->sites.site[n];
	uint64_t address = load->base + site->address;
	unsigned marks = object->marks[site->function];
	int from = 0;

	patch->size = 0;
	if (marks & FUNCTION_ON) {
		load_code_fill_cell(load, site->function);
		patch->size = (uint8_t)load_code_patched(load, n, patch->bytes, &from);
		if (!patch->size)
			return 0;
	} else if (marks & FUNCTION_READY && !(load_code_look(load, n) & SLED_IS_READY)) {
		patch->size = (uint8_t)sled_ready(site->type, load_code_original(object, n), patch->bytes);
	}
	patch->address = address + (uint64_t)(int64_t)from;
	return 1;
}

/* The jump of a displaced entry. Returns 1, or 0: none. */
static int build_entry(struct load *load, uint32_t n, struct patch *patch)
{
	const struct site *site = &load->object->sites.site[n];
	int from = 0, on = load->object->marks[site->function] & FUNCTION_ON;

	if (on)
		load_code_fill_cell(load, site->function);
	entry_turn(load, site->function, on);
	patch->size = (uint8_t)load_code_patched(load, n, patch->bytes, &from);
	patch->address = load->base + site->address + (uint64_t)(int64_t)from;
	return patch->size != 0;
}

/*
 * Builds the patches of one segment from by_address[*next] on. Returns their number, or -1 when the bytes of a site are
 * not as expected.
 */
static int64_t build(struct load *load, struct patch *patch, uint32_t *next, uint64_t segment_end)
{
	const struct object *object = load->object;
	int64_t n = 0;

	for (; *next < object->usable; ++*next) {
		uint32_t site = object->by_address[*next];
		const struct site *s = &object->sites.site[site];
		if (s->address >= segment_end)
			break;
		/* A site that stays as it is may need no check now: if it can be patched later, it is checked then. */
		if (!(object->marks[s->function] & FUNCTION_ON) && sled_row(s->type)->as_is)
			continue;
		/* Others were compared when their copies were made; one that differs is left out alone. */
		if (sled_row(s->type)->displaces) {
			if (entry_is_wanted(load, s->function))
				n += build_entry(load, site, &patch[n]);
			continue;
		}
		if (!is_as_expected(load, site, segment_end) || !build_one(load, site, &patch[n]))
			return -1;
		if (patch[n].size)
			n++;
	}
	return n;
}

/* Patches all segments. When it returns anything but TRACED, a segment is either patched completely or not at all. */
static enum trace_reason patch_segments(struct load *load, struct patch *patch)
{
	const struct object *object = load->object;
	uint32_t next = 0;

	while (next < object->usable) {
		uint64_t end = 0;
		size_t done;
		int prot = load_code_segment(load, object->sites.site[object->by_address[next]].address, &end);
		int64_t n = prot ? build(load, patch, &next, end) : -1;
		if (n < 0)
			return TRACE_REASON_SLED_BYTES;
		if (n && patch_at_load(patch, (size_t)n, prot, &done))
			return TRACE_REASON_PROTECTION;
		for (int64_t i = 0; i < n; i++)
			load_code_touch(load, patch[i].address, patch[i].size);
	}
	return TRACE_REASON_TRACED;
}

/* Is there a function that needs stubs other than those of displaced entries, and is to be on or ready? */
static bool is_wanted(const struct object *object)
{
	for (uint32_t i = 0; i < object->sites.functions; i++)
		if (kind_rows[object->sites.function[i].kind].stub != KIND_STUB_NONE &&
			kind_rows[object->sites.function[i].kind].stub != KIND_STUB_COPY &&
			object->marks[i] & (FUNCTION_ON | FUNCTION_READY))
			return true;
	return false;
}

static enum trace_reason patch_load(struct load *load)
{
	struct process_held held;
	struct object *object = load->object;
	struct arena memory = { 0 };
	enum trace_reason reason;

	process_lock(&held);
	/* If no function is wanted now and there is no room for stubs, we look for room again when one is. */
	int wanted = is_wanted(object);
	reason = wanted ? load_code_stubs(load) : load_code_reserve(load);
	entry_prepare(load);
	if (reason == TRACE_REASON_TRACED)
		announce_new_sleds(object);
	process_unlock(&held);
	if (reason != TRACE_REASON_TRACED && wanted)
		return reason;
	struct patch *patch = arena_alloc(&memory, object->usable * sizeof(*patch));
	reason = patch ? patch_segments(load, patch) : TRACE_REASON_NO_ROOM;
	arena_free(&memory);
	return reason;
}

/* Lock held. */
static void say_refused(const struct object *object)
{
	static int said;
	char buffer[400];
	struct text text = { buffer, sizeof(buffer), 0 };

	if (said++)
		return;
	text_string(&text, object->path);
	text_string(&text, ": the system lets nobody change code here (MemoryDenyWriteExecute, SELinux): its sleds and "
			   "guards stay as they are");
	process_say(buffer);
}

static void prepare_sleds(struct load *load)
{
	struct process_held held;
	struct object *object = load->object;

	/*
	 * ld.so's lock keeps other threads from preparing this object, and `preparing` keeps threads from switching its
	 * sites live.
	 */
	if (object->refused)
		return;
	process_lock(&held);
	entry_settle(object);
	enum trace_reason reason = entry_calls_erase(load);
	process_unlock(&held);
	if (reason == TRACE_REASON_TRACED && object->usable)
		reason = patch_load(load);
	process_lock(&held);
	if (reason == TRACE_REASON_PROTECTION)
		say_refused(object);
	if (reason != TRACE_REASON_TRACED)
		refuse_all(object, reason);
	else
		load_code_merge(load);
	process_unlock(&held);
}

/*
 * Functions that tell of their calls themselves: if one is wanted, all have ids, and their calls come to us. With
 * `prepare = none`, too, as with bindings: they are bound now or never.
 */
static void prepare_told(struct object *object)
{
	const struct site_range *range = &object->sites.of[TRACE_KIND_CYG];
	struct process_held held;
	int wanted = 0;

	for (uint32_t i = range->function; object->marks && i < range->function + range->functions; i++)
		wanted |= object->marks[i] & (FUNCTION_ON | FUNCTION_READY) ||
			  object->counted[i] == TRACE_REASON_DISABLED;
	if (!wanted)
		return;
	process_lock(&held);
	if (cyg_take_ids(object))
		announce_new_sleds(object);
	process_unlock(&held);
}

/* XRay's mask when its functions are looked for in all objects: the program can ask for them (xray.h). ld.so's lock. */
static unsigned for_interface;

void prepare(struct load *load, const struct image *image)
{
	static int intercepting; /* some object has functions whose returns are intercepted, now or later */
	struct process_held held;
	const struct site_set *set = &load->object->sites;
	const struct rules_section *section = load->object->section;
	unsigned kinds = section ? section->kinds | section->fallback : kinds_with(KIND_UNASKED);

	values_prepare(load, object_rules);
	/* To find an index may mean to make one. */
	if (section && !rules_may_select(section, load->object->path, load->object->soname))
		kinds &= ~kinds_with(KIND_BY_INDEX);
	kinds &= ~IN_NOTES | image->noted;
	process_lock(&held);
	/* Asked for since the start, of what has no section, or one of other kinds. */
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (kind_has(kind, KIND_BY_INDEX) && requests_ask_for(load->object, kind))
			kinds |= 1u << kind;
	process_unlock(&held);
	unsigned scanned = (kinds & ~kinds_with(KIND_BOUND)) | for_interface;
	if (scanned && !load->object->scanned)
		scan(load->object, image, scanned);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		intercepting |= kind_has(kind, KIND_RETURNS) && set->of[kind].functions;
	/* Relaxed, as in unwinder_begin(). */
	if (intercepting || __atomic_load_n(&unwinder_begun, __ATOMIC_RELAXED))
		unwinder_look();
	if (scanned || set->of[TRACE_KIND_ENTRY].functions)
		prepare_sleds(load);
	prepare_told(load->object);
	probe_prepare(load);
	process_lock(&held);
	if (kinds || load->probes)
		load_code_count_pages(load);
	xray_open(load);
	load->preparing = 0;
	process_unlock(&held);
}

void prepare_for_interface(void)
{
	struct process_held held;
	struct image image;

	if (for_interface)
		return;
	for_interface = 1u << TRACE_KIND_XRAY;
	/*
	 * Loads come and go under ld.so's lock alone, so the list can be walked. Their code may be running; it is only
	 * read.
	 */
	for (struct load *load = loads; load; load = load->next) {
		struct object *object = load->object;
		uint32_t flags = load->state == LOAD_OPEN ? object->flags : TRACE_OBJECT_VDSO;
		if (load->preparing || load->xray || flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO))
			continue;
		if (!object->scanned && image_read(&image, load->map, (flags & TRACE_OBJECT_PROGRAM) != 0))
			scan(object, &image, for_interface);
		process_lock(&held);
		xray_open(load);
		process_unlock(&held);
	}
}
