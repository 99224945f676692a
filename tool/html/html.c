/* SPDX-License-Identifier: MIT */
/* xaudit html and xaudit view: a trace as a page for browsers. */
#define _GNU_SOURCE
#include "tool/html/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/out_file.h"
#include "tool/base/tool.h"
#include "tool/html/draw.h"
#include "tool/html/flame.h"
#include "tool/html/head.h"
#include "tool/html/open.h"
#include "tool/html/page_template.h"
#include "tool/html/pyramid.h"
#include "tool/html/survey.h"
#include "tool/html/text.h"
#include "tool/html/windows.h"
#include "tool/show/show_trace.h"
#include "tool/show/term/progress.h"
#include "tool/show/trace_has.h"

#define ROWS_MOST 2000u
#define FILE_NAME "xaudit.html"

/* ---- passes ---- */

struct xaudit_read_calls *html_pass(
	const struct html *html, struct xaudit_read_trace *trace, bool customs, bool values)
{
	const struct xaudit_read_calls_options only = {
		.size = sizeof(only),
		.customs = customs,
		.probes = customs,
		.tid = html->options.tid,
		.from = view_from(html->trace, &html->options),
		.to = view_to(html->trace, &html->options),
		.values = values,
		.requests = values && html->requests,
	};

	/* The options were checked, so only memory is left as a reason. */
	return memory_need(xaudit_read_calls(trace, &only, NULL));
}

int html_next(const struct html *html, struct xaudit_read_calls *calls, struct xaudit_read_item *item)
{
	static uint32_t count;
	uint64_t done, all;
	int what = xaudit_read_next_call(calls, item);

	if (__builtin_expect(what == XAUDIT_READ_END, 0)) {
		progress_end();
		show_trace_need_memory(html->trace);
	} else if (__builtin_expect(!(++count & 0xffff), 0)) {
		xaudit_read_calls_done(calls, &done, &all);
		progress(done, all);
	}
	return what;
}

uint64_t html_after(uint64_t start, uint64_t time)
{
	uint64_t after = time > start ? time - start : 0;

	return after < HTML_LATEST ? after : HTML_LATEST;
}

void html_span(const struct html *html, const struct xaudit_read_item *item, uint64_t *from, uint64_t *to)
{
	const struct xaudit_read_call *call = item->call;
	uint64_t end = call->end != XAUDIT_READ_UNKNOWN ? call->end :
		call->how == XAUDIT_READ_POINT		? call->start : item->time;

	*from = html_after(html->start, call->start);
	*to = html_after(html->start, end);
	*to = *to > *from ? *to : *from;
}

/* ---- the page ---- */

/* Does --around name a function of the trace? Else says so. */
static bool has_around(struct html *html)
{
	for (uint32_t i = 0; html->around && i < html->functions.shown; i++)
		if (html->functions.row[i].around)
			return true;
	if (!html->around)
		return true;
	if (!trace_has_probe("html", html->around, &html->trace, 1))
		trace_has_no_function("html", html->around, &html->trace, 1, html->options.from || html->options.to);
	return false;
}

/* Returns false after one line. */
static bool make(struct html *html)
{
	html->start = xaudit_read_trace_info(html->trace)->start;
	html->cpu = xaudit_read_trace_info(html->trace)->sched;
	html->profile = view_profile(&html->options);
	const struct xaudit_read_profile_info *info = xaudit_read_profile_info(html->profile);
	html->values = !html->options.show.no_values && info->valued;
	html->requests = !html->options.show.no_values && (info->valued || info->customs);
	page_functions_open(&html->functions, html->profile, html->around);
	html->flame = page_flame_begin(html);
	survey_make(html);
	if (!has_around(html))
		return false;
	page_tracks_choose(&html->tracks, ROWS_MOST, html->cpu);
	windows_plan(html);
	draw(html);
	return true;
}

static void write_page(struct html *html, const struct page_template *page, FILE *to)
{
	struct html_memory head;

	html_open(&head);
	head_write(html, head.to);
	html_close(&head);
	fputs(page->text, to);
	fputs("<script type=\"application/json\" id=\"xaudit-head\">", to);
	fwrite(head.text, 1, head.size, to);
	fputs("</script>\n", to);
	blocks_write(to, &html->blocks);
	fputs(page->behind, to);
	free(head.text);
}

static void forget(struct html *html)
{
	if (html->flame)
		page_flame_close(html->flame);
	if (html->pyramid)
		pyramid_close(html->pyramid);
	if (html->windows)
		windows_close(html->windows);
	if (html->survey)
		survey_close(html->survey);
	page_tracks_close(&html->tracks);
	page_functions_close(&html->functions);
	xaudit_read_profile_close(html->profile);
	blocks_free(&html->blocks);
}

/* temporary: into a file of its own, which is opened. Returns whether that was done; else it was said why not. */
static bool run(struct html *html, const char *command, bool temporary)
{
	struct page_template page;
	struct out_file file;
	bool done = false;

	/* What can't be written should not take minutes. */
	if (!page_template(command, &page))
		return false;
	if (temporary ? out_file_temporary(&file, command, ".html") :
			out_file_begin(&file, command, html->output, true)) {
		done = make(html);
		if (done)
			write_page(html, &page, file.file);
		done = out_file_end(&file, done) && done;
		if (done && temporary)
			open_page(file.path);
		forget(html);
	}
	if (temporary)
		free((char *)(uintptr_t)file.path);
	free(page.text);
	return done;
}

/* ---- the commands ---- */

#define ROWS VIEW_CALLS, SHOW_PID, SHOW_NO_VALUES, NAMES_RAW_ROW, OPTIONS_HELP, { 0 }

static const struct options_row html_rows[] = {
	{ 'o', "output", "FILE", "the page (default: " FILE_NAME "); -: standard output", .take = options_text,
		.at = offsetof(struct html, output) },
	{ 0, "around", "FUNCTION", "the longest calls of this function, and what was around\nthem, call by call",
		.take = options_text, .at = offsetof(struct html, around) },
	ROWS
};

static const struct options_syntax html_syntax = {
	.command = "html",
	.rows = html_rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit html [OPTION]... [DIR]\n"
		"Makes a page for browsers of the trace in DIR (default: " TOOL_FOLDER "): one file,\n"
		"which needs nothing else.\n"
		"\n"
		"Options:\n",
};

static const struct options_row view_rows[] = { ROWS };

static const struct options_syntax view_syntax = {
	.command = "view",
	.rows = view_rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit view [OPTION]... [DIR]\n"
		"Makes the page that `xaudit html` makes of the trace in DIR (default:\n"
		TOOL_FOLDER "), and opens it in the browser.\n"
		"\n"
		"Options:\n",
};

static int main_of(int argc, char **argv, const struct options_syntax *syntax, bool temporary)
{
	struct html html = { .output = FILE_NAME };
	int status = view_open_one(&html.options, syntax, argc, argv);

	if (status >= 0)
		return status;
	html.trace = html.options.many.trace[0];
	return view_close(&html.options, run(&html, syntax->command, temporary) ? TOOL_OK : TOOL_FAILED);
}

int html_main(int argc, char **argv)
{
	return main_of(argc, argv, &html_syntax, false);
}

int view_main(int argc, char **argv)
{
	return main_of(argc, argv, &view_syntax, true);
}
