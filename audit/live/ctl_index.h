/* SPDX-License-Identifier: MIT */
/*
 * Indexes of files (format/index.h) that `xaudit ctl` writes into a process that has looked for none, or that can't
 * open them from its root. The tool has memory made here, writes into it, and names it in its next request
 * (runtime/control.h), all while the world is stopped. An index that an object takes stays mapped for good, like one
 * that the module found itself: names and templates are used where they lie.
 *
 * All functions: process lock held, by the thread that obeys. General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_CTL_INDEX_H
#define XAUDIT_AUDIT_LIVE_CTL_INDEX_H

#include <stdint.h>

#include "runtime/base/arena.h"

/* Makes memory of this size, in place of what was made before and not taken. *address. Returns 0 or -errno. */
int ctl_index_make(uint64_t size, uint64_t *address);

/*
 * Gives the `count` indexes in that memory to the objects that they are of, where these have none. What is damaged, or
 * another file's, is left; without any that was taken the memory is freed.
 */
void ctl_index_take(uint64_t count);

/*
 * Likewise the `count` plans of values (format/plan.h) in that memory, to objects that may have others already.
 * *functions: how many functions that are traced have values by them. Returns 0, -EBADMSG if one is damaged, or
 * -ENOMEM; those before it are taken.
 */
int ctl_index_take_plans(uint64_t count, uint32_t *functions);

/*
 * Likewise plans of probes, whose bytes are copied; and RULES, the part of object CONTROL_OBJECT_RULES, which is copied
 * to the arena: *rules; else it stays as it was. Returns 0, -EBADMSG or -ENOMEM, as above.
 */
int ctl_index_take_probes(uint64_t count, struct arena *arena, const char **rules);

#endif
