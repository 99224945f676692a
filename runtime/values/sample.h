/* SPDX-License-Identifier: MIT */
/*
 * Samples of memory that functions give and free: one block in so many bytes (the interval), and its free.
 *
 * WHICH. Samples lie like the points of a Poisson process on the line of all bytes that a thread asks for, one for each
 * interval on the average; a block with at least one of them is sampled. So a block of `size` bytes is one with
 * probability 1-exp(-size/interval), whatever was before it, and 1 by that is its weight: the sum of weights, or of
 * weighted bytes, of some calls is right on the average. tramp_sample.left is the way to the thread's next point,
 * rounded up, so that an integer number of bytes reaches it just when the sum does. The trampolines subtract sizes
 * (x86_64/tramp_sample.S); where it runs out they go on as for any function with values, and sample_enter() draws the
 * next one. Since these ways have no memory, one may be drawn anew at any moment without harm: for a thread that
 * begins, and where signals below meet.
 *
 * BLOCKS that are sampled, and not freed yet, are in a set, which is the process's: buckets of a line of the cache, in
 * levels, of which a small one comes first, as it is all that a free needs to look at while samples are few. Blocks are
 * stored by an exchange with 0, and taken out by one for 0, so just one of several threads that free the same block
 * takes it. What has no place in a bucket goes to the next level, and is counted in `further` of the bucket that it
 * passed; `here` counts those of the bucket. Both are added to before the block is stored, and taken from when it is
 * out: so they tell of no less than there is. When the last level's bucket is full, the block is not stored, and the
 * free is counted as lost. No order is asked of memory: a thread that frees a block has it from the one that it was
 * given to, and how it was handed over orders these words, too.
 *
 * A block is stored when its call returns, before the program has it; and taken out before its free begins, when nobody
 * else can have been given the same memory. A realloc takes the old one out when it begins, and stores it again if it
 * fails. Frees that are not seen (recording was off) leave a block in the set: a later one of the same memory takes it
 * out. An address is in the set once.
 *
 * SIGNALS. A handler between any two instructions may allocate and free. left: one that comes after ours ran out, and
 * before we draw, finds it run out, too, draws, and takes the sample; we leave ours out. One that jumps away leaves it
 * run out: the thread's next call is the sample. Counts of a bucket stay too large if it jumps away there, which costs
 * the look that they would save. FORK. A child has copies of all: the rest of the way, drawn on from another clock, and
 * the blocks, which it has as well; what another thread was in the middle of at that moment is as if a handler had
 * jumped away. A task that shares memory is as another thread; if it shares thread-local data, too, one of two
 * subtractions at one moment may be lost.
 *
 * Calls that filters leave out (runtime/record/filter.h) are not drawn for, so the next one is a sample: filters and
 * samples don't go together.
 *
 * On any thread, async-signal-safe, no lock, no libc, general registers only; but sample_begin().
 */
#ifndef XAUDIT_RUNTIME_VALUES_SAMPLE_H
#define XAUDIT_RUNTIME_VALUES_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/values.h"
#include "x86_64/contract.h"
#include "x86_64/sys.h"

/* Takes the operand of VALUES_SAMPLE apart. Returns false: it is none. */
static inline bool sample_check(const uint8_t operand[9], uint8_t *kind, uint64_t *interval)
{
	const uint8_t is = *operand & (uint8_t)~VALUES_SAMPLE_RELAYS;

	*kind = *operand;
	sys_copy(interval, operand + 1, sizeof(*interval));
	return is && is < VALUES_SAMPLES && *interval && *interval <= VALUES_SAMPLE_MOST;
}

/*
 * A function with samples has values: makes room for their blocks, and the interval that of the process, unless it has
 * one. Process lock held.
 */
void sample_begin(uint64_t interval);

/* What the end of a call needs to know of its entry. */
struct sample_call {
	uint64_t old; /* a block that it has taken out of the set; 0: none. Of posix_memalign, where the result goes */
	uint8_t kind; /* enum values_sample; 0: nothing */
	bool sampled; /* the block that it gives is a sample */
	bool fails;   /* without a result it has failed: realloc(block, 0) has not */
};

/*
 * A call of a function with samples (enum values_sample, with RELAYS) begins: is it to be recorded? counted: the
 * trampoline has subtracted its size. *interval: what its value is (VALUES_SAMPLE).
 */
bool sample_enter(struct sample_call *to, uint8_t kind, const struct tramp_registers *registers, bool counted,
	uint64_t *interval);

/* It returns this, and is recorded. */
void sample_leave(const struct sample_call *call, uint64_t result);

/* ---- for tests ---- */

/* So many bytes to the next point, from 1 up: by a random number, each as likely as any other. */
uint64_t sample_draw(uint64_t random, uint64_t interval);

/* The next random number; clock: so that two that had the same state go apart. *state becomes not 0. */
uint64_t sample_random(uint64_t *state, uint64_t clock);

/* The set. sample_add() returns false if it is full, sample_take() if the block is not there. */
bool sample_add(uint64_t block);
bool sample_take(uint64_t block);

#endif
