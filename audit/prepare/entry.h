/* SPDX-License-Identifier: MIT */
/*
 * Functions of kinds that an index tells of (KIND_BY_INDEX), when an object is loaded: its index is found, and the
 * rules choose (audit/live/entry.h has the rest).
 */
#ifndef XAUDIT_AUDIT_ENTRY_H
#define XAUDIT_AUDIT_ENTRY_H

#include <stdbool.h>

#include "audit/model/object.h"
#include "audit/prepare/image.h"

/*
 * Finds and maps the index of the object's file into *index. Returns TRACED, or why there is none. In la_objopen,
 * without the process lock.
 */
enum trace_reason entry_find(struct index *index, const struct object *object, const struct image *image);

/*
 * Gives the index to the object, adds the functions that the rules and later requests want, and counts. kinds: that are
 * asked for. Lock held.
 */
void entry_plan(struct object *object, const struct index *index, unsigned kinds);

/*
 * In la_objopen, before anything is written: makes stubs where functions are to be on or ready, and counts anew those
 * that can't be used in this load. Lock held.
 */
void entry_prepare(struct load *load);

/* Is the function's jump to be written in this load? */
bool entry_is_wanted(const struct load *load, uint32_t function);

#endif
