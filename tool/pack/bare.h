/* SPDX-License-Identifier: MIT */
/*
 * A copy of a trace folder without the values of its calls, for packed traces and snapshots that are given away.
 *
 * Only what is known to have no values is copied, so nothing is left of them in room that is not used any more: heads,
 * records but for layouts, counters, labels, DIR/record, DIR/sched, and of chunks the words that are read as events. An
 * event with values becomes the plain one of its layout, its payload goes, and the words behind it move up: how many
 * they were would tell the length of texts. Events whose values were being written, those of layouts that are not
 * there, and control words of unknown kinds go as well: nobody is told of them either way. Behind a word that no
 * reader knows the rest of the chunk is left out, since a payload may be taken for words there. A layout's record keeps
 * its size and tells nothing, since positions of records are known to forked processes.
 *
 * No process may change the trace meanwhile. One thread.
 */
#ifndef XAUDIT_TOOL_PACK_BARE_H
#define XAUDIT_TOOL_PACK_BARE_H

/*
 * Copies the trace in the folder `path`, for which `fd` is open, to the empty folder `to`. Folders of processes that
 * can't be read are left out, after a line on stderr each. Returns 0, or -1 after one line on stderr.
 */
int bare_copy(const char *command, const char *path, int fd, int to);

/* Removes a folder that bare_copy() has filled. at, name: where it lies. */
void bare_remove(int at, const char *name);

#endif
