/* SPDX-License-Identifier: MIT */
/*
 * Windows: parts of the trace of which the page has each call, with its values. A small trace is one window as a whole.
 * Else each call that is worth a look has one, with as much around it as there is room for: all tracks if these have
 * few enough calls then, its own track if not, and of a call that is too long for that its beginning and its end.
 *
 * What a window has of a track is a segment. How many calls a window will have is estimated when it is planned; where
 * there are more, a segment ends early, and tells so.
 *
 * One thread. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_WINDOWS_H
#define XAUDIT_TOOL_HTML_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/html/html.h"
#include "tool/html/picks.h"
#include "tool/html/survey.h"

#define WINDOWS_MOST  64u
#define WINDOWS_WHOLE 1000000u /* calls of a trace that is one window */
#define WINDOWS_CALLS 1200000u /* about so many calls are in all windows of a trace that is not */

enum window_why { WINDOW_ALL, WINDOW_AROUND, WINDOW_MARK, WINDOW_OUTLIER, WINDOW_SLOW };

/* A call in a window; or, of its thread, a stretch of time on a processor. */
struct window_call {
	uint64_t from, to, id, self, cpu; /* cpu: ns + 1; 0: not known */
	uint32_t function, depth, how, text, request;
};

struct segment {
	struct track *track;
	uint64_t from, to;
	uint64_t last; /* the latest end of a call */
	bool cpu, cut;
	struct window_call *call;
	uint32_t calls, room;
};

struct window {
	enum window_why why;
	const struct pick *pick; /* NULL: of no call */
	const char *text;
	uint64_t from, to;
	const struct track *track; /* NULL: of all */
	uint64_t most, calls;	   /* how many calls a segment may have; how many there are */
	bool cut;
	struct segment *segment;
	uint32_t segments;
	uint32_t *of_track; /* by place, and for those of processors behind these: number of the segment + 1 */
	/* Texts, one after another, each with its NUL. */
	char *texts;
	uint32_t size, room, count;
	uint32_t *at; /* of each */
	struct hash by_text;
};

struct windows {
	struct window window[WINDOWS_MOST];
	uint32_t count;
	uint32_t *before; /* how many columns of survey.when before each one are in some window */
	uint32_t shift;
};

/* Makes html->windows. The survey is made, and tracks have their rows. */
void windows_plan(struct html *html);

/* A call that is over: is it in some window at all? Then it may be taken. */
static inline bool windows_want(const struct windows *windows, uint64_t from, uint64_t to)
{
	uint64_t first = from >> windows->shift, last = to >> windows->shift;

	return windows->before[(last < SURVEY_COLUMNS ? last : SURVEY_COLUMNS) + 1] != windows->before[first];
}
void windows_take(struct html *html, const struct xaudit_read_call *call, struct track *track, uint64_t from,
	uint64_t to, bool loose);

/* A thread, by its first track, was on a processor, or its state is not known. */
void windows_run(struct windows *windows, struct track *track, uint64_t from, uint64_t to, bool known);

/* The blocks, and the member of the head. */
void windows_write(struct windows *windows, struct blocks *blocks, FILE *head);
void windows_close(struct windows *windows);

#endif
