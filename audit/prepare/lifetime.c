/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/prepare/lifetime.h"

#include <errno.h>    /* ENOMEM */
#include <stdbool.h>
#include <string.h>   /* memcpy */
#include <sys/stat.h> /* struct stat */

#include "audit/bind/symbol.h"
#include "audit/live/announce.h"
#include "audit/live/backtraces.h"
#include "audit/live/retired.h"
#include "audit/live/values.h"
#include "audit/live/xray.h"
#include "audit/prepare/copies.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "x86_64/confined.h"
#include "x86_64/mirror.h"
#include "x86_64/sys.h"

static struct arena memory; /* objects and loads: for the life of the process */
static uint32_t last_load;

/* ---- identities ---- */

/* Absolute path of what ld.so calls name. */
static const char *absolute(const char *name, uint32_t flags)
{
	char buffer[4096];
	size_t length = 0;

	if (flags & TRACE_OBJECT_PROGRAM && object_program)
		return object_program;
	if (flags & TRACE_OBJECT_PROGRAM) {
		long n = sys_call(__NR_readlink, (long)"/proc/self/exe", (long)buffer, sizeof(buffer), 0, 0, 0);
		if (n > 0)
			return arena_string(&memory, buffer, (size_t)n);
	}
	if (*name == '/' || flags & TRACE_OBJECT_VDSO || !strchr(name, '/'))
		return arena_string(&memory, name, strlen(name));
	/* The kernel counts the NUL; what is not below the root does not begin with a slash. */
	if (sys_call(__NR_getcwd, (long)buffer, sizeof(buffer), 0, 0, 0, 0) > 0 && *buffer == '/')
		length = strlen(buffer);
	if (length + 1 + strlen(name) + 1 > sizeof(buffer))
		return arena_string(&memory, name, strlen(name));
	buffer[length++] = '/';
	memcpy(buffer + length, name, strlen(name));
	return arena_string(&memory, buffer, length + strlen(name));
}

static bool same_file(const struct object *a, const struct object *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

/* Is it the name by which a descriptor's file is opened once more, such as /proc/self/fd/3? */
static bool names_descriptor(const char *name)
{
	const char *base = strrchr(name, '/');

	if (!base || !base[1] || base - name < 7 || memcmp(base - 3, "/fd", 3) != 0)
		return false;
	for (const char *p = base + 1; *p; p++)
		if (*p < '0' || *p > '9')
			return false;
	return !memcmp(name, "/proc/", 6) || (base - name == 7 && !memcmp(name, "/dev", 4));
}

/*
 * The number of a descriptor says nothing, and may be another file's soon: the link's target is the object's name,
 * "/memfd:NAME (deleted)" where it is in memory alone. That can't be opened, the descriptor can, while it is there.
 */
static void take_target(struct object *object)
{
	char target[4096];
	long n = sys_call(__NR_readlink, (long)object->path, (long)target, sizeof(target), 0, 0, 0);
	const char *path = n > 0 && (size_t)n < sizeof(target) ? arena_string(&memory, target, (size_t)n) : NULL;
	struct object named = { .path = path };

	if (!path)
		return;
	object->file = object->path;
	object->path = path;
	if (object_stat(&named) && object_stat(object) && same_file(&named, object))
		object->file = NULL;
}

static bool same_bytes(int a, int b)
{
	static char bytes[2][16384] SYS_LARGE; /* the lock guards it */
	long n, m;

	/* For regular files a short read means the end. */
	do {
		n = sys_read(a, bytes[0], sizeof(bytes[0]));
		m = sys_read(b, bytes[1], sizeof(bytes[1]));
	} while (n > 0 && n == m && !memcmp(bytes[0], bytes[1], (size_t)n));
	return !n && !m;
}

/*
 * Any file can be given any build-id (--build-id=0x...), and stripped or edited copies keep it. If the file that was
 * seen first is still there, comparing the bytes tells whether this is a copy of it.
 */
static bool same_content(const struct object *known, const struct object *candidate)
{
	struct object now = *known;

	if (known->size != candidate->size || known->print != candidate->print)
		return false;
	if (same_file(known, candidate) || !object_stat(&now) || !same_file(&now, known))
		return true;
	long a = sys_open(object_file(known), O_RDONLY | O_NONBLOCK, 0),
	     b = sys_open(object_file(candidate), O_RDONLY | O_NONBLOCK, 0);
	int same = a < 0 || b < 0 || same_bytes((int)a, (int)b);
	if (a >= 0)
		sys_close((int)a);
	if (b >= 0)
		sys_close((int)b);
	return same;
}

static bool same_identity(const struct object *known, const struct object *candidate)
{
	if (known->section != candidate->section || known->flags != candidate->flags ||
		known->build_id_len != candidate->build_id_len)
		return false;
	if (known->build_id_len)
		return !memcmp(known->build_id, candidate->build_id, known->build_id_len) &&
		       same_content(known, candidate);
	if (!known->ino)
		return !strcmp(known->path, candidate->path);
	return same_file(known, candidate);
}

static struct object *identify(
	const struct link_map *map, const struct image *image, const struct rules *rules, uint32_t flags)
{
	const struct arena before = memory;
	struct object candidate = { .flags = flags, .by_loader = flags & TRACE_OBJECT_PROGRAM && object_program };
	const char *soname = image->soname;

	candidate.path = absolute(map->l_name, flags);
	if (!candidate.path)
		return NULL;
	if (names_descriptor(candidate.path))
		take_target(&candidate);
	if (!(flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO)))
		candidate.section = rules_for(rules, candidate.path, soname, (flags & TRACE_OBJECT_PROGRAM) != 0);
	if (image->build_id) {
		candidate.build_id_len = image->build_id_len;
		memcpy(candidate.build_id, image->build_id, image->build_id_len);
	}
	if (!(flags & TRACE_OBJECT_VDSO))
		object_stat(&candidate);
	candidate.print = image_print(image, map);
	for (struct object *o = objects; o; o = o->next) {
		if (same_identity(o, &candidate)) {
			if (memory.blocks == before.blocks && before.next) {
				sys_fill((void *)before.next, 0, memory.next - before.next); /* the path's copy */
				memory = before;
			}
			return o;
		}
	}
	struct object *object = arena_alloc(&memory, sizeof(*object));
	if (!object)
		return NULL;
	*object = candidate;
	object->soname = soname ? arena_string(&memory, soname, strlen(soname)) : NULL;
	object->number = ++object_count;
	object->next = objects;
	objects = object;
	return object;
}

/* ---- loads ---- */

static struct load *new_load(void)
{
	struct load *load;

	for (load = loads; load; load = load->next)
		if (load->state == LOAD_FREE)
			return load;
	load = arena_alloc(&memory, sizeof(*load));
	if (load) {
		load->magic = LOAD_MAGIC;
		load->next = loads;
		/* Release; pairs with the acquire in object_load(). */
		__atomic_store_n(&loads, load, __ATOMIC_RELEASE);
	}
	return load;
}

struct load *object_open(const struct link_map *map, int64_t namespace, const struct image *image,
	const struct rules *rules, uint32_t flags)
{
	struct process_held held;
	struct load *load = NULL;

	process_lock(&held);
	object_rules = rules;
	epoch_reclaim(); /* before we look for a free load */
	uint32_t known = object_count;
	struct object *object = identify(map, image, rules, flags);
	if (object && (load = new_load())) {
		load->object = object;
		load->number = ++last_load;
		load->tid = thread_number();
		load->clock = clock_now();
		load->base = image->base;
		load->start = image->start;
		load->end = image->end;
		load->namespace = namespace;
		load->map = map;
		load->unwinder_checked = 0;
		/* Until prepare() is done. */
		load->preparing = flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO) ? 0 : process_serial();
		load->textrel = image->textrel;
		load->pinned = 0;
		load->closes = 0;
		load->asked = load->unbound = load->known = 0;
		load->ahead = 0;
		load->waiting = 0;
		load->phdr = image->phdr;
		load->phnum = image->phnum;
		load->place.segments = 0;
		load->hidden = 0;
		copies_look(load);
		/* its only partner is a child that is forked meanwhile: it finds the load complete, or not open */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		load->state = LOAD_OPEN;
		values_loads_changed(object);
		if (object->number > known)
			announce_object(object);
		announce_load(load);
	}
	process_unlock(&held);
	return load;
}

struct load *object_own(void)
{
	static struct object object;
	static struct load load;
	struct image image;

	if (load.object || !image_read_own(&image))
		return load.object ? &load : NULL;
	object.build_id_len = image.build_id_len;
	if (image.build_id)
		memcpy(object.build_id, image.build_id, image.build_id_len);
	load = (struct load){ .object = &object, .base = image.base, .start = image.start, .end = image.end,
		.phdr = image.phdr, .phnum = image.phnum };
	return &load;
}

struct load *object_load(uintptr_t cookie)
{
	/*
	 * The list only grows, and at its head: a walk without the lock meets whole nodes. Acquire; pairs with the
	 * release in new_load().
	 */
	for (struct load *load = __atomic_load_n(&loads, __ATOMIC_ACQUIRE); load; load = load->next)
		if ((uintptr_t)load == cookie)
			return load->magic == LOAD_MAGIC && load->state != LOAD_FREE && load->state != LOAD_RETIRED
				       ? load
				       : NULL;
	return NULL;
}

void object_close(struct load *load)
{
	struct process_held held;
	struct trace_unload record = { .head = { .type = TRACE_REC_UNLOAD }, .load = load->number };

	process_lock(&held);
	if (load->state == LOAD_OPEN) {
		load->state = LOAD_CLOSED;
		values_loads_changed(load->object);
		xray_closed(load);
		record.tid = thread_number();
		record.clock = clock_now();
		process_append(&record.head, sizeof(record), NULL, 0);
	}
	epoch_reclaim();
	process_unlock(&held);
}

void object_doom(void)
{
	struct process_held held;

	process_lock(&held);
	for (struct load *load = loads; load; load = load->next)
		if (load->state == LOAD_CLOSED)
			load->state = LOAD_DOOMED;
	process_unlock(&held);
}

/*
 * The load's text is gone, so no thread can be in its stubs (stub.h), or come there: objects that could call it were
 * bound to it and are gone too.
 */
static void retire(struct load *load)
{
	load->state = LOAD_RETIRED;
	backtraces_close(load);
	values_loads_changed(load->object);
	epoch_defer(&load->retired, retired_free);
}

static bool is_unmapped(const struct load *load)
{
	unsigned char resident;

	/* A filter of system calls that lets libraries be closed need not know more than that. */
	if (confined())
		return !mirror_is_readable(load->start);
	return sys_call(__NR_mincore, (long)load->start, 4096, (long)&resident, 0, 0, 0) == -ENOMEM;
}

static bool is_open_again(const struct load *load)
{
	for (const struct load *l = loads; l; l = l->next)
		if (l != load && l->state == LOAD_OPEN && l->map == load->map)
			return true;
	return false;
}

/*
 * Does ld.so still know the load? When the process exits, ld.so closes one namespace after another, with the same
 * callbacks as for dlclose, and unmaps nothing: threads go on running there. ld.so's lock is held.
 */
static bool is_loaded(const struct load *load)
{
	const struct link_map *map;

	return !symbol_owner((const void *)(uintptr_t)load->start, &map) || (map == load->map && !is_open_again(load));
}

void object_retire(void)
{
	struct process_held held;
	struct load *gone = NULL;

	/* A newer glibc reports LA_ACT_DELETE before some objects are closed; for these only the missing text tells. */
	for (struct load *load = loads; load; load = load->next) {
		if (load->state != LOAD_DOOMED && load->state != LOAD_CLOSED)
			continue;
		if (is_unmapped(load) || (load->state == LOAD_DOOMED && !is_loaded(load))) {
			load->gone = gone;
			gone = load;
		}
	}
	process_lock(&held);
	for (struct load *load = gone; load; load = load->gone)
		retire(load);
	epoch_reclaim();
	process_unlock(&held);
}
