/* SPDX-License-Identifier: MIT */
/*
 * DIR/record of a trace (the format is at the end of format/trace.h): what was run, when, and how it ended. As long as
 * a command records into the folder, it has the file locked (flock); the lock ends with that process.
 */
#ifndef XAUDIT_TOOL_RECORD_RECORD_FILE_H
#define XAUDIT_TOOL_RECORD_RECORD_FILE_H

struct record_folder;

/*
 * Writes DIR/record: the start, and when the command has ended (status as of waitpid). 0, or -1 after one line on
 * stderr.
 */
int record_file_begin(struct record_folder *folder, char **command);
int record_file_end(struct record_folder *folder, int pid, int status);

#endif
