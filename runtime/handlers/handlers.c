/* SPDX-License-Identifier: MIT */
#include "runtime/handlers/handlers.h"

#include <errno.h> /* EINVAL */
#include <stdbool.h>

#include "runtime/base/identity.h"
#include "runtime/calls/calls_stack.h"
#include "runtime/handlers/objects.h"
#include "runtime/handlers/state.h"
#include "runtime/process/clock.h"
#include "runtime/process/epoch.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "x86_64/sys.h"
#include "x86_64/xsave.h"

struct handlers_entry *handlers_of_program[HANDLERS_TYPES];
uint32_t tramp_wanted;
_Static_assert(TRAMP_WANTED_ENTRY == 1 << HANDLERS_ENTRY && TRAMP_WANTED_EXIT == 1 << HANDLERS_EXIT &&
		       TRAMP_WANTED_TAIL == 1 << HANDLERS_TAIL && TRAMP_WANTED_ARGUMENTS == 1 << HANDLERS_ARGUMENTS &&
		       TRAMP_WANTED_PROBE == 1 << HANDLERS_PROBE,
	"a bit for each type");

static struct handlers_entry pool[64] SYS_LARGE; /* one per type, and removed ones that threads have not left yet */
static struct handlers_entry *unused;
static unsigned taken; /* of pool */
static unsigned leaving; /* entries out of the table that threads may be in. Process lock */
static int used;	 /* handlers were set once. Process lock */
/* The process (runtime/base/identity.h) whose threads the epoch knows; 0: none. Process lock. */
static uint32_t enrolled;
static uint64_t nested;

/* ---- which threads are in a handler ---- */

/*
 * After a fork: threads that this process does not have hold nothing. Only the thread that forked, the child's main
 * thread, may tell the epoch so (runtime/process/epoch.h). Process lock held.
 */
static void look_for_fork(void)
{
	uint32_t generation = identity_generation();

	if (enrolled == generation)
		return;
	if (enrolled) {
		if ((uint32_t)sys_gettid() != identity_pid())
			return;
		epoch_after_fork(tramp_self ? thread_slot((struct thread *)tramp_self) : NULL);
	}
	enrolled = generation;
}

/* Does the slot beside the thread's record belong to the thread? The record may have been wiped by fork. */
static bool is_owner(const struct epoch_slot *slot, const struct thread *thread)
{
	return slot->tid == (thread->tid ? thread->tid : (uint32_t)sys_gettid()) &&
	       slot->generation == identity_generation();
}

static void enroll(struct thread *thread)
{
	struct process_held held;
	struct epoch_slot *slot = thread_slot(thread);

	process_lock(&held);
	look_for_fork();
	/* A thread that forked in a handler owns its slot already, and is still in its section. */
	if (!is_owner(slot, thread))
		epoch_register(slot, thread->tid);
	thread->enrolled = 1;
	process_unlock(&held);
}

/* The calling thread's slot, NULL when it has none: then it is in no handler. Lock held. */
static struct epoch_slot *own_slot(void)
{
	look_for_fork();
	if (!tramp_self)
		return NULL;
	struct epoch_slot *slot = thread_slot((struct thread *)tramp_self);
	return is_owner(slot, (struct thread *)tramp_self) ? slot : NULL;
}

static bool is_inside(const struct epoch_slot *slot)
{
	/* Relaxed: our own thread's. */
	return __atomic_load_n(&slot->seen, __ATOMIC_RELAXED) != 0;
}

/*
 * If the frame that began the thread's section is gone, since the present one has the same place, or a higher one on
 * the same stack, ends the section and returns 1.
 */
static bool has_left(struct thread *thread, struct epoch_slot *slot, uint64_t here)
{
	uint64_t frame = __atomic_load_n(&slot->frame, __ATOMIC_RELAXED); /* relaxed: our own thread's */
	const struct stack *stack = frame && frame <= here ? calls_stack(thread, here) : NULL;

	if (!epoch_has_left(slot) && (!stack || !stack_owns(stack, frame)))
		return false;
	epoch_withdraw(slot, 0);
	return true;
}

void handlers_frames_gone(struct thread *thread, uint64_t low, uint64_t high)
{
	if (thread->enrolled)
		epoch_unwound(thread_slot(thread), low, high);
}

void handlers_thread_ended(struct thread *thread)
{
	if (thread->enrolled)
		epoch_unregister(thread_slot(thread));
	thread->enrolled = 0;
}

uint64_t handlers_nested(void)
{
	return __atomic_load_n(&nested, __ATOMIC_RELAXED); /* relaxed: a number that orders nothing */
}

/* ---- calling ---- */

bool handlers_may_enter(struct thread *thread, uint64_t frame)
{
	if (!thread->enrolled)
		enroll(thread);
	struct epoch_slot *slot = thread_slot(thread);
	if (!is_inside(slot) || has_left(thread, slot, frame))
		return true;
	__atomic_fetch_add(&nested, 1, __ATOMIC_RELAXED); /* relaxed: a number that orders nothing */
	return false;
}

/* Tells an event whose clock no trampoline has read. */
static void tell(struct thread *thread, struct handlers_event *event)
{
	if (!handlers_is_set(event->type))
		return;
	event->clock = clock_now();
	handlers_deliver(thread, event->type, event, (uint64_t)(uintptr_t)__builtin_frame_address(0));
}

void handlers_unwind(struct thread *thread, uint32_t id)
{
	struct handlers_event event = { .type = HANDLERS_UNWIND, .id = id, .object = handlers_object(thread, id) };

	tell(thread, &event);
}

static void raise(struct handlers_event *event)
{
	struct thread *thread = handlers_is_set(event->type) ? thread_get() : NULL;

	if (thread && !thread_is_stranger(thread, (uint64_t)(uintptr_t)__builtin_frame_address(0)))
		tell(thread, event);
}

void handlers_custom(const void *data, size_t size)
{
	struct handlers_event event = { .type = HANDLERS_CUSTOM, .data = data, .data_size = size };

	raise(&event);
}

void handlers_typed(uint64_t data_type, const void *data, size_t size)
{
	struct handlers_event event = {
		.type = HANDLERS_TYPED, .data = data, .data_size = size, .data_type = data_type
	};

	raise(&event);
}

void handlers_loaded(enum handlers_type type, uint32_t object, uint64_t base)
{
	struct handlers_event event = { .type = type, .object = object, .address = base };

	raise(&event);
}

/* ---- the table ---- */

static void switch_checks(void)
{
	uint32_t wanted = leaving ? ~0u : 0; /* a thread that left one by a jump is found at its later events */

	for (int type = 0; type < HANDLERS_TYPES; type++)
		wanted |= (uint32_t)handlers_is_set(type) << type;
	/*
	 * Relaxed, all: a thread that sees it late misses a handler that is just being set, or looks for one in vain.
	 */
	__atomic_store_n(&tramp_wanted, wanted, __ATOMIC_RELAXED);
	if (wanted)
		__atomic_fetch_or(&tramp_checks, TRAMP_CHECK_HANDLERS, __ATOMIC_RELAXED);
	else
		/* relaxed, as above */
		__atomic_fetch_and(&tramp_checks, ~(uint32_t)TRAMP_CHECK_HANDLERS, __ATOMIC_RELAXED);
}

/* No thread is in the entry any more. */
static void recycle(struct epoch_item *item)
{
	struct handlers_entry *entry = (struct handlers_entry *)item; /* its first member */

	entry->next = unused;
	unused = entry;
	leaving--;
	switch_checks();
}

/*
 * Sets or clears the entry of a type; the old entry is given to the epoch. Returns whether there was one. Process lock
 * held.
 */
static int publish(enum handlers_type type, struct handlers_entry *entry)
{
	/*
	 * Release; pairs with the acquire in handlers_deliver(): a thread that finds the entry finds its content. It is
	 * D1 of runtime/process/epoch.h, too.
	 */
	struct handlers_entry *old = __atomic_exchange_n(&handlers_of_program[type], entry, __ATOMIC_ACQ_REL);

	if (old) {
		leaving++;
		epoch_defer(&old->item, recycle);
	}
	switch_checks();
	return old != NULL;
}

static struct handlers_entry *take(void)
{
	struct handlers_entry *entry = unused;

	if (entry)
		unused = entry->next;
	else if (taken < sizeof(pool) / sizeof(*pool))
		entry = &pool[taken++];
	return entry;
}

/*
 * Waits for threads that are in entries which were taken out of the table. self: own_slot()'s answer. Without the
 * process lock.
 */
static int wait_for_others(struct epoch_slot *self)
{
	struct process_held held;

	if (self && is_inside(self)) {
		struct thread *thread = thread_self();
		if (!thread || !has_left(thread, self, (uint64_t)(uintptr_t)__builtin_frame_address(0)))
			return HANDLERS_DEFERRED;
	}
	if (!epoch_wait(self, HANDLERS_WAIT))
		return -EBUSY;
	process_lock(&held);
	epoch_reclaim();
	process_unlock(&held);
	return 0;
}

int handlers_set(enum handlers_type type, handlers_function *fn, void *argument, unsigned flags)
{
	struct process_held held;

	if ((unsigned)type >= HANDLERS_TYPES || !fn || flags & ~(unsigned)HANDLERS_GENERAL)
		return -EINVAL;
	process_lock(&held);
	if (!used)
		vectors_find();
	used = 1;
	epoch_reclaim();
	struct epoch_slot *self = own_slot();
	struct handlers_entry *entry = take();
	int replaced = 0;
	if (entry) {
		entry->function = fn;
		entry->argument = argument;
		entry->flags = flags;
		entry->type = type;
		replaced = publish(type, entry);
	}
	process_unlock(&held);
	if (!entry)
		return -ENOMEM;
	return replaced ? wait_for_others(self) : 0;
}

int handlers_remove(enum handlers_type type)
{
	struct process_held held;

	if ((unsigned)type >= HANDLERS_TYPES)
		return -EINVAL;
	process_lock(&held);
	struct epoch_slot *self = own_slot();
	int removed = publish(type, NULL);
	process_unlock(&held);
	return removed ? wait_for_others(self) : -ENOENT;
}

static bool lies_in(const struct handlers_entry *entry, uint64_t start, uint64_t end)
{
	uint64_t function = (uint64_t)(uintptr_t)entry->function, argument = (uint64_t)(uintptr_t)entry->argument;

	return (function >= start && function < end) || (argument >= start && argument < end);
}

/*
 * The handler that the calling thread is in; NULL: none. self: own_slot()'s answer, or its slot if there was no fork.
 * Without the process lock.
 */
static const struct handlers_entry *current(struct epoch_slot *self, uint64_t here)
{
	if (!self || !is_inside(self))
		return NULL;
	struct thread *thread = thread_self();
	return thread && has_left(thread, self, here) ? NULL : self->inside;
}

bool handlers_inside(uint64_t *function, uint64_t *argument)
{
	struct process_held held;

	/* Nearly always: without the lock. */
	if (!tramp_self || !is_inside(thread_slot((struct thread *)tramp_self)))
		return false;
	process_lock(&held);
	struct epoch_slot *self = own_slot();
	process_unlock(&held);
	const struct handlers_entry *entry = current(self, (uint64_t)(uintptr_t)__builtin_frame_address(0));
	if (!entry || entry->type == HANDLERS_LOAD)
		return false;
	*function = (uint64_t)(uintptr_t)entry->function;
	*argument = (uint64_t)(uintptr_t)entry->argument;
	return true;
}

bool handlers_is_told(const struct handlers_event *event)
{
	const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	/* In a forked child the record is wiped, and the slot is still the forking thread's. */
	const struct epoch_slot *slot = tramp_self ? thread_slot((struct thread *)tramp_self) : NULL;

	if (!slot || !is_inside(slot) || slot->event != event || epoch_has_left(slot))
		return false;
	/* As has_left(), but it changes nothing. */
	const uint64_t frame = __atomic_load_n(&slot->frame, __ATOMIC_RELAXED); /* relaxed: our own thread's */
	const struct stack *stack = frame <= here ? mirror_find(here) : NULL;
	return !stack || !stack_owns(stack, frame);
}

int handlers_forget(uint64_t start, uint64_t end, int wait)
{
	struct process_held held;
	int removed = 0;

	if (!used) /* without the process lock: code of the memory that sets a handler did so before it is closed */
		return 0;
	process_lock(&held);
	struct epoch_slot *self = own_slot();
	for (int type = 0; type < HANDLERS_TYPES; type++) {
		const struct handlers_entry *entry = handlers_of_program[type];
		if (entry && lies_in(entry, start, end))
			removed |= publish(type, NULL);
	}
	process_unlock(&held);
	if (!removed || !wait)
		return 0;
	/* A handler that closes another one's library waits for the other threads. */
	const struct handlers_entry *own = current(self, (uint64_t)(uintptr_t)__builtin_frame_address(0));
	if (!own || lies_in(own, start, end))
		return wait_for_others(self);
	return epoch_wait_others(self, HANDLERS_WAIT) ? 0 : -EBUSY;
}
