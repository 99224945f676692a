/* SPDX-License-Identifier: MIT */
/*
 * Telling the trace what objects, loads and functions there are. All functions: process lock held. A forked child comes here by its first
 * event, on a program's thread: general registers only, no libc (compiled as runtime/ is).
 */
#ifndef XAUDIT_DESCRIBE_H
#define XAUDIT_DESCRIBE_H

#include "audit/object.h"

/* process_options.describe: everything that is known, into a new meta. */
void describe_all(void);

void describe_object(const struct object *object);
void describe_load(const struct load *load);

/* Names of the object's selected functions with sleds. */
void describe_sleds(const struct object *object);

/* Names of its functions that bindings call: all, or one. */
void describe_bound(const struct object *object, const struct bound_function *one);

/* How many functions are traced, and why not. */
void describe_counts(struct object *object);

/* The same for every object whose counts have doubled since they were told, or changed at all (last: the process ends). */
void describe_changed_counts(int last);

#endif
