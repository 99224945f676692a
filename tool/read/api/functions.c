/* SPDX-License-Identifier: MIT */
#include "tool/read/api/functions.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/api/api.h"
#include "tool/read/damage/memory.h"
#include "tool/read/names.h"
#include "tool/read/shown_names.h"

/* ---- objects ---- */

static void free_object(struct xaudit_read_object *object)
{
	if (!object)
		return;
	free((char *)object->path);
	free((char *)object->soname);
	free((char *)object->build_id);
	free(object);
}

static struct xaudit_read_object *make_object(
	struct read_damage *damage, const char *path, const struct read_object *from)
{
	struct xaudit_read_object *object = read_memory_zeroed(damage, 1, sizeof(*object));
	const char *soname = from && from->soname ? from->soname : "";
	const char *build_id = from && from->build_id ? from->build_id : "";

	if (!object)
		return NULL;
	object->path = read_memory_text(damage, path, strlen(path));
	object->soname = read_memory_text(damage, soname, strlen(soname));
	object->build_id = read_memory_text(damage, build_id, strlen(build_id));
	if (object->path && object->soname && object->build_id)
		return object;
	free_object(object);
	return NULL;
}

static const struct xaudit_read_object *add_object(
	struct xaudit_read_trace *trace, const struct read_object *from, uint32_t hash)
{
	struct read_damage *damage = &trace->folder->damage;

	if (!read_memory_grow(damage, &trace->object, trace->objects, sizeof(*trace->object)))
		return NULL;
	struct xaudit_read_object *object = make_object(damage, read_object_path(from), from);
	if (!object || !read_memory_hash(damage, &trace->by_path, hash, trace->objects)) {
		free_object(object);
		return NULL;
	}
	trace->object[trace->objects++] = object;
	return object;
}

const struct xaudit_read_object *read_api_object(struct xaudit_read_trace *trace, const struct read_object *from)
{
	const char *path = read_object_path(from);
	uint32_t hash = hash_text(0, path);
	uint32_t found = HASH_FIND(i, &trace->by_path, hash, !strcmp(trace->object[i]->path, path));

	return found != HASH_NONE ? trace->object[found] : add_object(trace, from, hash);
}

#define OTHERS 1 /* objects whose path another one has, too, have hashes of their own */

const struct xaudit_read_object *read_api_object_exactly(
	struct xaudit_read_trace *trace, const struct read_object *from)
{
	const struct xaudit_read_object *object = read_api_object(trace, from);
	const char *path = read_object_path(from), *build_id = from && from->build_id ? from->build_id : "";

	if (!object || !strcmp(object->build_id, build_id))
		return object;
	uint32_t hash = hash_text(OTHERS, path);
	uint32_t found = HASH_FIND(i, &trace->by_path, hash,
		!strcmp(trace->object[i]->path, path) && !strcmp(trace->object[i]->build_id, build_id));
	return found != HASH_NONE ? trace->object[found] : add_object(trace, from, hash);
}

/* ---- functions ---- */

static void free_function(struct xaudit_read_function *function)
{
	if (*function->aliases)
		free((char *)function->aliases);
	free((char *)function->name);
	free(function);
}

/* Returns false if there is no memory. */
static bool take_aliases(
	struct xaudit_read_function *function, const struct read_function *from, struct read_damage *damage)
{
	char *aliases = *from->aliases ? read_names_copy(damage, from->aliases) : "";

	if (aliases)
		function->aliases = aliases;
	return aliases != NULL;
}

const struct xaudit_read_function *read_api_function(
	struct xaudit_read_process *process, const struct read_function *from)
{
	struct xaudit_read_trace *trace = process->trace;
	struct read_damage *damage = &trace->folder->damage;
	const struct xaudit_read_object *object =
		read_api_object(trace, from ? read_process_object(process->read, from->object) : NULL);
	struct xaudit_read_function *function;
	char buf[320];
	const char *name = read_function_name(process->read, from, buf, sizeof(buf));

	if (!object)
		return NULL;
	uint32_t hash = hash_text((uint32_t)((uintptr_t)object >> 4), name);
	uint32_t found = HASH_FIND(i, &trace->by_name, hash,
		trace->function[i]->object == object && !strcmp(trace->function[i]->name, name));
	if (found != HASH_NONE) {
		/* It may have been met as another kind, or in another process, whose index was none. */
		if (from && !*trace->function[found]->aliases && !take_aliases(trace->function[found], from, damage))
			return NULL;
		return trace->function[found];
	}
	if (!read_memory_grow(damage, &trace->function, trace->functions, sizeof(*trace->function)))
		return NULL;
	function = read_memory_zeroed(damage, 1, sizeof(*function));
	if (!function)
		return NULL;
	*function = (struct xaudit_read_function){
		.object = object,
		.name = read_memory_text(damage, name, strlen(name)),
		.offset = from ? from->offset : 0,
		.number = trace->functions,
		.kind = from ? from->kind : 0,
		.aliases = "",
	};
	if (!function->name || (from && !take_aliases(function, from, damage)) ||
		!read_memory_hash(damage, &trace->by_name, hash, function->number)) {
		free_function(function);
		return NULL;
	}
	trace->function[trace->functions++] = function;
	return function;
}

uint32_t xaudit_read_functions(const struct xaudit_read_trace *trace)
{
	return trace->functions;
}

const struct xaudit_read_function *xaudit_read_function(const struct xaudit_read_trace *trace, uint32_t number)
{
	return number < trace->functions ? trace->function[number] : NULL;
}

void read_api_free_functions(struct xaudit_read_trace *trace)
{
	for (uint32_t i = 0; i < trace->functions; i++)
		free_function(trace->function[i]);
	for (uint32_t i = 0; i < trace->objects; i++)
		free_object(trace->object[i]);
	free(trace->function);
	free(trace->object);
	hash_free(&trace->by_name);
	hash_free(&trace->by_path);
}
