/* SPDX-License-Identifier: MIT */
/* The part of the model (model.h) that keeps holds: from their begin to their end. One thread. */
#ifndef XAUDIT_TOOL_LOCKS_HOLDS_H
#define XAUDIT_TOOL_LOCKS_HOLDS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/locks/model.h"

/* What is known of a place; it is made if there is nothing yet. Valid until another one is made. */
struct locks_place *holds_place(struct locks *locks, uint32_t place);

/* Is it a call that waits if the lock is not free? */
static inline bool holds_may_wait(const struct locks_open *open)
{
	return !open->inner && (open->act == LOCKS_LOCK || open->act == LOCKS_READ);
}

/* The call of a thread that is among those who wait for the lock. */
struct locks_open *holds_waiter_call(struct locks *locks, uint32_t thread, uint32_t lock);

/* The thread's hold of the lock; LOCKS_NONE. */
uint32_t holds_of(const struct locks *locks, uint32_t thread, uint32_t lock);

/* The number of what is known of a thread and a lock; it is made if there is nothing yet. */
uint32_t holds_holder(struct locks *locks, uint32_t lock, uint32_t thread);

/* The time that a waiter has lost by this hold. */
void holds_charge(struct locks_hold *hold, const struct locks_open *open, uint64_t now);

/* The thread has got the lock `number` by this call. owner_died: and was told that a holder had ended. */
void holds_acquire(struct locks *locks, uint32_t thread, const struct locks_open *open, uint32_t number, uint64_t now,
	bool owner_died);

/* One of so many locks is undone. Returns whether the thread holds it no more. */
bool holds_unlock(struct locks *locks, uint32_t number, uint64_t now);

/* The hold is over, now. */
void holds_release(struct locks *locks, uint32_t number, uint64_t now);

/* A hold that has no end: all there is of it. */
void holds_leave_behind(struct locks *locks, uint32_t number, uint64_t now);

/* It is not known how long it was. */
void holds_forget(struct locks *locks, uint32_t number);

#endif
