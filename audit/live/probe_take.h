/* SPDX-License-Identifier: MIT */
/*
 * The probes of an object's newest plan (audit/model/probes.h), the ids of their events, and lines about those that
 * can't be had.
 *
 * A probe keeps its id as long as it has the same name, address and values, whatever plans come and go: events of one
 * place have one id, and stubs that stand stay as they are. Ids and names stay for good, plans as long as they are of
 * use.
 *
 * Process lock held. General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_PROBE_TAKE_H
#define XAUDIT_AUDIT_LIVE_PROBE_TAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/model/object.h"

/*
 * The probes of the set's plan are the object's from now on. values_take() has taken it for object.values; own: its
 * memory is used for nothing else, and is unmapped when it is of no more use. Returns 0 or -errno.
 */
int probe_take(struct object *object, struct values_set *set, bool own);

/* Takes a copy of a plan, trusted as values_take() says. Returns 0; -EBADMSG: it is damaged; -ENOMEM. */
int probe_take_copy(struct object *object, const void *bytes, uint64_t size, bool trusts);

/*
 * Says which of its probes are refused now, and why: each reason once in the process for each name, up to a number of
 * lines; how many more there are is said once for each plan. Each process of a tree that has the object has the same to
 * say: only the trace has it where a program reads the standard error of its child (notes_say()).
 */
void probe_say_refused(const struct object *object);

/* The object has no probes any more. Windows that stand in its loads stay, until they are made anew. */
void probe_forget(struct object *object);

/* The window, or probe, of this number. */
static inline const struct plan_window *probe_window_of(const struct plan_head *plan, uint32_t number)
{
	return (const struct plan_window *)(const void *)((const uint8_t *)plan + plan->window) + number;
}

static inline const struct plan_probe *probe_of(const struct plan_head *plan, uint32_t number)
{
	return (const struct plan_probe *)(const void *)((const uint8_t *)plan + plan->probe) + number;
}

#endif
