/* SPDX-License-Identifier: MIT */
/*
 * Switching sites on and off while the program runs: what a rule means for every load, as one batch.
 *
 * There is no second account of which site is on: the bytes of the text say so (and the `target` of a binding's cell), so whoever dies in the
 * middle of a batch leaves nothing to be repaired. What was asked for is kept in object.selected, for later loads of known objects, and in
 * the list of rules, for objects to come.
 *
 * Two ways to apply a batch:
 *  - from inside, by a thread of the program: live_apply(), by x86_64/patch.h's guard jump, while all others run.
 *  - from outside: `xaudit ctl` stops all threads, has one of them call live_plan(), moves whoever stands inside of bytes that will change, writes
 *    the bytes itself (so that a tool that is killed writes no further while threads run again), and has live_reclaim() called.
 * Bindings need neither: their cell's target is one aligned store, done in live_plan().
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

/* Takes a rule apart, in place. Returns 0, or -EINVAL. Pure. */
int live_rule_parse(struct live_rule *rule, char *text);

/*
 * Remembers the rule and lists what has to be written, in order of address, for every open load. arena: for the list. Returns 0, -ENOMEM, or
 * -EAGAIN when a load is being prepared right now. Functions that were never traced before get ids and are described in the trace.
 */
int live_plan(int on, const struct live_rule *rule, struct arena *arena, struct control_patch **patch, size_t *count,
	struct control_result *result);

/* Plans and applies from inside. What only the tool can do is refused, with its reason, in result. Returns 0 or -errno. */
int live_apply(int on, const struct live_rule *rule, struct control_result *result);

/* Gives pages of text back (MADV_DONTNEED) that hold no site that is on and whose bytes are the file's again. Returns how many. */
size_t live_reclaim(void);

/* Is the function to be traced, by the rules and by what was asked since? For objects that are loaded now. */
int live_selects(const struct object *object, int kind, const char *function);

#endif
