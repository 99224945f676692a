/* SPDX-License-Identifier: MIT */
/*
 * Lines that hold as long as the process lives, such as of what can't be had in an object. Each is said once, on
 * standard error if that is a user's (runtime/files/stderr.h), and is in the trace in any case: also where the process
 * had no folder yet when it was said, as while its program is loaded.
 *
 * Process lock held. General registers only, no libc.
 */
#ifndef XAUDIT_NOTES_H
#define XAUDIT_NOTES_H

void notes_say(const char *line);

/* When the process describes everything, in a folder that it has made (process_options.describe). */
void notes_describe(void);

#endif
