/* SPDX-License-Identifier: MIT */
/*
 * Switching sites on and off while the program runs: what a rule means for every load, as one batch.
 *
 * There is no second account of which site is on: the bytes of the text say so (and the `target` of a binding's cell), so whoever dies in the
 * middle of a batch leaves nothing to be repaired. What was asked for is kept in object.marks, for later loads of known objects, and in
 * a list of rules, in order of time, for objects to come: the last one that matches counts. An object's marks stay as asked where a site of the present
 * load could not be changed.
 *
 * Two ways to apply a batch:
 *  - from inside, by a thread of the program: live_apply(), by x86_64/patch.h's guard jump, while all others run. What is switched off becomes
 *    `ready` (x86_64/sled.h).
 *  - from outside: `xaudit ctl` stops all threads, has one of them call live_plan(), moves whoever stands inside of bytes that will change, writes
 *    the bytes itself (so that a tool that is killed writes no further while threads run again), and has live_reclaim() called. What is
 *    switched off becomes the file's own bytes, so that pages can be given back.
 * Bindings need neither: their cell's target is one aligned store, done in live_plan(). A function is traced by its sled or by its bindings, not by both:
 * switching the sled on switches the bindings off.
 *
 * Lock: process lock held for all. A load that is closed is left alone; it can't be unmapped meanwhile, since la_objclose takes the lock.
 */
#ifndef XAUDIT_LIVE_H
#define XAUDIT_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "audit/object.h"
#include "runtime/control.h" /* struct control_patch, struct control_result */

/* [KIND:]FUNCGLOB[@LIBGLOB], taken apart. */
struct live_rule {
	unsigned kinds; /* mask; all when none is named */
	const char *function, *library; /* library NULL: any */
};

/*
 * Takes a rule apart, in place. KIND may be several, joined by commas. Returns 0, or -EINVAL: no function, or a word before a colon that is no kind
 * (a glob that begins with a name and two colons is all function). Pure.
 */
int live_rule_parse(struct live_rule *rule, char *text);

/*
 * Remembers the rule and lists what has to be written, in order of address, for every open load. arena: for the list. Returns 0, -ENOMEM, or
 * -EAGAIN when a load is being prepared right now (then nothing was done). Functions that were never traced before get ids and are described in
 * the trace.
 */
int live_plan(int on, const struct live_rule *rule, struct arena *arena, struct control_patch **patch, size_t *count,
	struct control_result *result);

/*
 * Plans and applies from inside. What only the tool can do is refused, with its reason, in result. Returns 0, or -ENOMEM, -EAGAIN as live_plan(); to be
 * called again without the lock in between. Where the kernel refuses what patch_live() needs, its error: result counts all as refused then.
 */
int live_apply(int on, const struct live_rule *rule, struct control_result *result);

/* Gives pages of text back (MADV_DONTNEED) that hold no site that is on and whose bytes are the file's again. Returns how many. */
size_t live_reclaim(void);

/* Is the function of this object to be on, by what was asked since the start? by_rules: the answer where nothing was. */
int live_selects(const struct object *object, int kind, const char *function, int by_rules);

/* Switches a binding. */
void live_switch(const struct binding *binding, int on);

#endif
