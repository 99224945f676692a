/* SPDX-License-Identifier: MIT */
/*
 * Single instructions of the processor, for code in C.
 *
 * cpu_swap_one(), cpu_swaps_one() and cpu_add_one() change a word of 8 bytes by one instruction without a lock: of the
 * calling thread's own memory, against handlers of signals on the same thread, which come before or after it. Other
 * threads must not use that memory. None of these orders anything for another thread; for the compiler each is a
 * barrier.
 *
 * All functions: any context, async-signal-safe, general registers only, no libc.
 */
#ifndef XAUDIT_X86_64_CPU_H
#define XAUDIT_X86_64_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* Words that may be of another type: a pointer. */
typedef uint64_t cpu_word __attribute__((may_alias));

/* Stores `to` if `expected` lies there. Returns the old value: if it is not `expected`, nothing was done. */
static inline uint64_t cpu_swap_one(void *at, uint64_t expected, uint64_t to)
{
	__asm__ volatile("cmpxchg %2, %1" : "+a"(expected), "+m"(*(cpu_word *)at) : "r"(to) : "cc", "memory");
	return expected;
}

/* As cpu_swap_one(), but returns whether it was done. */
static inline int cpu_swaps_one(void *at, uint64_t expected, uint64_t to)
{
	uint8_t done;

	__asm__ volatile("cmpxchg %3, %1; sete %0"
			 : "=q"(done), "+m"(*(cpu_word *)at), "+a"(expected)
			 : "r"(to)
			 : "cc", "memory");
	return done;
}

static inline void cpu_add_one(void *at, uint64_t n)
{
	__asm__ volatile("addq %1, %0" : "+m"(*(cpu_word *)at) : "r"(n) : "cc", "memory");
}

/* For a loop that waits for another thread. */
static inline void cpu_pause(void)
{
	__builtin_ia32_pause();
}

/* The time-stamp counter. Raises SIGSEGV on threads that may not read it (PR_SET_TSC). */
static inline uint64_t cpu_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* What the processor tells of itself. On a virtual machine each question costs some 20 us. */
static inline void cpu_id(uint32_t leaf, uint32_t sub, uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
	__asm__ volatile("cpuid" : "=a"(*a), "=b"(*b), "=c"(*c), "=d"(*d) : "a"(leaf), "c"(sub));
}

/* Does the processor say that its ticks come at one rate, whatever state it is in? Two questions. */
static inline bool cpu_ticks_are_steady(void)
{
	const uint32_t extended = 0x80000000, power = 0x80000007;
	uint32_t most, a, b, c, d;

	cpu_id(extended, 0, &most, &b, &c, &d);
	if (most < power)
		return false;
	cpu_id(power, 0, &a, &b, &c, &d);
	return (d & 1u << 8) != 0;
}

/*
 * Does valgrind execute us? Instructions that change nothing are its own way to be asked; its answer replaces `answer`.
 */
static inline bool cpu_is_valgrind(void)
{
	const uint64_t question[6] = { 0x1001 };
	uint64_t answer = 0;

	__asm__ volatile("rol $3, %%rdi; rol $13, %%rdi; rol $61, %%rdi; rol $51, %%rdi; xchg %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(question)
			 : "cc", "memory");
	return answer != 0;
}

/* The calling thread's %fs base, which glibc keeps in its first word, too: it tells threads apart. */
static inline uint64_t cpu_thread(void)
{
	uint64_t at;

	__asm__("mov %%fs:0, %0" : "=r"(at));
	return at;
}

#endif
