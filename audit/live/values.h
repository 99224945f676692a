/* SPDX-License-Identifier: MIT */
/*
 * Values of calls (runtime/values/): the plans of objects, and the words of functions that have some.
 *
 * An object's plan is made by the command when the object is opened for the first time (audit/index/find.h), before any
 * of its functions is bound or has a stub. Without one, its calls are recorded without values.
 */
#ifndef XAUDIT_AUDIT_LIVE_VALUES_H
#define XAUDIT_AUDIT_LIVE_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/match/match.h"
#include "audit/model/object.h"
#include "x86_64/stub.h"

/* la_objopen: gets the object's plan, if the rules ask for values of calls, or for probes. Process lock not held. */
void values_prepare(struct load *load, const struct rules *rules);

/* A load of the object was opened, or closed, or is gone. Lock held. */
void values_loads_changed(struct object *object);

/*
 * Fills in word and gate of a function's cell (x86_64/stub.h), by its link-time address or name: the word with
 * TRAMP_WORD_VALUES if it has values; the gate that by which it has samples (runtime/values/sample.h), or any other's.
 * intercepted: its return is seen. bound: the cell is a binding's. Threads may come through: each mixture of two words
 * and gates is right, but for samples in it. Lock held.
 */
void values_fill_cell(struct stub_cell *cell, struct object *object, uint64_t offset, const char *name, uint32_t id,
	bool intercepted, bool bound);

/* Has values recorded of an XRay function that is on, if it has some. Lock held. */
void values_mark_xray(struct object *object, uint64_t offset, const char *name, uint32_t id);

/*
 * Takes one more plan of an object that is there; trusts: as values_take(). Adds to *functions how many functions that
 * are traced have values by it. Returns 0, or -errno. Lock held.
 */
int values_add(struct object *object, const void *bytes, uint64_t size, bool trusts, uint32_t *functions);

/* RULES by which values are recorded, as xaudit_control shows them: those of the start, until others were added. */
const char *const *values_rules_place(const struct rules *rules);

/*
 * What xaudit ctl asks for (runtime/control.h): plans were taken, by these RULES; functions of these patterns are to
 * have no values any more. *functions: how many functions that are traced had them. Returns 0 or -errno. Lock held.
 */
int values_remember(const char *rules);
int values_remember_probes(const char *rules); /* in the place of all RULES about probes that there were */
int values_drop_all(const char *patterns, const char *end, uint32_t *functions);

/* Do they ask for backtraces? ld.so's lock, or the process lock held. */
bool values_ask_backtraces(void);

/* Do rules ask for values of any function's calls? Any context. */
bool values_are_wanted(void);

/*
 * The program is about to make this memory unreadable: of loads that have some of it nothing is read directly from now
 * on, also if it becomes readable again. A thread that is just reading it is not waited for. Any thread; takes the
 * process lock.
 */
void values_hide(uint64_t address, uint64_t size);

/* Where errno is: location is __errno_location() of the program's libc, which is relocated; 0: there is none. */
void values_find_errno(uintptr_t location);

#endif
