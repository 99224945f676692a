/* SPDX-License-Identifier: MIT */
/*
 * Files of a trace without their holes (format/compact.h), and with them again. For folders of families whose processes
 * have ended: nobody opens these files to write any more, and who has one open to read goes on with what it was. A file
 * is compact under another name first; what can't be made so stays as it is. One thread at a time.
 *
 * fd: of the folder, which is ours.
 */
#ifndef XAUDIT_TOOL_PACK_COMPACT_FILE_H
#define XAUDIT_TOOL_PACK_COMPACT_FILE_H

#define COMPACT_NEW "compact" /* the file, until it has its name */

/* Makes meta and the t<n> compact where that saves a third or more, and no more than COMPACT_MOST are to be copied. */
#define COMPACT_MOST (64ll << 20)
void compact_folder(int fd);

/* Makes the file compact in any case. */
void compact_file(int fd, const char *name);

/*
 * Where meta or a t<n> is compact: copies all of these to another folder, sparse. Returns 1, 0 if none is compact, or
 * -errno.
 */
int compact_expand(int fd, int to);

#endif
