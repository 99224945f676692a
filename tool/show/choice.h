/* SPDX-License-Identifier: MIT */
/*
 * What replay and dump show of a trace, by their options: of one thread, between two moments, calls of some functions
 * with all that is in them (-F), only long ones (--min), the last ones of each thread (--tail). All of them must agree.
 *
 * -F	A call is inside if it is a call of such a function, or in one. Other events are inside with the innermost call
 *	that is open on their stack; a probe of such a name is so by itself. What tells that events are missing
 *	(is_notice) is always shown.
 * --min	A call is shown once it is known to have taken so long: when it ends, or earlier. Events that are no
 *	calls have no time, so only notices are shown; nor have calls of which the entry alone is recorded.
 * --tail	Counts what would be shown: calls in replay, events in dump. Where nothing but threads and times choose,
 *	the reader gives about these alone (xaudit_read_events_options.tail). They are gone through twice: the first
 *	time each thread's are counted, the second time all but the last ones are passed over. So nothing is kept.
 *
 * Of a call user[1] belongs to this: whether it is inside, and how deep. Memory: per function and thread. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_CHOICE_H
#define XAUDIT_TOOL_SHOW_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/show/show.h"

/* Each command has a struct of its own that begins with this one. */
struct choice {
	struct show_options show;
	uint32_t tid;	   /* 0: all */
	uint64_t from, to; /* ns after the trace's start; 0: not given */
	uint64_t min;	   /* ns; 0: all */
	uint32_t tail;	   /* 0: all */
	const char **word; /* of -F */
	uint32_t words;

	uint64_t first, end; /* from and to as times of events; 0: not given */
	bool counting;	     /* the first of two passes */
	uint8_t *function;   /* by number: enum in choice.c */
	uint32_t functions;
	uint8_t *probe; /* the same of probes */
	uint32_t probes;
	struct choice_thread *thread; /* of --tail */
	uint32_t threads;
	struct hash by_id;
	struct xaudit_read_call **path; /* to calls that are open, for a moment */
	uint32_t path_room;
};

#define CHOICE_ROWS(tail_of)                                                                      \
	{ 0, "tid", "N", "only the thread with this id", .take = options_number, .most = INT32_MAX,     \
		.at = offsetof(struct choice, tid), .allowed = "the id of a thread" },                  \
		{ 0, "from", "TIME", "only what came so long after the start of the trace,\n"           \
			"or later: in seconds, or as 10ms, 3us, 5ns",                                   \
			.take = options_span, .at = offsetof(struct choice, from),                      \
			.allowed = OPTIONS_SPAN },                                                      \
		{ 0, "to", "TIME", "only what came before that", .take = options_span_end,              \
			.at = offsetof(struct choice, to), .allowed = OPTIONS_SPAN_END },               \
		{ 'F', "filter", "FUNC", "only calls of these functions, and what is in them,\n"    \
			"or these probes; FUNCGLOB or FUNCGLOB@LIBGLOB;\n"                             \
			"repeatable", .take = choice_take_word },                                       \
		{ 0, "min", "TIME", "only calls that took at least that", .take = options_span_end,     \
			.at = offsetof(struct choice, min), .allowed = OPTIONS_SPAN_END },              \
		{ 0, "tail", "N", "only the last N " tail_of " of each thread", .take = options_number, \
			.most = UINT32_MAX, .at = offsetof(struct choice, tail),                        \
			.allowed = "a number from 1 up" }

bool choice_take_word(const struct options_given *given);

/*
 * As show_begin(). If the trace has no such thread or time as the options ask for, or these leave no time, that is an
 * error, too.
 */
struct xaudit_read_trace *choice_open(
	struct choice *choice, const struct options_syntax *syntax, int argc, char **argv, int *status);

/* The events of a pass; deep: calls are left out by their depth, too. NULL: no memory, which show_end_trace() tells. */
struct xaudit_read_events *choice_begin(
	const struct choice *choice, struct xaudit_read_trace *trace, bool leaves, bool deep);

/*
 * To be called when all was shown: were there functions, or probes, of all names of -F? Returns false after one line on
 * stderr for each that there was none of.
 */
bool choice_found(const char *command, const struct choice *choice, struct xaudit_read_trace *trace);
void choice_free(struct choice *choice);

static inline bool choice_is_thread(const struct choice *choice, uint32_t tid)
{
	return !choice->tid || choice->tid == tid;
}

/* Is the function one of -F? */
bool choice_names(struct choice *choice, const struct xaudit_read_function *function);

/* Is the call inside? NULL: no call is open. Without -F all are. */
bool choice_is_inside_of(struct choice *choice, struct xaudit_read_call *call);

static inline bool choice_is_inside(struct choice *choice, struct xaudit_read_call *call)
{
	return !choice->words || choice_is_inside_of(choice, call);
}

/* How many calls are open around it that are inside, of `depth` that are open. It is inside. */
uint32_t choice_depth_of(const struct xaudit_read_call *call, uint32_t depth);

static inline uint32_t choice_depth(
	const struct choice *choice, const struct xaudit_read_call *call, uint32_t depth)
{
	return choice->words && call ? choice_depth_of(call, depth) : depth;
}

/* Does the event tell that others are missing? */
bool choice_is_notice(const struct xaudit_read_event *event);

/* Is an event that is of no call shown? */
bool choice_shows(struct choice *choice, const struct xaudit_read_event *event);

/* Had the call taken long enough at that moment? */
static inline bool choice_is_long(const struct choice *choice, const struct xaudit_read_call *call, uint64_t time)
{
	return time >= call->start && time - call->start >= choice->min;
}

/*
 * One more call, or event, of a thread is shown at that time, if it is one of its last ones. And since when are these
 * shown, or what is beside them? UINT64_MAX: not yet.
 */
bool choice_counts_in(
	struct choice *choice, const struct xaudit_read_process *process, uint32_t tid, uint64_t time);
uint64_t choice_since_in(const struct choice *choice, const struct xaudit_read_process *process, uint32_t tid);

static inline bool choice_counts(
	struct choice *choice, const struct xaudit_read_process *process, uint32_t tid, uint64_t time)
{
	return !choice->tail || choice_counts_in(choice, process, tid, time);
}

static inline uint64_t choice_since(
	const struct choice *choice, const struct xaudit_read_process *process, uint32_t tid)
{
	return choice->tail ? choice_since_in(choice, process, tid) : choice->first;
}

#endif
