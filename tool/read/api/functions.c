/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tool/read/api/api.h"
#include "tool/read/damage/memory.h"

#define SIZE_FIRST 64

static uint32_t hash_text(uint32_t seed, const char *text)
{
	uint64_t h = (0xcbf29ce484222325u ^ seed) * 0x100000001b3u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

/* ---- objects ---- */

static bool grow_objects(struct xaudit_read_trace *trace)
{
	uint32_t size = trace->by_path_size ? trace->by_path_size * 2 : SIZE_FIRST;
	struct read_api_object **list = read_memory_zeroed(&trace->folder->damage, size, sizeof(*list)), *next;

	if (!list)
		return false;
	for (uint32_t i = 0; i < trace->by_path_size; i++) {
		for (struct read_api_object *object = trace->by_path[i]; object; object = next) {
			uint32_t at = hash_text(0, object->public.path) & (size - 1);
			next = object->next;
			object->next = list[at];
			list[at] = object;
		}
	}
	free(trace->by_path);
	trace->by_path = list;
	trace->by_path_size = size;
	return true;
}

static void free_object(struct read_api_object *object)
{
	free((char *)object->public.path);
	free((char *)object->public.soname);
	free((char *)object->public.build_id);
	free(object);
}

static struct read_api_object *make_object(
	struct read_damage *damage, const char *path, const struct read_object *from)
{
	struct read_api_object *object = read_memory_zeroed(damage, 1, sizeof(*object));
	const char *soname = from && from->soname ? from->soname : "";
	const char *build_id = from && from->build_id ? from->build_id : "";

	if (!object)
		return NULL;
	object->public.path = read_memory_text(damage, path, strlen(path));
	object->public.soname = read_memory_text(damage, soname, strlen(soname));
	object->public.build_id = read_memory_text(damage, build_id, strlen(build_id));
	if (object->public.path && object->public.soname && object->public.build_id)
		return object;
	free_object(object);
	return NULL;
}

const struct xaudit_read_object *read_api_object(struct xaudit_read_trace *trace, const struct read_object *from)
{
	const char *path = read_object_path(from);
	uint32_t hash = hash_text(0, path);
	struct read_api_object *object = NULL;

	if (trace->by_path_size)
		object = trace->by_path[hash & (trace->by_path_size - 1)];
	while (object && strcmp(object->public.path, path))
		object = object->next;
	if (object)
		return &object->public;
	if (trace->objects == trace->by_path_size && !grow_objects(trace))
		return NULL;
	object = make_object(&trace->folder->damage, path, from);
	if (!object)
		return NULL;
	struct read_api_object **list = &trace->by_path[hash & (trace->by_path_size - 1)];
	object->next = *list;
	*list = object;
	trace->objects++;
	return &object->public;
}

/* ---- functions ---- */

static uint32_t hash_function(const char *name, const struct xaudit_read_object *object)
{
	return hash_text((uint32_t)((uintptr_t)object >> 4), name);
}

static bool grow_functions(struct xaudit_read_trace *trace)
{
	uint32_t size = trace->by_name_size ? trace->by_name_size * 2 : SIZE_FIRST;
	struct read_damage *damage = &trace->folder->damage;
	struct read_api_function **list;

	if (!read_memory_resize(damage, &trace->function, size, sizeof(*trace->function)) ||
		!(list = read_memory_zeroed(damage, size, sizeof(*list))))
		return false;
	for (uint32_t i = 0; i < trace->functions; i++) {
		struct read_api_function *function = trace->function[i];
		uint32_t at = hash_function(function->public.name, function->public.object) & (size - 1);
		function->next = list[at];
		list[at] = function;
	}
	free(trace->by_name);
	trace->by_name = list;
	trace->by_name_size = size;
	return true;
}

const struct xaudit_read_function *read_api_function(
	struct xaudit_read_process *process, const struct read_function *from)
{
	struct xaudit_read_trace *trace = process->trace;
	struct read_damage *damage = &trace->folder->damage;
	const struct xaudit_read_object *object =
		read_api_object(trace, from ? read_process_object(process->read, from->object) : NULL);
	struct read_api_function *function = NULL;
	char buf[320];
	const char *name = read_function_name(process->read, from, buf, sizeof(buf));

	if (!object)
		return NULL;
	uint32_t hash = hash_function(name, object);
	if (trace->by_name_size)
		function = trace->by_name[hash & (trace->by_name_size - 1)];
	while (function && (function->public.object != object || strcmp(function->public.name, name)))
		function = function->next;
	if (function)
		return &function->public;
	if (trace->functions == trace->by_name_size && !grow_functions(trace))
		return NULL;
	function = read_memory_zeroed(damage, 1, sizeof(*function));
	if (!function)
		return NULL;
	function->public = (struct xaudit_read_function){
		.object = object,
		.name = read_memory_text(damage, name, strlen(name)),
		.offset = from ? from->offset : 0,
		.number = trace->functions,
		.kind = from ? from->kind : 0,
	};
	if (!function->public.name) {
		free(function);
		return NULL;
	}
	struct read_api_function **list = &trace->by_name[hash & (trace->by_name_size - 1)];
	function->next = *list;
	*list = function;
	trace->function[trace->functions++] = function;
	return &function->public;
}

uint32_t xaudit_read_functions(const struct xaudit_read_trace *trace)
{
	return trace->functions;
}

const struct xaudit_read_function *xaudit_read_function(const struct xaudit_read_trace *trace, uint32_t number)
{
	return number < trace->functions ? &trace->function[number]->public : NULL;
}

void read_api_free_functions(struct xaudit_read_trace *trace)
{
	struct read_api_object *next;

	for (uint32_t i = 0; i < trace->functions; i++) {
		free((char *)trace->function[i]->public.name);
		free(trace->function[i]);
	}
	for (uint32_t i = 0; i < trace->by_path_size; i++) {
		for (struct read_api_object *object = trace->by_path[i]; object; object = next) {
			next = object->next;
			free_object(object);
		}
	}
	free(trace->function);
	free(trace->by_name);
	free(trace->by_path);
}
