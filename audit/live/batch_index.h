/* SPDX-License-Identifier: MIT */
/*
 * Which functions of an object's index the rules of a batch name (audit/live/batch.h). They are found in the index, not
 * by going through the set, since most of them are in no set (audit/live/entry.h), and since a function has further
 * names there.
 *
 * Functions of a rule that names kind entry are added to the set; a rule that names fentry or mcount adds all functions
 * of that kind; a rule without kinds concerns functions that are in the set already.
 * From inside nothing new is displaced; but what was asked for is remembered, for later loads of the object.
 *
 * All functions: process lock held. General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_BATCH_INDEX_H
#define XAUDIT_AUDIT_LIVE_BATCH_INDEX_H

#include "audit/live/batch.h"

struct batch_index {
	/* One for each function of the index: 1 + the first rule that names it, and flags; NULL: no index. */
	uint32_t *of;
};

/*
 * Finds them, notes in the batch's result which rules name a function, adds to the set those that are to be added, and
 * counts those that can't be displaced, by reason. arena: of memory that lasts as long as *named. Returns 0 or -ENOMEM.
 */
int batch_index_find(struct batch_index *named, struct batch *batch, struct object *object, struct arena *arena);

/* The rule of a function of kind entry in the object's set; -1: none. */
int batch_index_rule(const struct batch_index *named, const struct object *object, uint32_t function);

#endif
