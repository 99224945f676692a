/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/indexes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/index/index.h"
#include "audit/model/object.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/ctl/index_file.h"
#include "tool/ctl/process.h"
#include "tool/ctl/remote_call.h"
#include "tool/ctl/world.h"
#include "tool/index/image.h"
#include "tool/index/own_file.h"

#define MOST_LISTED (1u << 16) /* loads: more means that we follow garbage */
#define ALIGNMENT   4096u

/* ---- rules ---- */

unsigned ctl_rule_kinds(const char *rule, const char **library)
{
	const char *colon = strchr(rule, ':'), *where = strchr(rule, '@');
	unsigned kinds = 0;

	*library = where ? where + 1 : NULL;
	/* Two colons belong to a name of C++. */
	if (!colon || colon[1] == ':' || (where && where < colon))
		return 0;
	for (const char *word = rule; word <= colon;) {
		size_t length = strcspn(word, ",:");
		int kind = rules_kind(word, length);
		kinds |= kind < 0 ? 0 : 1u << kind;
		word += length + 1;
	}
	return kinds;
}

static bool is_named(char *const *rule, size_t rules, const char *path, const char *soname)
{
	for (size_t i = 0; i < rules; i++) {
		struct rules_pattern any = { .function = "*" };
		if (ctl_rule_kinds(rule[i], &any.library) & kinds_with(KIND_BY_INDEX) &&
			rules_match(&any, "", path, soname))
			return true;
	}
	return false;
}

/* ---- indexes, kept ---- */

static struct kept {
	struct kept *next;
	struct index_identity identity;
	struct index_made made; /* bytes NULL: there is none */
} *all;

/*
 * Makes that of the file that is mapped there: as the kernel names it, since what the process names need not be a file
 * that it may read. The name may be one below its root, or below ours.
 */
static int make_mapped(
	struct kept *kept, const struct ctl_process *process, const struct object *object, uint64_t at)
{
	const struct ctl_mapping *mapping = ctl_mapping(process, at);
	const char *path = mapping && *mapping->path == '/' ? mapping->path : "/";
	char *name[] = {
		memory_format("/proc/%d/root%s", (int)process->pid, path),
		memory_format("%s", path),
		memory_format("/proc/%d/exe", (int)process->pid),
	};
	int program = object->flags & TRACE_OBJECT_PROGRAM && !object->by_loader, r = -ENOENT;
	/* If our own root has the same file there, that is the one to look at, and to keep. */
	bool own = index_file_is_one(name[0], name[1]);

	for (int i = own; i < 3; i++) {
		if (r && (i < 2 || program)) {
			int again = index_file_make(&kept->made, &kept->identity, name[i], own && i == 1);
			/* The first that is not just missing tells why. */
			r = !again || r == -ENOENT ? again : r;
		}
	}
	for (int i = 0; i < 3; i++)
		free(name[i]);
	return r;
}

static const struct kept *find(
	const struct ctl_process *process, const struct object *object, uint64_t start, const char *path)
{
	struct index_identity identity;
	struct kept *kept;

	object_identity(object, &identity);
	for (kept = all; kept; kept = kept->next)
		if (index_same_file(&kept->identity, &identity))
			return kept->made.bytes ? kept : NULL;
	kept = memory_zeroed(1, sizeof(*kept));
	*kept = (struct kept){ .next = all, .identity = identity };
	all = kept;
	if (index_file_look(&kept->made, &kept->identity))
		return kept;
	int r = make_mapped(kept, process, object, start);
	if (r)
		kept->made.bytes = NULL;
	if (r)
		tool_error("ctl", "%s: no index can be made of it: %s", path,
			r == -ESTALE ? "the file is another one now than was loaded" :
			r == -ENOEXEC ? "not an x86-64 ELF file" : strerror(-r));
	return r ? NULL : kept;
}

/* ---- those of a process ---- */

/* Without those that have such flags. */
static void each_object(
	const struct ctl_process *process, uint32_t without, ctl_object_function *function, void *context)
{
	uint64_t next = 0;

	if (!ctl_read(process, ctl_at(process->block.loads), &next, sizeof(next)))
		return;
	for (unsigned n = 0; next && n < MOST_LISTED; n++) {
		struct load load;
		struct object object;
		if (!ctl_read(process, next, &load, sizeof(load)) || load.magic != LOAD_MAGIC)
			break;
		if (load.state == LOAD_OPEN && ctl_read(process, ctl_at(load.object), &object, sizeof(object)) &&
			!(object.flags & without))
			function(context, process, &object, &load);
		next = ctl_at(load.next);
	}
}

void ctl_each_object(const struct ctl_process *process, ctl_object_function *function, void *context)
{
	/* The vDSO is no file, and nothing of ld.so is traced. */
	each_object(process, TRACE_OBJECT_VDSO | TRACE_OBJECT_LOADER, function, context);
}

bool ctl_indexes_have(const struct ctl_indexes *indexes, uint32_t object)
{
	for (size_t i = 0; i < indexes->count; i++)
		if (indexes->index[i].object == object)
			return true;
	return false;
}

void ctl_indexes_add(struct ctl_indexes *indexes, uint32_t object, const void *bytes, size_t size)
{
	indexes->index = memory_resize(indexes->index, indexes->count + 1, sizeof(*indexes->index));
	indexes->index[indexes->count++] = (struct ctl_index){ .object = object, .bytes = bytes, .size = size };
}

struct wanted_indexes {
	struct ctl_indexes *indexes;
	char *const *rule;
	size_t rules;
};

static void add(void *context, const struct ctl_process *process, const struct object *object, const struct load *load)
{
	const struct wanted_indexes *wanted = context;
	char *path, *soname;
	const struct kept *kept;

	/* Of several loads, one is enough. */
	if (object->index.head || ctl_indexes_have(wanted->indexes, object->number))
		return;
	path = ctl_text(process, ctl_at(object->path));
	soname = object->soname ? ctl_text(process, ctl_at(object->soname)) : NULL;
	if (path && is_named(wanted->rule, wanted->rules, path, soname) &&
		(kept = find(process, object, load->start, path)))
		ctl_indexes_add(wanted->indexes, object->number, kept->made.bytes, kept->made.size);
	free(path);
	free(soname);
}

void ctl_indexes_find(
	struct ctl_indexes *indexes, const struct ctl_process *process, char *const *rule, size_t rules)
{
	struct wanted_indexes wanted = { indexes, rule, rules };
	const char *library;
	unsigned kinds = 0;

	*indexes = (struct ctl_indexes){ 0 };
	for (size_t i = 0; i < rules; i++)
		kinds |= ctl_rule_kinds(rule[i], &library);
	if (kinds & kinds_with(KIND_BY_INDEX))
		ctl_each_object(process, add, &wanted);
}

static void keep(void *context, const struct ctl_process *process, const struct object *object, const struct load *load)
{
	char *path = ctl_text(process, ctl_at(object->path));

	(void)context;
	if (path)
		find(process, object, load->start, path);
	free(path);
}

/* The module is in no list. Its file is what is mapped where its code is. */
static void keep_modules(const struct ctl_process *process)
{
	const struct ctl_mapping *mapping = ctl_mapping(process, ctl_at(process->block.entry));
	char *path = mapping ? memory_format("/proc/%d/root%s", (int)process->pid, mapping->path) : NULL;
	int fd = path && *mapping->path == '/' ? own_open(path) : -1;
	struct image_name name;

	if (fd >= 0 && !image_identify(fd, &name)) {
		struct object object = { .dev = name.identity.device, .ino = name.identity.inode,
			.size = name.identity.size, .mtime_ns = name.identity.modified,
			.ctime_ns = name.identity.changed, .build_id_len = name.identity.build_id_len };
		memcpy(object.build_id, name.identity.build_id, sizeof(name.identity.build_id));
		find(process, &object, mapping->start, mapping->path);
		free(name.soname);
	}
	if (fd >= 0)
		close(fd);
	free(path);
}

/* Constructors and destructors are called by ld.so, and handlers of signals in the middle of the module. */
void ctl_indexes_keep(const struct ctl_process *process)
{
	each_object(process, TRACE_OBJECT_VDSO, keep, NULL);
	keep_modules(process);
}

void ctl_indexes_free(struct ctl_indexes *indexes)
{
	free(indexes->index);
	*indexes = (struct ctl_indexes){ 0 };
}

int ctl_indexes_give(const struct ctl_indexes *indexes, struct ctl_world *world, struct control_request *request)
{
	struct control_request room = { .op = CONTROL_ROOM };
	struct control_index *list;
	uint64_t end = indexes->count * sizeof(*list);
	int r;

	request->argument = 0;
	if (!indexes->count)
		return 0;
	list = memory_zeroed(indexes->count, sizeof(*list));
	for (size_t i = 0; i < indexes->count; i++) {
		end = (end + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
		list[i] = (struct control_index){ .object = indexes->index[i].object, .offset = end,
			.size = indexes->index[i].size };
		end += indexes->index[i].size;
	}
	room.argument = end;
	r = ctl_call(world, &room);
	if (r == 0 && room.error == -EAGAIN)
		r = -EAGAIN;
	/* Without them the module says what it lacks. */
	bool good = r == 0 && room.error == 0 &&
		    ctl_write(world->process, room.room, list, indexes->count * sizeof(*list));
	for (size_t i = 0; good && i < indexes->count; i++)
		good = ctl_write(world->process, room.room + list[i].offset, indexes->index[i].bytes, list[i].size);
	if (good)
		request->argument = indexes->count;
	free(list);
	return r;
}
