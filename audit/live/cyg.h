/* SPDX-License-Identifier: MIT */
/*
 * Functions of kind cyg: compiled with -finstrument-functions, so that they call __cyg_profile_func_enter() and
 * __cyg_profile_func_exit() themselves, with their own address. Nothing of their text is written.
 *
 * They are functions of the object's set without sites. Which is on is told by its mark alone (FUNCTION_ON of
 * object.marks), in all loads of the object, at once.
 *
 * A load whose object has such functions has a struct cyg, and two stubs of bindings with it (audit/bind/cyg_bind.h),
 * to which the two symbols are bound. A stub leads to tramp_cyg (x86_64/tramp_cyg.S), which calls the side's function.
 *
 * Any thread, async-signal-safe, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_CYG_H
#define XAUDIT_AUDIT_LIVE_CYG_H

#include <stdbool.h>

#include "audit/model/object.h"

/* What a stub of a load leads to. */
struct cyg_side {
	/* first: the trampoline calls it. function, site: as the compiler passes them; side: this */
	void (*call)(uint64_t function, uint64_t site, const struct cyg_side *side);
	const struct load *load;
	void (*next)(uint64_t function, uint64_t site); /* the program's own, called afterwards; NULL: it has none */
};

struct cyg {
	struct cyg_side enter, leave;
	int settled; /* the load is relocated: no definition that comes later is its own */
};

void cyg_enter(uint64_t function, uint64_t site, const struct cyg_side *side);
void cyg_leave(uint64_t function, uint64_t site, const struct cyg_side *side);

/* Takes ids for the object's functions of this kind. Returns 0 when they are used up. Lock held. */
int cyg_take_ids(struct object *object);

/* Is it of this kind: without sites, and on if its mark says so? */
static inline bool cyg_is(const struct object *object, uint32_t function)
{
	return object->sites.function[function].kind == TRACE_KIND_CYG;
}

#endif
