/* SPDX-License-Identifier: MIT */
/* What is recorded of a command: the functions of functions.h, by their entries, or by calls where those have none. */
#define _GNU_SOURCE
#include "tool/alloc/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "format/trace.h"
#include "tool/alloc/follow.h"
#include "tool/alloc/functions.h"
#include "tool/base/memory.h"

struct running {
	struct alloc_run *run;
	int caught; /* a signal that came while the rest was read; 0 */
};

static bool begin(void *context, const char *folder)
{
	struct running *running = context;

	return alloc_follow_begin(running->run->book, folder, running->run->keep);
}

static void end(void *context, int pid, int status)
{
	struct running *running = context;

	(void)status;
	running->caught = alloc_follow_end();
	/* Who reads what is shown may be gone; the folder is to be removed all the same. */
	signal(SIGPIPE, SIG_IGN);
	if (pid)
		running->run->report(running->run->context);
}

/* What would make a trace from which nothing can be told, whatever a configuration says. */
static void set_keys(struct record_options *record)
{
	static const char *const keys[][2] = { { "mode", "stream" }, { "clock", "auto" }, { "depth", "off" },
		{ "time", "off" }, { "throttle", "off" } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		record->value[rules_key_find(1, keys[i][0], strlen(keys[i][0]))] = keys[i][1];
}

static void add_rules(struct alloc_run *run)
{
	const struct alloc_function *function;

	/* Entries see calls of whoever, libc's own ones too. */
	run->record.kinds = 1u << TRACE_KIND_ENTRY | 1u << TRACE_KIND_PLT;
	for (unsigned i = 0; (function = alloc_function_at(i)); i++) {
		if (alloc_function_maps(function) && !run->maps)
			continue;
		char *contexts = alloc_function_contexts(function, run->backtrace, run->sample);
		record_words_add(&run->record.also, function->pattern);
		record_words_add(&run->record.contexts, memory_format("%s:%s", function->pattern, contexts));
		free(contexts);
	}
}

int alloc_run(struct alloc_run *run, char **command)
{
	struct running running = { .run = run };
	struct record_follower follower = { .begin = begin, .end = end, .context = &running };

	run->record.command = command;
	set_keys(&run->record);
	add_rules(run);
	int status = record_followed(&run->record, &follower, "alloc", run->keep);
	for (size_t i = 0; i < run->record.contexts.count; i++)
		free((char *)run->record.contexts.word[i]);
	if (running.caught) {
		signal(running.caught, SIG_DFL);
		raise(running.caught);
	}
	return status;
}
