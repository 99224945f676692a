/* SPDX-License-Identifier: MIT */
/*
 * When the command has ended: looks once through the process folders, trims what can be trimmed, and finds out whether
 * the user got what was asked for. It reads the few records that it needs one folder at a time, and keeps nothing open:
 * thousands of processes (a build) cost a few descriptors. Folders whose processes end before the command does are
 * looked at when they end (tool/record/reaper.c).
 *
 * The command runs, or has run: where memory runs out, that is said, and its status counts all the same.
 */
#ifndef XAUDIT_TOOL_RECORD_OUTCOME_H
#define XAUDIT_TOOL_RECORD_OUTCOME_H

#include <stdbool.h>

struct record_folder;
struct record_options;
struct rules;

/*
 * Trims the files of processes that ended, and says what the user should know: that the command was not traced, that
 * nothing was selected, that the rules left out all calls, or, if everything was off at first, that nothing was ever
 * switched on.
 */
void record_outcome(const struct record_folder *folder, const struct record_options *options, const char *path,
	const struct rules *rules);

/*
 * The part of record_outcome() for one family. over: do it only if it is certain that no process writes to the family
 * any more. Returns whether it was done; if not, or where memory runs out, as if it had never begun. One thread at a
 * time.
 */
bool record_outcome_family(const struct record_folder *folder, const char *name, bool over);

#endif
