/* SPDX-License-Identifier: MIT */
#include "audit/live/announce.h"

#include <stdbool.h>

#include "audit/live/entry.h"
#include "audit/live/requests.h"
#include "audit/live/unwinder.h"
#include "audit/live/values.h"
#include "runtime/custom.h"
#include "runtime/handlers/objects.h"
#include "runtime/notes.h"
#include "runtime/process/process.h"
#include "runtime/record/filter.h"
#include "runtime/values/plans.h"
#include "x86_64/sys.h"

static uint32_t next_id = 1;

uint32_t announce_take_ids(const struct object *object, uint32_t n)
{
	uint32_t first = next_id;

	if (n > TRACE_ID_MASK - next_id)
		return 0;
	next_id += n;
	handlers_name_ids(first, object->number);
	return first;
}

void announce_object(const struct object *object)
{
	static char names[8192] SYS_LARGE; /* the lock guards it */
	struct trace_object record = {
		.head = { .type = TRACE_REC_OBJECT }, .object = object->number, .flags = object->flags
	};
	size_t path = sys_length(object->path), soname = object->soname ? sys_length(object->soname) : 0;

	/* No memory is touched for nothing: at the start nobody is told yet. */
	if (!process_head()) {
		process_append(&record.head, 0, NULL, 0);
		return;
	}
	if (path + soname > sizeof(names))
		soname = 0;
	record.dev = object->dev;
	record.ino = object->ino;
	record.size = object->size;
	record.mtime_ns = object->mtime_ns;
	record.kinds = object->section ? object->section->kinds | object->section->fallback : 0;
	record.build_id_len = object->build_id_len;
	sys_copy(record.build_id, object->build_id, sizeof(record.build_id));
	record.path_len = (uint32_t)path;
	record.soname_len = (uint32_t)soname;
	sys_copy(names, object->path, path);
	if (soname)
		sys_copy(names + path, object->soname, soname);
	process_append(&record.head, sizeof(record), names, path + soname);
}

void announce_load(const struct load *load)
{
	struct trace_load record = {
		.head = { .type = TRACE_REC_LOAD }, .load = load->number, .object = load->object->number
	};

	record.clock = load->clock;
	record.base = load->base;
	record.start = load->start;
	record.end = load->end;
	record.namespace = load->namespace;
	record.tid = load->tid;
	process_append(&record.head, sizeof(record), NULL, 0);
}

/* How many there are to be listed, and bytes of their names. */
struct function_count {
	uint32_t functions, aliases;
	size_t names, alias_names;
};

/*
 * Builds TRACE_REC_FUNCTIONS, an array of functions, then their names; and TRACE_REC_ALIASES, an array of lists, then
 * the names in them.
 */
struct function_list {
	struct arena arena;
	struct trace_function *function;
	struct trace_alias *alias;
	char *names, *alias_names;
	uint32_t count, names_size, aliases, alias_names_size;
};

static int list_start(struct function_list *list, const struct function_count *count)
{
	*list = (struct function_list){ 0 };
	list->function = arena_alloc(&list->arena, count->functions * sizeof(*list->function) + count->names);
	list->names = (char *)(list->function + count->functions);
	if (!list->function || !count->aliases)
		return list->function != NULL;
	list->alias = arena_alloc(&list->arena, count->aliases * sizeof(*list->alias) + count->alias_names);
	list->alias_names = (char *)(list->alias + count->aliases);
	return list->alias != NULL;
}

static void list_add(struct function_list *list, uint32_t id, uint64_t offset, uint64_t size, const char *name)
{
	size_t length = sys_length(name) + 1;

	list->function[list->count++] = (struct trace_function){ id, list->names_size, offset, size };
	sys_copy(list->names + list->names_size, name, length);
	list->names_size += (uint32_t)length;
}

static void list_end(struct function_list *list, const struct object *object, uint32_t kind)
{
	struct trace_functions record = {
		.head = { .type = TRACE_REC_FUNCTIONS }, .object = object->number, .kind = kind
	};

	record.count = list->count;
	record.names_size = list->names_size;
	if (list->count)
		process_append(&record.head, sizeof(record), list->function,
			list->count * sizeof(*list->function) + list->names_size);
	/* Room was made for as many as there are, or for none. */
	if (list->aliases) {
		struct trace_aliases aliases = { .head = { .type = TRACE_REC_ALIASES } };
		aliases.count = list->aliases;
		aliases.names_size = list->alias_names_size;
		process_append(&aliases.head, sizeof(aliases), list->alias,
			list->aliases * sizeof(*list->alias) + list->alias_names_size);
	}
	arena_free(&list->arena);
}

uint32_t announce_id(const struct object *object, uint32_t function)
{
	unsigned kind = object->sites.function[function].kind;

	if (kind_rows[kind].stub == KIND_STUB_COPY)
		return entry_of(object, function)->id;
	return object->base[kind] ? object->base[kind] + function - object->sites.of[kind].function : 0;
}

/* What the index tells of function i of the object; NULL: nothing. */
static const struct index_function *index_of(const struct object *object, uint32_t i)
{
	return kind_rows[object->sites.function[i].kind].stub == KIND_STUB_COPY ? entry_of(object, i)->index : NULL;
}

static const char *symbol_of(const struct object *object, uint32_t i)
{
	const char *name = object->sites.function[i].name;

	return name ? name : "";
}

/* That of function i, by any of its symbols. */
static const char *given_of(const struct object *object, uint32_t i)
{
	const struct index_function *f = requests_have_names() ? index_of(object, i) : NULL;
	const char *name = requests_name_of(object, symbol_of(object, i));

	for (const char *alias = NULL; f && !name && (alias = index_alias(&object->index, f, alias));)
		name = requests_name_of(object, alias);
	return name;
}

/* Does the pattern name function i, by any of its symbols? */
static bool matches(const struct object *object, uint32_t i, const struct rules_pattern *pattern)
{
	const struct index_function *f = index_of(object, i);
	bool is = rules_match(pattern, symbol_of(object, i), object->path, object->soname);

	for (const char *alias = NULL; f && !is && (alias = index_alias(&object->index, f, alias));)
		is = rules_match(pattern, alias, object->path, object->soname);
	return is;
}

/* Which functions are written: all whose names the trace has; those that are to be on, and it has not yet. */
struct listing {
	bool fresh;
	const struct rules_pattern *pattern; /* of these, those that it names; NULL: all */
};

static bool is_listed(const struct object *object, uint32_t i, const struct listing *listing)
{
	const unsigned marks = object->marks[i];

	if (listing->fresh)
		return marks & (FUNCTION_ON | FUNCTION_XRAY) && !(marks & FUNCTION_NAMED) && announce_id(object, i);
	return marks & FUNCTION_NAMED && (!listing->pattern || matches(object, i, listing->pattern));
}

static size_t put_alias(char *to, size_t bytes, const char *name)
{
	size_t length = sys_length(name) + 1;

	if (to)
		sys_copy(to + bytes, name, length);
	return bytes + length;
}

/*
 * The other names of function i of the object, as an index has them, each with its NUL, and an empty one; its symbol
 * before them, where the rules gave it a name. Returns their bytes, or 0: there are none. to: where they go; NULL:
 * nowhere. An index may turn out to be damaged at any time.
 */
static size_t aliases_of(const struct object *object, uint32_t i, char *to)
{
	const struct index_function *f = index_of(object, i);
	size_t bytes = 0;

	if (*symbol_of(object, i) && given_of(object, i))
		bytes = put_alias(to, bytes, symbol_of(object, i));
	for (const char *name = NULL; f && (name = index_alias(&object->index, f, name));)
		bytes = put_alias(to, bytes, name);
	if (bytes && to)
		to[bytes] = 0;
	return bytes + (bytes > 0);
}

/* The name of function i in the trace. */
static const char *name_of(const struct object *object, uint32_t i)
{
	const char *name = given_of(object, i);

	return name ? name : symbol_of(object, i);
}

static void list_add_aliases(struct function_list *list, const struct object *object, uint32_t i, uint32_t id)
{
	size_t bytes = list->alias ? aliases_of(object, i, list->alias_names + list->alias_names_size) : 0;

	if (!bytes)
		return;
	list->alias[list->aliases++] = (struct trace_alias){ id, list->alias_names_size };
	list->alias_names_size += (uint32_t)bytes;
}

/* Index after the kind's functions that can be listed; none can be if the kind raises no events. */
static uint32_t end_of_listed(const struct object *object, unsigned kind)
{
	const struct site_range *range = &object->sites.of[kind_home(kind)];

	return range->function + (object->marks && kind_has(kind, KIND_EVENTS) ? range->functions : 0);
}

/* Function i is on for the first time. */
static void begin_function(struct object *object, uint32_t i, uint32_t id)
{
	const struct site_function *f = &object->sites.function[i];

	if (object->marks[i] & FUNCTION_BELOW)
		filter_below(id);
	if (f->kind == TRACE_KIND_XRAY)
		values_mark_xray(object, f->address, f->name, id);
}

/* Returns how many. */
static uint32_t list_sleds(struct object *object, const struct listing *listing)
{
	const struct site_set *set = &object->sites;
	uint32_t listed = 0;

	for (uint32_t kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		struct function_list list;
		struct function_count count = { 0 };
		uint32_t end = end_of_listed(object, kind);
		for (uint32_t i = set->of[kind_home(kind)].function; i < end; i++) {
			if (set->function[i].kind != kind || !is_listed(object, i, listing))
				continue;
			size_t aliases = aliases_of(object, i, NULL);
			count.functions++;
			count.names += sys_length(name_of(object, i)) + 1;
			count.aliases += aliases > 0;
			count.alias_names += aliases;
		}
		if (!count.functions || !list_start(&list, &count))
			continue;
		for (uint32_t i = set->of[kind_home(kind)].function; i < end; i++) {
			const struct site_function *f = &set->function[i];
			uint32_t id = announce_id(object, i);
			if (f->kind != kind || !is_listed(object, i, listing))
				continue;
			list_add(&list, id, f->address, f->size, name_of(object, i));
			list_add_aliases(&list, object, i, id);
			if (listing->fresh)
				begin_function(object, i, id);
			object->marks[i] |= FUNCTION_NAMED;
		}
		listed += list.count;
		list_end(&list, object, kind);
	}
	return listed;
}

void announce_new_sleds(struct object *object)
{
	const struct listing fresh = { .fresh = true };

	if (process_head()) {
		list_sleds(object, &fresh);
		return;
	}
	/* No trace exists yet; announce_all() writes it when one is made. */
	process_untold();
	for (uint32_t i = 0; object->marks && i < object->sites.functions; i++) {
		if (!kind_has(object->sites.function[i].kind, KIND_EVENTS) || !is_listed(object, i, &fresh))
			continue;
		begin_function(object, i, announce_id(object, i));
		object->marks[i] |= FUNCTION_NAMED;
	}
}

/* Writes one function; allocates memory only when its name is very long, or the rules' own. */
static void describe_one(const struct object *object, const struct bound_function *f)
{
	static struct {
		struct trace_function function;
		char name[1024];
	} one SYS_LARGE; /* the lock guards it */
	struct trace_functions record = {
		.head = { .type = TRACE_REC_FUNCTIONS }, .object = object->number, .kind = f->kind, .count = 1
	};
	size_t length = sys_length(f->name) + 1;

	if (length > sizeof(one.name) || requests_name_of(object, f->name)) {
		announce_bound(object, f);
		return;
	}
	one.function = (struct trace_function){ .id = f->id, .offset = f->offset };
	sys_copy(one.name, f->name, length);
	record.names_size = (uint32_t)length;
	process_append(&record.head, sizeof(record), &one, sizeof(one.function) + length);
}

uint32_t announce_new_bound(struct object *object, struct bound_function *function)
{
	if (function->id || !(function->id = announce_take_ids(object, 1)))
		return function->id;
	if (function->below)
		filter_below(function->id);
	describe_one(object, function);
	return function->id;
}

static void count_bound(struct function_count *count, const struct object *object, const struct bound_function *f)
{
	const char *name = requests_name_of(object, f->name);

	count->functions++;
	count->names += sys_length(name ? name : f->name) + 1;
	count->aliases += name != NULL;
	count->alias_names += name ? sys_length(f->name) + 2 : 0;
}

/* Its symbol is another name of it, where the rules gave it one. */
static void list_add_bound(struct function_list *list, const struct object *object, const struct bound_function *f)
{
	const char *name = requests_name_of(object, f->name);

	list_add(list, f->id, f->offset, 0, name ? name : f->name);
	if (!name)
		return;
	list->alias[list->aliases++] = (struct trace_alias){ f->id, list->alias_names_size };
	size_t bytes = put_alias(list->alias_names + list->alias_names_size, 0, f->name);
	list->alias_names[list->alias_names_size + bytes] = 0;
	list->alias_names_size += (uint32_t)bytes + 1;
}

void announce_bound(const struct object *object, const struct bound_function *one)
{
	for (uint32_t kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		struct function_list list;
		struct function_count count = { 0 };
		for (const struct bound_function *f = one ? one : object->bound; f; f = one ? NULL : f->all)
			if (f->id && f->kind == kind)
				count_bound(&count, object, f);
		if (!count.functions || !list_start(&list, &count))
			continue;
		for (const struct bound_function *f = one ? one : object->bound; f; f = one ? NULL : f->all)
			if (f->id && f->kind == kind)
				list_add_bound(&list, object, f);
		list_end(&list, object, kind);
	}
}

uint32_t announce_renamed(struct object *object, const struct rules_pattern *pattern)
{
	uint32_t told;

	/* No trace exists yet: what writes one takes the names of then. */
	if (!process_head())
		return 0;
	told = list_sleds(object, &(struct listing){ .pattern = pattern });
	for (const struct bound_function *f = object->bound; f; f = f->all) {
		if (!f->id || !rules_match(pattern, f->name, object->path, object->soname))
			continue;
		announce_bound(object, f);
		told++;
	}
	return told;
}

void announce_new_probes(const struct object *object, const struct probe_known *before)
{
	const struct probe_known *newest = object->known_probes ? object->known_probes->newest : NULL;
	struct function_count count = { 0 };
	struct function_list list;

	for (const struct probe_known *known = newest; known != before; known = known->all) {
		count.functions++;
		count.names += sys_length(known->name) + 1;
	}
	if (!count.functions)
		return;
	/* No trace exists yet; announce_all() writes it when one is made. */
	if (!process_head()) {
		process_untold();
		return;
	}
	if (!list_start(&list, &count))
		return;
	for (const struct probe_known *known = newest; known != before; known = known->all)
		list_add(&list, known->id, known->address, 0, known->name);
	list_end(&list, object, TRACE_KIND_PROBE);
}

static uint32_t total_counts(const struct object *object)
{
	uint32_t total = 0;

	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++)
		for (unsigned reason = 0; reason < TRACE_REASON_COUNT; reason++)
			total += object->counts[kind][reason];
	return total;
}

void announce_counts(struct object *object)
{
	struct trace_sites record = { .head = { .type = TRACE_REC_SITES }, .object = object->number };
	/* The lock guards it. The stack is a thread's of the program. */
	static struct trace_site_count counts[TRACE_KIND_COUNT * TRACE_REASON_COUNT] SYS_LARGE;

	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++)
		for (unsigned reason = 0; reason < TRACE_REASON_COUNT; reason++)
			if (object->counts[kind][reason])
				counts[record.count++] = (struct trace_site_count){ (uint16_t)kind, (uint16_t)reason,
					object->counts[kind][reason] };
	if (record.count)
		process_append(&record.head, sizeof(record), counts, record.count * sizeof(*counts));
	object->counts_told = total_counts(object);
}

void announce_pages(const struct object *object)
{
	struct trace_pages record = { .head = { .type = TRACE_REC_PAGES }, .object = object->number };

	record.text = object->text_pages;
	record.sites = object->site_pages;
	record.patched = object->patched_pages;
	if (record.text)
		process_append(&record.head, sizeof(record), NULL, 0);
}

void announce_changed_counts(int last)
{
	for (struct object *object = objects; object; object = object->next) {
		uint32_t total = total_counts(object), told = object->counts_told;
		if (total != told && (last || total >= 2 * told))
			announce_counts(object);
	}
}

void announce_all(void)
{
	custom_describe();
	unwinder_describe();
	notes_describe();
	/* Oldest first, in the order of their first writing: numbers ascend. */
	for (uint32_t n = 1; n <= object_count; n++) {
		for (struct object *object = objects; object; object = object->next) {
			if (object->number != n)
				continue;
			announce_object(object);
			list_sleds(object, &(struct listing){ .fresh = false });
			announce_bound(object, NULL);
			announce_new_probes(object, NULL);
			announce_counts(object);
			announce_pages(object);
		}
	}
	values_describe();
	/*
	 * In order of time, since readers merge loads with events. The list is usually short, and this is rarely
	 * called.
	 */
	for (uint32_t n = 0;;) {
		const struct load *next = NULL;
		for (const struct load *load = loads; load; load = load->next)
			if (load->state != LOAD_FREE && load->state != LOAD_RETIRED && load->number > n &&
				(!next || load->number < next->number))
				next = load;
		if (!next)
			break;
		announce_load(next);
		n = next->number;
	}
}
