/* SPDX-License-Identifier: MIT */
/*
 * Probes (format/probe.h) of objects and of their loads: what the newest plan has, and which windows there are. What
 * stands in a load's text, its bytes alone tell; `on` is how they were when they were looked at last.
 *
 * Process lock held. `xaudit ctl` reads them while all threads are stopped.
 */
#ifndef XAUDIT_AUDIT_MODEL_PROBES_H
#define XAUDIT_AUDIT_MODEL_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/plan.h"
#include "runtime/base/arena.h"
#include "runtime/values/plans.h"

/* Of one probe. */
struct probe_state {
	uint8_t on;	 /* its jump stands, in some load */
	uint8_t refusal; /* enum probe_refusal: of the plan, or of the last load */
	uint8_t way;	 /* enum probe_way */
	uint8_t values;	 /* its events have values */
	uint32_t id;	 /* of its events; 0: it has none */
};

/* All probes of an object, as its newest plan has them. */
struct object_probes {
	const struct plan_head *plan; /* nobody can change it */
	uint64_t plan_size;
	struct probe_state *state; /* of each */
	uint32_t count;
	bool said;	/* that some were refused, and of how many there is no line */
	bool own;	/* nothing else uses the plan's memory */
	struct arena memory; /* of this and `state` */
};

/* A window in a load: it stands there, or is to, or did. */
struct probe_window {
	struct plan_window plan; /* its positions mean nothing here */
	uint64_t sum;  /* of all that makes its stub, but addresses */
	uint64_t stub; /* 0: it is gone */
	uint32_t probe;	/* number of its first one in the object's plan; PROBE_NONE: it is not in that */
	bool wanted;
	bool on;
	bool behind; /* of SHORT: its jump in the padding stands, without the other one if a tool died in between */
	bool raised; /* its semaphores are */
	uint32_t entry; /* ENTRY: number of its function in the object's set */
	uint64_t semaphore[PROBE_IN_WINDOW]; /* of its probes: run-time addresses; 0: none */
};

struct load_probes {
	const struct object_probes *of; /* that its windows were made for */
	uint32_t count;
	bool again; /* some could not have memory, where stubs of former ones are that are about to go */
	struct arena memory; /* of this */
	struct probe_window window[]; /* in order of address */
};

/* A probe that has an id: as long as the process lives, whatever plans come. */
struct probe_known {
	struct probe_known *next; /* in its bucket */
	struct probe_known *all;  /* the one that came before it */
	uint64_t address;
	const char *name;
	uint32_t id;
	bool has_values;		       /* they are bound */
	const struct values_function *values; /* NULL: none in its plan */
};

#define PROBE_BUCKETS 1024

struct object_known {
	struct probe_known *bucket[PROBE_BUCKETS];
	struct probe_known *newest;
};

#endif
