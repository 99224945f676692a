/* SPDX-License-Identifier: MIT */
#include "audit/site/scan_xray.h"

#include <errno.h> /* ENOMEM */

#include "audit/site/elf_file.h"
#include "audit/site/map.h"
#include "audit/site/symbol.h"

#define MAP_VERSION 2

#define KIND_LOG_ARGS 3 /* an entry whose first argument is to be logged */

/* What sled_check_xray() must see: the longest sled, then padding and a jump. */
#define SLED_VIEW 64

struct entry {
	uint64_t address, function;
	uint8_t kind, version;
};

static struct entry read_entry(const struct site_map *map, size_t i)
{
	const uint8_t *p = map->bytes + i * SITE_XRAY_ENTRY_SIZE;
	uint64_t at = map->address + i * SITE_XRAY_ENTRY_SIZE;
	uint64_t field[2];

	site_read(&field, p);
	return (struct entry){at + field[0], at + 8 + field[1], p[16], p[18]};
}

static int sled_type(uint8_t kind)
{
	switch (kind) {
	case 0:
	case KIND_LOG_ARGS:
		return SLED_XRAY_ENTRY;
	case 1:
		return SLED_XRAY_EXIT;
	case 2:
		return SLED_XRAY_TAIL;
	case 4:
		return SLED_XRAY_CUSTOM;
	case 5:
		return SLED_XRAY_TYPED;
	default:
		return -1;
	}
}

/* Shell sort: the compiler nearly always lists sleds in ascending order. */
static void sort_sites(struct site *site, size_t count)
{
	for (size_t gap = count / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (size_t i = gap; i < count; i++) {
			struct site s = site[i];
			size_t j = i;
			for (; j >= gap && site[j - gap].address > s.address; j -= gap)
				site[j] = site[j - gap];
			site[j] = s;
		}
}

static enum trace_reason check_sled(struct site_file *file, const struct entry *entry)
{
	int type = sled_type(entry->kind);
	size_t size;
	const uint8_t *p = site_file_code(file, entry->address, &size);

	if (!p)
		return TRACE_REASON_DAMAGED;
	if (type < 0)
		return TRACE_REASON_SLED_BYTES;
	return sled_check_xray((enum sled_type)type, entry->address, p, size < SLED_VIEW ? size : SLED_VIEW);
}

/*
 * Where a function has an entry of another kind (the attribute patchable_function_entry), compilers write its exit
 * sleds alone. These sleds would end calls that never began. Removes such sites; returns whether there were any.
 */
static int drop_exits(struct site_set *set, uint32_t first)
{
	uint32_t kept = first;

	for (uint32_t i = first; i < set->sites; i++)
		if (set->site[i].type == SLED_XRAY_ENTRY)
			return 0;
	for (uint32_t i = first; i < set->sites; i++)
		if (sled_is_event((enum sled_type)set->site[i].type))
			set->site[kept++] = set->site[i];
	int dropped = kept < set->sites;
	set->sites = kept;
	return dropped;
}

/* Scans one function: entries [i, end). Appends its sites when all are good. */
static void scan_function(struct site_set *set, struct site_file *file, const struct site_map *map, size_t i,
	size_t end, struct site_function *function)
{
	uint32_t number = set->functions;
	size_t size;
	int events = 0;

	function->first = set->sites;
	if (!site_file_code(file, function->address, &size) || end - i > UINT16_MAX) {
		function->reason = TRACE_REASON_DAMAGED;
		return;
	}
	for (; i < end; i++) {
		struct entry entry = read_entry(map, i);
		enum trace_reason reason = check_sled(file, &entry);
		if (reason == TRACE_REASON_EVENT_SLED) {
			/* A sled that is left alone costs one jump. */
			events++;
			continue;
		}
		if (reason != TRACE_REASON_TRACED) {
			set->sites = function->first;
			function->reason = (uint8_t)reason;
			return;
		}
		function->log_args |= entry.kind == KIND_LOG_ARGS;
		set->site[set->sites++] = (struct site){
			.address = entry.address,
			.type = (uint16_t)sled_type(entry.kind),
			.length = sled_xray_size((enum sled_type)sled_type(entry.kind)),
			.function = number,
		};
	}
	int exits = drop_exits(set, function->first);
	set->events_left += (uint32_t)events;
	function->count = (uint16_t)(set->sites - function->first);
	if (!function->count)
		function->reason = exits    ? TRACE_REASON_NO_ENTRY_SLED
				   : events ? TRACE_REASON_EVENT_SLED
					    : TRACE_REASON_DAMAGED;
	sort_sites(set->site + function->first, function->count);
}

int site_scan_xray(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps)
{
	uint32_t sites = set->sites, functions = set->functions;
	int r = site_names_load(file);

	for (const struct site_map *map = maps->first; map && !r; map = map->next)
		for (size_t i = 0, end; i < map->count && !r; i = end) {
			struct entry first = read_entry(map, i);
			struct site_function *function = &set->function[set->functions];
			for (end = i; end < map->count; end++) {
				struct entry entry = read_entry(map, end);
				if (entry.version != MAP_VERSION) {
					set->sites = sites;
					set->functions = functions;
					set->kind_reason[kind] = TRACE_REASON_MAP_VERSION;
					return 0;
				}
				if (entry.function != first.function)
					break;
			}
			*function = (struct site_function){.address = first.function, .kind = (uint8_t)kind};
			scan_function(set, file, map, i, end, function);
			r = site_describe(file, &set->arena, function);
			set->functions++;
		}
	if (set->functions > functions)
		set->kind_reason[kind] = TRACE_REASON_TRACED;
	return r;
}

int site_read_events(struct site_set *set, struct site_file *file)
{
	uint32_t count = 0;
	size_t size;

	for (uint32_t i = 0; i < set->sites; i++)
		count += sled_is_event((enum sled_type)set->site[i].type) != 0;
	if (!count)
		return 0;
	set->event = arena_alloc(&set->arena, count * sizeof(*set->event));
	if (!set->event)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->sites; i++) {
		const struct site *site = &set->site[i];
		const uint8_t *p =
			sled_is_event((enum sled_type)site->type) ? site_file_code(file, site->address, &size) : NULL;
		/* An earlier read has found it good. */
		if (p && sled_read_event((enum sled_type)site->type, p, size, &set->event[set->events].sled))
			set->event[set->events++].site = i;
	}
	return 0;
}
