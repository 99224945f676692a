/* SPDX-License-Identifier: MIT */
/*
 * xaudit html: a page that shows a trace, in one file. The page's own code is in tool/html/page/; it comes as
 * page.html, in which a line marks the place of the data. This is how they come about:
 *
 *	profile			functions, as `xaudit report` has them (functions.h)
 *	survey_make()		a pass over all calls: which tracks there are, and when; calling contexts; the slowest
 *				calls; events; requests (survey.h)
 *	windows_plan()		which parts of the trace are shown call by call (windows.h)
 *	draw()			a second pass: for each row of a track and each column of time the function that covers
 *				most of it, at several levels (pyramid.h); and the calls of windows
 *	head_write()		what is about the whole (head.h)
 *
 * Memory does not grow with the trace: rows, windows, nodes of trees and lists are bounded, and what is left out is
 * said. One thread. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_HTML_H
#define XAUDIT_TOOL_HTML_HTML_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/html/blocks.h"
#include "tool/html/page_functions.h"
#include "tool/html/tracks.h"
#include "tool/show/calls/view.h"

struct page_flame;
struct survey;
struct windows;
struct pyramid;

struct html {
	struct view_options options;
	const char *output, *around;
	/* What was read, and made of it: */
	struct xaudit_read_trace *trace;
	uint64_t start; /* of the trace: page times are relative to it */
	bool cpu;	/* context switches were recorded */
	bool values;	/* some calls have values, and they are wanted */
	bool requests;	/* some calls may belong to one, the same */
	struct xaudit_read_profile *profile;
	struct page_functions functions;
	struct tracks tracks;
	struct survey *survey;
	struct page_flame *flame;
	struct windows *windows;
	struct pyramid *pyramid;
	struct blocks blocks;
};

/*
 * Begins a pass over the calls of the page, in this opening of the trace. customs: and over events of the program's,
 * and probes.
 */
struct xaudit_read_calls *html_pass(
	const struct html *html, struct xaudit_read_trace *trace, bool customs, bool values);

/* The next item, with a bar. */
int html_next(const struct html *html, struct xaudit_read_calls *calls, struct xaudit_read_item *item);

/* How long after the start of the trace a moment was, ns; not more than JavaScript counts exactly. */
#define HTML_LATEST ((UINT64_C(1) << 53) - 2)
uint64_t html_after(uint64_t start, uint64_t time);

/* When a call that is over began and ended, ns after the start of the trace; without an end: where it was given up. */
void html_span(const struct html *html, const struct xaudit_read_item *item, uint64_t *from, uint64_t *to);

#endif
