/* SPDX-License-Identifier: MIT */
#include "runtime/record/recorder.h"

#include <errno.h> /* EOVERFLOW */

#include "runtime/base/text.h"
#include "runtime/process/clock.h"
#include "runtime/process/epoch.h"
#include "runtime/process/process.h"
#include "runtime/process/process_counters.h"
#include "runtime/record/chunk.h"
#include "runtime/record/dispatch.h"
#include "runtime/record/filter.h"
#include "runtime/record/recorder_lost.h"
#include "runtime/record/recorder_private.h"
#include "runtime/record/throttle.h"
#include "x86_64/cpu.h"
#include "x86_64/sys.h"

static struct recorder_options options; /* mode and recording: process lock, or relaxed */
static int recording = 1, watching;
uint32_t recorder_takes = 1; /* what these two come to */

/* ---- writing from C ---- */

/* Of a coarse clock: events after this one are not earlier. Signals blocked. */
static void keep_reading(struct tramp_state *hot, uint64_t now)
{
	if ((uint32_t)(now >> 31) == hot->span)
		hot->read = now;
}

/* The clock's span changed, and the trace says so. Signals blocked. */
static void set_span(struct tramp_state *hot, uint64_t now)
{
	hot->span = (uint32_t)(now >> 31);
	hot->read = now;
}

/* Writes a control event with one payload word, if there is room for it. Signals blocked. Returns whether there was. */
static int write_control(struct thread *thread, enum trace_control subtype, uint64_t clock, uint64_t payload)
{
	struct tramp_state *hot = &thread->hot;

	if (!chunk_pass_taken(thread) || !chunk_has_room(hot, hot->cursor + 8))
		return 0;
	uint64_t at = hot->cursor;
	chunk_store(at, hot->token, TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(subtype, 1), clock));
	/* No clock is to look like what is there as long as it isn't. */
	payload -= (uint32_t)payload == TRACE_TOKEN;
	/*
	 * In this order, for readers of the file after a kill: x86 keeps it, and chunk_store() is a barrier for the
	 * compiler.
	 */
	*(volatile uint64_t *)(uintptr_t)(at + 8) = payload;
	hot->cursor = at + 16;
	keep_reading(hot, clock);
	return 1;
}

/* ---- chunks ---- */

/* The process's trace has its size: recording stops. Lock held. */
static void stop_full(void)
{
	char line[160];
	struct text text = { line, sizeof(line), 0 };

	text_string(&text, "the trace has reached its size limit of ");
	text_number(&text, options.size_limit);
	text_string(&text, " bytes; nothing more is recorded");
	process_say(line);
	process_change(TRACE_CHANGE_FULL, process_stream_bytes(), NULL);
	recorder_set_recording(0);
}

/* Has the process's trace its size? */
static bool is_full(enum trace_mode mode)
{
	struct process_held held;

	if (mode != TRACE_MODE_STREAM || !options.size_limit ||
		process_stream_bytes() + chunk_size() <= options.size_limit)
		return false;
	process_lock(&held);
	if (recording)
		stop_full();
	process_unlock(&held);
	return true;
}

/* Of the struct that has the stack's calls now. */
static uint32_t number_of(struct stack *stack)
{
	/* Relaxed: it orders nothing. */
	return stack ? __atomic_load_n(&stack_now(stack)->number, __ATOMIC_RELAXED) : 0;
}

/* Signals are blocked. */
static long next_chunk(struct thread *thread, uint64_t now)
{
	/* Relaxed: a thread that changes it does not wait for others. */
	enum trace_mode mode = __atomic_load_n(&options.mode, __ATOMIC_RELAXED);
	struct process_held held;
	uint32_t stack = thread->hot.stack == &thread_nowhere.hot ? thread_kept(thread)->said
								  : number_of((struct stack *)thread->hot.stack);
	long r = is_full(mode) ? -PROCESS_FULL : chunk_next(thread, mode, now, stack);

	/* What was held when it was retired: a program may close nothing more for long. */
	if (process_trylock(&held)) {
		epoch_reclaim();
		process_unlock(&held);
	}
	return r;
}

/* The clock's span changed. Signals are blocked. Returns whether the chunk has room for saying so. */
static int write_sync(struct thread *thread)
{
	uint64_t now = clock_now();

	if ((uint32_t)(now >> 31) == thread->hot.span)
		return 1;
	if (!write_control(thread, TRACE_SYNC, now, now))
		return 0;
	set_span(&thread->hot, now);
	return 1;
}

/* Makes room for so many words, and has the span be the clock's. Returns 0, or -errno. Signals are blocked. */
static long make_room(struct thread *thread, unsigned words)
{
	struct tramp_state *hot = &thread->hot;

	if (chunk_pass_taken(thread) && chunk_has_room(hot, hot->cursor + 8 * (words - 1)) && write_sync(thread))
		return 0;
	uint64_t now = clock_now();
	long r = next_chunk(thread, now);
	/* What `xaudit record` does comes at any moment: then each event looks. */
	thread->failed = r && r != -EOVERFLOW ? now : 0;
	if (r)
		thread->lost_cause = recorder_lose_for(thread, r);
	return r;
}

/*
 * Says that the events which follow are on this stack, where there is room for a word, and the span is the clock's.
 * Signals are blocked. Returns whether it was said before.
 */
static int say_stack(struct thread *thread, struct stack *stack)
{
	struct tramp_state *hot = &thread->hot;
	uint64_t now, cursor = hot->cursor;
	uint32_t number = number_of(stack);

	if (hot->stack == &stack->hot)
		return 1;
	now = clock_now();
	thread_kept(thread)->said = number;
	if ((uint32_t)(now >> 31) == hot->span &&
		chunk_store(cursor, hot->token, TRACE_EVENT(TRACE_STACK, number, now)) == hot->token) {
		hot->cursor = cursor + 8;
		hot->stack = &stack->hot;
		hot->read = now;
	}
	return 0;
}

/*
 * The record was set to a stack, by C that found it some time before: another thread may have come there since, and
 * have sent this one away already. Then it is away still. Signals are blocked.
 */
static void stay_away(struct thread *thread)
{
	struct stack *stack = (struct stack *)thread->hot.stack;

	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* pairs with epoch_fence_all() in take() of calls_owner.c */
	/* Relaxed: as said. */
	if (stack && __atomic_load_n(&stack->runner, __ATOMIC_RELAXED) != thread)
		thread->hot.stack = &thread_nowhere.hot;
}

uint64_t recorder_try_slowly(struct thread *thread, struct stack *on, uint32_t word, unsigned words)
{
	struct tramp_state *hot = &thread->hot;
	uint64_t before, at = 0, span = hot->span;

	if (thread_is_stranger(thread, (uint64_t)(uintptr_t)__builtin_frame_address(0))) {
		process_lose(TRACE_LOST_STRANGER);
		return 0;
	}
	if (thread->failed && clock_now() - thread->failed < PROCESS_RETRY) {
		recorder_lose(thread, (enum trace_lost)thread->lost_cause);
		return 0;
	}
	/* A handler of SIGSYS, in the middle of this. */
	if (thread->is_slow) {
		recorder_lose(thread, TRACE_LOST_FILTER);
		return 0;
	}
	sys_block_signals(&before);
	if (thread_is_wiped(thread))
		at = RECORDER_WIPED;
	thread->is_slow = at != RECORDER_WIPED;
	while (!at && !make_room(thread, words)) {
		if (on && !say_stack(thread, on))
			continue;
		uint64_t now = clock_now(), cursor = hot->cursor;
		if ((uint32_t)(now >> 31) != hot->span || !chunk_has_room(hot, cursor) ||
			!chunk_has_room(hot, cursor + 8 * (words - 1)) ||
			chunk_store(cursor, hot->token, (uint64_t)word << 32 | (uint32_t)now) != hot->token)
			continue;
		at = cursor;
		hot->cursor = cursor + 8 * words;
		hot->read = now;
		if (words > 1)
			recorder_note(thread, thread_customs(thread) - 1, at);
	}
	if (on && at != RECORDER_WIPED)
		stay_away(thread);
	thread->is_slow = 0;
	sys_set_signals(&before, NULL);
	if (at != RECORDER_WIPED && (span != hot->span || !at))
		process_clock();
	return at;
}

int recorder_write_slowly(struct thread *thread, struct stack *on, uint32_t word)
{
	return recorder_try_slowly(thread, on, word, 1) != RECORDER_WIPED;
}

void recorder_write(struct thread *thread, struct stack *on, uint32_t word)
{
	uint64_t now = clock_now(), at = recorder_cursor(&thread->hot);

	if ((!on || thread->hot.stack == &on->hot) &&
		recorder_store(thread, at, now, (uint64_t)word << 32 | (uint32_t)now, 1))
		return;
	while ((thread = thread_get()) && !recorder_write_slowly(thread, on, word))
		;
}

/* ---- stacks ---- */

/* tramp_state.stack, in the order of the code. Relaxed: this thread's own. */
static void set_stack(struct tramp_state *hot, struct tramp_stack *stack)
{
	__atomic_store_n(&hot->stack, stack, __ATOMIC_RELAXED); /* relaxed, as said */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);		/* no partner thread */
}

/* By one instruction, because of our own handlers: sets the stack if it was NULL. Returns whether it was. */
static int settle_stack(struct tramp_state *hot, struct tramp_stack *stack)
{
	return !cpu_swap_one(&hot->stack, 0, (uint64_t)(uintptr_t)stack);
}

/* If the chunk is full, the next one's head says it. */
static void say_slowly(struct thread *thread, struct stack *stack)
{
	struct tramp_state *hot = &thread->hot;
	uint64_t before;

	sys_block_signals(&before);
	while (!thread_is_wiped(thread) && chunk_pass_taken(thread) && chunk_has_room(hot, hot->cursor) &&
		write_sync(thread) && !say_stack(thread, stack))
		;
	hot->stack = &stack->hot;
	sys_set_signals(&before, NULL);
}

void recorder_stack(struct thread *thread, struct stack *stack)
{
	struct tramp_state *hot = &thread->hot;
	uint64_t now, at;

	if (hot->stack == &stack->hot)
		return;
	do {
		set_stack(hot, NULL);
		thread_kept(thread)->said = number_of(stack);
		now = clock_now();
		at = recorder_cursor(hot);
		if (!recorder_store(thread, at, now, TRACE_EVENT(TRACE_STACK, thread_kept(thread)->said, now), 1)) {
			say_slowly(thread, stack);
			return;
		}
	} while (!settle_stack(hot, &stack->hot) || recorder_cursor(hot) - at > 8);
}

/* The trace has it already, or no chunk is begun. */
static void begin_on(struct thread *thread, struct stack *stack)
{
	thread_kept(thread)->said = number_of(stack);
	thread->hot.stack = &stack->hot;
	stay_away(thread);
}

static void part(struct thread *thread, struct stack *stack, struct stack *upper, uint64_t payload)
{
	while (!thread_is_wiped(thread) && !make_room(thread, 2))
		if (say_stack(thread, stack) && write_control(thread, TRACE_PART, clock_now(), payload))
			break;
	begin_on(thread, upper);
}

void recorder_part(struct thread *thread, struct stack *stack, struct stack *upper, uint32_t kept)
{
	if (thread->chunk)
		part(thread, stack, upper, (uint64_t)kept << 32 | number_of(upper));
	else
		begin_on(thread, upper);
}

void recorder_part_outer(
	struct thread *thread, struct stack *stack, struct stack *upper, uint32_t kept, uint32_t around)
{
	/* Relaxed: as in next_chunk(). A ring may not have the outermost calls any more. */
	int in_ring = __atomic_load_n(&options.mode, __ATOMIC_RELAXED) == TRACE_MODE_RING;
	uint64_t payload = (uint64_t)(in_ring ? kept : around) << 32 | number_of(upper) |
			   (in_ring ? 0 : TRACE_PART_OUTER);

	if (around)
		part(thread, stack, upper, payload);
	else
		recorder_stack(thread, upper);
}

/* A control event, with a sync before it, where there is room for both. Returns whether there was. */
static int note(struct thread *thread, enum trace_control subtype, uint64_t payload)
{
	uint64_t now = clock_now(), before;
	int noted = 0;

	sys_block_signals(&before);
	if (thread->chunk && write_control(thread, TRACE_SYNC, now, now)) {
		set_span(&thread->hot, now);
		noted = write_control(thread, subtype, now, payload);
	}
	sys_set_signals(&before, NULL);
	return noted;
}

void recorder_thread_changed(struct thread *thread)
{
	/* Where there is no room, the next chunk's head names the thread: none of its events may go here. */
	if (!note(thread, TRACE_THREAD, thread->tid))
		thread->hot.chunk_bit = 0;
}

void recorder_mark_crash(int signal)
{
	struct thread *thread = thread_self();
	int noted = 0;

	/* A stranger's signal ends another process. */
	if (thread && !thread_is_stranger(thread, (uint64_t)(uintptr_t)__builtin_frame_address(0)))
		noted = note(thread, TRACE_CRASH, (uint64_t)signal);
	if (noted)
		process_head()->flags |= TRACE_CRASHED;
	process_clock();
}

/* ---- modes ---- */

/* What the trampolines do, and what the trace says about it. */
static void apply(void)
{
	enum dispatch_set set = !recording			  ? (watching ? DISPATCH_WATCH : DISPATCH_IDLE)
			       : options.mode == TRACE_MODE_COUNT ? DISPATCH_COUNT
								  : DISPATCH_RECORD;

	dispatch_use(set, clock_source());
	/* Relaxed: threads see it soon enough. */
	__atomic_store_n(&recorder_takes, set == DISPATCH_RECORD, __ATOMIC_RELAXED);
	recorder_describe();
}

void recorder_describe(void)
{
	struct trace_head *head = process_head();

	if (!head)
		return;
	head->mode = options.mode;
	head->recording = (uint32_t)recording;
	head->overflow = (uint32_t)options.overflow;
	head->ring_chunk = chunk_size();
	head->coarse = options.coarse && clock_kind() == TRACE_CLOCK_TSC ? TRAMP_COARSE_EVENTS : 0;
	if (options.mode == TRACE_MODE_RING)
		head->ring_size = chunk_ring_size();
}

void recorder_state(uint32_t *mode, uint32_t *is_recording)
{
	*mode = options.mode;
	*is_recording = (uint32_t)recording;
}

const enum trace_mode *recorder_mode_place(void)
{
	return &options.mode;
}

const int *recorder_recording_place(void)
{
	return &recording;
}

void recorder_init(const struct recorder_options *wanted)
{
	options = *wanted;
	if (options.coarse)
		dispatch_coarse();
	throttle_init(options.throttle);
	chunk_overflow(options.overflow);
	apply();
}

void recorder_clock_changed(void)
{
	apply();
}

void recorder_set_recording(int on)
{
	if (recording == on)
		return;
	recording = on;
	apply();
	process_change(on ? TRACE_CHANGE_STARTED : TRACE_CHANGE_STOPPED, 0, NULL);
}

void recorder_watch(void)
{
	if (watching)
		return;
	watching = 1;
	apply();
}

/* Has a thread that is stopped, at any place, go on to another chunk with its next event. */
static void force(struct thread *thread)
{
	thread->hot.chunk_bit = 0;
}

int recorder_set_mode(enum trace_mode mode, int stopped)
{
	if (mode > TRACE_MODE_COUNT)
		return -EINVAL;
	if (mode == options.mode)
		return 0;
	options.mode = mode;
	apply();
	process_change(TRACE_CHANGE_MODE, mode, NULL);
	if (stopped && mode != TRACE_MODE_COUNT)
		thread_each(force);
	return 0;
}
