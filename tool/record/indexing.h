/* SPDX-License-Identifier: MIT */
/*
 * Indexes of what the command will load (format/index.h). A traced process would have to wait for them, or go without;
 * and analysis takes as long as starting some programs does. So they are made before the command starts, if the rules
 * ask for a kind whose sites come from them. What another process is making already is waited for.
 *
 * A child of this process analyses each file, a few at a time: so no file, however damaged, can end this process, and
 * what the analysis needs of memory is gone when it ends.
 */
#ifndef XAUDIT_TOOL_RECORD_INDEXING_H
#define XAUDIT_TOOL_RECORD_INDEXING_H

#include <stddef.h>

struct record_folder;
struct record_objects;
struct rules;

#define RECORD_INDEXES "index" /* the folder of a trace that holds them where no other can */

/* Files that need an index and have none. */
struct record_indexes {
	char **file;
	size_t count;
};

/*
 * Makes the indexes (format/index.h) that the rules will ask for when the command starts, in this user's folder; the
 * analysis runs in children. Says in a line each what can't be analysed, and, on a terminal, that it takes long. Those
 * that belong into a folder that does not take them are left, and said so: for record_indexes_aside(). Changes
 * SIGCHLD's action while it waits.
 */
void record_indexes_make(
	struct record_indexes *left, const struct rules *rules, const struct record_objects *objects);

/*
 * Makes those that are left in DIR/index, and names that folder in the environment. To be called before
 * record_file_begin(). Frees them.
 */
void record_indexes_aside(struct record_indexes *left, const struct record_folder *folder);

#endif
