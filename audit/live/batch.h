/* SPDX-License-Identifier: MIT */
/*
 * A batch: the changes that a rule, or a call of the XRay interface, means for every load. Between batch.c, which finds
 * out what has to be written and remembers what was asked for, and switch.c, which applies the changes.
 *
 * All functions: process lock held. General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_BATCH_H
#define XAUDIT_AUDIT_LIVE_BATCH_H

#include "audit/live/requests.h"
#include "audit/model/object.h"
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
	int64_t function;	 /* its position among the XRay functions of the load; -1: all of them */
	struct arena *arena;	 /* for `change` */
	uint32_t *changed;	 /* room for one number per rule: its sites; one for the XRay interface */
	struct control_result *result;
	/* What batch_make() finds. */
	struct batch_change *change; /* in order of address */
	size_t count;
	uint32_t functions; /* to which these changes belong */
	int selected;	    /* some function raises events that did not before */
	unsigned kinds;	    /* of the usable functions of the load at hand */
};

/* Is a load being prepared right now? What is asked for waits then: -EAGAIN. */
bool batch_must_wait(void);

/* Of the loads whose sites can be switched, the first one after this address; NULL: there is none. */
struct load *batch_next_load(uint64_t start);

/* A rule of the batch names something. */
void batch_note_rule(const struct batch *batch, size_t rule);

/* From now on the function is counted under this reason. */
void batch_recount(struct object *object, uint32_t function, enum trace_reason reason);

/*
 * Finds what has to change, remembers what was asked for, and switches bindings. Returns 0, -ENOMEM, or -EAGAIN when a
 * load is being prepared right now (then nothing was done).
 */
int batch_make(struct batch *batch);

/* Writes the batch into the trace, after it was applied. */
void batch_tell(const struct batch *batch);

#endif
