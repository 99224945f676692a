/* SPDX-License-Identifier: MIT */
#include "audit/live/ctl_index.h"

#include <errno.h>    /* EINVAL */
#include <sys/mman.h> /* PROT_READ */

#include "audit/live/entry.h"
#include "audit/live/probe_take.h"
#include "audit/live/values.h"
#include "audit/model/object.h"
#include "runtime/control.h"
#include "x86_64/sys.h"

#define MOST (4ull << 30) /* bytes */

static struct {
	uint8_t *start; /* NULL: none */
	uint64_t size;
} room;

static void drop(void)
{
	if (room.start)
		sys_munmap(room.start, room.size);
	room.start = NULL;
}

int ctl_index_make(uint64_t size, uint64_t *address)
{
	drop();
	if (!size || size > MOST)
		return -EINVAL;
	void *p = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(p))
		return (int)(intptr_t)p;
	room.start = p;
	room.size = size;
	*address = (uint64_t)(uintptr_t)p;
	return 0;
}

static bool lies_in_room(const struct control_index *from)
{
	return from->offset % 8 == 0 && from->offset <= room.size && from->size <= room.size - from->offset;
}

/* The object that a part of the room is for; NULL: there is none, or the part lies elsewhere. */
static struct object *object_of(const struct control_index *from)
{
	struct object *object = objects;

	while (object && object->number != from->object)
		object = object->next;
	return lies_in_room(from) ? object : NULL;
}

/* Returns whether it was taken. */
static int take(const struct control_index *from)
{
	struct object *object = object_of(from);
	struct index index;

	if (!object || object->index.head || index_attach(&index, room.start + from->offset, from->size, NULL))
		return 0;
	struct index_identity identity;
	object_identity(object, &identity);
	return index_same_file(&index.head->identity, &identity) && entry_take(object, &index);
}

/*
 * Nothing of the room changes any more, nor its list, of which nothing is believed but by way of a copy. Returns how
 * many parts it has room for.
 */
static uint64_t close_room(uint64_t count)
{
	uint64_t most = room.start ? room.size / sizeof(struct control_index) : 0;

	if (room.start)
		sys_mprotect(room.start, room.size, PROT_READ);
	return count < most ? count : most;
}

void ctl_index_take(uint64_t count)
{
	const struct control_index *list = (const void *)room.start;
	int taken = 0;

	count = close_room(count);
	for (uint64_t i = 0; i < count; i++)
		taken |= take(&list[i]);
	if (taken)
		room.start = NULL;
	drop();
}

int ctl_index_take_plans(uint64_t count, uint32_t *functions)
{
	const struct control_index *list = (const void *)room.start;
	int r = 0, taken = 0;

	count = close_room(count);
	for (uint64_t i = 0; i < count && !r; i++) {
		const struct control_index from = list[i];
		struct object *object = object_of(&from);
		r = object ? values_add(object, room.start + from.offset, from.size, true, functions) : -EBADMSG;
		taken |= !r;
	}
	if (taken)
		room.start = NULL;
	drop();
	return r;
}

static int take_probes(const struct control_index *from, struct arena *arena, const char **rules)
{
	struct object *object = object_of(from);

	if (object)
		return probe_take_copy(object, room.start + from->offset, from->size, true);
	if (from->object != CONTROL_OBJECT_RULES || !lies_in_room(from))
		return -EBADMSG;
	*rules = arena_string(arena, (const char *)room.start + from->offset, from->size);
	return *rules ? 0 : -ENOMEM;
}

int ctl_index_take_probes(uint64_t count, struct arena *arena, const char **rules)
{
	const struct control_index *list = (const void *)room.start;
	int r = 0;

	count = close_room(count);
	for (uint64_t i = 0; i < count && !r; i++) {
		const struct control_index from = list[i];
		r = take_probes(&from, arena, rules);
	}
	drop();
	return r;
}
