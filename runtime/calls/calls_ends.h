/* SPDX-License-Identifier: MIT */
/*
 * Ends of open calls (calls.h) whose frames are gone, and whether a frame is. On the thread, async-signal-safe, no
 * libc; no lock held.
 */
#ifndef XAUDIT_RUNTIME_CALLS_CALLS_ENDS_H
#define XAUDIT_RUNTIME_CALLS_CALLS_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"
#include "runtime/process/thread.h"

/*
 * Functions of higher parts: given by runtime/start.c, before the first call. On the thread itself; no lock. The first
 * two are called about frames that are gone, while tramp_checks has TRAMP_CHECK_HANDLERS.
 */
struct calls_hooks {
	void (*frames_gone)(struct thread *thread, uint64_t low, uint64_t high); /* handlers_frames_gone() */
	void (*unwound)(struct thread *thread, uint32_t id); /* a call of this function has ended without returning */
	bool (*values_end)(struct thread *thread, struct stack *stack, uint64_t slot, uint32_t word, uint64_t clock);
};

void calls_init(const struct calls_hooks *hooks);

/* Ends every open call on the stack at or below the slot as unwound: its frame is gone for certain. */
void calls_unwind(struct thread *thread, struct stack *stack, uint64_t slot);

/* Does the word hold the return address that the entry of an XRay call, or of one that was told, has? */
bool calls_is_kept(const struct mirror_entry *entry, uint64_t word);

/*
 * Is the word where the call's return address was still what we or the sled's caller put there? Memory may be gone
 * since, but for the page of `here`, which the thread is seen to use.
 */
bool calls_is_held(uint64_t slot, uint64_t here);

/* Ends every open call on the stack at or below the slot by an event of this type. */
void calls_end(struct thread *thread, struct stack *stack, uint64_t slot, enum trace_type type);

/* All calls on the stack, which were another thread's that is gone: handlers are not told. */
void calls_end_quietly(struct thread *thread, struct stack *stack);

#endif
