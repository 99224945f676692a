/* SPDX-License-Identifier: MIT */
/* What the files of handlers share; handlers.h tells which code may call what. */
#ifndef XAUDIT_RUNTIME_HANDLERS_STATE_H
#define XAUDIT_RUNTIME_HANDLERS_STATE_H

#include <stdbool.h>

#include "runtime/handlers/handlers.h"
#include "runtime/process/epoch.h"
#include "runtime/process/thread.h"
#include "x86_64/vectors.h"

/* The handler of a type; never changed while it is in the table. */
struct handlers_entry {
	struct epoch_item item; /* first, since the epoch gives back this address */
	handlers_function *function;
	void *argument;
	unsigned flags;
	enum handlers_type type;
	struct handlers_entry *next; /* next free entry. Process lock */
};

/* What trampolines tell: the event, and what is not for the handler. */
struct handlers_told {
	struct handlers_event event; /* first: it is what the handler gets */
	bool is_xray;
};

extern struct handlers_entry *handlers_of_program[HANDLERS_TYPES] __attribute__((visibility("hidden")));

/* Is there a handler of that type? Any context. */
static inline bool handlers_is_set(enum handlers_type type)
{
	/* Relaxed: just a look; code that goes on loads it again in a section. */
	return __atomic_load_n(&handlers_of_program[type], __ATOMIC_RELAXED) != NULL;
}

/* Is the thread enrolled, and in no handler? Then handlers_may_enter() need not be called. */
static inline bool handlers_is_outside(struct thread *thread)
{
	/* Relaxed: our own thread's. */
	return thread->enrolled && !__atomic_load_n(&thread_slot(thread)->seen, __ATOMIC_RELAXED);
}

/*
 * Calls the handler of that type, if there is one and the thread is in no handler. On the thread itself. Fills in the
 * event's size, type and vectors. frame: an address that is the same for all events of one stack frame of the program,
 * and lower the deeper the frame is; events that a handler raises have lower addresses. Returns whether a handler was
 * called that may take long.
 */
static inline __attribute__((always_inline)) uint32_t handlers_deliver(
	struct thread *thread, enum handlers_type type, struct handlers_event *event, uint64_t frame)
{
	struct epoch_slot *slot = thread_slot(thread);
	uint32_t slow = 0;

	if (__builtin_expect(!handlers_is_outside(thread), 0) && !handlers_may_enter(thread, frame))
		return 0;
	epoch_announce_outermost(slot, frame);
	/*
	 * Acquire; pairs with the release in publish(). In the section: the entry that we find here stays whole until
	 * we withdraw.
	 */
	const struct handlers_entry *entry = __atomic_load_n(&handlers_of_program[type], __ATOMIC_ACQUIRE);
	if (__builtin_expect(entry != NULL, 1)) {
		slot->inside = entry; /* for handlers_inside(), on this thread */
		slot->event = event;  /* for handlers_is_told(), likewise */
		event->size = sizeof(*event);
		event->type = type;
		event->vectors = NULL;
		slow = !(entry->flags & HANDLERS_GENERAL);
		if (slow)
			tramp_call_saved(event, entry->function, entry->argument, &event->vectors);
		else
			entry->function(event, entry->argument);
	}
	epoch_withdraw(slot, 0);
	return slow;
}

#endif
