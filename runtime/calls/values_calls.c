/* SPDX-License-Identifier: MIT */
#include "runtime/calls/values_calls.h"

#include "runtime/base/identity.h"
#include "runtime/calls/calls_stack.h"
#include "runtime/process/clock.h"
#include "runtime/process/process_counters.h"
#include "runtime/record/dispatch.h"
#include "runtime/record/filter.h"
#include "runtime/record/recorder_words.h"
#include "runtime/values/backtrace.h"
#include "runtime/values/evaluate.h"
#include "runtime/values/plans.h"
#include "runtime/values/side.h"
#include "x86_64/contract.h"
#include "x86_64/cpu.h"
#include "x86_64/sys.h"
#include "x86_64/vectors.h"
#include "x86_64/xsave.h"

int64_t values_errno;

#define CALLS_MOST 10000 /* open calls that are counted */

/*
 * Words for what is written of one end of a call: what values_evaluate() tells, in the last byte of the first word,
 * then the payload. No more than that code needs: handlers of signals may have stacks of 2 kB.
 */
#define WORDS(part) (2 + ((part)->code ? (part)->facts.most : 0) / 8)

/* Open calls at the slot and above it. */
static uint32_t count_calls(const struct stack *stack, uint64_t slot)
{
	uint32_t calls = 0;

	for (uint64_t at = stack->hot.top, outer; stack_has(stack, at) && calls < CALLS_MOST; at = outer) {
		calls += at >= slot;
		outer = at + 8ull * mirror_entry(at)->link;
		if (outer <= at)
			break;
	}
	return calls;
}

/* caller: the slot of the return address. */
static void describe(struct values_call *call, const struct values_part *part, const struct values_set *set,
	struct stack *stack, const struct tramp_registers *registers, uint64_t caller, uint64_t floats[8])
{
	const struct values_place *place = values_place(set);

	call->registers = registers;
	call->floats = NULL;
	if (part->facts.floats) {
		vectors_low(floats);
		call->floats = floats;
	}
	call->arguments = caller + 8;
	call->stack_low = registers->rsp;
	call->stack_high = part->facts.memory ? backtrace_readable(stack, caller) : 0;
	call->segment = place ? place->segment : NULL;
	call->segments = place ? place->segments : 0;
	call->copy = place ? place->copy : NULL;
	call->copies = place ? place->copies : 0;
	call->base = place ? place->base : 0;
	call->has_base = place;
	call->calls = part->facts.calls ? count_calls(stack, 0) : 0;
	call->unconditional = false;
	call->walk = NULL;
	/* Relaxed: it is 0 until it is known. */
	int64_t distance = __atomic_load_n(&values_errno, __ATOMIC_RELAXED);
	call->errno_at = distance ? cpu_thread() + (uint64_t)distance : 0;
}

/* A call whose backtrace is recorded, and the chain. */
struct traced {
	struct values_call call; /* first: walk() gets it */
	struct thread *thread;
	uint64_t caller; /* where its return address is */
	uint64_t pc;	  /* of a probe: where the function goes on; else 0 */
	struct recorder_chain chain;
	uint64_t *words; /* room for all of its words */
};

static uint64_t walk(struct values_call *call, uint32_t most)
{
	struct traced *traced = (struct traced *)call;
	const struct backtrace_from from = { .slot = traced->caller, .pc = traced->pc, .rbp = call->registers->rbp,
		.stack_low = call->stack_low, .stack_high = call->stack_high };

	traced->chain.words =
		backtrace_walk(traced->thread, &from, most, traced->words, &traced->chain.key, &traced->chain.told);
	return traced->chain.words ? traced->chain.key : 0;
}

/* What goes with the event; NULL: no backtrace. */
static const struct recorder_chain *chain_of(const struct traced *traced)
{
	return traced->chain.words ? &traced->chain : NULL;
}

/* Where the call has a backtrace, it is made at the end of `bytes`, which are WORDS(part). */
static void describe_traced(struct traced *traced, struct thread *thread, const struct values_part *part,
	uint64_t caller, bool for_good, uint64_t *bytes)
{
	traced->chain.words = 0;
	if (!part->facts.callers)
		return;
	traced->call.walk = walk;
	traced->thread = thread;
	traced->caller = caller;
	traced->pc = 0;
	traced->words = bytes + WORDS(part) - part->facts.callers - 1;
	traced->chain.word = traced->words;
	traced->chain.for_good = for_good;
}

/*
 * Runs a part's code. Returns false if the call is to be left out; else *word is that of the event, with or without
 * values.
 */
static bool run(
	const struct values_part *part, struct traced *traced, uint32_t plain, uint64_t *to, uint32_t *word)
{
	struct values_call *call = &traced->call;
	uint8_t *out = (uint8_t *)(to + 1) - 1;
	size_t size = values_evaluate(part->code, call, out);

	*word = plain;
	if (!size)
		return false;
	if (!part->number || part->event != plain)
		return true;
	size--;
	for (; size % 8 || !size; size++)
		out[1 + size] = 0;
	*word = TRACE_WORD(TRACE_VALUED, TRACE_VALUED_ID(part->number, size / 8) |
						 (*out == VALUES_FLAWED ? TRACE_VALUED_FLAWED : 0));
	return true;
}

/* Is this call on the stack one in so many? Where that can't be counted, each is. */
static bool is_due(struct stack *stack, const struct values_function *f)
{
	uint32_t before = side_count(stack, f->every_number);

	return before == UINT32_MAX || before % f->every == 0;
}

/* The stack that the slot lies on; *thread is the calling one's record. NULL: nothing can be said of the call. */
static struct stack *stack_at(struct thread **thread, uint64_t slot)
{
	const struct tramp_stack *hot;

	*thread = thread_self();
	hot = *thread ? (*thread)->hot.stack : NULL;
	if (__builtin_expect(hot && slot - hot->low < hot->size, 1))
		return (struct stack *)(uintptr_t)hot;
	return calls_own_stack(thread, slot);
}

/* The word in the mirror entry of the call that is open at the slot. */
static void set_word(uint64_t slot, uint32_t word)
{
	/* Relaxed: the thread's own. */
	__atomic_store_n(&mirror_entry(slot)->word, word, __ATOMIC_RELAXED);
}

/* Of the call at the slot nothing is written. */
static void leave_out(uint64_t slot, uint32_t plain, bool has_end)
{
	if (has_end)
		set_word(slot, plain | (uint32_t)(TRAMP_WORD_VALUES | TRAMP_WORD_SILENT));
}

/* What the entry kept for the end, if that is known. */
static void take_kept(struct values_call *call, const struct side_entry *side, bool known)
{
	call->lost = known ? side->lost : ~0u;
	for (uint32_t i = 0; i < VALUES_KEPT; i++)
		call->kept[i] = known ? side->kept[i] : 0;
}

/* ---- actions ---- */

/* The function's stack pointer is the registers', and it has not written to what lies more than this below it. */
#define RED_ZONE 128

/* Where an event is, for the conditions of actions. */
struct scene {
	struct thread *thread;
	struct stack *stack;
	const struct values_function *f;
	const struct tramp_registers *registers;
	uint64_t caller; /* as of describe() */
	bool is_probe;
	const struct side_entry *side; /* NULL: none, or it is an entry */
};

/* Does the condition hold, which puts nothing? */
static bool holds(const struct scene *scene, const struct values_part *part)
{
	uint8_t out[ACTIONS_PUT];
	uint64_t floats[8];
	struct values_call call;

	if (!part->code)
		return true;
	take_kept(&call, scene->side, scene->side);
	call.sample = 0;
	describe(&call, part, scene->f->set, scene->stack, scene->registers, scene->caller, floats);
	if (scene->is_probe)
		call.stack_low = scene->registers->rsp - RED_ZONE;
	return values_evaluate(part->code, &call, out);
}

/* Where nothing is recorded now: does that begin again, with this event? */
static bool starts(const struct scene *scene)
{
	for (const struct values_action *a = scene->f->then; a; a = a->next)
		if (actions_may_start(a, scene->thread) && holds(scene, &a->entry))
			actions_do(a, scene->thread, scene->stack);
	return !actions_are_quiet(scene->thread);
}

/* Which snapshots the call is to have if it does not end, of those actions that are due up to now. */
static uint32_t running_rows(const struct values_function *f, uint32_t due)
{
	uint32_t rows = 0, bit = 1;

	for (const struct values_action *a = f->then; a && due; a = a->next, bit <<= 1)
		if (due & bit && actions_is_running(a))
			rows |= actions_bit(a);
	return rows;
}

/* The event is recorded. Returns which of those at the end are due up to now. */
static uint32_t act_at_entry(const struct scene *scene)
{
	uint32_t due = 0, bit = 1;

	for (const struct values_action *a = scene->f->then; a; a = a->next, bit <<= 1) {
		if (!holds(scene, &a->entry))
			continue;
		if (actions_is_at_end(a))
			due |= bit;
		else
			actions_do(a, scene->thread, scene->stack);
	}
	return due;
}

/* The end is recorded. ticks: what the call took. */
static void act_at_end(const struct scene *scene, uint64_t ticks)
{
	uint32_t bit = 1;

	for (const struct values_action *a = scene->f->then; a; a = a->next, bit <<= 1) {
		/* Without the entry it is not known. */
		bool known = scene->side ? scene->side->due & bit : !a->entry.code && !a->longer;
		if (actions_is_at_end(a) && !actions_is_running(a) && known && (!a->longer || ticks >= a->longer) &&
			holds(scene, &a->end))
			actions_do(a, scene->thread, scene->stack);
	}
}

/* Has the end a side entry? */
static bool keeps_entry(const struct values_function *f)
{
	return values_needs_entry(f) || f->entry.facts.sample;
}

/*
 * The call is kept in the mirror at `slot`; its return address is where registers->rsp is: there, too, unless it is an
 * XRay function's.
 */
static void enter(struct thread *thread, struct stack *stack, const struct values_function *f, uint64_t slot,
	uint32_t plain, const struct tramp_registers *registers)
{
	const bool has_end = plain >> TRACE_ID_BITS == TRACE_ENTRY;
	uint64_t floats[8];
	struct traced traced;
	struct values_call *call = &traced.call;
	struct side_entry side;
	uint64_t bytes[WORDS(&f->entry)];
	uint32_t word = plain;
	const struct scene scene = { thread, stack, f, registers, registers->rsp, false, NULL };

	if (f->then && actions_are_quiet(thread) && !starts(&scene)) {
		leave_out(slot, plain, has_end);
		return;
	}
	call->sample = 0;
	side.sample.kind = 0;
	if ((f->every && !is_due(stack, f)) ||
		(f->entry.facts.sample && !sample_enter(&side.sample, f->entry.facts.sample, registers,
						  has_end && slot == registers->rsp, &call->sample))) {
		leave_out(slot, plain, has_end);
		return;
	}
	call->lost = ~0u;
	traced.chain.words = 0;
	if (f->entry.code) {
		describe(call, &f->entry, f->set, stack, registers, registers->rsp, floats);
		describe_traced(&traced, thread, &f->entry, registers->rsp, !values_needs_entry(f), bytes);
		if (!run(&f->entry, &traced, plain, bytes, &word)) {
			leave_out(slot, plain, has_end);
			return;
		}
	}
	if (has_end && keeps_entry(f)) {
		side.slot = slot;
		side.function = f;
		side.lost = call->lost;
		for (uint32_t i = 0; i < VALUES_KEPT; i++)
			side.kept[i] = f->entry.facts.keeps ? call->kept[i] : 0;
		side.clock = clock_now();
		side.due = recorder_values(thread, stack, plain, word, bytes + 1, chain_of(&traced), 0, &side.place) &&
					   f->then
				   ? act_at_entry(&scene)
				   : 0;
		side.running = running_rows(f, side.due);
		side.generation = side.running ? identity_generation() : 0;
		side_push(stack, &side);
		return;
	}
	if (recorder_values(thread, stack, plain, word, bytes + 1, chain_of(&traced), 0, &side.place) && f->then)
		act_at_entry(&scene);
	if (has_end && !f->end.code && !f->then_ends)
		set_word(slot, plain);
}

static void entered(uint64_t slot, uint32_t word, const struct tramp_registers *registers)
{
	const uint32_t plain = word & ~(uint32_t)TRAMP_WORD_VALUES;
	const struct values_function *f = values_function(plain & TRACE_ID_MASK);
	struct thread *thread;
	struct stack *stack = stack_at(&thread, slot);

	if (f && stack)
		enter(thread, stack, f, slot, plain, registers);
	else if (thread)
		tramp_slow_event(0, (uint64_t)plain << 32, slot);
}

void tramp_values_enter(struct tramp_registers *registers, const uint64_t *frame, uint64_t unused)
{
	(void)unused;
	registers->rsp = (uint64_t)(uintptr_t)(frame + 7);
	entered(registers->rsp, (uint32_t)frame[6], registers);
}

void tramp_values_xray_enter(
	struct tramp_registers *registers, const uint64_t *frame, uint64_t unused, uint64_t word)
{
	(void)unused;
	registers->rsp = (uint64_t)(uintptr_t)(frame + 5);
	entered(registers->rsp - 8, (uint32_t)word, registers);
}

/* ---- probes ---- */

/* As describe(); where the return address would be if it were the function's first instruction. */
static void describe_probe(struct values_call *call, const struct values_function *f, struct stack *stack,
	const struct tramp_registers *registers, uint64_t floats[8])
{
	describe(call, &f->entry, f->set, stack, registers, registers->rsp, floats);
	call->stack_low = registers->rsp - RED_ZONE;
	call->sample = 0;
	call->lost = ~0u;
}

/* pc: the function goes on there. */
static void probe(struct thread *thread, struct stack *stack, const struct values_function *f, uint32_t plain,
	const struct tramp_registers *registers, uint64_t pc)
{
	uint64_t floats[8];
	struct traced traced;
	struct recorder_place place;
	uint64_t bytes[WORDS(&f->entry)];
	uint32_t word = plain;
	const struct scene scene = { thread, stack, f, registers, registers->rsp, true, NULL };

	if ((f->then && actions_are_quiet(thread) && !starts(&scene)) || (f->every && !is_due(stack, f)))
		return;
	traced.chain.words = 0;
	if (f->entry.code) {
		describe_probe(&traced.call, f, stack, registers, floats);
		describe_traced(&traced, thread, &f->entry, registers->rsp - 8, true, bytes);
		traced.pc = pc;
		if (!run(&f->entry, &traced, plain, bytes, &word))
			return;
	}
	if (recorder_values(thread, stack, plain, word, bytes + 1, chain_of(&traced), 0, &place) && f->then)
		act_at_entry(&scene);
}

void tramp_values_probe(struct tramp_registers *registers, const uint64_t *frame, uint64_t unused)
{
	const uint32_t plain = (uint32_t)frame[7] & ~(uint32_t)TRAMP_WORD_VALUES;
	const struct values_function *f = values_function(plain & TRACE_ID_MASK);
	struct thread *thread;
	struct stack *stack;

	(void)unused;
	registers->rsp = (uint64_t)(uintptr_t)(frame + 25);
	stack = stack_at(&thread, registers->rsp - 8);
	if (f && stack)
		probe(thread, stack, f, plain, registers, frame[8]);
	else if (thread)
		tramp_slow_event(0, (uint64_t)plain << 32, registers->rsp - 8);
}

/* The call that began there was shorter than the rules' time, and is taken back. */
static bool is_short(struct thread *thread, const struct side_entry *side, uint64_t clock)
{
	if (!filter_options.time || clock - side->clock >= filter_ticks() || !recorder_take_back(thread, &side->place))
		return false;
	PROCESS_COUNT(taken_back, 1);
	return true;
}

bool values_end(struct thread *thread, struct stack *stack, uint64_t slot, uint32_t word, uint64_t clock)
{
	const struct values_function *f = values_function(word & TRACE_ID_MASK);
	struct side_entry side;

	if (word & TRAMP_WORD_SILENT)
		return true;
	return f && values_needs_entry(f) && side_pop(stack, slot, &side) && is_short(thread, &side, clock);
}

/* It moves with each event. */
static uint64_t cursor_of(const struct thread *thread)
{
	return __atomic_load_n(&thread->hot.cursor, __ATOMIC_RELAXED); /* relaxed: this thread's own */
}

/* As enter(); the return address is still in `caller`. The cursor was there at about the clock. */
static void leave(struct thread *thread, struct stack *stack, const struct values_function *f, uint64_t slot,
	uint32_t plain, const struct tramp_registers *registers, uint64_t caller, uint64_t clock, uint64_t cursor)
{
	uint64_t floats[8];
	struct traced traced;
	struct side_entry side;
	struct recorder_place place;
	uint64_t bytes[WORDS(&f->end)];
	uint32_t word = plain;
	const uint64_t ended = clock;
	/* Other values may be asked for since then. */
	bool known = keeps_entry(f) && side_pop(stack, slot, &side) && side.function == f, out;

	if (known && is_short(thread, &side, clock))
		return;
	traced.chain.words = 0;
	out = known && f->longer && clock - side.clock < f->longer;
	if (!out && f->end.code) {
		take_kept(&traced.call, &side, known);
		traced.call.sample = 0;
		describe(&traced.call, &f->end, f->set, stack, registers, caller, floats);
		describe_traced(&traced, thread, &f->end, caller, true, bytes);
		out = !run(&f->end, &traced, plain, bytes, &word);
	}
	if (out && known &&
		(recorder_take_back(thread, &side.place) || recorder_give_up(thread, &side.place)))
		return;
	if (known && side.sample.kind)
		sample_leave(&side.sample, registers->rax);
	/* Events that a handler made meanwhile are not later than this one, which comes after them. */
	if (cursor_of(thread) != cursor)
		clock = 0;
	const struct scene scene = { thread, stack, f, registers, caller, false, known ? &side : NULL };
	if (recorder_values(thread, stack, plain, word, bytes + 1, chain_of(&traced), clock, &place) &&
		f->then_ends && !out)
		act_at_end(&scene, known ? ended - side.clock : 0);
}

static void left(uint64_t slot, const struct tramp_registers *registers, uint64_t caller, uint64_t clock)
{
	const uint32_t word = mirror_entry(slot)->word;
	const uint32_t plain = TRACE_WORD(TRACE_EXIT, word & TRACE_ID_MASK);
	const struct values_function *f = values_function(word & TRACE_ID_MASK);
	struct thread *thread = thread_self();
	const uint64_t cursor = thread ? cursor_of(thread) : 0;
	struct stack *stack;

	if (word & (uint32_t)TRAMP_WORD_SILENT)
		return;
	stack = stack_at(&thread, slot);
	if (f && stack)
		leave(thread, stack, f, slot, plain, registers, caller, clock, cursor);
	else if (thread)
		tramp_slow_event(0, (uint64_t)plain << 32, slot);
}

void tramp_values_leave(struct tramp_registers *registers, const uint64_t *frame, uint64_t clock)
{
	uint64_t caller = (uint64_t)(uintptr_t)(frame + 5);

	registers->rsp = caller + 8;
	left(caller, registers, caller, clock);
}

void tramp_values_xray_exit(
	struct tramp_registers *registers, const uint64_t *frame, uint64_t clock, uint64_t unused)
{
	uint64_t caller = (uint64_t)(uintptr_t)(frame + 4);

	(void)unused;
	registers->rsp = caller;
	left(caller - 8, registers, caller, clock);
}

/* ---- handlers of the program ask ---- */

/*
 * As describe(); what the handler has changed since the event is as it was then: vector registers, and calls that it
 * makes, which are deeper than the slot.
 */
static void describe_asked(struct values_call *call, const struct values_asked *asked, const struct values_part *part,
	const struct values_set *set, struct stack *stack, uint64_t slot, uint64_t caller, uint64_t floats[8])
{
	uint8_t vector[64];

	describe(call, part, set, stack, asked->registers, caller, floats);
	for (unsigned n = 0; part->facts.floats && asked->vectors && n < 8; n++) {
		vectors_read(asked->vectors, n, vector);
		sys_copy(&floats[n], vector, sizeof(floats[n]));
	}
	/* Not open yet when its entry is told; after a tail call it takes the place of another one in its slot. */
	if (part->facts.calls && part->event >> TRACE_ID_BITS == TRACE_ENTRY)
		call->calls = count_calls(stack, slot + 8) + 1;
	else if (part->facts.calls)
		call->calls = count_calls(stack, slot);
	call->unconditional = true;
	/* Whether it is one is not known yet. */
	call->sample = 0;
}

size_t values_ask(const struct values_asked *asked, const struct trace_layout **layout, uint8_t *out)
{
	const struct values_function *f = values_function(asked->id);
	const struct values_part *part = !f ? NULL : asked->is_end ? &f->end : &f->entry;
	/* As tramp_values_*() find them. */
	const uint64_t caller = asked->registers->rsp - (asked->is_end && !asked->is_xray ? 8 : 0);
	const uint64_t slot = caller - (asked->is_xray || asked->is_probe ? 8 : 0);
	struct stack *stack = part && part->layout ? mirror_find(slot) : NULL;
	struct side_entry side;
	struct values_call call;
	uint64_t floats[8];

	if (!stack)
		return 0;
	bool known = asked->is_end && values_needs_entry(f) && side_peek(stack, slot, &side) && side.function == f;
	take_kept(&call, &side, known);
	describe_asked(&call, asked, part, f->set, stack, slot, caller, floats);
	if (asked->is_probe)
		call.stack_low = asked->registers->rsp - RED_ZONE;
	*layout = part->layout;
	return values_evaluate(part->code, &call, out);
}
