/* SPDX-License-Identifier: MIT */
/*
 * What the commands that show a trace have in common: options, colours, times, and the end of the output. One thread.
 *
 * Exit status of all: 0; 1 when the trace is missing or damaged, or has not what was asked for, or the output can't be
 * written; 2 for wrong usage. If the reader of the output ends early (`| head`) that is no error.
 */
#ifndef XAUDIT_TOOL_SHOW_SHOW_H
#define XAUDIT_TOOL_SHOW_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/base/options.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/show/term/names.h"
#include "tool/show/term/term.h"

/* What the command line says. Each command has a struct of its own that begins with this one. */
struct show_options {
	const char *dir;
	uint32_t pid; /* 0: all */
	int color;
	int json; /* not as a table, or text */
	bool no_values; /* of calls; of commands with SHOW_NO_VALUES */
};

struct read_folder;
struct xaudit_read_trace;

/*
 * The rows of options that all these commands have, and the end of their table; for those that print JSON, the row for
 * that; for those that show values of calls, the row for doing without.
 */
#define SHOW_PID                                                                            \
	{ 0, "pid", "N", "only the process with this id", .take = options_number,           \
		.most = INT32_MAX, .at = offsetof(struct show_options, pid),                \
		.allowed = "the id of a process" }
#define SHOW_ROWS                                                                           \
	SHOW_PID, OPTIONS_COLOR(offsetof(struct show_options, color)), NAMES_ROW, TERM_ROW, OPTIONS_HELP, { 0 }
#define SHOW_FORMAT(words, text)                                                            \
	{ 0, "format", "FORMAT", text, .take = options_word,                                \
		.at = offsetof(struct show_options, json), .allowed = words }
#define SHOW_NO_VALUES                                                                      \
	{ 0, "no-values", NULL, "show no arguments and results of calls", .take = options_flag, \
		.at = offsetof(struct show_options, no_values) }
#define SHOW_COLUMN 19 /* of their --help */

/*
 * Reads the command line: options, and at most one word, the folder; and opens that. Also ignores SIGPIPE for the
 * process. options: the beginning of the context of the rows. Returns the trace; or NULL and the exit status with which
 * the command shall end now: after the help, or one line on stderr.
 */
struct xaudit_read_trace *show_begin(
	struct show_options *options, const struct options_syntax *syntax, int argc, char **argv, int *status);

/* Is there a trace of that name, a folder or a packed file? */
bool show_is_trace(const char *path);

/*
 * As show_begin(), but there may be several folders, as many as *count says, and none is opened; the caller frees the
 * list. Returns -1, or the exit status.
 *
 * function: NULL; or it gets the name of a function in front of the folders. needed: it must be there. Else the first
 * word is a folder if it is a trace, or if it stands alone and is a path, or there is such a file; and the function is
 * NULL.
 */
int show_begin_many(struct show_options *options, const struct options_syntax *syntax, int argc, char **argv,
	const char **function, bool needed, const char ***folder, uint32_t *count);

/* The name of a process's host, without the kernel's that stands behind it; the caller frees it. NULL: not known. */
char *show_host(struct xaudit_read_process *process);

/* Can't more output be written? Then it is time to end. */
static inline bool show_output_broken(void)
{
	return ferror(stdout);
}

/* Lines about calls that have no time, or none on processors, if there are any. */
void show_points(uint64_t calls);
void show_counted(uint64_t calls);
void show_cpu_unknown(uint64_t calls);

/* The end of a noun: "1 call", "2 calls". */
static inline const char *show_s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/*
 * To be called at the end: flushes the output, reports the trace's damage and closes it. Returns the exit status, after
 * one line on stderr if the output could not be written.
 */
int show_end_trace(struct xaudit_read_trace *trace);

/* If the times of any process are coarse, says so in a line that begins with `begin`. */
void show_say_coarse_trace(const struct xaudit_read_trace *trace, const char *begin);

/* For people, after "process N": "ended", "is running"; after "processes that": "are running". */
const char *show_state_phrase(int state);
const char *show_state_plural(int state);

/* Why nothing more can come into the trace, for people: "has ended"; NULL: it runs. */
const char *show_state_end(int state);

/* Writes what changed, as a phrase: "only counted from here on (throttled): foo [libfoo.so]". */
void show_change(FILE *file, const struct xaudit_read_change *change);

#define SHOW_TIME_SIZE 24

/* A time as text: "0.050 us", "12.345 ms", "1.000 s". Three decimals. Returns buf. */
const char *show_time(char buf[SHOW_TIME_SIZE], uint64_t ns);

/* The same for columns, where decimal points stand below each other: "1.000  s". */
const char *show_time_column(char buf[SHOW_TIME_SIZE], uint64_t ns);

/* Escape sequences; empty without colours. */
struct show_colors {
	const char *head, *dim, *name, *warn, *off;
};
const struct show_colors *show_colors(const struct show_options *options);

#endif
