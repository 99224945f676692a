/* SPDX-License-Identifier: MIT */
#include "runtime/calls.h"

#include "runtime/clock.h"
#include "runtime/filter.h"
#include "runtime/handlers.h"
#include "runtime/identity.h"
#include "runtime/maps.h"
#include "runtime/process.h"
#include "runtime/recorder.h"
#include "runtime/sys.h"
#include "runtime/text.h"
#include "runtime/thread.h"

/* Ends the innermost open call if it is still `slot`: one instruction takes it, so a handler in between takes another or none. */
static int take_top(struct tramp_stack *stack, uint64_t slot, uint64_t outer)
{
	uint64_t expected = slot;
	uint8_t taken;

	__asm__ volatile("cmpxchg %3, %1; sete %0" : "=q"(taken), "+m"(stack->top), "+a"(expected) : "r"(outer) : "cc", "memory");
	return taken;
}

void calls_unwind(struct thread *thread, struct stack *stack, uint64_t slot)
{
	uint64_t top;
	/* Relaxed: see filter.h. */
	int handled = __atomic_load_n(&tramp_checks, __ATOMIC_RELAXED) & TRAMP_CHECK_HANDLERS;

	if (handled)
		handlers_frames_gone(thread, stack->low, slot);
	while ((top = stack->hot.top) <= slot) {
		const struct mirror_entry entry = *mirror_entry(top);
		uint64_t outer = top + 8ull * entry.link;
		if (outer == top || outer > stack->high) {
			/* Not one of our entries: somebody wrote over the mirror. Forget the chain rather than follow it. */
			stack->hot.top = stack->high;
			return;
		}
		if (take_top(&stack->hot, top, outer)) {
			filter_left(stack, entry.word & TRACE_ID_MASK);
			if (!filter_take_back(thread, entry.word, (uint32_t)clock_now()))
				recorder_write(thread,
					entry.word ^ TRACE_WORD(TRACE_ENTRY, 0) ^ TRACE_WORD(TRACE_UNWIND, 0));
			if (handled)
				handlers_unwind(thread, entry.word & TRACE_ID_MASK);
		}
	}
}

/* Does the thread wait in vfork, or in clone with CLONE_VFORK? A state of "D" in its stat; few other waits have it. */
static int waits_for_child(uint32_t tid)
{
	char buffer[128];
	struct text path = { buffer, sizeof(buffer), 0 };

	text_string(&path, "/proc/");
	text_number(&path, identity_pid());
	text_string(&path, "/task/");
	text_number(&path, tid);
	text_string(&path, "/stat");
	int fd = (int)sys_open(buffer, O_RDONLY, 0);
	if (fd < 0)
		return 0;
	long n = sys_read(fd, buffer, sizeof(buffer)), name = 0;
	sys_close(fd);
	for (long i = 0; i < n; i++)
		if (buffer[i] == ')')
			name = i; /* its end; a name may hold such itself */
	return name && name + 2 < n && buffer[name + 2] == 'D';
}

int calls_is_stranger(const struct thread *thread, uint64_t address)
{
	const struct stack *stack = (const struct stack *)thread->hot.stack;

	return (!stack || address - stack->low >= stack->high - stack->low) && (uint32_t)sys_gettid() != thread->tid &&
	       !waits_for_child(thread->tid);
}

struct stack *calls_stack(struct thread *thread, uint64_t slot)
{
	struct process_held held;
	struct stack *stack = (struct stack *)thread->hot.stack;

	if (stack && slot - stack->hot.low < stack->hot.size)
		return stack;
	if (calls_is_stranger(thread, slot))
		return NULL;
	process_lock(&held);
	stack = mirror_stack(slot, thread->tid);
	if (stack)
		thread->hot.stack = &stack->hot;
	process_unlock(&held);
	return stack;
}

int calls_is_intercepted(uint64_t slot)
{
	uint64_t word = *(const uint64_t *)(uintptr_t)slot;

	return word == (uint64_t)(uintptr_t)tramp_return_tsc || word == (uint64_t)(uintptr_t)tramp_return_mono;
}

enum tramp_answer tramp_slow_enter(uint64_t slot)
{
	struct thread *thread = thread_get();

	if (!thread)
		return TRAMP_PASS;
	struct stack *stack = calls_stack(thread, slot);
	if (!stack) {
		if (calls_is_stranger(thread, slot)) {
			process_lose();
			return TRAMP_PASS;
		}
		process_count(&process_head()->no_mirror, 1);
		return TRAMP_POINTED;
	}
	/* A call whose slot holds our label has tail-jumped here: it is alive, its slot is still to be taken over. */
	calls_unwind(thread, stack, calls_is_intercepted(slot) ? slot - 8 : slot);
	return TRAMP_AGAIN;
}

enum tramp_answer tramp_slow_enter_xray(uint64_t x)
{
	struct thread *thread = thread_get();
	struct stack *stack = thread ? calls_stack(thread, x) : NULL;

	if (stack && stack->hot.top == x + 8 && !calls_is_intercepted(x + 8))
		calls_unwind(thread, stack, x + 8);
	return tramp_slow_enter(x);
}

/* Stack pointer of a glibc jmp_buf: mangled with the guard that all namespaces share. */
static uint64_t landing(const uint64_t *env)
{
	uint64_t sp = env[6]; /* JB_RSP */

	__asm__("ror $0x11, %0; xor %%fs:0x30, %0" : "+r"(sp) : : "cc");
	return sp;
}

enum tramp_answer tramp_slow_jump(uint64_t env)
{
	struct thread *thread = thread_self();

	if (!thread)
		return TRAMP_PASS;
	uint64_t sp = landing((const uint64_t *)(uintptr_t)env);
	/* The frame that lands keeps its own slot, above sp. A jump to another stack ends nothing on this one: it may come back. */
	struct stack *stack = calls_stack(thread, sp);
	if (stack)
		calls_unwind(thread, stack, sp - 8);
	return TRAMP_AGAIN;
}

/*
 * Gives all return labels in a range of a stack the other clock: also those of calls that are in no chain, which a
 * forked child inherited. A word that only looks like one is none; it may be a neighbour's, whose thread runs: either
 * label does for it.
 */
static void leave_tsc(uint64_t slot, uint64_t end)
{
	const uint64_t tsc = (uint64_t)(uintptr_t)tramp_return_tsc, mono = (uint64_t)(uintptr_t)tramp_return_mono;

	for (; slot < end; slot += 8) {
		uint64_t *at = (uint64_t *)(uintptr_t)slot, expected = tsc;
		/* Relaxed, both: a word as good as the other. */
		if (__atomic_load_n(at, __ATOMIC_RELAXED) == tsc)
			__atomic_compare_exchange_n(at, &expected, mono, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

struct running {
	uint64_t sp, end; /* of the calling thread's stack */
};

/*
 * A stack of the thread's: the one that it runs on, or a coroutine's that is suspended, or the one below a signal
 * handler's. The kernel says what of it is still there.
 */
static void leave_tsc_of(struct stack *stack, void *context)
{
	struct running *running = context;
	struct mapping m;

	if (running->sp >= stack->low && running->sp < stack->high)
		running->end = stack->high;
	else if (maps_find(stack->hot.top, &m) == 1 && !m.inode)
		leave_tsc(stack->hot.top, m.high);
}

enum tramp_answer tramp_slow_prctl(uint64_t sp)
{
	const struct thread *thread = thread_self();
	struct running running = { sp, 0 };
	struct process_held held;
	struct mapping m;

	process_lock(&held);
	clock_leave_tsc();
	recorder_clock_changed();
	mirror_each(thread ? thread->tid : (uint32_t)sys_gettid(), leave_tsc_of, &running);
	/* A forked child may not have met its stack yet. */
	leave_tsc(sp, maps_find(sp, &m) == 1 ? m.high : running.end);
	process_unlock(&held);
	return TRAMP_AGAIN;
}

/* Is the slot that of an open call of the stack, or its end? */
static int is_open(const struct stack *stack, uint64_t slot)
{
	uint64_t at = stack->hot.top;

	while (at < slot) {
		uint64_t outer = at + 8ull * mirror_entry(at)->link;
		if (outer == at)
			return 0;
		at = outer;
	}
	return at == slot;
}

/* Is the mirror entry of slot that of the call which ends there? */
static int is_genuine(const struct stack *stack, uint64_t slot)
{
	const struct mirror_entry *entry = mirror_entry(slot);

	/*
	 * An XRay call: kept below its slot, with the return address that lies in the slot. A sled may have been switched on in the
	 * middle of the call; then the entry is of an earlier call from the same place, and its outer call not open any more.
	 */
	return calls_is_intercepted(slot) ||
	       (((const uint64_t *)(uintptr_t)slot)[1] == entry->address && is_open(stack, slot + 8ull * entry->link));
}

enum tramp_answer tramp_slow_leave(uint64_t slot)
{
	struct thread *thread = thread_get();

	if (!thread)
		return TRAMP_PASS;
	struct stack *stack = calls_stack(thread, slot);
	if (!stack)
		return calls_is_stranger(thread, slot) ? TRAMP_PASS : TRAMP_POINTED;
	if (stack->hot.top < slot)
		calls_unwind(thread, stack, slot - 8);
	if (stack->hot.top == slot)
		return TRAMP_AGAIN;
	/*
	 * Open, but not in the chain: a forked child inherited the call, or several stacks share one mapping. Its own link is
	 * as good as any.
	 */
	if (!is_genuine(stack, slot))
		return TRAMP_POINTED;
	stack->hot.top = slot;
	return TRAMP_AGAIN;
}

struct stack *calls_unwind_all(struct thread *thread)
{
	/* It may have used another stack last: a signal handler's. */
	struct stack *stack = thread->hot.stack ? calls_stack(thread, (uint64_t)(uintptr_t)__builtin_frame_address(0)) : NULL;

	if (stack)
		calls_unwind(thread, stack, stack->high - 8);
	return stack;
}
