/* SPDX-License-Identifier: MIT */
/* From trampolines to handlers: what an event is. */
#include "runtime/handlers/events.h"

#include <stdbool.h>
#include <sys/mman.h> /* PROT_READ */

#include "format/trace.h"
#include "runtime/calls/calls_ends.h"
#include "runtime/calls/calls_stack.h"
#include "runtime/handlers/objects.h"
#include "runtime/handlers/state.h"
#include "x86_64/labels.h"
#include "x86_64/sys.h"
#include "x86_64/vectors.h"
#include "x86_64/xsave.h"

int handlers_vector(const struct handlers_event *event, unsigned n, uint8_t value[64])
{
	return vectors_read(event->vectors, n, value);
}

/*
 * These run between two readings of the clock, which hide some 40 stores and 100 instructions on AMD; each further one
 * costs time. So all is inlined but code that is seldom needed, and little is kept over the handler's call.
 */
#define ALWAYS inline __attribute__((always_inline))
#define SELDOM(condition) __builtin_expect((condition) != 0, 0)

/* Changes when the thread makes events, or forks. Addresses have 47 bits. */
static ALWAYS uint64_t state_of(const struct thread *thread)
{
	return thread->hot.cursor ^ thread->next_chunk << 48;
}

/*
 * The frame of an event's section in the epoch lies this far below the event's slot: within the words that the
 * trampolines push, whose frames differ a little, and above all frames of the handler.
 */
#define SECTION_BELOW 192

static ALWAYS struct handlers_told describe(struct thread *thread, uint32_t word, uint64_t address, uint64_t caller,
	uint64_t clock, const struct tramp_registers *registers, bool is_xray)
{
	/* Field by field: the compiler would clear the whole by rep stos, which takes longer than all the rest. */
	struct handlers_told told;

	told.event.id = word & TRACE_ID_MASK;
	told.event.object = handlers_object(thread, told.event.id);
	told.event.address = address;
	told.event.caller = caller;
	told.event.clock = clock;
	told.event.registers = registers;
	told.event.data = NULL;
	told.event.data_size = told.event.data_type = 0;
	told.is_xray = is_xray;
	return told;
}

/*
 * Tells entry and arguments. A quick handler's time counts as the function's; another handler's does not: then the
 * event gets a clock of its own.
 */
static ALWAYS uint32_t tell_entry(struct thread *thread, uint64_t slot, struct handlers_event *event)
{
	uint32_t slow = 0;

	if (handlers_is_set(HANDLERS_ENTRY))
		slow = handlers_deliver(thread, HANDLERS_ENTRY, event, slot - SECTION_BELOW);
	if (handlers_is_set(HANDLERS_ARGUMENTS))
		slow |= handlers_deliver(thread, HANDLERS_ARGUMENTS, event, slot - SECTION_BELOW);
	return slow;
}

static ALWAYS int holds_label(const uint64_t *s)
{
	return labels_is_any(*s);
}

static inline bool lies_on(const struct tramp_stack *stack, uint64_t slot)
{
	return stack && slot - stack->low < stack->size;
}

/*
 * Is the stack known, without calls that have to be ended before an event at this slot? The trampolines test the same.
 */
static inline bool is_settled(const struct thread *thread, uint64_t slot)
{
	const struct tramp_stack *stack = thread->hot.stack;

	return lies_on(stack, slot) && stack->top > slot;
}

/*
 * Ends calls below the slot first, so that handlers are told of that in the order of the trace. Returns the stack or
 * NULL.
 */
static struct stack *settle(struct thread *thread, uint64_t slot, uint64_t dead)
{
	struct stack *stack = calls_stack(thread, slot);

	return stack ? calls_settle(thread, stack, dead) : NULL;
}

/*
 * An entry that is not just one more call: the slot holds our label, so the call there has ended by a jump to this
 * function, or calls have to be ended first. is_intercepted: the end of this call will be seen. Returns its caller.
 */
static __attribute__((noinline)) uint64_t settle_enter(
	struct thread *thread, const uint64_t *s, uint64_t clock, struct tramp_registers *r, int is_intercepted)
{
	uint64_t slot = (uint64_t)(uintptr_t)s;
	int taken_over = holds_label(s);
	const struct stack *stack = settle(thread, slot, taken_over ? slot - 8 : slot);

	if (!taken_over)
		return *s;
	const struct mirror_entry entry = *mirror_entry(slot);
	if (is_intercepted && handlers_is_set(HANDLERS_TAIL) && stack &&
		(stack->hot.top == slot || tramp_slow_leave(slot) == TRAMP_AGAIN)) {
		struct handlers_told told = describe(thread, entry.word, 0, entry.address, clock, r, false);
		handlers_deliver(thread, HANDLERS_TAIL, &told.event, slot - SECTION_BELOW);
	}
	return entry.address;
}

/* frame: 0 r11, 1 r10, 2 rdx, 3 rcx, 4 rax, 5 body, 6 word, 7 return address (slot S). */
static ALWAYS uint32_t enter(struct tramp_registers *r, const uint64_t *frame, uint64_t clock, int is_intercepted)
{
	struct thread *thread = thread_self();
	uint64_t slot = (uint64_t)(uintptr_t)(frame + 7), caller = frame[7];

	if (SELDOM(!thread) && !(thread = thread_get()))
		return 1;
	const uint64_t state = state_of(thread);
	r->rsp = slot;
	if (SELDOM(!is_settled(thread, slot)) || SELDOM(holds_label(frame + 7))) {
		if (thread_is_stranger(thread, slot))
			return 1;
		caller = settle_enter(thread, frame + 7, clock, r, is_intercepted);
	}
	struct handlers_told told = describe(thread, (uint32_t)frame[6], frame[5], caller, clock, r, false);
	uint32_t slow = tell_entry(thread, slot, &told.event);
	return slow | (state != state_of(thread));
}

uint32_t tramp_handle_enter(struct tramp_registers *r, const uint64_t *frame, uint64_t clock)
{
	return enter(r, frame, clock, 1);
}

uint32_t tramp_handle_point(struct tramp_registers *r, const uint64_t *frame, uint64_t clock)
{
	return enter(r, frame, clock, 0);
}

/* frame: 7 word, 8 RESUME, 25 the function's stack pointer. There an XRay call may be kept in the word below. */
uint32_t tramp_handle_probe(struct tramp_registers *r, const uint64_t *frame, uint64_t clock)
{
	struct thread *thread = thread_self();
	const uint64_t sp = (uint64_t)(uintptr_t)(frame + 25);

	if (SELDOM(!thread) && !(thread = thread_get()))
		return 1;
	const uint64_t state = state_of(thread);
	r->rsp = sp;
	if (SELDOM(!is_settled(thread, sp - 16))) {
		if (thread_is_stranger(thread, sp - 8))
			return 1;
		settle(thread, sp - 8, sp - 16);
	}
	struct handlers_told told = describe(thread, (uint32_t)frame[7], frame[8] - 1, 0, clock, r, false);
	uint32_t slow = handlers_deliver(thread, HANDLERS_PROBE, &told.event, sp - 8 - SECTION_BELOW);
	return slow | (state != state_of(thread));
}

/* An end. Its event keeps the clock from before the handler, unless that raised events. */
static ALWAYS uint32_t leave(enum handlers_type type, uint32_t word, uint64_t caller, uint64_t slot, uint64_t clock,
	struct tramp_registers *r, bool is_xray)
{
	struct thread *thread = thread_self();

	if ((SELDOM(!thread) && !(thread = thread_get())) || !handlers_is_set(type))
		return 0;
	if (SELDOM(!lies_on(thread->hot.stack, slot)) && thread_is_stranger(thread, slot))
		return 0;
	const uint64_t state = state_of(thread);
	struct handlers_told told = describe(thread, word, 0, caller, clock, r, is_xray);
	handlers_deliver(thread, type, &told.event, slot - SECTION_BELOW);
	return state != state_of(thread);
}

/* frame: 0 r11, 1 r10, 2 rdx, 3 rcx, 4 rax, 5 slot S. */
uint32_t tramp_handle_leave(struct tramp_registers *r, const uint64_t *frame, uint64_t clock)
{
	uint64_t slot = (uint64_t)(uintptr_t)(frame + 5);
	const struct mirror_entry *entry = mirror_entry(slot);

	r->rsp = slot + 8;
	return leave(HANDLERS_EXIT, entry->word, entry->address, slot, clock, r, false);
}

/* Ends the calls at X and above it that the entry of an XRay function finds dead; see tramp_slow_enter_xray(). */
static __attribute__((noinline)) void settle_xray(struct thread *thread, uint64_t x)
{
	struct stack *stack = settle(thread, x, x);

	if (stack && stack->hot.top == x + 8 && !holds_label((const uint64_t *)(uintptr_t)(x + 8)))
		calls_unwind(thread, stack, x + 8);
}

/* The address that the call in slot S returns to. */
static ALWAYS uint64_t caller_at(const uint64_t *s)
{
	return SELDOM(holds_label(s)) ? mirror_entry((uint64_t)(uintptr_t)s)->address : *s;
}

/* frame: 0 r11, 1 rdx, 2 rcx, 3 rax, 4 return to the sled (word X), 5 return address (slot S). */
uint32_t tramp_handle_xray_enter(struct tramp_registers *r, const uint64_t *frame, uint64_t clock, uint64_t word)
{
	struct thread *thread = thread_self();
	uint64_t x = (uint64_t)(uintptr_t)(frame + 4);

	if (SELDOM(!thread) && !(thread = thread_get()))
		return 1;
	const uint64_t state = state_of(thread);
	r->rsp = x + 8;
	if (SELDOM(!is_settled(thread, x)) || SELDOM(thread->hot.stack->top == x + 8)) {
		if (thread_is_stranger(thread, x))
			return 1;
		settle_xray(thread, x);
	}
	struct handlers_told told = describe(thread, (uint32_t)word, frame[4], caller_at(frame + 5), clock, r, true);
	uint32_t slow = tell_entry(thread, x + 8, &told.event);
	return slow | (state != state_of(thread));
}

/* frame: as of tramp_handle_xray_enter(), but slot S at 4. */
uint32_t tramp_handle_xray_exit(struct tramp_registers *r, const uint64_t *frame, uint64_t clock, uint64_t word)
{
	r->rsp = (uint64_t)(uintptr_t)(frame + 4);
	return leave(HANDLERS_EXIT, (uint32_t)(word >> 32), caller_at(frame + 4), r->rsp, clock, r, true);
}

/* frame: as of tramp_handle_xray_enter(): the return to the sled at 4, slot S at 5. */
uint32_t tramp_handle_xray_tail(struct tramp_registers *r, const uint64_t *frame, uint64_t clock, uint64_t word)
{
	r->rsp = (uint64_t)(uintptr_t)(frame + 5);
	return leave(HANDLERS_TAIL, (uint32_t)(word >> 32), caller_at(frame + 5), r->rsp, clock, r, true);
}
