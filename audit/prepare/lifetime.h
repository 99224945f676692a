/* SPDX-License-Identifier: MIT */
/*
 * From the first look at an object to the last stub that is freed (audit/model/object.h says what the two are).
 *
 * Cookies are pointers to struct load. They can't be trusted: ld.so passes us raw link_map pointers for objects that it
 * never announced, and cookies of loads that are already closed. object_load() checks them. The memory of a load is
 * used again for a later load, never given back.
 *
 * Life of a load: OPEN -> CLOSED (la_objclose; its code may still run) -> DOOMED (LA_ACT_DELETE) -> RETIRED
 * (LA_ACT_CONSISTENT: the text is gone, nothing new can come to its stubs) -> FREE (runtime/process/epoch.h: no thread
 * that announced a section before can still be looking at what belonged to the load). Stubs and bindings are freed in
 * the last step, by any thread in a callback, in the recorder's change of chunks, or that removes a handler. At exit
 * nothing is unmapped, so nothing is retired, although ld.so makes the same callbacks for each namespace except the
 * program's: a load is retired only when its text is gone, or when ld.so does not know it any more.
 *
 * All functions: in ld.so's callbacks; under which lock, each says.
 */
#ifndef XAUDIT_LIFETIME_H
#define XAUDIT_LIFETIME_H

#include "audit/model/object.h"
#include "audit/prepare/image.h"

/*
 * A new load of the object that map describes: finds or makes the identity, notes both in the trace. main: the program.
 * NULL: no memory. Takes the process lock. Sites are not looked at (prepare.h).
 */
struct load *object_open(const struct link_map *map, int64_t namespace, const struct image *image,
	const struct rules *rules, uint32_t flags);

/*
 * The module itself, as a load of an object that are in no list; NULL: its program headers tell nothing. Its path is
 * not asked for yet: NULL. In la_objopen.
 */
struct load *object_own(void);

/* The load of a cookie, or NULL when the cookie is not one of ours. Any context. */
struct load *object_load(uintptr_t cookie);

/* la_objclose: the load is closed, the trace says so. Takes the lock. */
void object_close(struct load *load);

/* LA_ACT_DELETE: the closed loads will be unmapped before the next LA_ACT_CONSISTENT. Takes the lock. */
void object_doom(void);

/* LA_ACT_CONSISTENT: retires loads whose text is gone, and frees those that no thread can still see. Takes the lock. */
void object_retire(void);

#endif
