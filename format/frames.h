/* SPDX-License-Identifier: MIT */
/*
 * How to go up from an address of code to its caller: what an index makes of .eh_frame (INDEX_FRAMES, index.h).
 *
 * The part is an array of struct index_frame, by `from`, each value once; no two neighbours have the same rule. An
 * address belongs to the last entry whose `from` is not above it; before the first one, and where an entry has
 * FRAME_NONE, nothing is known. Its rule tells where the caller's frame begins (the CFA, as DWARF calls it), which is
 * where the stack pointer points to when the code has returned. The return address lies right below it, always: else
 * the rule is FRAME_NONE.
 *
 * A rule is 32 bits:
 *	0-2	enum frame_base: what the CFA is counted from
 *	3-17	how far above that it lies, in words; of INDIRECT: how far below rbp the word lies that holds the CFA;
 *		of NONE: enum frame_none
 *	18-31	where the caller's rbp is: FRAME_RBP_SAME, FRAME_RBP_LOST, FRAME_RBP_AT_RBP, or how many words below the
 *		CFA
 */
#ifndef XAUDIT_FORMAT_FRAMES_H
#define XAUDIT_FORMAT_FRAMES_H

#include <stdint.h>

struct index_frame {
	uint32_t from; /* address, less index_head.code_low */
	uint32_t rule;
};

enum frame_base {
	FRAME_NONE,	/* the walk ends */
	FRAME_RSP,
	FRAME_RBP,
	FRAME_SIGNAL,	/* the kernel's return from a signal: registers are in the ucontext_t that rsp points to */
	FRAME_INDIRECT, /* a function that aligned its stack: the CFA is a word in memory */
};

enum frame_none {
	FRAME_GAP,	  /* no unwind information, or damaged */
	FRAME_OUTERMOST,  /* nobody called it: there is no return address */
	FRAME_REGISTER,	  /* the CFA is counted from another register */
	FRAME_EXPRESSION, /* an expression in another form than INDIRECT */
	FRAME_ELSEWHERE,  /* the return address is not right below the CFA */
	FRAME_FAR,	  /* too far, or no whole words */
	FRAME_NONES
};

#define FRAME_RBP_SAME	 0u
#define FRAME_RBP_LOST	 0x3fffu /* in another register, computed, or nowhere */
#define FRAME_RBP_AT_RBP 0x3ffeu /* in the word that rbp points to */
#define FRAME_RBP_MOST	 0x3ffdu
#define FRAME_FAR_MOST	 0x7fffu /* words */

#define FRAME_RULE(base, words, rbp) ((uint32_t)(base) | (uint32_t)(words) << 3 | (uint32_t)(rbp) << 18)
#define FRAME_BASE(rule)	     ((rule) & 7)
#define FRAME_WORDS(rule)	     ((rule) >> 3 & FRAME_FAR_MOST)
#define FRAME_RBP_OF(rule)	     ((rule) >> 18)

#endif
