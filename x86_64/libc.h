/* SPDX-License-Identifier: MIT */
/*
 * The parts of glibc that depend on this machine: where it keeps what no interface of its own tells. Offsets are from a
 * thread's %fs base (struct tcbhead_t, struct pthread of nptl). All functions: any context, async-signal-safe, no libc,
 * unless said otherwise.
 */
#ifndef XAUDIT_X86_64_LIBC_H
#define XAUDIT_X86_64_LIBC_H

#include <stdbool.h>
#include <stddef.h> /* NULL */
#include <stdint.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h> /* struct cpuid_feature: glibc 2.33 */
#endif

/* The word that mangles function pointers and addresses in writable memory. All threads have the same value. */
#define LIBC_GUARD 0x30

/* The thread's number, as the kernel knows it. Not in every version: compare it with the kernel's number before use. */
#define LIBC_NUMBER 0x2d0

/* What is at LIBC_NUMBER of the calling thread. */
static inline uint32_t libc_thread_number(void)
{
	uint32_t number;

	__asm__("movl %%fs:%c1, %0" : "=r"(number) : "i"(LIBC_NUMBER));
	return number;
}

/*
 * Do the processor's ticks come at one rate, as ld.so has found out? 0: not known. ask: address of ld.so's LIBC_CPU, or
 * 0. Calls it. What it returns begins with five words: kind, highest leaf, family, model, stepping; then come leaves.
 * The first one has family and stepping as well: where they agree, this is how it is laid out (glibc 2.33 to 2.41).
 */
#define LIBC_CPU "_dl_x86_get_cpu_features"
static inline bool libc_ticks_are_steady(uintptr_t ask)
{
#if __has_include(<sys/platform/x86.h>)
	const unsigned bit = x86_cpu_INVARIANT_TSC;
	const uint32_t *features = ask ? ((const uint32_t *(*)(unsigned))ask)(0) : NULL;

	if (!features)
		return false;
	const struct cpuid_feature *leaf = (const struct cpuid_feature *)(features + 5);
	uint32_t signature = leaf[0].cpuid_array[0], family = signature >> 8 & 15;
	family += family == 15 ? signature >> 20 & 255 : 0;
	return signature && features[2] == family && features[4] == (signature & 15) &&
	       leaf[bit / 128].cpuid_array[bit % 128 / 32] >> bit % 32 & 1;
#else
	(void)ask;
	return false;
#endif
}

/* What a word was before it was mangled with that guard. */
static inline uint64_t libc_unmangle(uint64_t word, uint64_t guard)
{
	return (word >> 17 | word << 47) ^ guard;
}

/* The stack pointer in a jmp_buf of the calling process: that of the frame in which longjmp() goes on. */
static inline uint64_t libc_jump_stack(const uint64_t *env)
{
	uint64_t sp = env[6]; /* JB_RSP */

	__asm__("ror $0x11, %0; xor %%fs:%c1, %0" : "+r"(sp) : "i"(LIBC_GUARD) : "cc");
	return sp;
}

#endif
