/* SPDX-License-Identifier: MIT */
/*
 * Patterns of -l, -F and -C that named nothing, and probes that no object had. One pattern alone shows by an empty
 * trace, and is told then; beside others that did name something, one that is misspelt would never be noticed, nor
 * would a probe. So the objects and functions of processes that ended are compared with them until each has named
 * something; where there are many processes, and so it is not known, nothing is said.
 */
#ifndef XAUDIT_TOOL_RECORD_UNMATCHED_H
#define XAUDIT_TOOL_RECORD_UNMATCHED_H

#include <stdbool.h>

struct record_options;
struct rules;
struct xaudit_read_process;

/*
 * Keeps the patterns of -l, -F and -C, if there are several of one of them, and the names of the rules' probes. Before
 * record_reaper_start().
 */
void record_unmatched_begin(const struct record_options *options, const struct rules *rules);

/* Compares what is in the trace of a process that has ended with them. One thread at a time. */
void record_unmatched_look(struct xaudit_read_process *process);

/* Are there probes among them? */
bool record_unmatched_probes(void);

/*
 * Says in a line which libraries, and in one which functions, were named in vain, and in one which probes nothing had;
 * quiet: not that. At the end, once.
 */
void record_unmatched_say(bool quiet);

#endif
