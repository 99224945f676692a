/* SPDX-License-Identifier: MIT */
/*
 * Functions of kind entry (entry.h) that have a stub in a load: where it is, what is written at the site, and whether
 * the function is on.
 *
 * All functions: process lock held. General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_ENTRY_STUB_H
#define XAUDIT_AUDIT_LIVE_ENTRY_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/model/object.h"

/* Why the function can't be used in this load; TRACED: it can. Its stub must have been made. */
enum trace_reason entry_refused(const struct load *load, uint32_t function);

/* The cell of the function, by its number in the set; NULL: no stubs yet. *stub: its stub's address. */
struct stub_cell *entry_cell(const struct load *load, uint32_t function, uint64_t *stub);

/*
 * Is there a call of ours in its bytes when its jump stands? Then its copy is of no use without, and may be used by
 * somebody who has come through the jump already: so it stands from the first time on, and its stub must have been
 * made.
 */
bool entry_stays(const struct load *load, uint32_t function);

/*
 * The bytes of the function's site that are written with its jump, as sled_patched(). Returns their number; 0: no stubs
 * yet, or out of reach.
 */
size_t entry_patched(const struct load *load, uint32_t function, uint8_t out[16], int *from);

/*
 * Address of the function's out-of-line copy in this load, 0: none. inside: as struct index_template's: where in it a
 * thread can go on that stands between the instructions in place.
 */
uint64_t entry_copy(const struct load *load, uint32_t function, uint16_t inside[INDEX_JUMP - 1]);

/* Is it on, if its jump stands? */
bool entry_is_on(const struct load *load, uint32_t function);

/* Switches it, if its jump stands, by one store: threads may be running it. Its cell must be full. */
void entry_turn(struct load *load, uint32_t function, int on);

/*
 * The function of kind entry, by its number in the set, that is on and displaces what the window does (ENTRY), so that
 * it can go on in the window's stub. Returns -1: there is none.
 */
int64_t entry_displacing(const struct load *load, const struct plan_window *window);

/* Where it goes on, the partner of whose store is the stub's load: there from now on; 0: in its own copy. */
uint64_t entry_goes_on(const struct load *load, uint32_t function);
void entry_go_on(struct load *load, uint32_t function, uint64_t stub);

/*
 * Where to call the function at this address without an event, whether it is on or not: its copy, if it has one in an
 * open load that can be used even where no jump stands; else itself.
 */
uint64_t entry_past(uint64_t address);

#endif
