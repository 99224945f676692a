/* SPDX-License-Identifier: MIT */
/*
 * What of audit/'s own account threads of the program look at: defined here, so that their code needs nothing of what
 * runs in ld.so's callbacks alone. Protocols: audit/object.h, audit/unwinder.h.
 */
#include "audit/object.h"
#include "audit/unwinder.h"

struct object *objects;
struct load *loads;
int object_selected;
uint32_t object_count;
const struct rules *object_rules;
int unwinder_blind;
