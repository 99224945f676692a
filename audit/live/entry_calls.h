/* SPDX-License-Identifier: MIT */
/*
 * Functions of kinds fentry and mcount: their compiler lets them call a profiler at their beginning (-pg). An index
 * tells where (struct index_call). They are functions of the object's set as those of kind entry are (entry.h), which
 * their index_function, part of an index_call, describes as well: the call is left out of what is displaced.
 *
 * In an object whose section of the rules asks for such a kind, all calls of that kind become NOPs when the object is
 * loaded, before anything else is looked at. So the bytes that are expected in memory, and put back when a function is
 * switched off from outside, are those with NOPs. In all other objects the calls stay; where `xaudit ctl` asks for the
 * kind, a function's own call goes while it lies among the bytes that are displaced. All functions of the kind are in
 * the set where it is asked for, selected or not, and none elsewhere: they are few, and were compiled to be traced.
 *
 * Process lock held. General registers only, no libc (compiled as runtime/ is).
 */
#ifndef XAUDIT_AUDIT_LIVE_ENTRY_CALLS_H
#define XAUDIT_AUDIT_LIVE_ENTRY_CALLS_H

#include <stdbool.h>

#include "audit/model/object.h"

/* Are functions of this kind seen by way of such a call? */
static inline bool entry_calls_has(unsigned kind)
{
	return kind == TRACE_KIND_FENTRY || kind == TRACE_KIND_MCOUNT;
}

/* Does the object's section ask for the kind, so that its calls are NOPs? */
int entry_calls_asked(const struct object *object, unsigned kind);

/* Sets the bit, by number, of each function of object.index that has this kind. */
void entry_calls_mark(const struct object *object, unsigned kind, uint64_t *bits);

/* How function `number` of object.index, which has the kind, is seen by way of its call; NULL: damaged. */
const struct index_function *entry_calls_site(const struct object *object, unsigned kind, size_t number);

/*
 * The bytes f->original as they are in memory, where this object's calls may be NOPs. to: INDEX_ORIGINAL_MAX bytes.
 * from: the address of the first, as index_site() tells.
 */
void entry_calls_expect(
	const struct object *object, const struct index_function *f, uint64_t from, uint8_t to[INDEX_ORIGINAL_MAX]);

/* Where the function goes on behind its call, link-time, if that alone is displaced; else 0. */
uint64_t entry_calls_behind(const struct object *object, const struct index_function *f);

/* Were calls of the load made NOPs? */
static inline int entry_calls_erased(const struct load *load)
{
	return load->erased;
}

/* Makes NOPs of the load's calls, which nobody runs yet. Returns TRACED, NO_ROOM or PROTECTION. */
enum trace_reason entry_calls_erase(struct load *load);

#endif
