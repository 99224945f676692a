/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/term/srcline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/hash.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/object_file.h"
#include "tool/base/tool.h"
#include "tool/read/api/xaudit-read-facts.h"
#include "tool/show/term/term.h"

static bool wanted;

bool srcline_take(const struct options_given *given)
{
	(void)given;
	wanted = true;
	return true;
}

bool srcline_wanted(void)
{
	return wanted;
}

struct line {
	const char *file; /* NULL: not known */
	int line;
};

struct known {
	uint64_t address;
	struct line line;
};

struct object {
	char *path, *build_id;
	bool opened, doubtful; /* there are several of that path */
	struct object_file *file; /* NULL: nothing is known */
	struct known *known; /* what was looked up */
	uint32_t knowns;
	struct hash by_address; /* of known[]; the hash is made of the address */
};

static struct object **objects;
static size_t object_count;

/* ---- objects ---- */

static struct object *object_of(const char *path)
{
	static struct object *last;

	if (last && !strcmp(last->path, path))
		return last;
	for (size_t i = 0; i < object_count; i++)
		if (!strcmp(objects[i]->path, path))
			return last = objects[i];
	return NULL;
}

static struct object *know(const char *path, const char *build_id)
{
	struct object *object = object_of(path);

	build_id = build_id ? build_id : "";
	if (object) {
		object->doubtful |= strcmp(object->build_id, build_id) != 0;
		return object;
	}
	object = memory_zeroed(1, sizeof(*object));
	object->path = memory_text(path, strlen(path));
	object->build_id = memory_text(build_id, strlen(build_id));
	objects = memory_resize(objects, object_count + 1, sizeof(*objects));
	return objects[object_count++] = object;
}

void srcline_objects(struct xaudit_read_trace *trace)
{
	struct xaudit_read_process *process;

	for (uint32_t i = 0; wanted && (process = xaudit_read_process(trace, i)); i++) {
		const struct xaudit_read_facts *facts = memory_need((void *)xaudit_read_process_facts(process));
		for (uint32_t k = 0; k < facts->objects; k++) {
			const struct xaudit_read_process_object *object = xaudit_read_process_object(process, k);
			know(object->path, object->build_id);
		}
	}
}

/* ---- lines ---- */

static void open_object(struct object *object)
{
	if (!object->opened && !object->doubtful)
		object->file = object_file_open(object->path, object->build_id);
	object->opened = true;
}

static struct line line_at(struct object *object, uint64_t address)
{
	struct line line = { 0 };

	open_object(object);
	if (!object->file || !address)
		return line;
	uint32_t hash = hash_key(address, 0);
	uint32_t found = HASH_FIND(i, &object->by_address, hash, object->known[i].address == address);
	if (found != HASH_NONE)
		return object->known[found].line;
	object->known = memory_grow(object->known, object->knowns, sizeof(*object->known));
	memory_hash(&object->by_address, hash, object->knowns);
	object_file_line(object->file, address, &line.file, &line.line);
	object->known[object->knowns] = (struct known){ address, line };
	return object->known[object->knowns++].line;
}

static struct line line_of(const struct xaudit_read_function *function)
{
	struct object *object = wanted ? know(function->object->path, function->object->build_id) : NULL;

	return object ? line_at(object, function->offset) : (struct line){ 0 };
}

/* ---- by name ---- */

static struct line line_named(const char *library, const char *name)
{
	struct object *object = wanted && library && name ? object_of(library) : NULL;
	struct line line = { 0 };

	if (!object)
		return line;
	open_object(object);
	if (!object->file)
		return line;
	/* A function without a name is called by its place. */
	const char *base = tool_base(library);
	size_t length = strlen(base);
	if (!strncmp(name, base, length) && !strncmp(name + length, "+0x", 3))
		return line_at(object, strtoull(name + length + 3, NULL, 16));
	return line_at(object, object_file_address(object->file, name));
}

/* ---- output ---- */

static void print(FILE *file, struct line line)
{
	if (!line.file)
		return;
	putc(' ', file);
	term_text(file, line.file);
	fprintf(file, ":%d", line.line);
}

static void json(FILE *file, struct line line)
{
	if (!line.file)
		return;
	fputs(",\"source\":", file);
	json_string(file, line.file);
	fprintf(file, ",\"line\":%d", line.line);
}

void srcline_print(FILE *file, const struct xaudit_read_function *function)
{
	print(file, line_of(function));
}

void srcline_json(FILE *file, const struct xaudit_read_function *function)
{
	json(file, line_of(function));
}

void srcline_print_named(FILE *file, const char *library, const char *name)
{
	print(file, line_named(library, name));
}

void srcline_json_named(FILE *file, const char *library, const char *name)
{
	json(file, line_named(library, name));
}

const char *srcline_named(const char *library, const char *name, int *line)
{
	struct line found = line_named(library, name);

	*line = found.line;
	return found.file;
}
