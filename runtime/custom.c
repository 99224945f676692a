/* SPDX-License-Identifier: MIT */
#include "runtime/custom.h"

#include <stdbool.h>

#include "runtime/base/arena.h"
#include "runtime/base/text.h"
#include "runtime/calls/calls_stack.h"
#include "runtime/handlers/handlers.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "runtime/record/recorder.h"
#include "runtime/record/recorder_words.h"
#include "runtime/record/recorder_lost.h"
#include "runtime/values/backtrace.h"
#include "x86_64/contract.h"
#include "x86_64/stub.h"
#include "x86_64/sys.h"

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

/*
 * By number that a typed event sled passes: the type that its event is recorded as, 0: not known yet. A registered
 * type's is its own; for others, which programs make up, a type is made that tells the number by its name. Written with
 * the lock held.
 */
static uint16_t passed[1 << 16] SYS_LARGE;

uint32_t custom_types(void)
{
	/* Acquire; pairs with the release in find_or_add(). */
	const struct type *newest = __atomic_load_n(&types, __ATOMIC_ACQUIRE);

	return newest ? newest->number - TRACE_TYPE_FIRST + 1 : 0;
}

/* Relaxed: as the trampolines look at it (filter.h). */
static bool are_handled(void)
{
	return __atomic_load_n(&tramp_checks, __ATOMIC_RELAXED) & TRAMP_CHECK_HANDLERS;
}

/* ---- backtraces ---- */

/* Callers, most; 0: events have no backtraces. Written before there are threads. */
static uint32_t most_callers;

void custom_backtraces(uint32_t callers)
{
	most_callers = callers;
}

bool custom_has_backtraces(void)
{
	return most_callers;
}

/* Where the return address of the function lies that this stands in; and what rbp its caller has. */
#define OWN_SLOT ((uint64_t)(uintptr_t)__builtin_frame_address(0) + 8)
#define OWN_RBP	 (*(const uint64_t *)__builtin_frame_address(0))

static __attribute__((noinline)) int record_traced(
	struct backtrace_from from, uint32_t type, const void *data, uint32_t size)
{
	enum thread_caller caller = THREAD_OWN;
	struct thread *thread;
	struct stack *stack;
	uint64_t words[most_callers + 1];
	struct recorder_chain chain = { .word = words, .for_good = true };

	if (!recorder_is_on())
		return -ECANCELED;
	stack = calls_find_own(&thread, from.slot, &caller);
	if (!thread)
		return -ECANCELED;
	/* Another task's event is only counted, as lost. */
	if (caller != THREAD_STRANGER) {
		from.stack_low = from.slot;
		from.stack_high = backtrace_readable(stack, from.slot);
		chain.words = backtrace_walk(thread, &from, most_callers, words, &chain.key, &chain.told);
	}
	return recorder_custom(stack, type, data, size, chain.words ? &chain : NULL);
}

static inline int record(struct backtrace_from from, uint32_t type, const void *data, uint32_t size)
{
	return most_callers ? record_traced(from, type, data, size) : recorder_custom(NULL, type, data, size, NULL);
}

/* ---- events ---- */

#define PROGRAM \
	(struct backtrace_from) { .slot = OWN_SLOT, .rbp = OWN_RBP }

int custom_event(const void *data, size_t size)
{
	if (!size)
		return -EINVAL;
	if (size > TRACE_CUSTOM_MAX)
		return -E2BIG;
	if (are_handled())
		handlers_custom(data, size);
	return record(PROGRAM, TRACE_TYPE_UNTYPED, data, (uint32_t)size);
}

int custom_typed_event(int type, const void *data, size_t size)
{
	if (type < TRACE_TYPE_FIRST || (uint32_t)type - TRACE_TYPE_FIRST >= custom_types())
		return -EINVAL;
	if (size > TRACE_CUSTOM_MAX)
		return -E2BIG;
	if (are_handled())
		handlers_typed((uint64_t)type, data, size);
	return record(PROGRAM, (uint32_t)type, data, (uint32_t)size);
}

int custom_mark(const char *text)
{
	size_t size = sys_length(text);

	return size > TRACE_CUSTOM_MAX ? -E2BIG : record(PROGRAM, TRACE_TYPE_MARK, text, (uint32_t)size);
}

/* ---- requests ---- */

/*
 * An event of requests, which belong to a stack: the one that the thread is on now, whatever it was on when it made its
 * last event; and calls below the frame that asks, as longjmp has left them, are over before. slot: where its return
 * address lies.
 */
static int request_event(uint64_t slot, uint32_t type, const void *data, uint32_t size)
{
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, slot);

	if (stack && stack->hot.top < slot)
		stack = calls_settle(thread, stack, slot - 8);
	return recorder_custom(stack, type, data, size, NULL);
}

int custom_request(const char *text)
{
	size_t size = sys_length(text);

	return size > TRACE_CUSTOM_MAX ? -E2BIG : request_event(OWN_SLOT, TRACE_TYPE_REQUEST, text, (uint32_t)size);
}

int custom_request_number(uint64_t number)
{
	return request_event(OWN_SLOT, TRACE_TYPE_REQUEST_NUMBER, &number, sizeof(number));
}

int custom_request_end(void)
{
	return request_event(OWN_SLOT, TRACE_TYPE_REQUEST_END, "", 0);
}

/* ---- types ---- */

static void describe(const struct type *type)
{
	struct trace_type_name record = {
		.head = { .type = TRACE_REC_EVENT_TYPE }, .type = type->number, .length = type->length
	};

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
	*type = (struct type){
		.next = types, .number = TRACE_TYPE_FIRST + count, .length = (uint32_t)length, .name = copy
	};
	describe(type);
	/* Release; pairs with the acquire in custom_types(). */
	__atomic_store_n(&types, type, __ATOMIC_RELEASE);
	return (int)type->number;
}

static void note_passed(uint32_t number, int type)
{
	/* Relaxed: a number; its readers need nothing else of ours. */
	if (type > 0 && number < sizeof(passed) / sizeof(*passed))
		__atomic_store_n(&passed[number], (uint16_t)type, __ATOMIC_RELAXED);
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
	note_passed((uint32_t)r, r);
	process_unlock(&held);
	return r;
}

/* ---- event sleds ---- */

/* The type for a number; 0: no more can be made. */
static uint32_t type_passed(uint16_t number)
{
	struct process_held held;
	char buffer[16];
	struct text text = { buffer, sizeof(buffer), 0 };
	uint32_t type = __atomic_load_n(&passed[number], __ATOMIC_RELAXED); /* relaxed: as in note_passed() */

	if (type)
		return type;
	text_string(&text, "xray-");
	text_number(&text, number);
	process_lock(&held);
	type = __atomic_load_n(&passed[number], __ATOMIC_RELAXED); /* relaxed, the lock is held */
	if (!type) {
		int r = find_or_add(buffer, text.length);
		note_passed(number, r);
		type = r > 0 ? (uint32_t)r : 0;
	}
	process_unlock(&held);
	return type;
}

static void lose(void)
{
	struct thread *thread = thread_get();

	if (thread)
		recorder_lose(thread, TRACE_LOST_CUSTOM);
}

static void lose_long(uint32_t size)
{
	static int said;
	struct process_held held;
	char buffer[80];
	struct text text = { buffer, sizeof(buffer), 0 };

	lose();
	/* Relaxed: it orders nothing. */
	if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		return;
	text_string(&text, "an event of ");
	text_number(&text, size);
	text_string(&text, " bytes is longer than 4096: such events are lost");
	process_lock(&held);
	process_say(buffer);
	process_unlock(&held);
}
_Static_assert(TRACE_CUSTOM_MAX == 4096, "the message says so");

/*
 * Who made the event: the function with the sled, whose address behind that lies where the trampoline has it, above as
 * many arguments (tramp_event.S). frame: the trampoline's rbp.
 */
static struct backtrace_from behind_sled(uint64_t frame, uint32_t arguments)
{
	return (struct backtrace_from){ .slot = frame + 24 + 8 * arguments,
		.rbp = *(const uint64_t *)(uintptr_t)frame,
		.gap = STUB_RED_ZONE };
}

void tramp_custom_event(const void *data, uint64_t passed_size)
{
	uint32_t size = (uint32_t)passed_size;

	if (are_handled())
		handlers_custom(data, size);
	if (size > TRACE_CUSTOM_MAX)
		lose_long(size);
	else if (size)
		record(behind_sled(OWN_RBP, 2), TRACE_TYPE_UNTYPED, data, size);
}

void tramp_typed_event(uint64_t passed_type, const void *data, uint64_t passed_size)
{
	uint16_t number = (uint16_t)passed_type;
	uint32_t size = (uint32_t)passed_size;

	if (are_handled())
		handlers_typed(number, data, size);
	if (size > TRACE_CUSTOM_MAX) {
		lose_long(size);
		return;
	}
	uint32_t type = type_passed(number);
	if (type)
		record(behind_sled(OWN_RBP, 3), type, data, size);
	else
		lose();
}
