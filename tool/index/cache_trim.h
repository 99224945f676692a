/* SPDX-License-Identifier: MIT */
/*
 * Trimming a folder of indexes, and of plans, which count as these do (cache.h).
 *
 * Who has put an index into a folder trims it: what was not used for 30 days goes; and of the rest, where it is more
 * than 256 MiB, what was used longest ago. What is removed are files and links by name in the folder, which belongs to
 * this user, is no link, and nobody else may write to: nothing outside of it. No file goes but those that begin as
 * indexes do, and what killed writers left, after a day. Stamps go when they were not used for 30 days; they are not
 * counted.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_INDEX_CACHE_TRIM_H
#define XAUDIT_TOOL_INDEX_CACHE_TRIM_H

#include <stdbool.h>
#include <time.h>

#include "tool/index/cache.h"

#define CACHE_MOST   (256ull << 20) /* bytes of a folder's indexes */
#define CACHE_UNUSED (30 * CACHE_DAY) /* until what is not used goes */

/* Is it the name of an index, of a stamp, or of what a writer leaves who is killed? Pure. */
bool cache_is_name(const char *name);

/* Removes what is too old, or too much and was not put there since that time. What can't be removed stays. */
void cache_trim(const char *folder, time_t since);

#endif
