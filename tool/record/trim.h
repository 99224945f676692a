/* SPDX-License-Identifier: MIT */
/*
 * The places of a family are taken as a whole, and are much of a small trace: what they did not use is given back once
 * no process can write there any more, and so are chunks that threads have in files of their own.
 */
#ifndef XAUDIT_TOOL_RECORD_TRIM_H
#define XAUDIT_TOOL_RECORD_TRIM_H

#include <stdbool.h>

struct read_family;
struct xaudit_read_trace;

/*
 * Gives back to the disk what the places of a family did not use. fd: of its folder. Returns how many bytes that were,
 * or -1 when meta is in use, damaged, not the file that was read or can't be written: then it stays as it is;
 * RECORD_TRIM_NO_MEMORY: there is no memory to find out.
 */
#define RECORD_TRIM_NO_MEMORY (-2)
long long record_trim(int fd, struct read_family *family);

/* The same for the family of a trace that xaudit_read_open_family() opened. */
long long record_trim_trace(int fd, struct xaudit_read_trace *trace);

/*
 * Is it certain that no process has the family's file open or mapped, and none will open it again to write? fd: of its
 * folder.
 */
bool record_trim_is_over(int fd);

#endif
