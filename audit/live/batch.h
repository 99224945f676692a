/* SPDX-License-Identifier: MIT */
/*
 * A batch: what a rule, or the XRay interface, means for every load. Between batch.c, which finds out what has to be
 * written and keeps what was asked for, and switch.c, which applies it.
 *
 * Lock: process lock held for all. General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_BATCH_H
#define XAUDIT_AUDIT_LIVE_BATCH_H

#include "audit/live/requests.h"
#include "audit/object.h"
#include "runtime/control.h" /* struct control_result */

/* One site that changes. */
struct batch_change {
	struct load *load;
	uint32_t site;
};

struct batch {
	/* What is asked for. */
	int on, outside;
	const struct requests_rule *rule; /* NULL: the XRay interface asks */
	size_t rules;
	const struct load *load; /* where it asks: NULL for all that have a number */
	int64_t function;	 /* its place among the XRay functions of the load; -1: all of them */
	struct arena *arena;	 /* for `change` */
	uint32_t *changed;	 /* room for a number per rule: sites; of the XRay interface, for one */
	struct control_result *result;
	/* What batch_make() finds. */
	struct batch_change *change; /* in order of address */
	size_t count;
	uint32_t functions; /* that these belong to */
	int selected;	    /* something raises events that did not */
	unsigned kinds;	    /* of the functions in a load */
};

/* Of the loads whose sites can be switched, the one that begins next after this address; NULL: there is none. */
struct load *batch_next_load(uint64_t start);

/* From here on the function counts by this reason. */
void batch_recount(struct object *object, uint32_t function, enum trace_reason reason);

/*
 * Finds what has to change, remembers what was asked for, and switches bindings. Returns 0, -ENOMEM, or -EAGAIN when a
 * load is being prepared right now (then nothing was done).
 */
int batch_make(struct batch *batch);

/* Tells the trace, when it is applied. */
void batch_tell(const struct batch *batch);

#endif
