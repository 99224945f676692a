/* SPDX-License-Identifier: MIT */
/*
 * DIR/record, what `xaudit record` alone writes: text, whose lines format/trace.h tells. What it says belongs to the
 * folder. One thread (tool/read/folder.h).
 */
#ifndef XAUDIT_TOOL_READ_RECORD_FILE_H
#define XAUDIT_TOOL_READ_RECORD_FILE_H

struct read_folder;

/* Reads it, if it is there: sets record, version, command, status and the pairs. Of a very large one the beginning. */
void read_record_file(struct read_folder *folder);

#endif
