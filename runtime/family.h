/* SPDX-License-Identifier: MIT */
/*
 * The folder of a family (format/trace.h) and how its files are reached. Made by the process whose program was
 * executed; its forked children inherit the path, in memory that fork keeps, and need it no more for their place in the
 * trace (pool.h): only for files of full chunks, and where meta has to grow.
 *
 * No descriptor is kept (output.h). Who can't open a file may have it from `xaudit record` (broker.h).
 *
 * family_init(): one thread. family_make(): process lock held. The others: once pool_is_open(), any thread of any
 * member, no lock, async-signal-safe, no libc.
 */
#ifndef XAUDIT_FAMILY_H
#define XAUDIT_FAMILY_H

#include <stdint.h>

#include "format/trace.h" /* struct trace_head */

#define FAMILY_PATH 4160 /* longest, with its end */

/*
 * output: absolute path of the trace, %p for the process id. head: where the process's head is found, NULL as long as
 * it has none. Both must stay.
 */
void family_init(const char *output, struct trace_head *const *head);

/* Makes folder and meta. Returns a descriptor of that, or -errno, or OUTPUT_FOREIGN: family_folder() says of what. */
long family_make(uint32_t pid);

/* Path of the folder. */
const char *family_folder(void);

/* Opens the folder. Returns a descriptor to close, or -errno: -ESTALE when another one has that path by now. */
int family_open_folder(void);

/* Opens a file of the folder, making it if need be where `make` says so. Returns a descriptor to close, or -errno. */
int family_open(const char *name, int make);

#endif
