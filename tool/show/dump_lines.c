/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/dump_lines.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

struct dump_line {
	struct dump_line *before, *after;
	/* NULL: it is shown. A call that was moved to a stack which had it already is gone without an end */
	struct xaudit_read_call *call;
	const struct xaudit_read_process *process;
	uint32_t tid;
	uint64_t time;
	char *text;
	size_t length, room;
};

#define KEPT 4096 /* bytes of a line whose memory is used again */

static FILE *real; /* stdout, while lines are kept */

void dump_lines_begin(struct dump_lines *lines)
{
	if (lines->choice->counting)
		return;
	if (!lines->memory)
		lines->memory = memory_need(open_memstream(&lines->text, &lines->size));
	rewind(lines->memory);
	real = stdout;
	stdout = lines->memory;
}

static struct dump_line *new_line(struct dump_lines *lines)
{
	struct dump_line *line = lines->spare;

	if (!line)
		return memory_zeroed(1, sizeof(*line));
	lines->spare = line->after;
	return line;
}

static void free_line(struct dump_lines *lines, struct dump_line *line)
{
	*(line->before ? &line->before->after : &lines->first) = line->after;
	*(line->after ? &line->after->before : &lines->last) = line->before;
	if (line->room > KEPT) {
		free(line->text);
		line->text = NULL;
		line->room = 0;
	}
	line->after = lines->spare;
	lines->spare = line;
}

static void take_text(struct dump_lines *lines, struct dump_line *line)
{
	line->length = 0;
	if (lines->choice->counting)
		return;
	stdout = real;
	if (fflush(lines->memory))
		memory_failed();
	line->length = lines->size;
	if (line->room < line->length) {
		line->room = line->length + 64;
		line->text = memory_resize(line->text, line->room, 1);
	}
	memcpy(line->text, lines->text, line->length);
}

void dump_lines_end(
	struct dump_lines *lines, const struct xaudit_read_event *event, struct xaudit_read_call *call)
{
	struct dump_line *line = new_line(lines);

	take_text(lines, line);
	line->call = call;
	line->process = event->process;
	line->tid = event->tid;
	line->time = event->time;
	line->after = NULL;
	line->before = lines->last;
	*(lines->last ? &lines->last->after : &lines->first) = line;
	lines->last = line;
	if (!call)
		return;
	call->user[0] = (uint64_t)(uintptr_t)line;
	lines->undecided++;
}

/* Had its call taken long enough at that moment? */
static bool is_long(const struct dump_lines *lines, const struct dump_line *line, uint64_t time)
{
	return time >= line->time && time - line->time >= lines->choice->min;
}

static void show(struct dump_lines *lines, struct dump_line *line)
{
	if (line->call->user[0] == (uint64_t)(uintptr_t)line)
		line->call->user[0] = 0;
	line->call = NULL;
	lines->undecided--;
}

void dump_lines_decide(struct dump_lines *lines, struct xaudit_read_call *call, uint64_t time)
{
	struct dump_line *line = (struct dump_line *)(uintptr_t)call->user[0];

	if (!line)
		return;
	bool long_enough = is_long(lines, line, time);
	show(lines, line);
	if (!long_enough)
		free_line(lines, line);
}

void dump_lines_pass(struct dump_lines *lines, uint64_t time)
{
	for (struct dump_line *line; (line = lines->first);) {
		if (line->call && !is_long(lines, line, time))
			return;
		if (line->call)
			show(lines, line);
		if (choice_counts(lines->choice, line->process, line->tid, line->time))
			fwrite_unlocked(line->text, 1, line->length, stdout);
		free_line(lines, line);
	}
}

void dump_lines_close(struct dump_lines *lines)
{
	while (lines->first)
		free_line(lines, lines->first);
	for (struct dump_line *line; (line = lines->spare);) {
		lines->spare = line->after;
		free(line->text);
		free(line);
	}
	if (lines->memory)
		fclose(lines->memory);
	free(lines->text);
	*lines = (struct dump_lines){ .choice = lines->choice };
}
