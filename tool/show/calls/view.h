/* SPDX-License-Identifier: MIT */
/*
 * What graph, stacks, slow, outliers and loads have in common: their options, the traces, the function that a word
 * names, and how they write functions, shares and moments. One thread.
 *
 * All but loads take several traces. They are read one after another, each with a cursor whose functions have the
 * numbers of that trace; what is shown has those of the list of all (functions.h). Ticks are of one trace, too: what is
 * kept beyond it is in ns.
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_VIEW_H
#define XAUDIT_TOOL_SHOW_CALLS_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/show/calls/functions.h"
#include "tool/show/calls/probe_rows.h"
#include "tool/show/many.h"
#include "tool/show/show.h"

/* Each command has a struct of its own that begins with this one. */
struct view_options {
	struct show_options show;
	uint32_t tid;	   /* 0: all */
	uint64_t from, to; /* ns after the start of the trace; 0: the start, the end */
	bool values;	   /* the command's own: values of calls are wanted, and the requests that they belong to */
	bool probes;	   /* the command's own: when threads came to probes is wanted */
	/* Once it was opened: */
	const struct show_colors *color; /* what show.color means */
	struct many many;
	struct functions functions; /* of all traces, as far as view_end() was called */
	struct probe_rows probe; /* of all traces, as far as view_probe() was called */
};

/* Their rows: those that name calls, and the end of the table. VIEW_CALLS_TO: with this row in the place of --to. */
#define VIEW_ROWS VIEW_CALLS, SHOW_ROWS
#define VIEW_CALLS VIEW_CALLS_TO({ 0, "to", "TIME", "only calls that began before that", VIEW_TAKES_TO })
#define VIEW_CALLS_TO(...)                                                                            \
	{ 0, "tid", "N", "only calls of the thread with this id", .take = options_number,              \
		.most = INT32_MAX, .at = offsetof(struct view_options, tid),                          \
		.allowed = "the id of a thread" },                                                     \
		{ 0, "from", "TIME", "only calls that began so long after the start of the trace,\n"   \
			"or later: in seconds, or as 10ms, 3us, 5ns",                                  \
			.take = options_span, .at = offsetof(struct view_options, from),              \
			.allowed = OPTIONS_SPAN },                                                     \
		__VA_ARGS__
#define VIEW_TAKES_TO                                                                                 \
	.take = options_span_end, .at = offsetof(struct view_options, to), .allowed = OPTIONS_SPAN_END

/*
 * As show_begin_many(), and opens the traces. If none has such a thread or time as the options ask for, or these leave
 * no time, that is an error, too. Returns -1, or the exit status: then all is closed.
 */
int view_open(struct view_options *options, const struct options_syntax *syntax, int argc, char **argv,
	const char **function, bool needed);

/* The same for one trace alone. */
int view_open_one(struct view_options *options, const struct options_syntax *syntax, int argc, char **argv);

/* Tells of damage and closes the traces. Returns the exit status: `status`, if that is one. */
int view_close(struct view_options *options, int status);

/* The moment of --from, and of --to; 0: not given. */
uint64_t view_from(struct xaudit_read_trace *trace, const struct view_options *options);
uint64_t view_to(struct xaudit_read_trace *trace, const struct view_options *options);

/* How long after the start of the trace a moment was, ns. */
uint64_t view_after_start(const struct xaudit_read_trace *trace, uint64_t time);

/*
 * Begins a pass over the calls that the options name. enters: XAUDIT_READ_ENTER, too, and calls that were only counted
 * are passed over.
 */
struct xaudit_read_calls *view_begin(
	struct xaudit_read_trace *trace, const struct view_options *options, bool enters);

/* Counts the calls that the options name, in all traces, per function, with a bar. */
struct xaudit_read_profile *view_profile(const struct view_options *options);

/* The time of a call that is over, from entry to end: ns. */
static inline uint64_t view_time(const struct xaudit_read_calls *calls, const struct xaudit_read_call *call)
{
	return xaudit_read_calls_ns(calls, call->ticks.self + call->ticks.children);
}

/* ---- what calls have no time ---- */

struct view_left {
	uint64_t no_end; /* open at the end of their thread's trace, where events were lost, or recording was off */
	uint64_t points; /* traced at their entry only */
	uint64_t no_cpu; /* with a time, but how much of that was on a processor is not known (or not recorded) */
	uint64_t counted; /* only counted */
	uint64_t probes;  /* how often threads came to probes, where that was only counted */
	/* The same by number of the function: of all traces; and of the trace at hand, which has other numbers. */
	struct view_counts {
		uint64_t *of;
		uint32_t functions;
	} counted_of, here;
};

/*
 * xaudit_read_next_call(), with a bar that tells how far it came. Running out of memory is the end, too:
 * show_end_trace() tells. What was only counted is no item: it is added to `left`. Of probes all times are items, those
 * too that the options don't ask for.
 */
int view_next(struct xaudit_read_calls *calls, struct xaudit_read_item *item, struct view_left *left);

/* Do the options ask for what this item tells, that a thread came to a probe? */
bool view_takes_probe(const struct view_options *options, const struct xaudit_read_item *item);

/* All calls of the trace with that number were read: takes its functions, and what of it is in `left`. */
void view_end(struct view_options *options, uint32_t trace, struct view_left *left);
void view_left_free(struct view_left *left);

static inline void view_count_left(struct view_left *left, const struct xaudit_read_call *call)
{
	left->no_end += call->how == XAUDIT_READ_NO_END || call->how == XAUDIT_READ_OFF;
	left->points += call->how == XAUDIT_READ_POINT;
	left->no_cpu += call->end != XAUDIT_READ_UNKNOWN && call->cpu == XAUDIT_READ_UNKNOWN;
}

/* How many calls of a function were only counted; its number in the list. */
uint64_t view_counted_of(const struct view_left *left, uint32_t function);

/*
 * Was the function only counted? Then one line on stderr says so, for `command`. calls: how many of it were recorded,
 * one by one.
 */
bool view_only_counted(const char *command, const struct view_options *options, const struct view_left *left,
	uint32_t function, uint64_t calls);

/* Are there such calls, lost events, or coarse times? Then the second one writes lines about them. */
bool view_has_left(const struct view_options *options, const struct view_left *left);
void view_say_left(const struct view_options *options, const struct view_left *left);

/* The same as members of a JSON object, without a comma in front. */
void view_json_left(const struct view_options *options, const struct view_left *left);

/* ---- functions and probes ---- */

/* A function of the list, by its number. */
static inline const struct xaudit_read_function *view_function(const struct view_options *options, uint32_t number)
{
	return options->functions.function[number];
}

/* The number of a probe of the trace at hand, as a tree has it beside those of functions (probe_rows.h). */
static inline uint32_t view_probe(struct view_options *options, const struct xaudit_read_probe *probe)
{
	return probe_rows_number(&options->probe, probe);
}

/*
 * The function that a word names: NAME or NAME@LIBRARY, where LIBRARY is the last part of its object's path, or all of
 * it; both may be patterns, and NAME the demangled one (names_mean()). Only if no function has such a name, aliases
 * count, and only if there is none of these, either, names of probes. All calls must have been read, as functions and
 * probes are known when they are met. Returns its number in the list, or of view_probe(); FUNCTIONS_NONE: it names
 * none, or several: after one line on stderr, for `command`.
 */
uint32_t view_find(const char *command, const struct view_options *options, const char *word);

/* Does the word name this function, by its own name, or by an alias? */
bool view_names(const char *word, const struct xaudit_read_function *function, bool by_alias);

/* Before any of them is printed: all functions of the list (names_meet()). */
void view_meet(const struct view_options *options);

/* "name [library]" */
void view_print_name(const char *name, const char *library, const struct show_colors *color);

/* The same of a call with values_text(); NULL: it has none. */
void view_print_call(const char *name, const char *library, const char *values, const struct show_colors *color);
void view_print_function(const struct xaudit_read_function *function, const struct show_colors *color);

/* "probe name [library]" */
void view_print_probe(const struct xaudit_read_probe *probe, const struct show_colors *color);

/* The one or the other, by a number of a tree. */
void view_print_number(const struct view_options *options, uint32_t number, const struct show_colors *color);

/* "function":"name","demangled":"name","library":"path" */
void view_json_name(const char *name, const char *library);
void view_json_function(const struct xaudit_read_function *function);

/* "probe":"name","library":"path", or of a function as above. */
void view_json_number(const struct view_options *options, uint32_t number);

/* Of several traces: " of FOLDER", and ,"folder":"..."; else nothing. */
void view_print_folder(const struct view_options *options, uint32_t trace);
void view_json_folder(const struct view_options *options, uint32_t trace);

/* ---- numbers ---- */

/* A time in a column of 11, or "-" */
void view_print_time(bool known, uint64_t ns);

/* part of whole in a column of 7: " 12.3 %", or "-" if there is no whole. */
void view_print_share(uint64_t part, uint64_t whole);

/* part of whole as text without blanks in front. Returns buf. */
const char *view_share(char buf[SHOW_TIME_SIZE], uint64_t part, uint64_t whole);

/* Is a part less than a share of the whole? share: in millionths. */
bool view_is_less(uint64_t part, uint64_t whole, uint32_t share);

/* An option such as "0.5%" or "0.5": stores millionths in a uint32_t. */
bool view_take_share(const struct options_given *given);

#endif
