/* SPDX-License-Identifier: MIT */
/*
 * Lines on the program's standard error. Written only where fd 2 is still the file that it was at the start, and takes
 * the line at once: the program may have made it a file of its own, such as a database, or it is a pipe that is not
 * read.
 *
 * stderr_init(): one thread. stderr_write(): any thread, no lock, async-signal-safe, no libc.
 */
#ifndef XAUDIT_STDERR_H
#define XAUDIT_STDERR_H

#include <stddef.h>

void stderr_init(void);
void stderr_write(const char *line, size_t length);

#endif
