/* SPDX-License-Identifier: MIT */
/*
 * Variables of audit/ that threads of the program read: defined here, so that the threads' code does not depend on code
 * that runs only in ld.so's callbacks. Protocols: audit/object.h, audit/live/unwinder.h.
 */
#include "audit/object.h"
#include "audit/live/unwinder.h"

struct object *objects;
struct load *loads;
int object_selected;
uint32_t object_count;
const struct rules *object_rules;
int unwinder_blind;
int unwinder_begun;
int unwinder_shadow_stack;
