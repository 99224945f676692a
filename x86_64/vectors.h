/* SPDX-License-Identifier: MIT */
/*
 * Calling code that is not ours from the middle of the program's call: it may use vector registers and x87, which hold
 * arguments or results of the call that was interrupted.
 *
 * A function of the program's libc, off the fast path: vectors_keep() saves them by fxsave around it (libc's base code
 * uses no more; wider code is chosen by IFUNC in string functions only).
 *
 * A handler of the program's: tramp_call_saved() saves all that it may change, and vectors_read() (xsave.h) tells it
 * what they held. vectors_find() comes before, once, while no thread calls either.
 */
#ifndef XAUDIT_VECTORS_H
#define XAUDIT_VECTORS_H

#include <stdint.h>

/* Returns function(a, b). Any thread; needs 600 bytes of stack and what the function needs. */
long vectors_keep(uintptr_t function, uint64_t a, uint64_t b);

/*
 * The lower halves of vector registers 0 to 7, in code that general registers suffice for: as the program's call has
 * them, in the middle of it. Any context.
 */
void vectors_low(uint64_t to[8]);

/* ---- Handlers ---- */

/* What tramp_call_saved() saves by when not the quick way. */
enum tramp_vectors_way { TRAMP_FXSAVE, TRAMP_XSAVE, TRAMP_XSAVEC };

/* Registers that tramp_call_saved() knows to move, the quick way; none: it always takes the other. */
enum tramp_vectors_quick { TRAMP_QUICK_NONE, TRAMP_QUICK_YMM, TRAMP_QUICK_ZMM };

/* How tramp_call_saved() works on this processor. Set by vectors_find(). */
struct tramp_vectors {
	uint64_t size;	/* of the area, whichever way it is filled */
	uint32_t mask;	/* components of the extended state */
	uint32_t way;	/* enum tramp_vectors_way */
	/* enum tramp_vectors_quick. Not none where `more` is not 0, but xgetbv does not tell what is in use */
	uint32_t quick;
	/* components that the quick way does not know: r16-r31; AVX-512's, unless quick is TRAMP_QUICK_ZMM */
	uint32_t more;
	uint32_t pushes; /* whether x87's stack is empty is told by pushing onto it, not by fxam */
};

extern struct tramp_vectors tramp_vectors __attribute__((visibility("hidden")));

/* Of tramp_saved.in_use: what is not all zeros. The others were not stored. */
#define TRAMP_USED_UPPER 1 /* the first 16 vector registers from bit 128 on. All of these are stored in any case */
#define TRAMP_USED_MORE	 2 /* zmm16 to zmm31 */
#define TRAMP_USED_MASKS 4 /* k0 to k7 */

/*
 * The area of the quick way: begins as this. The 64 bytes after the first 512 are the header of an area of xsave, which
 * has zeros where is_quick is.
 */
struct tramp_saved {
	union {
		uint8_t ymm[16][32];
		uint64_t masks[8]; /* TRAMP_QUICK_ZMM */
	};
	uint32_t mxcsr, mxcsr_behind; /* before and after the handler; so are x87's */
	uint16_t control, control_behind;
	uint8_t x87[28]; /* of fldenv */
	uint32_t in_use; /* TRAMP_QUICK_ZMM: TRAMP_USED_... */
	uint8_t unused[12];
	uint64_t is_quick;   /* enum tramp_vectors_quick */
	uint8_t zmm[32][64]; /* TRAMP_QUICK_ZMM alone has room for these */
};

_Static_assert(__builtin_offsetof(struct tramp_saved, is_quick) == 568, "in the reserved part of xsave's header");
_Static_assert(__builtin_offsetof(struct tramp_saved, zmm) % 64 == 0, "one line of the cache each");

struct handlers_event;

/*
 * Calls function(event, argument) with all vector registers, x87, mxcsr and flags saved, and restores them, but for
 * those flags and those condition codes of x87 that no function keeps. *area is where on the stack: tramp_vectors.size
 * bytes, and 64 for alignment.
 */
void tramp_call_saved(const struct handlers_event *event, void (*function)(const struct handlers_event *, void *),
	void *argument, const void **area);

#endif
