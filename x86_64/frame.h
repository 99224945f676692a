/* SPDX-License-Identifier: MIT */
/*
 * Frames of signal handlers: how a handler of ours returns, and how the frame of any handler is recognized in memory.
 */
#ifndef XAUDIT_X86_64_FRAME_H
#define XAUDIT_X86_64_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What a handler returns to (struct sigaction's restorer of the kernel): rt_sigreturn, with the frame on top of the
 * stack. Not a C function.
 */
void frame_restorer(void) __attribute__((visibility("hidden")));

/*
 * The words of a signal frame on a stack (struct rt_sigframe of the kernel): where the handler returns to, then the
 * ucontext.
 */
enum frame_word { FRAME_RETURN = 0, FRAME_SP = 21, FRAME_PC = 22, FRAME_SEGMENTS = 24, FRAME_WORDS = 25 };

/* Behind it are the mask and the siginfo, of which this is si_addr: of a fault, as information. */
#define FRAME_FAULT 41

/* Bytes that frame_is_restorer() looks at. */
#define FRAME_RESTORER_SIZE 9

/* Is that the code that a handler, ours or another, returns to? Any context. */
static inline bool frame_is_restorer(const uint8_t code[FRAME_RESTORER_SIZE])
{
	/* mov $__NR_rt_sigreturn, %rax; syscall. Some libraries use the shorter mov, as we do. */
	static const uint8_t one[9] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 },
			     two[7] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	unsigned first = 0, second = 0;

	while (first < sizeof(one) && code[first] == one[first])
		first++;
	while (second < sizeof(two) && code[second] == two[second])
		second++;
	return first == sizeof(one) || second == sizeof(two);
}

/*
 * May these words be a frame? The code segment is compared with that of 64-bit programs; the caller looks at the
 * restorer.
 */
static inline bool frame_may_be(const uint64_t word[FRAME_WORDS])
{
	return (word[FRAME_SEGMENTS] & 0xffff) == 0x33 && word[FRAME_RETURN] >= 4096;
}

#endif
