/* SPDX-License-Identifier: MIT */
/*
 * Lines on the program's standard error. Written only where fd 2 is still the file that it was at the start, and takes
 * the line at once: the program may have made it a file of its own, such as a database, or it is a pipe that is not
 * read.
 *
 * stderr_init(): one thread. The others: any thread, no lock, async-signal-safe, no libc.
 */
#ifndef XAUDIT_STDERR_H
#define XAUDIT_STDERR_H

#include <stdbool.h>
#include <stddef.h>

void stderr_init(void);
void stderr_write(const char *line, size_t length);

/*
 * Does whoever started the recording read what comes to fd 2? Where `xaudit record` did, this is so if it is that one's
 * standard error, too; else a program may read it, and take a line of ours for one of its child's. Without `record`
 * nobody knows of a better place: true.
 */
bool stderr_is_users(void);

#endif
