/* SPDX-License-Identifier: MIT */
/*
 * Switching sites on and off while the program runs: a rule is applied to every load as one batch (audit/live/batch.h).
 *
 * Which site is on stands in one place only: the bytes of the text (and the `target` of a binding's cell). So a process
 * or tool that dies in the middle of a batch leaves nothing to be repaired. What was asked for is kept in object.marks,
 * for later loads of known objects, and in the list of rules (audit/live/requests.h), for new objects. An object's
 * marks stay as asked even where a site of the present load could not be changed.
 *
 * Two ways to apply a batch:
 *  - from inside, by a thread of the program: switch_apply(), by x86_64/patch.h's guard jump, while all others run.
 *    Sites that are switched off become `ready` (x86_64/sled.h).
 *  - from outside: `xaudit ctl` stops all threads, has one of them call switch_obey(), moves threads that stand inside
 *    of bytes that will change, writes the bytes itself (so that a tool that is killed writes no further while threads
 *    run again), and has switch_reclaim() called. Sites that are switched off get the file's own bytes, so that pages
 *    can be given back.
 * Bindings need neither way: to switch one is one aligned store to its cell's target, done with the request. A function
 * is traced by its sled or by its bindings, not by both: switching the sled on switches the bindings off.
 *
 * All functions: process lock held. Closed loads are left alone; an open one can't be unmapped meanwhile, since
 * la_objclose takes the lock.
 */
#ifndef XAUDIT_AUDIT_LIVE_SWITCH_H
#define XAUDIT_AUDIT_LIVE_SWITCH_H

#include <stddef.h>
#include <stdint.h>

#include "audit/live/requests.h"
#include "audit/model/object.h"
#include "runtime/control.h" /* struct control_request, struct control_result */

/*
 * Remembers the rule, and writes the bytes. Changes that only the tool can make are refused; result has the reason.
 * Functions that were never traced before get ids and are described in the trace. Returns 0, -ENOMEM, or -EAGAIN when a
 * load is being prepared right now (then nothing was done); to be called again without the lock in between. If the
 * kernel refuses what patch_live() needs, returns the kernel's error; result then counts all sites as refused.
 */
int switch_apply(int on, const struct requests_rule *rule, struct control_result *result);

/*
 * The XRay interface switches one XRay function (its position among the object's), or all (-1), of one load, or of all
 * loads that have a number (NULL). This concerns present loads only and is not remembered as a rule. Else as
 * switch_apply().
 */
int switch_apply_xray(int on, const struct load *load, int64_t function, struct control_result *result);

/*
 * The object is loaded again, and its sleds are as the rules say, whatever the XRay interface did before: counts them
 * again.
 */
void switch_reloaded(struct object *object);

/*
 * Gives pages of text back (MADV_DONTNEED) that hold no site that is on and whose bytes are the file's again. Returns
 * how many.
 */
size_t switch_reclaim(void);

/*
 * The part of a request from outside that concerns sites (control_options.change): to switch, it remembers the rules
 * and answers the bytes that the tool shall write, in order of address, for every open load. Lock held. Returns as
 * switch_apply(), or -ECANCELED: nothing would be recorded, so nothing was switched on; process_why_place() has the
 * reason.
 */
int switch_obey(struct control_request *request);

/* The address of a word that is not 0 when nothing is on, nor will be by itself, after a request to disable `*`. */
const uint32_t *switch_calm_place(void);

/* Switches a binding. */
static inline void switch_switch(const struct binding *binding, int on)
{
	/*
	 * Release; pairs with the load by the stub's first jump (stub.h): a thread that jumps to the rest finds a full
	 * cell.
	 */
	__atomic_store_n(&binding->cell->target, on ? binding->rest : binding->cell->body, __ATOMIC_RELEASE);
}

#endif
