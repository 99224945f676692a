/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace/line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/read/api/values_text.h"
#include "tool/show/probe_text.h"
#include "tool/show/values.h"
#include "tool/trace/callers.h"
#include "tool/trace/descriptors.h"
#include "tool/trace/shown.h"

/* Room for that many bytes more, and a NUL. False: no memory. */
static bool want(struct line *line, size_t size)
{
	if (line->size + size < line->room)
		return true;
	size_t room = 2 * (line->size + size) + 256;
	char *text = realloc(line->text, room);
	if (!text)
		return false;
	line->text = text;
	line->room = room;
	return true;
}

static __attribute__((format(printf, 2, 0))) void add_args(struct line *line, const char *format, va_list args)
{
	va_list again;

	va_copy(again, args);
	int size = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (size > 0 && want(line, (size_t)size + 1)) {
		vsnprintf(line->text + line->size, (size_t)size + 1, format, args);
		line->size += (size_t)size;
	}
}

static __attribute__((format(printf, 2, 3))) void add(struct line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_args(line, format, args);
	va_end(args);
}

/* ---- what stands in front ---- */

static void add_seconds(struct line *line, uint64_t ns, const char *behind)
{
	add(line, "%" PRIu64 ".%06u%s", ns / 1000000000, (unsigned)(ns / 1000 % 1000000), behind);
}

static void add_time(struct line *line, uint64_t time)
{
	uint64_t real = time + (uint64_t)line->real;
	time_t seconds = (time_t)(real / 1000000000);
	struct tm tm;

	if (line->options.time == LINE_EPOCH) {
		add_seconds(line, real, " ");
	} else if (line->options.time && localtime_r(&seconds, &tm)) {
		add(line, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
		if (line->options.time == LINE_MICROSECONDS)
			add(line, ".%06u", (unsigned)(real / 1000 % 1000000));
		add(line, " ");
	}
	if (line->options.relative) {
		uint64_t last = line->last ? line->last : time;
		add(line, "%s", time < last ? "-" : " ");
		add_seconds(line, time < last ? last - time : time - last, " ");
	}
	line->last = time;
}

static void begin(struct line *line, uint32_t tid, uint64_t time)
{
	line->size = 0;
	if (line->options.file)
		add(line, "%-5" PRIu32 " ", tid);
	else if (line->many)
		add(line, "[pid %5" PRIu32 "] ", tid);
	add_time(line, time);
}

/* ---- calls ---- */

/* How xaudit_read_ functions make a text: written again where it was too long. */
typedef size_t text_maker(
	const struct xaudit_read_call *call, const struct read_api_view *view, char *to, size_t room);

static void add_text(struct line *line, text_maker *make, const struct xaudit_read_call *call,
	const struct read_api_view *view)
{
	size_t size = make(call, view, line->text + line->size, line->room - line->size);

	if (line->size + size >= line->room) {
		if (!want(line, size + 1))
			return;
		make(call, view, line->text + line->size, line->room - line->size);
	}
	line->size += size;
}

/* The function with its arguments; open: without the last bracket. */
static void add_call(struct line *line, const struct xaudit_read_call *call, const struct read_api_view *view,
	bool open)
{
	const struct shown *name = shown_name(call->function->name);

	if (!call->entered && !call->ended && !open) {
		add(line, "%s", name->alone);
		return;
	}
	add(line, "%s", name->bare);
	add_text(line, read_api_arguments, call, view);
	if (open && line->size && line->text[line->size - 1] == ')')
		line->size--;
}

static void add_result(struct line *line, const struct xaudit_read_call *call, const struct read_api_view *view)
{
	/* Of a function about whose values nothing is known, only a strange end is told. */
	if (call->ended || call->how != XAUDIT_READ_RETURNED)
		add_text(line, read_api_outcome, call, view);
	if (line->options.duration && call->end != XAUDIT_READ_UNKNOWN) {
		add(line, " <");
		add_seconds(line, call->end - call->start, ">");
	}
}

static int indent(const struct line *line, const struct xaudit_read_call *call)
{
	return line->options.nested ? (int)(2 * (call->depth < 100 ? call->depth : 100)) : 0;
}

static void add_callers(struct line *line, const struct xaudit_read_values *values, int indent)
{
	const char *lines = callers_lines(xaudit_read_stack(values));

	for (size_t length; *lines; lines += length) {
		length = strcspn(lines, "\n") + 1;
		add(line, "%*s", indent, "");
		add(line, "%.*s", (int)length, lines);
	}
}

void line_call(struct line *line, struct read_live_process *process, const struct xaudit_read_call *call,
	enum line_part part)
{
	struct descriptors_of of = { process, call };
	struct read_api_view view = {
		.text = line->options.text,
		.descriptor = line->options.descriptors ? descriptors_name : NULL,
		.user = &of,
	};

	begin(line, call->tid, part == LINE_END && call->end != XAUDIT_READ_UNKNOWN ? call->end : call->start);
	add(line, "%*s", indent(line, call), "");
	if (part == LINE_BEGIN) {
		add_call(line, call, &view, true);
		add(line, " <unfinished ...>");
	} else {
		if (part == LINE_END)
			add(line, "<... %s resumed>)", shown_name(call->function->name)->bare);
		else
			add_call(line, call, &view, false);
		add_result(line, call, &view);
	}
	add(line, "\n");
	if (line->options.callers && part != LINE_BEGIN)
		add_callers(line, call->entered, indent(line, call));
}

void line_probe(struct line *line, const struct read_live_probe *probe)
{
	int in = probe->call ? indent(line, probe->call) + (line->options.nested ? 2 : 0) : 0;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	begin(line, probe->tid, probe->time);
	add(line, "%*s", in, "");
	if (to) {
		probe_text(to, probe->probe, NULL);
		values_list(to, probe->values, line->options.text);
		fclose(to);
		add(line, "%s", text);
		free(text);
	}
	add(line, "\n");
	if (line->options.callers)
		add_callers(line, probe->values, in);
}

void line_say(struct line *line, uint32_t tid, uint64_t time, const char *format, ...)
{
	va_list args;

	begin(line, tid, time);
	va_start(args, format);
	add_args(line, format, args);
	va_end(args);
	add(line, "\n");
}

void line_free(struct line *line)
{
	free(line->text);
	line->text = NULL;
}
