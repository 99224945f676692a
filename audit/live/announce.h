/* SPDX-License-Identifier: MIT */
/*
 * Writing records of objects, loads and functions into the trace. All functions: process lock held. A forked child
 * comes here on its first event, on a thread of the program: general registers only, no libc (compiled as runtime/ is).
 */
#ifndef XAUDIT_AUDIT_LIVE_ANNOUNCE_H
#define XAUDIT_AUDIT_LIVE_ANNOUNCE_H

#include "audit/model/object.h"

/* process_options.describe: writes everything that is known into a new meta. */
void announce_all(void);

void announce_object(const struct object *object);
void announce_load(const struct load *load);

/*
 * Writes the names of the object's functions with sleds that are to be on and that the trace does not know yet. Their
 * ids must have been taken (load_code_stubs).
 */
void announce_new_sleds(struct object *object);

/* Gives a function that bindings call its id and name, if it has none. Returns the id, or 0: they are used up. */
uint32_t announce_new_bound(struct object *object, struct bound_function *function);

/* Writes the names of its functions that bindings call and that were on: of all, or of one. */
void announce_bound(const struct object *object, const struct bound_function *one);

/* Writes functions again that the trace knows, and the pattern names: they may have other names. Returns how many. */
uint32_t announce_renamed(struct object *object, const struct rules_pattern *pattern);

/* Writes the names of the object's probes that became known after this one; NULL: of all. */
void announce_new_probes(const struct object *object, const struct probe_known *before);

/* Writes how many functions are traced, and how many are not for which reason. */
void announce_counts(struct object *object);

/*
 * announce_counts() for every object whose counts have doubled since they were written last; if the process ends
 * (last), for every object whose counts have changed at all.
 */
void announce_changed_counts(int last);

/* Writes how many of its pages of text are changed. */
void announce_pages(const struct object *object);

/* Id of a function with sleds, by its index; 0: its object has none yet, or it holds guards. */
uint32_t announce_id(const struct object *object, uint32_t function);

/* Takes n function ids; returns the first, or 0 when they are used up. */
uint32_t announce_take_ids(const struct object *object, uint32_t n);

#endif
