/* SPDX-License-Identifier: MIT */
#include "runtime/custom.h"

#include "runtime/arena.h"
#include "runtime/handlers.h"
#include "runtime/process.h"
#include "runtime/recorder.h"
#include "runtime/sys.h"
#include "x86_64/tramp.h"

#define MAX_TYPES 60000
#define MAX_NAME  255

/*
 * Newest first, numbers without a gap. Written with the process lock held, each change by one store: a child that
 * is forked meanwhile finds it whole.
 */
struct type {
	const struct type *next;
	uint32_t number;
	uint32_t length;
	const char *name;
};

static const struct type *types;
static struct arena memory;

uint32_t custom_types(void)
{
	/* Acquire; pairs with the release in find_or_add(). */
	const struct type *newest = __atomic_load_n(&types, __ATOMIC_ACQUIRE);

	return newest ? newest->number - TRACE_TYPE_FIRST + 1 : 0;
}

/* Relaxed: as the trampolines look at it (filter.h). */
static int are_handled(void)
{
	return __atomic_load_n(&tramp_checks, __ATOMIC_RELAXED) & TRAMP_CHECK_HANDLERS;
}

int custom_event(const void *data, size_t size)
{
	if (!size)
		return -EINVAL;
	if (size > TRACE_CUSTOM_MAX)
		return -E2BIG;
	if (are_handled())
		handlers_custom(data, size);
	return recorder_custom(TRACE_TYPE_UNTYPED, data, (uint32_t)size);
}

int custom_typed_event(int type, const void *data, size_t size)
{
	if (type < TRACE_TYPE_FIRST || (uint32_t)type - TRACE_TYPE_FIRST >= custom_types())
		return -EINVAL;
	if (size > TRACE_CUSTOM_MAX)
		return -E2BIG;
	if (are_handled())
		handlers_typed((uint64_t)type, data, size);
	return recorder_custom((uint32_t)type, data, (uint32_t)size);
}

int custom_mark(const char *text)
{
	size_t size = sys_length(text);

	return size > TRACE_CUSTOM_MAX ? -E2BIG : recorder_custom(TRACE_TYPE_MARK, text, (uint32_t)size);
}

static void describe(const struct type *type)
{
	struct trace_type_name record = { .head = { .type = TRACE_REC_EVENT_TYPE }, .type = type->number, .length = type->length };

	process_append(&record.head, sizeof(record), type->name, type->length);
}

void custom_describe(void)
{
	for (const struct type *type = types; type; type = type->next)
		describe(type);
}

/* Lock held. Returns its number, or -errno. */
static int find_or_add(const char *name, size_t length)
{
	for (const struct type *type = types; type; type = type->next)
		if (type->length == length && sys_same(type->name, name, length))
			return (int)type->number;
	uint32_t count = custom_types();
	if (count == MAX_TYPES)
		return -ENOSPC;
	struct type *type = arena_alloc(&memory, sizeof(*type));
	const char *copy = type ? arena_string(&memory, name, length) : NULL;
	if (!copy)
		return -ENOMEM;
	*type = (struct type){ .next = types, .number = TRACE_TYPE_FIRST + count, .length = (uint32_t)length, .name = copy };
	describe(type);
	/* Release; pairs with the acquire in custom_types(). */
	__atomic_store_n(&types, type, __ATOMIC_RELEASE);
	return (int)type->number;
}

int custom_register_type(const char *name)
{
	struct process_held held;
	size_t length = 0;

	for (; name[length]; length++) {
		if ((unsigned char)name[length] < ' ' || name[length] == 0x7f)
			return -EINVAL;
		if (length == MAX_NAME)
			return -ENAMETOOLONG;
	}
	if (!length)
		return -EINVAL;
	process_lock(&held);
	int r = find_or_add(name, length);
	process_unlock(&held);
	return r;
}
