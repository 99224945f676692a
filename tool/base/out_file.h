/* SPDX-License-Identifier: MIT */
/*
 * A file that a command writes for its user, whole or not at all: what is written goes to a new file beside it, which
 * gets the name when all of it is written. A name that leads to something else than a regular file (a pipe,
 * /dev/null) is written to as it is. A trace may hold what its program was given, so the file is this user's alone
 * (0600), as traces are, whatever the mode of one that it replaces.
 *
 * If the command ends before, by exit() or by a signal whose action is the default (SIGHUP, SIGINT, SIGQUIT, SIGTERM),
 * the new file is removed. So there is one such file at a time.
 *
 * One thread. Errors are lines on stderr, for the command.
 */
#ifndef XAUDIT_TOOL_BASE_OUT_FILE_H
#define XAUDIT_TOOL_BASE_OUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct out_file {
	FILE *file; /* to be written to; errors are left in it */
	const char *command, *path; /* path NULL: standard output */
	/* tool/base/out_file.c's: */
	char *made; /* the new file; NULL: what is written to is what has the name */
	char *target; /* that it is to become */
	char *buffer;
};

/*
 * Begins it. path: NULL or "-": standard output, which stays open; terminal: whether that may be a terminal, which a
 * format of bytes is not for. Returns false after a line.
 */
bool out_file_begin(struct out_file *out, const char *command, const char *path, bool terminal);

/*
 * The same in a new file that nobody else can have made, in the folder for temporary files. The name ends with this;
 * out->path is to be freed.
 */
bool out_file_temporary(struct out_file *out, const char *command, const char *ending);

/*
 * Ends it. whole: what was to be written was; else the new file is removed. Returns false, after a line, when it could
 * not be written, though it was whole. That the reader of a pipe has ended is no error.
 */
bool out_file_end(struct out_file *out, bool whole);

/*
 * A new folder `path` for a format of several files, in which nobody else may make any (0700). What is there already is
 * an error, but for an empty folder. Returns a descriptor, or -1 after a line.
 */
int out_folder(const char *command, const char *path);

/* A new file in it, with a buffer of its own; NULL after a line. To be ended by out_folder_end(). */
FILE *out_folder_file(const char *command, const char *path, int folder, const char *name);

/* Closes it. Returns false, after a line, when it could not be written. */
bool out_folder_end(const char *command, const char *path, const char *name, FILE *file);

#endif
