/* SPDX-License-Identifier: MIT */
/*
 * Makes an ELF image of a file of return labels (format/labels.h), for perf: each label that is in use gets the name of
 * the function that the return address lies in, and the unwind information that holds there. So a profiler that finds
 * the label in the stead of the address shows, and finds, what it would have: the label's frame is the caller's own.
 * Where there is no unwind information for the address, the label's own says no more than that the address is the
 * caller; then a profiler that unwinds shows the caller twice.
 *
 * One thread. Memory that runs out ends the command, as in tool/base/memory.h.
 */
#ifndef XAUDIT_TOOL_PERF_PERF_H
#define XAUDIT_TOOL_PERF_PERF_H

/*
 * For one family: the folder that is open as `family`, of the trace that is open as `trace`. path: for messages; ends
 * with the folder's name. Returns 1; 0: it has no such file; or -1 after one line on stderr.
 */
int perf_family(const char *command, int trace, int family, const char *path);

/* For all families of a trace. Returns how many had the file, or -1 after one line on stderr for each that failed. */
int perf_trace(const char *command, int trace, const char *path);

#endif
