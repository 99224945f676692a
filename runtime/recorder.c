/* SPDX-License-Identifier: MIT */
#include "runtime/recorder.h"

#include <errno.h>    /* ENOMEM */
#include <sys/mman.h> /* MAP_POPULATE */

#include "runtime/clock.h"
#include "runtime/epoch.h"
#include "runtime/process.h"
#include "runtime/sys.h"

#define RETRY_TICKS 2000000000ull /* between attempts to get a chunk: about a second by TSC, two by CLOCK_MONOTONIC */

/* ---- writing from C ---- */

static int may_take(const struct tramp_state *hot, uint64_t address)
{
	return (address & hot->chunk_bit) != 0;
}

uint64_t tramp_window_mask;

_Static_assert(__builtin_offsetof(struct trace_chunk, written) == TRAMP_WRITTEN, "the trampolines count there");

/* n words at address are in place. One instruction, against our own signal handlers. */
static void wrote(uint64_t address, unsigned n)
{
	__asm__ volatile("addq %1, %0" : "+m"(*tramp_written(address)) : "r"(8ul * n) : "cc", "memory");
}

/* Reserves room for n words as the fast path does: one instruction, against our own signal handlers. */
static uint64_t *reserve(struct tramp_state *hot, unsigned n)
{
	uint64_t address = 8 * n;

	__asm__ volatile("xadd %0, %1" : "+r"(address), "+m"(hot->cursor) : : "cc", "memory");
	if (may_take(hot, address + 8 * (n - 1)))
		return (uint64_t *)(uintptr_t)address;
	for (unsigned i = 0; i < n - 1; i++) /* what fits before the end stays a hole, and counts as done */
		if (may_take(hot, address + 8 * i))
			wrote(address + 8 * i, 1);
	return NULL;
}

/* A control event with one payload word. The event first: a reader takes a payload of 0 for not yet written. */
static int write_control(struct thread *thread, enum trace_control subtype, uint64_t clock, uint64_t payload)
{
	uint64_t *p = reserve(&thread->hot, 2);

	if (!p)
		return 0;
	/* Relaxed, volatile stores: the order matters to whoever reads the file after a kill; x86 keeps it. */
	__atomic_store_n(p, TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(subtype, 1), clock), __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: keeps the compiler from swapping the two stores */
	__atomic_store_n(p + 1, payload, __ATOMIC_RELAXED); /* relaxed, as above */
	wrote((uint64_t)(uintptr_t)p, 2);
	return 1;
}

/* ---- chunks ---- */

/* Reserves a window: a range of the chunk size that ends at a multiple of twice that. Returns its start or NULL. */
static uint8_t *reserve_window(uint64_t size)
{
	uint8_t *p = sys_mmap(NULL, 4 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (sys_is_error(p))
		return NULL;
	uint64_t low = (uint64_t)(uintptr_t)p, high = low + 4 * size;
	uint64_t end = (low + size + 2 * size - 1) & ~(2 * size - 1), start = end - size;
	if (start > low)
		sys_munmap(p, start - low);
	sys_munmap((void *)(uintptr_t)end, high - end);
	return (uint8_t *)(uintptr_t)start;
}

/* Maps a chunk at the end of the window; a smaller one leaves its start, where a page of its own then keeps the count of written bytes. */
static struct trace_chunk *map_chunk(uint8_t *window, uint64_t size, int fd, uint64_t at)
{
	uint64_t window_size = process_chunk_size();

	if (size < window_size) {
		void *p = sys_mmap(window, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (sys_is_error(p))
			return p;
	}
	return sys_mmap(window + window_size - size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (int64_t)at);
}

/* From here on the chunk takes no events. */
static uint64_t boundary(const struct trace_chunk *chunk)
{
	return (uint64_t)(uintptr_t)chunk + chunk->size;
}

/* Bytes of events that are reserved in the chunk at hand but not written: somebody further out was interrupted. */
static int has_unwritten(const struct thread *thread)
{
	uint64_t end = thread->hot.cursor;

	if (!thread->chunk)
		return 0;
	if (!may_take(&thread->hot, end)) /* full: reservations behind the boundary never get written */
		end = boundary(thread->chunk);
	return *tramp_written(thread->chunk_start) != end - thread->chunk_start;
}

static void finish_chunk(struct thread *thread)
{
	uint64_t end = thread->hot.cursor;

	if (!may_take(&thread->hot, end))
		end = boundary(thread->chunk);
	thread->chunk->used = end - (uint64_t)(uintptr_t)thread->chunk;
}

/* Nobody writes into the window's chunk any more: unmaps it, and keeps the range. */
static void release_window(uint8_t *window)
{
	sys_mmap(window, process_chunk_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Maps the next chunk of the thread's file and directs the cursor to it. Signals are blocked, process lock held. */
static long next_chunk(struct thread *thread)
{
	uint64_t size = trace_chunk_bytes(process_chunk_size(), thread->next_chunk);
	uint64_t at = trace_chunk_at(process_chunk_size(), thread->next_chunk);
	unsigned turn = thread->next_chunk & 1;
	int unwritten = has_unwritten(thread);
	int first = !thread->next_chunk;

	if (!thread->window[turn] && !(thread->window[turn] = reserve_window(process_chunk_size())))
		return -ENOMEM;
	struct trace_head *head = process_head();
	if (first)
		thread->number = head->threads;
	int fd = process_open_thread('t', thread->number, at, size);
	if (fd < 0)
		return fd;
	struct trace_chunk *chunk = map_chunk(thread->window[turn], size, fd, at);
	sys_close(fd);
	if (sys_is_error(chunk))
		return (long)(intptr_t)chunk;
	/* The pages are there already; one call (Linux 5.14) maps them all for writing. */
	sys_madvise(chunk, size, MADV_POPULATE_WRITE);
	sys_madvise(chunk, size, MADV_DONTDUMP);
	if (thread->chunk)
		finish_chunk(thread);
	if (unwritten) /* whoever was interrupted still has to write there: it stays, and its window is not used again */
		thread->window[!turn] = NULL;
	else if (thread->chunk)
		release_window(thread->window[!turn]);
	uint64_t now = clock_now();
	chunk->version = TRACE_VERSION;
	chunk->head_size = sizeof(*chunk);
	chunk->seq = thread->next_chunk;
	chunk->pid = process_pid();
	chunk->tid = thread->tid;
	chunk->clock = now;
	chunk->size = size;
	sys_call(__NR_prctl, 16 /* PR_GET_NAME */, (long)chunk->comm, 0, 0, 0, 0);
	/* Release: a reader that sees the magic sees the header. Pairs with the reader's acquire load of it. */
	__atomic_store_n(&chunk->magic, TRACE_CHUNK_MAGIC, __ATOMIC_RELEASE);
	head->threads += (uint32_t)first;
	thread->chunk = chunk;
	thread->chunk_start = (uint64_t)(uintptr_t)(chunk + 1);
	thread->next_chunk++;
	thread->hot.span = (uint32_t)(now >> 31);
	thread->hot.chunk_bit = process_chunk_size();
	tramp_window_mask = -process_chunk_size(); /* the same for all threads and children */
	thread->hot.cursor = thread->chunk_start;
	thread->failed = 0;
	return 0;
}

/* One event could not be recorded. */
static void lose(struct thread *thread)
{
	if (thread->chunk)
		thread->chunk->lost++;
	else if (process_head())
		process_count(&process_head()->lost, 1);
}

enum tramp_answer tramp_slow_event(void)
{
	static const uint64_t all = ~0ull;
	struct process_held held;
	uint64_t before;
	struct thread *thread = thread_get();

	if (!thread)
		return TRAMP_PASS;
	uint64_t now = clock_now();
	uint32_t span = (uint32_t)(now >> 31);
	if (may_take(&thread->hot, thread->hot.cursor)) {
		if (span != thread->hot.span && write_control(thread, TRACE_SYNC, now, now)) {
			thread->hot.span = span;
			process_clock();
		}
		/* Else a handler was here before us; or the chunk is full now, which the next round sees. */
		return TRAMP_AGAIN;
	}
	if (thread->failed && now - thread->failed < RETRY_TICKS) {
		/* Reservations in vain must not add up: at chunk_bit they would pass for good ones. */
		thread->hot.cursor = 0;
		lose(thread);
		return TRAMP_PASS;
	}
	/* From before the last look at the cursor to the end no handler may come in between. */
	sys_set_signals(&all, &before);
	long r = 0;
	if (!may_take(&thread->hot, thread->hot.cursor)) {
		process_lock(&held);
		r = next_chunk(thread);
		epoch_reclaim(); /* what was held when it was retired: a program may close nothing more for long */
		process_unlock(&held);
		if (r) {
			thread->failed = now;
			thread->hot.cursor = 0;
			lose(thread);
		}
	}
	sys_set_signals(&before, NULL);
	process_clock();
	return r ? TRAMP_PASS : TRAMP_AGAIN;
}

/* An event from C: as the fast path, with as many rounds as it takes. */
static void write_event(struct thread *thread, uint32_t word)
{
	for (;;) {
		uint64_t now = clock_now();
		if ((uint32_t)(now >> 31) == thread->hot.span) {
			uint64_t *p = reserve(&thread->hot, 1);
			if (p) {
				*p = (uint64_t)word << 32 | (uint32_t)now;
				wrote((uint64_t)(uintptr_t)p, 1);
				return;
			}
		}
		if (tramp_slow_event() == TRAMP_PASS)
			return;
	}
}

void recorder_thread_changed(struct thread *thread)
{
	uint64_t now = clock_now();

	/* Where there is no room, the next chunk's header names the thread. */
	if (thread->chunk && may_take(&thread->hot, thread->hot.cursor)) {
		write_control(thread, TRACE_SYNC, now, now);
		thread->hot.span = (uint32_t)(now >> 31);
		if (may_take(&thread->hot, thread->hot.cursor))
			write_control(thread, TRACE_THREAD, now, thread->tid);
	}
}

/* ---- open calls ---- */

/* Ends the innermost open call if it is still `slot`: one instruction takes it, so a handler in between takes another or none. */
static int take_top(struct tramp_stack *stack, uint64_t slot, uint64_t outer)
{
	uint64_t expected = slot;
	uint8_t taken;

	__asm__ volatile("cmpxchg %3, %1; sete %0" : "=q"(taken), "+m"(stack->top), "+a"(expected) : "r"(outer) : "cc", "memory");
	return taken;
}

/* Ends every open call on the stack at or below the slot as unwound: its frame is gone. */
static void unwind(struct thread *thread, struct stack *stack, uint64_t slot)
{
	uint64_t top;

	while ((top = stack->hot.top) <= slot) {
		const struct mirror_entry entry = *mirror_entry(top);
		uint64_t outer = top + 8ull * entry.link;
		if (outer == top || outer > stack->high) {
			/* Not one of our entries: somebody wrote over the mirror. Forget the chain rather than follow it. */
			stack->hot.top = stack->high;
			return;
		}
		if (take_top(&stack->hot, top, outer))
			write_event(thread, entry.word ^ TRACE_WORD(TRACE_ENTRY, 0) ^ TRACE_WORD(TRACE_UNWIND, 0));
	}
}

/*
 * The stack that slot lies on, which becomes the thread's; NULL: it has no mirror. The caller goes on with what it got here: a handler may make
 * another one the thread's at any moment.
 */
static struct stack *stack_of(struct thread *thread, uint64_t slot)
{
	struct process_held held;
	struct stack *stack = (struct stack *)thread->hot.stack;

	if (stack && slot - stack->hot.low < stack->hot.size)
		return stack;
	process_lock(&held);
	stack = mirror_stack(slot, thread->tid);
	if (stack)
		thread->hot.stack = &stack->hot;
	process_unlock(&held);
	return stack;
}

/* Does the slot hold our return label: is the call there an intercepted one that has not returned yet? */
static int is_intercepted(uint64_t slot)
{
	uint64_t word = *(const uint64_t *)(uintptr_t)slot;

	return word == (uint64_t)(uintptr_t)tramp_return_tsc || word == (uint64_t)(uintptr_t)tramp_return_mono;
}

enum tramp_answer tramp_slow_enter(uint64_t slot)
{
	struct thread *thread = thread_get();

	if (!thread)
		return TRAMP_PASS;
	struct stack *stack = stack_of(thread, slot);
	if (!stack) {
		process_count(&process_head()->no_mirror, 1);
		return TRAMP_POINTED;
	}
	/* A call whose slot holds our label has tail-jumped here: it is alive, its slot is still to be taken over. */
	unwind(thread, stack, is_intercepted(slot) ? slot - 8 : slot);
	return TRAMP_AGAIN;
}

enum tramp_answer tramp_slow_enter_xray(uint64_t x)
{
	struct thread *thread = thread_get();
	struct stack *stack = thread ? stack_of(thread, x) : NULL;

	if (stack && stack->hot.top == x + 8 && !is_intercepted(x + 8))
		unwind(thread, stack, x + 8);
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
	struct stack *stack = stack_of(thread, sp);
	if (stack)
		unwind(thread, stack, sp - 8);
	return TRAMP_AGAIN;
}

/* Is the mirror entry of slot that of the call which ends there? */
static int is_genuine(uint64_t slot)
{
	/* An XRay call: kept below its slot, with the return address that lies in the slot. */
	return is_intercepted(slot) || ((const uint64_t *)(uintptr_t)slot)[1] == mirror_entry(slot)->address;
}

enum tramp_answer tramp_slow_leave(uint64_t slot)
{
	struct thread *thread = thread_get();

	if (!thread)
		return TRAMP_PASS;
	struct stack *stack = stack_of(thread, slot);
	if (!stack)
		return TRAMP_POINTED;
	if (stack->hot.top < slot)
		unwind(thread, stack, slot - 8);
	if (stack->hot.top == slot)
		return TRAMP_AGAIN;
	/*
	 * Open, but not in the chain: a forked child inherited the call, or several stacks share one mapping. Its own link is
	 * as good as any.
	 */
	if (!is_genuine(slot))
		return TRAMP_POINTED;
	stack->hot.top = slot;
	return TRAMP_AGAIN;
}

struct stack *recorder_unwind_all(struct thread *thread)
{
	/* It may have used another stack last: a signal handler's. */
	struct stack *stack = thread->hot.stack ? stack_of(thread, (uint64_t)(uintptr_t)__builtin_frame_address(0)) : NULL;

	if (stack)
		unwind(thread, stack, stack->high - 8);
	return stack;
}

void recorder_finish(void)
{
	struct process_held held;
	struct thread *thread = thread_self();

	if (thread)
		recorder_unwind_all(thread);
	process_lock(&held);
	process_clock();
	if (process_head())
		process_head()->flags |= TRACE_EXITED;
	process_unlock(&held);
}
