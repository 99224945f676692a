/* SPDX-License-Identifier: MIT */
/*
 * The folder of a family (format/trace.h) and how its files are reached. Made by the process whose program was
 * executed; its forked children inherit the path, in memory that fork keeps. They don't need it for their place in the
 * trace (pool.h), only for files of full chunks, and when meta must grow.
 *
 * No descriptor is kept (output.h). A process that can't open a file may get it from `xaudit record` (broker.h).
 *
 * family_init(): one thread. family_make(): process lock held. The others: once pool_is_open(), any thread of any
 * member, no lock, async-signal-safe, no libc.
 */
#ifndef XAUDIT_FAMILY_H
#define XAUDIT_FAMILY_H

#include <stdint.h>

#include "format/trace.h" /* struct trace_head */
#include "runtime/files/output.h"

#define FAMILY_PATH 4160 /* longest, with its end */

/*
 * output: absolute path of the trace, %p for the process id, %u for the effective user's. head: address of the pointer
 * to the process's head, which is NULL as long as it has no head. Both must stay.
 */
void family_init(const char *output, struct trace_head *const *head);

/*
 * Makes folder and meta. Returns a descriptor of meta, or -errno, or OUTPUT_FOREIGN: family_folder() names the folder.
 */
long family_make(uint32_t pid);

/* Path of the folder. */
const char *family_folder(void);

/*
 * When it was made, the heartbeat of `xaudit ctl watch` (trace_head.copy_beat) in the family that had the process's
 * number before: that of the program which executed this one. 0: there was none.
 */
uint64_t family_beat(void);

/* Opens the folder. Returns a descriptor to close, or -errno: -ESTALE when another folder has that path by now. */
int family_open_folder(void);

/*
 * Opens a file of the folder; if `make` is set, makes it if need be. Returns a descriptor to close, and the file's
 * place, to check it against before each use (output.h); or -errno.
 */
int family_open(const char *name, int make, struct output_place *place);

#endif
