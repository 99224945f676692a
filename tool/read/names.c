/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/search.h"
#include "tool/base/text_list.h"
#include "tool/read/damage/memory.h"
#include "tool/read/meta.h"
#include "tool/read/values/layout.h"

#define OBJECTS_MAX (1u << 20) /* a number above is damage, not an object */

/* ---- what records say ---- */

static struct read_damage *damage_of(const struct read_process *process)
{
	return process->family->damage;
}

static char *copy_text(struct read_damage *damage, const char *text)
{
	return text ? read_memory_text(damage, text, strlen(text)) : NULL;
}

static void copy_object(struct read_damage *damage, struct read_object *to, const struct read_object *from)
{
	*to = *from;
	to->path = copy_text(damage, from->path);
	to->soname = copy_text(damage, from->soname);
	to->build_id = copy_text(damage, from->build_id);
	to->site = read_memory_zeroed(damage, from->sites, sizeof(*to->site));
	if (!to->site)
		to->sites = 0;
	else if (from->sites)
		memcpy(to->site, from->site, from->sites * sizeof(*to->site));
}

/* The object of a record of the process; made if it is new. */
static struct read_object *object_at(struct read_process *process, uint32_t number)
{
	struct read_damage *damage = damage_of(process);

	if (!number || number >= OBJECTS_MAX)
		return NULL;
	if (number >= process->objects) {
		uint32_t more = number + 16;
		if (!read_memory_resize(damage, &process->object, more, sizeof(*process->object)))
			return NULL;
		memset(process->object + process->objects, 0, (more - process->objects) * sizeof(*process->object));
		process->objects = more;
	}
	if (!process->object[number]) {
		const struct read_object *base = process->base ? read_process_object(process->base, number) : NULL;
		struct read_object *object = read_memory_zeroed(damage, 1, sizeof(*object));

		if (!object)
			return NULL;
		object->number = number;
		if (base)
			copy_object(damage, object, base);
		process->object[number] = object;
	}
	return process->object[number];
}

static void free_object(struct read_object *object)
{
	if (!object)
		return;
	free(object->path);
	free(object->soname);
	free(object->build_id);
	free(object->site);
	free(object);
}

static bool take_object(struct read_process *process, const struct trace_record *record)
{
	const struct trace_object *from = (const void *)record;
	struct read_damage *damage = damage_of(process);

	if (record->size < sizeof(*from) || from->build_id_len > sizeof(from->build_id) ||
		(uint64_t)from->path_len + from->soname_len > record->size - sizeof(*from))
		return false;
	struct read_object *object = object_at(process, from->object);
	if (!object)
		return false;
	free(object->path);
	free(object->soname);
	free(object->build_id);
	object->flags = from->flags;
	object->kinds = from->kinds;
	object->path = read_memory_text(damage, from->names, from->path_len);
	object->soname = read_memory_text(damage, from->names + from->path_len, from->soname_len);
	object->build_id = read_memory_zeroed(damage, 2 * from->build_id_len + 1, 1);
	if (!object->build_id)
		return false;
	for (uint32_t i = 0; i < from->build_id_len; i++)
		sprintf(object->build_id + 2 * i, "%02x", from->build_id[i]);
	return true;
}

/* The function's index; HASH_NONE. */
static uint32_t find_function(const struct read_process *process, uint32_t id)
{
	return HASH_FIND(i, &process->by_id, id, process->function[i].id == id);
}

/* Makes room for that many more functions. */
static bool grow_functions(struct read_process *process, uint32_t more)
{
	uint32_t room = (process->functions + more) * 3 / 2;

	if (process->functions + more <= process->functions_room)
		return true;
	if (!read_memory_resize(damage_of(process), &process->function, room, sizeof(*process->function)))
		return false;
	process->functions_room = room;
	return true;
}

/*
 * Keeps the names of a record that begins with an array of `count` entries of that size; beyond them an empty name
 * follows, and one more. NULL: the record contradicts itself, or there is no memory.
 */
static char *take_names(struct read_process *process, uint64_t room, const void *array, uint64_t count, size_t size,
	uint32_t names_size)
{
	struct read_damage *damage = damage_of(process);
	char *blob;

	if (count * size > room || names_size > room - count * size ||
		!read_memory_resize(damage, &process->names, process->blobs + 1, sizeof(*process->names)))
		return NULL;
	blob = read_memory_zeroed(damage, (size_t)names_size + 2, 1);
	if (!blob)
		return NULL;
	memcpy(blob, (const char *)array + count * size, names_size);
	return process->names[process->blobs++] = blob;
}

static bool take_functions(struct read_process *process, const struct trace_record *record)
{
	const struct trace_functions *from = (const void *)record;
	struct read_damage *damage = damage_of(process);
	char *blob;

	if (record->size < sizeof(*from) ||
		!(blob = take_names(process, record->size - sizeof(*from), from->function, from->count,
			  sizeof(from->function[0]), from->names_size)))
		return false;

	/* If the last name ends, all do; an offset after the names gives an empty name. */
	bool good = !from->names_size || !blob[from->names_size - 1];
	if (!grow_functions(process, from->count))
		return false;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct trace_function *f = &from->function[i];
		if (f->id > TRACE_ID_MASK || f->name > from->names_size) {
			good = false;
			continue;
		}
		uint32_t index = find_function(process, f->id);
		if (index == HASH_NONE) {
			index = process->functions;
			if (!read_memory_hash(damage, &process->by_id, f->id, index))
				return false;
			process->functions++;
		}
		process->function[index] = (struct read_function){
			.id = f->id,
			.object = from->object,
			.kind = from->kind,
			.name = blob + f->name,
			.offset = f->offset,
			.size = f->size,
			.aliases = "",
		};
	}
	return good;
}

static bool take_aliases(struct read_process *process, const struct trace_record *record)
{
	const struct trace_aliases *from = (const void *)record;
	const char *blob;
	bool good = true;

	if (record->size < sizeof(*from) || !(blob = take_names(process, record->size - sizeof(*from), from->alias,
						       from->count, sizeof(from->alias[0]), from->names_size)))
		return false;
	for (uint32_t i = 0; i < from->count; i++) {
		uint32_t index = find_function(process, from->alias[i].id);
		if (index == HASH_NONE || from->alias[i].names > from->names_size)
			good = false;
		else
			process->function[index].aliases = blob + from->alias[i].names;
	}
	return good;
}

static bool take_sites(struct read_process *process, const struct trace_record *record)
{
	const struct trace_sites *from = (const void *)record;

	if (record->size < sizeof(*from) ||
		(uint64_t)from->count * sizeof(from->site[0]) > record->size - sizeof(*from))
		return false;
	struct read_object *object = object_at(process, from->object);
	if (!object)
		return false;
	if (!read_memory_resize(damage_of(process), &object->site, from->count, sizeof(*object->site)))
		return false;
	memcpy(object->site, from->site, from->count * sizeof(*object->site));
	object->sites = from->count;
	return true;
}

static bool take_change(struct read_process *process, const struct trace_record *record)
{
	const struct trace_change *from = (const void *)record;
	struct read_damage *damage = damage_of(process);

	if (record->size < sizeof(*from) || from->length > record->size - sizeof(*from))
		return false;
	if (!read_memory_resize(damage, &process->change, process->changes + 1, sizeof(*process->change)))
		return false;
	char *text = read_memory_text(damage, from->text, from->length);
	if (!text)
		return false;
	process->change[process->changes++] = (struct read_change){
		.what = from->what,
		.tid = from->tid,
		.clock = from->clock,
		.value = from->value,
		.text = text,
	};
	return true;
}

/* The index of the type in process->type, or where it should be inserted. */
static uint32_t find_type(const struct read_process *process, uint32_t type)
{
	return SEARCH(i, 0, process->types, process->type[i].type < type);
}

static bool take_type(struct read_process *process, const struct trace_record *record)
{
	const struct trace_type_name *from = (const void *)record;

	if (record->size < sizeof(*from) || from->length > record->size - sizeof(*from))
		return false;
	struct read_damage *damage = damage_of(process);
	char *name = read_memory_text(damage, from->name, from->length);
	if (!name)
		return false;
	uint32_t at = find_type(process, from->type);
	if (at < process->types && process->type[at].type == from->type) {
		free(process->type[at].name);
	} else if (!read_memory_resize(damage, &process->type, process->types + 1, sizeof(*process->type))) {
		free(name);
		return false;
	} else {
		memmove(&process->type[at + 1], &process->type[at], (process->types++ - at) * sizeof(*process->type));
	}
	process->type[at] = (struct read_type_name){ from->type, name };
	return true;
}

static bool take_layout(struct read_process *process, const struct trace_record *record)
{
	struct read_damage *damage = damage_of(process);
	struct read_layout *layout;
	bool good;

	layout = read_layout(damage, record, &good);
	if (!layout)
		return false;
	uint32_t number = layout->number;
	if (number >= process->layouts) {
		uint32_t more = number + 64;
		if (!read_memory_resize(damage, &process->layout, more, sizeof(*process->layout))) {
			free(layout);
			return false;
		}
		memset(process->layout + process->layouts, 0, (more - process->layouts) * sizeof(*process->layout));
		process->layouts = more;
	}
	/* Events were perhaps read by the one that is there. */
	if (process->layout[number]) {
		free(layout);
		return false;
	}
	process->layout[number] = layout;
	return good;
}

static bool take_pages(struct read_process *process, const struct trace_record *record)
{
	const struct trace_pages *from = (const void *)record;
	struct read_object *object = record->size < sizeof(*from) ? NULL : object_at(process, from->object);

	if (!object)
		return false;
	object->has_pages = true;
	object->text_pages = from->text;
	object->site_pages = from->sites;
	object->patched_pages = from->patched;
	return true;
}

/* Words that end with NUL, as one line for a shell. */
static char *quote_words(struct read_damage *damage, const char *text, uint32_t length)
{
	char *line = read_memory_zeroed(damage, (size_t)length * 4 + 3, 1), *to = line;

	if (!line)
		return NULL;
	for (uint32_t at = 0; at < length;) {
		uint32_t n = (uint32_t)strnlen(text + at, length - at);
		const char *plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
		bool quote = !n;
		for (uint32_t i = 0; i < n && !quote; i++)
			quote = !strchr(plain, text[at + i]);
		if (to != line)
			*to++ = ' ';
		if (quote)
			*to++ = '\'';
		for (uint32_t i = 0; i < n; i++) {
			if (text[at + i] == '\'')
				to = stpcpy(to, "'\\'");
			*to++ = text[at + i];
		}
		if (quote)
			*to++ = '\'';
		at += n + 1;
	}
	*to = '\0';
	return line;
}

static bool take_note(struct read_process *process, const struct trace_text *from)
{
	struct read_damage *damage = damage_of(process);

	if (!read_memory_resize(damage, &process->note, process->notes + 1, sizeof(*process->note)))
		return false;
	char *note = read_memory_text(damage, from->text, from->length);
	if (note)
		process->note[process->notes++] = note;
	return note != NULL;
}

static bool take_text(struct read_process *process, const struct trace_record *record)
{
	const struct trace_text *from = (const void *)record;
	char **to = NULL, *text;

	if (record->size < sizeof(*from) || from->length > record->size - sizeof(*from))
		return false;
	switch (from->what) {
	case TRACE_TEXT_EXE:
		to = &process->exe;
		break;
	case TRACE_TEXT_HOST:
		to = &process->host;
		break;
	case TRACE_TEXT_CONFIG:
		to = &process->config;
		break;
	case TRACE_TEXT_MODULE:
		to = &process->module;
		break;
	case TRACE_TEXT_COMMAND:
		to = &process->command;
		break;
	case TRACE_TEXT_NOTE:
		return take_note(process, from);
	default:
		return true;
	}
	text = from->what == TRACE_TEXT_COMMAND ? quote_words(damage_of(process), from->text, from->length)
						: read_memory_text(damage_of(process), from->text, from->length);
	if (!text)
		return false;
	free(*to);
	*to = text;
	return true;
}

/* Of a base, loads and unloads are kept for the merge. */
static bool keep(struct read_process *process, const struct trace_record *record)
{
	if (!process->of)
		return true;
	if (!read_memory_resize(damage_of(process), &process->loading, process->loading_size + record->size, 1))
		return false;
	memcpy(process->loading + process->loading_size, record, record->size);
	process->loading_size += record->size;
	return true;
}

static bool take(struct read_process *process, const struct trace_record *record)
{
	switch (record->type) {
	case TRACE_REC_TEXT:
		return take_text(process, record);
	case TRACE_REC_OBJECT:
		return take_object(process, record);
	case TRACE_REC_FUNCTIONS:
		return take_functions(process, record);
	case TRACE_REC_ALIASES:
		return take_aliases(process, record);
	case TRACE_REC_SITES:
		return take_sites(process, record);
	case TRACE_REC_CHANGE:
		return take_change(process, record);
	case TRACE_REC_PAGES:
		return take_pages(process, record);
	case TRACE_REC_EVENT_TYPE:
		return take_type(process, record);
	case TRACE_REC_LAYOUT:
		return take_layout(process, record);
	case TRACE_REC_LOAD:
		process->loads++;
		return record->size >= sizeof(struct trace_load) && keep(process, record);
	case TRACE_REC_UNLOAD:
		process->unloads++;
		return record->size >= sizeof(struct trace_unload) && keep(process, record);
	default:
		return true;
	}
}

void read_names_take(struct read_process *process, struct read_meta *meta)
{
	const struct trace_record *record;

	while (!damage_of(process)->no_memory && (record = read_meta_next(meta, true)))
		if (!take(process, record))
			read_process_damage(process, NULL, read_meta_offset(meta), "a record contradicts itself");
}

void read_names_free(struct read_process *process)
{
	for (uint32_t i = 0; i < process->objects; i++)
		free_object(process->object[i]);
	for (uint32_t i = 0; i < process->blobs; i++)
		free(process->names[i]);
	for (uint32_t i = 0; i < process->notes; i++)
		free(process->note[i]);
	for (uint32_t i = 0; i < process->changes; i++)
		free(process->change[i].text);
	for (uint32_t i = 0; i < process->types; i++)
		free(process->type[i].name);
	for (uint32_t i = 0; i < process->layouts; i++)
		free(process->layout[i]);
	free(process->layout);
	process->layout = NULL;
	process->layouts = 0;
	free(process->change);
	free(process->type);
	process->change = NULL;
	process->type = NULL;
	process->changes = process->types = 0;
	free(process->object);
	free(process->function);
	hash_free(&process->by_id);
	free(process->names);
	free(process->note);
	free(process->loading);
	process->loading = NULL;
	process->loading_size = 0;
	free(process->exe);
	free(process->command);
	free(process->host);
	free(process->config);
	free(process->module);
	process->object = NULL;
	process->function = NULL;
	process->names = NULL;
	process->note = NULL;
	process->exe = process->command = process->host = process->config = process->module = NULL;
	process->objects = process->functions = process->functions_room = process->blobs = process->notes = 0;
	process->loads = process->unloads = process->parsed = 0;
	process->loaded = false;
}

char *read_names_copy(struct read_damage *damage, const char *names)
{
	size_t size = text_list_size(names);
	char *copy = read_memory_zeroed(damage, size, 1);

	if (copy)
		memcpy(copy, names, size);
	return copy;
}

/* ---- looking up ---- */

const struct read_function *read_process_function(const struct read_process *process, uint32_t id)
{
	uint32_t index = find_function(process, id);

	if (index != HASH_NONE)
		return &process->function[index];
	return process->base ? read_process_function(process->base, id) : NULL;
}

static uint32_t base_functions(const struct read_process *process)
{
	return process->base ? process->base->functions : 0;
}

uint32_t read_process_functions(const struct read_process *process)
{
	return base_functions(process) + process->functions;
}

uint32_t read_process_function_index(const struct read_process *process, const struct read_function *function)
{
	const struct read_process *base = process->base;

	if (base && function >= base->function && function < base->function + base->functions)
		return (uint32_t)(function - base->function);
	return base_functions(process) + (uint32_t)(function - process->function);
}

const struct read_function *read_process_function_at(const struct read_process *process, uint32_t index)
{
	uint32_t first = base_functions(process);

	return index < first ? &process->base->function[index] : &process->function[index - first];
}

const char *read_process_type(const struct read_process *process, uint32_t type)
{
	static const char *const own[] = { [TRACE_TYPE_UNTYPED] = "untyped", [TRACE_TYPE_MARK] = "mark",
		[TRACE_TYPE_REQUEST] = "request", [TRACE_TYPE_REQUEST_NUMBER] = "request-number",
		[TRACE_TYPE_REQUEST_END] = "request-end" };
	uint32_t at = find_type(process, type);

	if (at < process->types && process->type[at].type == type)
		return process->type[at].name;
	if (process->base)
		return read_process_type(process->base, type);
	return type < sizeof(own) / sizeof(*own) ? own[type] : NULL;
}

const struct read_layout *read_process_layout(const struct read_process *process, uint32_t number)
{
	if (number < process->layouts && process->layout[number])
		return process->layout[number];
	return process->base ? read_process_layout(process->base, number) : NULL;
}

struct read_object *read_process_object(const struct read_process *process, uint32_t number)
{
	if (number < process->objects && process->object[number])
		return process->object[number];
	return process->base ? read_process_object(process->base, number) : NULL;
}

uint32_t read_process_objects(const struct read_process *process)
{
	uint32_t base = process->base ? process->base->objects : 0;

	return process->objects > base ? process->objects : base;
}
