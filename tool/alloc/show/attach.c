/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/alloc/show/attach.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/alloc/follow.h"
#include "tool/alloc/functions.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/read/api/xaudit-read.h"

#define WORDS 64 /* of a command line of ctl, most */

struct line {
	char *word[WORDS];
	int words;
};

static void add(struct line *line, char *word)
{
	line->word[line->words++] = word;
}

static void begin_line(struct line *line, const struct alloc_attach *attach, const char *command)
{
	*line = (struct line){ 0 };
	add(line, memory_format("ctl"));
	add(line, memory_format("%u", attach->pid));
	add(line, memory_format("%s", command));
}

/* Nothing that it prints is for our output; quiet: nor what it complains about. */
static int child(struct line *line, bool quiet)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || (quiet && dup2(null, STDERR_FILENO) < 0))
		return TOOL_FAILED;
	return ctl_main(line->words, line->word);
}

/* Runs it in a process of its own, and frees its words. Returns whether it did all. */
static bool run_line(struct line *line, bool quiet)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		_exit(child(line, quiet));
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		;
	for (int i = 0; i < line->words; i++)
		free(line->word[i]);
	return !status;
}

/* The functions that are asked for, by number; NULL: there are no more. Moves *number to the next one. */
static const struct alloc_function *next(const struct alloc_attach *attach, unsigned *number)
{
	const struct alloc_function *function;

	do
		function = alloc_function_at((*number)++);
	while (function && !attach->maps && alloc_function_maps(function));
	return function;
}

/* Has the function recorded, with what is needed of it. Returns false if it is not there; not quiet: after a line. */
static bool switch_on_one(const struct alloc_attach *attach, const struct alloc_function *function, bool quiet)
{
	struct line line;

	begin_line(&line, attach, "enable");
	add(&line, memory_format("entry:%s", function->pattern));
	if (!run_line(&line, quiet))
		return false;
	begin_line(&line, attach, "add-context");
	add(&line, memory_format("%s", function->pattern));
	add(&line, alloc_function_contexts(function, attach->backtrace, attach->sample));
	run_line(&line, true);
	return true;
}

/* Returns false after a line of ctl: the first one, malloc, is not there. */
static bool switch_on(const struct alloc_attach *attach)
{
	const struct alloc_function *function;

	for (unsigned number = 0; (function = next(attach, &number));)
		if (!switch_on_one(attach, function, number > 1) && number == 1)
			return false;
	return true;
}

static void switch_off(const struct alloc_attach *attach)
{
	const struct alloc_function *function;
	struct line off, forget;

	begin_line(&off, attach, "disable");
	begin_line(&forget, attach, "del-context");
	for (unsigned number = 0; (function = next(attach, &number));) {
		add(&off, memory_format("entry:%s", function->pattern));
		add(&forget, memory_format("%s", function->pattern));
	}
	run_line(&off, true);
	run_line(&forget, true);
}

/* Returns false after a line. */
static bool is_fit(const struct alloc_attach *attach)
{
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = xaudit_read_open_live(attach->pid, &error);

	if (!trace) {
		tool_error("alloc", "%s", error.text);
		return false;
	}
	bool coarse = xaudit_read_trace_info(trace)->coarse;
	xaudit_read_close(trace);
	if (coarse)
		tool_error("alloc", "process %u records with a coarse clock, by which frees can't be told from "
			"allocations that follow them", attach->pid);
	return !coarse;
}

bool alloc_attach(const struct alloc_attach *attach, struct alloc_account_book *book)
{
	if (!is_fit(attach) || !switch_on(attach))
		return false;
	bool followed = alloc_follow_process(book, attach->pid);
	if (followed)
		alloc_follow_wait(attach->time);
	switch_off(attach);
	if (followed)
		alloc_follow_end();
	return followed;
}
