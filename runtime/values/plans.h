/* SPDX-License-Identifier: MIT */
/*
 * Plans (format/plan.h) in use: which values are recorded of which function.
 *
 * A set is what one plan says: of an object, for as long as the process lives, but where nothing of it was bound
 * (values_give_back()). Its functions get ids as they are traced (values_bind()); from then on values_function() leads
 * from the id to the function. Which load of the object is there now, a struct values_place says, which lies in the
 * load: where just one is, its segments are read directly, and variables are found. Where several are, none is told,
 * since an event does not tell which of them it comes from; so a thread that finds a place is in that load, which stays
 * as long as the call.
 *
 * Writers hold the process lock. values_function() and values_place(): any thread, any context, no lock; they are
 * released and acquired as whole pointers, and what they point to does not change. No libc.
 */
#ifndef XAUDIT_RUNTIME_VALUES_PLANS_H
#define XAUDIT_RUNTIME_VALUES_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/plan.h"
#include "format/values.h"
#include "runtime/base/arena.h"
#include "runtime/record/filter.h" /* filter_options */
#include "runtime/values/actions.h"
#include "runtime/values/part.h"
#include "x86_64/contract.h" /* TRAMP_TABLE_IDS */

#define VALUES_SEGMENTS 6 /* of a load, most */

struct values_place {
	uint64_t base;
	const struct values_copy *copy; /* of its variables, in the program */
	uint32_t copies;
	uint32_t segments; /* 0: nothing is read directly */
	struct values_segment segment[VALUES_SEGMENTS];
};

struct values_function {
	struct tramp_values quick; /* first: tramp_values leads to it */
	struct values_set *set;
	struct values_function *told; /* the one that was bound before it */
	struct values_function *also; /* the same one by another id */
	const struct plan_function *plan;
	uint64_t longer; /* ticks */
	uint32_t every, every_number; /* number: of those that have `every`, from 0 on */
	struct values_part entry, end;
	const struct values_action *then; /* the first of its actions; NULL */
	bool then_ends;	   /* one of them is at the end */
	bool then_needs;   /* and needs the entry */
	bool is_off; /* its code was refused, or its values are asked for no more */
};

struct values_set {
	struct values_set *next; /* the object's next older one */
	const struct plan_head *plan;
	const struct values_place *place; /* NULL: none, or several loads */
	struct values_action *action;		  /* of the plan, in its order */
	uint32_t *by_name, names;	  /* numbers of functions + 1, by their names' hash: a power of 2 of them */
	struct values_function function[]; /* of the plan, in its order */
};

/*
 * Takes a plan, whose bytes nobody can change, and which stays mapped, before those that were taken before: *sets. Its
 * probes and windows are checked, too. trusts: the rules have arguments trusted; else functions whose code does that
 * have no values. Returns 0; -EBADMSG: it is damaged; -ENOMEM.
 */
int values_take(struct values_set **sets, const void *bytes, size_t size, bool trusts);

/* The same, in memory of its own. If that fails the caller gives that back. */
int values_take_held(struct values_set **sets, const void *bytes, size_t size, bool trusts, struct arena *held);

/* Takes the newest set out, of which nothing was bound, and gives its memory back; the plan's is the caller's. */
void values_give_back(struct values_set **sets, struct arena *held);

/*
 * Values of the function of the plans' object at this link-time address, or of this name, go with the id from now on,
 * and the trace is told its layouts. The newest plan that has the function counts. has_end: its return is seen. Returns
 * whether there are any.
 */
bool values_bind(struct values_set *sets, uint64_t offset, const char *name, uint32_t id, bool has_end);

/*
 * The same of a probe: of the function with this number in the set, which has PLAN_PROBE. No other way leads to such
 * ones.
 */
bool values_bind_probe(struct values_set *set, uint32_t number, uint32_t id);

/* Its values are recorded no more: only those of older plans can be bound. */
void values_drop(struct values_function *f);

/* The name that the plan has for the function. */
static inline const char *values_name(const struct values_function *f)
{
	return (const char *)f->set->plan + f->plan->name;
}

/* What the end of a function's calls needs from their entries: they are kept (side.h). */
static inline bool values_needs_entry(const struct values_function *f)
{
	return f->end.facts.takes || f->end.facts.conditions || f->longer || filter_options.time ||
	       f->then_needs;
}

/* Tells the trace all layouts once more: its records begin anew. */
void values_describe(void);

/* The load that is there; NULL: none, or several. Before a thread runs in it, and before another one's are mapped. */
void values_set_place(struct values_set *sets, const struct values_place *place);

/* NULL: it has no values. */
static inline struct values_function *values_function(uint32_t id)
{
	/* Acquire: pairs with the releases in values_bind() and make_table(). */
	struct tramp_values **table = __atomic_load_n(&tramp_values, __ATOMIC_ACQUIRE);

	return table && id < TRAMP_TABLE_IDS
		       ? (struct values_function *)__atomic_load_n(&table[id], __ATOMIC_ACQUIRE) /* acquire, as above */
		       : NULL;
}

static inline const struct values_place *values_place(const struct values_set *set)
{
	/* Acquire: pairs with the release in values_set_place(). */
	return __atomic_load_n(&set->place, __ATOMIC_ACQUIRE);
}

#endif
