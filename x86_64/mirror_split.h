/* SPDX-License-Identifier: MIT */
/*
 * Parting stacks, and joining them again: by a border, around a gap, or for another struct (mirror.h tells why, and
 * which thread writes what). Process lock held, but where a function says otherwise; async-signal-safe, no libc.
 */
#ifndef XAUDIT_X86_64_MIRROR_SPLIT_H
#define XAUDIT_X86_64_MIRROR_SPLIT_H

#include <stdint.h>

#include "x86_64/mirror.h"

/*
 * Parts the stack at `from`: open calls up to the one at `slot`, the outermost of these, go to the lower part (none if
 * `slot` is 0); calls outside of that one go to the upper part. The stack's struct stays with one part. The other part
 * gets `with`, a struct that was set aside, or a new one if `with` is NULL: the lower part if is_lower, else the upper
 * one. Returns the other part. NULL: no memory; nothing has changed. Another thread may be on the part that has the
 * struct; if that is the upper one, only where `slot` is 0.
 */
struct stack *mirror_split(struct stack *stack, uint64_t slot, uint64_t from, int is_lower, struct stack *with);

/*
 * `slot` has the outermost of the open calls below `here`. `here` is not the stack's, but lies on another stack, in a
 * frame between that call and the one around it. Returns that stack, which has no calls if it was not known; NULL: no
 * memory, or the two are too near, and nothing has changed. Its number is a new one, and the stack around it keeps its
 * own.
 */
struct stack *mirror_carve(struct stack *stack, uint64_t slot, uint64_t here, const void *runner);

/* A stack in the gap that has open calls; NULL: none has. No lock. */
struct stack *mirror_in_gap(const struct stack *stack, const struct stack *gap);

/* The stack in a gap of which this one lies; NULL: in none. No lock. */
struct stack *mirror_around(const struct stack *stack);

/* No call is open in the gap: it is the stack's again. */
void mirror_fill(struct stack *stack, struct stack *gap);

/* hot.low and hot.size become those of the piece that has the slot; a gap that has it is forgotten. */
void mirror_set_window(struct stack *stack, uint64_t slot);

/* Of the numbers that two stacks have, each gets the other's. */
void mirror_swap_numbers(struct stack *a, struct stack *b);

/* Where to part a stack between an open call's slot and `here`, a slot above it. */
uint64_t mirror_border(uint64_t slot, uint64_t here);

/*
 * Gives all of the lower stack to the upper one, if they were one stack, the lower has no open calls, and the upper no
 * new ones.
 */
void mirror_join(struct stack *lower, struct stack *upper);

/*
 * All that the stack has goes to another struct, which is returned: `with`, if that is not NULL, one that was set
 * aside. The struct itself is set aside for a thread that may be in the middle of entering or leaving a call on the
 * stack: what that one stores there harms nobody, and it goes on with the struct when it comes back. NULL: no memory;
 * nothing has changed.
 */
struct stack *mirror_replace(struct stack *stack, struct stack *with);

/* No thread comes back to the struct, which was set aside. */
void mirror_drop(struct stack *stack);

/*
 * The thread that ran on the stack has ended: no calls are open there, nor on other parts of that thread's own stack. A
 * thread that comes next is on another stack, with another number.
 */
void mirror_leave(struct stack *stack);

#endif
