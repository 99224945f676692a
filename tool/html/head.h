/* SPDX-License-Identifier: MIT */
/*
 * The head of a page: what was recorded and of what, what is missing, and where everything is. One thread.
 *
 * The format of the data, which tool/html/page/ reads, and t/html/page.py; HEAD_FORMAT is its version. In place of the
 * template's line for it stand one element with the head, as JSON, and one with each block (blocks.h). All times are ns
 * after start_ns, below 2^53; moments on clocks are texts. A list's index is the number by which others name its rows.
 *
 * Head
 *	format, xaudit (version), made_real_ns, start_ns (CLOCK_MONOTONIC), start_real_ns, filters
 *	range		[first start, last end] of what is in the page
 *	info		path, command, status, version, host, exe, coarse, sched; lost: [{why, count}]; left:
 *			sentences on what is missing; sums: those of struct xaudit_read_sums
 *	totals		calls, events, functions, tracks, rows, of all that the filters let through
 *	processes	pid, parent, name, exe, command, host, start, end, lost, threads; of the first 200 state,
 *			module, rules, cpu_ns, notes
 *	tracks		process, tid, stack (0: the thread's only one), name, calls, time, first, last, depth (levels
 *			of calls), row (of depth 0) and rows, loose and cpu (rows of their own), deeper (calls without
 *			row)
 *	rest		tracks without rows: their number, calls, time, and the row in which they are added up; or
 *			null
 *	rows		track, kind (calls, loose, cpu, rest), depth, levels (of the pyramid that it is in), calls
 *	pyramid		columns (of a tile), from, width (of the finest level), levels
 *	windows		id, why (all, around, mark, outlier, slow), text, from, to, track (null: all), function, time
 *			and duration of the call that it is there for, calls, segments, whole (all calls of all
 *			tracks)
 *	outliers, slowest, around
 *			function, time, duration, self, p99, median, track, window
 *	tree		nodes, folded (calls of which no node tells)
 *	rates		from, width, columns, functions (those of the second and the other columns)
 *	blocks		[name, packed bytes, bytes]
 *
 * Blocks
 *	functions	JSON: functions: name, shown (if demangled), library, kind, aliases, and the numbers of
 *			`xaudit report`; max_start and max_track of the longest call; hist: [the first bucket, calls,
 *			calls ...]: bucket b < 8 is b ns, others begin at (8 + (b & 7)) << ((b >> 3) - 1). others:
 *			those beyond 50000; their number is that behind the last one. Functions without calls are
 *			known as callers only
 *	t<L>.<k>	tile k of level L, columns k * 2048 ... of width * 2^(levels - 1 - L). Table 0: row, runs.
 *			Table 1, runs: value; (columns - 1) | enum pyramid_kind << 11. value of calls: function + 1;
 *			0: nothing; of cpu: 1 + sixteenths of the time on a processor; 0: not known; of rest: threads
 *			in a call, on average, times 16. What is not there of a level below row.levels is empty
 *	w<id>		window. Table 0, segments: track, 0 (calls) or 1 (cpu), from, to, base, rows, cut (it ends
 *			early). Table 1, calls in the order of their start: start (since base, then since the one
 *			before), duration, depth, function, how (enum xaudit_read_end; + 128: in the row `loose`),
 *			text and request (numbers in table 3, from 1), cpu + 1 (0: not known), self. Table 2, cpu:
 *			start (since base, then since the end of the one before), duration, 1 (on a processor) or 2
 *			(not known). Table 3: texts, with NULs
 *	tree		function, parent + 1, calls, total, self, all, timed and cpu (of self), calls and time that
 *			are folded into it
 *	edges		caller + 1 (0: none), function, calls, total, self
 *	rates		a column for all calls, and one for each of head.rates.functions
 *	events, requests, loads
 *			JSON: lists of equal length; kept, count: how many there are
 */
#ifndef XAUDIT_TOOL_HTML_HEAD_H
#define XAUDIT_TOOL_HTML_HEAD_H

#include <stdio.h>

#include "tool/html/html.h"

#define HEAD_FORMAT 1

/* Makes the rest of the blocks, and writes the head, as JSON. All passes are done. */
void head_write(struct html *html, FILE *to);

#endif
