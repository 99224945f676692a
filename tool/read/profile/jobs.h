/* SPDX-License-Identifier: MIT */
/*
 * Several threads count. Nothing that reads a trace is shared: each thread but the caller's opens the traces anew,
 * since a folder and its files, names and damage are one thread's. They share a list of jobs, each of which is a thread
 * record (or several, if these have to be read by turns), and take the next one from it whenever they are done with
 * one. The list is in the order of the trace, so each takes jobs in rising order (count.h).
 *
 * A thread that can't open a trace, or does not find in it what the caller's has, leaves the job for the end, when the
 * caller's thread does it. Damage belongs to jobs, too, and is put together in their order.
 */
#ifndef XAUDIT_TOOL_READ_PROFILE_JOBS_H
#define XAUDIT_TOOL_READ_PROFILE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/profile/profile.h"

/*
 * Counts all with so many threads, of which the caller's is one. The result, damage included, does not depend on their
 * number. Returns false if memory ran out.
 */
bool read_profile_count(struct xaudit_read_profile *profile, uint32_t jobs);

#endif
