/* SPDX-License-Identifier: MIT */
/*
 * What the user asked of `xaudit record`: its options, for the parts that turn them into rules. The parts, in the order
 * in which record.c comes to them: run.h (finding the command), objects.h, probes.h, rules.h, static_tls.h,
 * indexing.h, folder.h, sched_thread.h, record_file.h, broker.h, unmatched.h, reaper.h, drain_thread.h, run.h and
 * signals.h (running the command), outcome.h with trim.h, losses.h and untraced.h, pack.h. All is done by one thread,
 * but for broker.c, reaper.c, drain_thread.c and sched_thread.c, which have their own.
 */
#ifndef XAUDIT_TOOL_RECORD_RECORD_H
#define XAUDIT_TOOL_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "audit/rules/keys.h"
#include "tool/base/options.h"

struct record_words {
	const char **word;
	size_t count;
	size_t selected; /* so many of the last ones were given by -e of `xaudit trace` */
};

/* One more word, which stays the caller's. */
void record_words_add(struct record_words *words, const char *word);

/* The option by which the i-th word was given, if it is `letter` for others. */
static inline char record_letter(const struct record_words *words, size_t i, char letter)
{
	return i + words->selected >= words->count ? 'e' : letter;
}

/*
 * Who reads what is recorded: while the command runs, as `xaudit trace` does, or when it has ended. All is called by
 * the main thread; what is not wanted is NULL.
 */
struct record_follower {
	/* The trace folder is there, and empty. False: the command is not to run; a line has said why. */
	bool (*begin)(void *context, const char *folder);
	/* The command has ended (status as of waitpid). Returns when all that is wanted was read. Not without begin. */
	void (*end)(void *context, int pid, int status);
	/* All of the trace is there, and nothing more comes from this command. */
	void (*report)(void *context, const char *folder);
	void *context;
	/* A folder that holds the trace folder, and nothing else: both are removed afterwards. NULL: neither is. */
	const char *removes;
};

/* --probe, --function, --context and --then, in the order of the line: the last two may be for what is before them. */
enum record_line_kind { RECORD_PROBE, RECORD_FUNCTION, RECORD_CONTEXT, RECORD_THEN };

struct record_line {
	enum record_line_kind kind;
	const char *word;  /* as it was given */
	char *name;	   /* of a probe or function; else NULL */
	const char *place; /* in `word` */
	char *pattern;	   /* of a function; NULL: not known yet */
};

struct record_options {
	const char *output, *config;	     /* NULL: not given */
	const char *value[RULES_KEYS_TRACE]; /* of keys that are no lists; NULL: not given */
	struct record_words libraries, functions, exclude, below, snapshots;
	struct record_words contexts, args, results, requests;
	struct record_line *line;
	size_t lines;
	bool start_disabled, merge, sched, perf, pack, args_of_all, no_values;
	unsigned kinds; /* mask; 0: not given */
	char **command;
	const struct record_follower *follower; /* NULL: none */
	struct record_words also; /* other names of `functions`, which need not be names of anything */
};

/* The rows of its options, which write to a struct record_options; and what they have allocated. */
extern const struct options_row record_rows[];
void record_options_free(struct record_options *options);

/* Runs the command as `xaudit record` does. Returns the exit status; or this process ends by the command's signal. */
int record_command(const struct record_options *options);

/*
 * The same for who follows it, in the command `name`: the trace is in the folder `keep`, or, if that is NULL, in one
 * that is removed afterwards. Fills in output, follower and what that removes.
 */
int record_followed(
	struct record_options *options, struct record_follower *follower, const char *name, const char *keep);

#endif
