/* SPDX-License-Identifier: MIT */
/*
 * Plans that are kept beside indexes (cache.h), so that a program's next start does not wait for them. A plan's name is
 * a hash of all that it was made of: the file's identity, the rules, the prototypes that they stand on, the debug file,
 * and this command. One of which something was said is made again, so that this is said again; so is one of a file
 * that another user may change. What lies in the folder is believed if it is this user's and nobody else may write.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_INDEX_PLAN_CACHE_H
#define XAUDIT_TOOL_INDEX_PLAN_CACHE_H

#include "tool/plan/plan.h"

/* As plan_make(), but takes what is kept in the folder; or makes it, and keeps it there. shared: as cache_put(). */
int plan_take(struct plan_made *made, int fd, const char *path, const char *rules, const char *folder, int shared);

#endif
