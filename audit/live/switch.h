/* SPDX-License-Identifier: MIT */
/*
 * Switching sites on and off while the program runs: what a rule means for every load, as one batch
 * (audit/live/batch.h).
 *
 * There is no second account of which site is on: the bytes of the text say so (and the `target` of a binding's cell),
 * so whoever dies in the middle of a batch leaves nothing to be repaired. What was asked for is kept in object.marks,
 * for later loads of known objects, and in the list of rules (audit/live/requests.h), for objects to come. An object's
 * marks stay as asked where a site of the present load could not be changed.
 *
 * Two ways to apply a batch:
 *  - from inside, by a thread of the program: switch_apply(), by x86_64/patch.h's guard jump, while all others run.
 *    What is switched off becomes `ready` (x86_64/sled.h).
 *  - from outside: `xaudit ctl` stops all threads, has one of them call switch_plan(), moves whoever stands inside of
 *    bytes that will change, writes the bytes itself (so that a tool that is killed writes no further while threads run
 *    again), and has switch_reclaim() called. What is switched off becomes the file's own bytes, so that pages can be
 *    given back.
 * Bindings need neither: their cell's target is one aligned store, done in switch_plan(). A function is traced by its
 * sled or by its bindings, not by both: switching the sled on switches the bindings off.
 *
 * Lock: process lock held for all. A load that is closed is left alone; it can't be unmapped meanwhile, since
 * la_objclose takes the lock.
 */
#ifndef XAUDIT_AUDIT_LIVE_SWITCH_H
#define XAUDIT_AUDIT_LIVE_SWITCH_H

#include <stddef.h>
#include <stdint.h>

#include "audit/live/requests.h"
#include "audit/object.h"
#include "runtime/control.h" /* struct control_patch, struct control_result */

/*
 * Remembers the rule and lists what has to be written, in order of address, for every open load. arena: for the list.
 * Returns 0, -ENOMEM, or -EAGAIN when a load is being prepared right now (then nothing was done). Functions that were
 * never traced before get ids and are described in the trace.
 */
int switch_plan(int on, const struct requests_rule *rule, struct arena *arena, struct control_patch **patch,
	size_t *count, struct control_result *result);

/*
 * Plans and applies from inside. What only the tool can do is refused, with its reason, in result. Returns 0, or
 * -ENOMEM, -EAGAIN as switch_plan(); to be called again without the lock in between. Where the kernel refuses what
 * patch_live() needs, its error: result counts all as refused then.
 */
int switch_apply(int on, const struct requests_rule *rule, struct control_result *result);

/*
 * The XRay interface switches a function (its place among the object's), or all XRay functions (-1), of a load, or
 * of all that have a number (NULL): in what is loaded now, and for no later load. No rule remembers it. Else as
 * switch_apply().
 */
int switch_apply_xray(int on, const struct load *load, int64_t function, struct control_result *result);

/* The object is loaded again, and its sleds are as the rules say, whatever the XRay interface did: counts them so. */
void switch_reloaded(struct object *object);

/*
 * Gives pages of text back (MADV_DONTNEED) that hold no site that is on and whose bytes are the file's again. Returns
 * how many.
 */
size_t switch_reclaim(void);

/* The part of a request from outside that concerns sites (control_options.change). Lock held. */
int switch_obey(struct control_request *request);

/* Switches a binding. */
static inline void switch_switch(const struct binding *binding, int on)
{
	/* Release; pairs with the load by the stub's first jump (stub.h): who comes to the rest finds a full cell. */
	__atomic_store_n(&binding->cell->target, on ? binding->rest : binding->cell->body, __ATOMIC_RELEASE);
}

#endif
