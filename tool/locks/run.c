/* SPDX-License-Identifier: MIT */
/* What is recorded of a command: the functions of functions.h, by their entries, or by calls where those have none. */
#define _GNU_SOURCE
#include "tool/locks/run.h"

#include <stdlib.h>

#include "format/trace.h"
#include "tool/base/memory.h"
#include "tool/locks/functions.h"

/* Words that the lists of record's options point to. */
static char **made;
static size_t made_count;

static void add(struct record_words *words, char *word)
{
	made = memory_grow(made, made_count, sizeof(*made));
	made[made_count++] = word;
	record_words_add(words, word);
}

static void free_words(void)
{
	for (size_t i = 0; i < made_count; i++)
		free(made[i]);
	free(made);
	made = NULL;
	made_count = 0;
}

static void add_rules(struct locks_run *run)
{
	struct record_options *record = &run->record;

	/* Entries have their returns seen whoever calls; pthread_spin_lock() has none that can be displaced. */
	record->kinds = 1u << TRACE_KIND_ENTRY | 1u << TRACE_KIND_PLT;
	for (const struct locks_function *function = locks_functions; function->name; function++) {
		bool stack;
		const char *context = locks_context(function, &stack);
		add(&record->also, memory_format("%s", function->name));
		add(&record->contexts, stack ?
			memory_format("%s:%s,backtrace:%u", function->name, context, run->backtrace) :
			memory_format("%s:%s", function->name, context));
	}
	add(&record->also, memory_format("%s@libc.so*", LOCKS_THREAD_ENDS));
	for (const char *const *name = locks_slow_functions; *name; name++)
		add(&record->also, memory_format("%s@libc.so*", *name));
}

int locks_run(struct locks_run *run, char **command)
{
	struct record_follower follower = { .report = run->report, .context = run->context };

	run->record.command = command;
	add_rules(run);
	int status = record_followed(&run->record, &follower, "locks", run->keep);
	free_words();
	return status;
}
