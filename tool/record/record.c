/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "audit/rules/defaults.h"
#include "audit/rules/keys.h"
#include "audit/rules/rules.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/perf/anonymous_maps.h"
#include "tool/perf/perf.h"
#include "tool/record/asked_thread.h"
#include "tool/record/broker.h"
#include "tool/record/drain_thread.h"
#include "tool/record/folder.h"
#include "tool/record/indexing.h"
#include "tool/record/objects.h"
#include "tool/record/outcome.h"
#include "tool/record/pack.h"
#include "tool/record/probes.h"
#include "tool/record/reaper.h"
#include "tool/record/record_file.h"
#include "tool/record/rules.h"
#include "tool/record/run.h"
#include "tool/record/sched_thread.h"
#include "tool/record/signals.h"
#include "tool/record/unmatched.h"

/* ---- options ---- */

void record_words_add(struct record_words *words, const char *word)
{
	words->word = memory_resize(words->word, words->count + 1, sizeof(*words->word));
	words->word[words->count++] = word;
}

/* One more word of a list. */
static bool take_more(const struct options_given *given)
{
	record_words_add((struct record_words *)((char *)given->context + given->row->at), given->value);
	return true;
}

static bool take_kinds(const struct options_given *given)
{
	struct record_options *options = given->context;

	for (const char *p = given->value;; p++) {
		size_t n = strcspn(p, ",");
		int kind = rules_kind(p, n);

		if (kind < 0) {
			record_error("unknown kind '%.*s'; allowed: " TRACE_KIND_WORDS, (int)n, p);
			return false;
		}
		options->kinds |= 1u << kind;
		p += n;
		if (!*p)
			return true;
	}
}

/* The value of a key of [trace], whose word the option has. */
static bool check_key(const struct options_given *given)
{
	const char *allowed = rules_wrong(given->row->word, given->value);

	if (!allowed)
		return true;
	char *wrong = memory_format(
		"%s'%%v' for %%l; allowed: %%a",
		rules_key_bad(rules_key_find(1, given->row->word, strlen(given->row->word))));
	options_wrong_as(given, wrong, allowed);
	free(wrong);
	return false;
}

static bool take_key(const struct options_given *given)
{
	struct record_options *options = given->context;

	options->value[rules_key_find(1, given->row->word, strlen(given->row->word))] = given->value;
	return check_key(given);
}

static bool take_snapshot(const struct options_given *given)
{
	return take_more(given) && check_key(given);
}

#define AT(member) .at = offsetof(struct record_options, member)

const struct options_row record_rows[] = {
	{ 'o', "output", "DIR", "the trace folder (" TOOL_FOLDER "); an older trace is kept as DIR.old",
		.take = options_text, AT(output) },
	{ 'l', "library", "GLOB", "trace this library; repeatable", .take = take_more, AT(libraries) },
	{ 'F', "filter", "PATTERN", "trace only these functions, FUNCGLOB or FUNCGLOB@LIBGLOB; repeatable",
		.take = take_more, AT(functions) },
	{ 'N', "notrace", "PATTERN", "never trace these functions; repeatable", .take = take_more, AT(exclude) },
	{ 'k', "kinds", "KIND[,KIND]", "kinds of sites: " TRACE_KIND_WORDS, .take = take_kinds },
	{ 'b', "buffer", "SIZE", "buffers that events fill: a power of two from 64k to 1G (" DEFAULTS_BUFFER_TEXT ")",
		.take = take_key },
	{ 'm', "mode", "MODE", "stream: every event (default); ring: the newest events; count: only how often",
		.take = take_key },
	{ 0, "ring", "SIZE", "what mode ring keeps per thread: a power of two from 256k to 1G (" DEFAULTS_RING_TEXT ")",
		.take = take_key },
	{ 0, "size-limit", "SIZE", "record no more when the events of a process fill this, as in 1G",
		.take = take_key },
	{ 0, "overflow", "WHAT", "where the disk is too slow: wait for it (default), or drop events",
		.take = take_key },
	{ 0, "follow", "WHICH", "executed programs: yes (default), no; always: without our variables, too",
		.take = take_key },
	{ 'D', "depth", "N", "record only so many levels of calls", .take = take_key },
	{ 't', "time", "TIME", "leave out calls that are shorter, as in 500ns, 10us, 1.5ms", .take = take_key },
	{ 'C', "below", "PATTERN", "record only these functions and what they call; repeatable",
		.take = take_more, AT(below) },
	{ 0, "throttle", "N%", "only count short functions that fill more than this share of a buffer",
		.take = take_key },
	{ 0, "clock", "CLOCK", "auto (default), tsc, monotonic; coarse: read for one event in 16", .take = take_key },
	{ 0, "start-disabled", NULL, "begin switched off; xaudit ctl PID enable switches on",
		.take = options_flag, AT(start_disabled) },
	{ 0, "prepare", "WHAT", "what can be switched on without a stop: selected (default), all, none",
		.take = take_key },
	{ 0, "snapshot", "WHAT", "keep a copy of the ring: exit, crash, signal:NAME; repeatable",
		.take = take_snapshot, AT(snapshots) },
	{ 0, "merge", NULL, "let the kernel share patched pages between processes (KSM)",
		.take = options_flag, AT(merge) },
	{ 0, "sched", NULL, "record when threads are on processors, as the kernel tells; report shows it",
		.take = options_flag, AT(sched) },
	{ 0, "perf", NULL, "let perf, and other profilers, find the callers of traced functions",
		.take = options_flag, AT(perf) },
	{ 0, "pack", NULL, "at the end, make one compressed file of the trace: DIR.pack, instead of DIR",
		.take = options_flag, AT(pack) },
	{ 0, "context", "WHAT", "record values, as in args,retval or FUNCTION:args: see xaudit-contexts; repeatable",
		.take = record_probes_take_context },
	{ 0, "probe", "PLACE", "an event at this instruction, as in [NAME=]main+0x10: see xaudit-probes; repeatable",
		.take = record_probes_take },
	{ 0, "function", "FUNC", "trace this function, as in [NAME=]SYMBOL[@LIB], or an address; repeatable",
		.take = record_probes_take_function },
	{ 0, "then", "ACTION", "do that where probes and functions before it are met: mark, snapshot ...; repeatable",
		.take = record_probes_take_then },
	{ 'a', "args-of-all", NULL, "record arguments and results of all functions whose types are known",
		.take = options_flag, AT(args_of_all) },
	{ 'A', "args", "PATTERN", "record arguments of these functions; with commas, or repeatable",
		.take = take_more, AT(args) },
	{ 'R', "results", "PATTERN", "record results of these functions; with commas, or repeatable",
		.take = take_more, AT(results) },
	{ 0, "request", "WHAT", "calls of FUNCTION begin requests, named by a value: FUNCTION:arg1; repeatable",
		.take = take_more, AT(requests) },
	{ 0, "event-backtrace", "N", "record with custom events, and marks, who made them: up to N callers",
		.take = take_key },
	{ 0, "no-values", NULL, "record no values, whatever the configuration says",
		.take = options_flag, AT(no_values) },
	{ 'c', "config", "FILE", "read this configuration instead of xaudit.conf", .take = options_text, AT(config) },
	OPTIONS_HELP,
	{ 0 },
};

static const struct options_wording wording = {
	.no_value = "option '%o' needs a value; see xaudit %c --help",
	.unknown = "unknown option '%o'; see xaudit %c --help",
	.letter = "option '%l' is unknown or takes no value; see xaudit %c --help",
	.excess = "option '%o' takes no value; see xaudit %c --help",
};

static const struct options_syntax syntax = {
	.command = "record",
	.rows = record_rows,
	.column = 27,
	.aligned = true,
	.in_front = true,
	.wording = &wording,
	.head = "Usage: xaudit record [OPTION]... [--] COMMAND [ARGUMENT]...\n"
		"Runs a command and records the calls of functions in its libraries.\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"With -l alone: xray, patchable, guard and plt of these libraries. With -k alone:\n"
		"these kinds of every library and of the program. With neither: the configuration\n"
		"decides; where there is none, xray, patchable and guard of everything, and the\n"
		"calls of the program into its libraries. With -F and without -k: entry for\n"
		"functions that have no site in their code.\n"
		"\n"
		"The exit status is that of the command; 125 xaudit failed, 126 the command can't\n"
		"be executed, 127 it was not found.\n",
};

/* ---- the command ---- */

static void begun(void *folder)
{
	record_folder_begun(folder);
}

static int command_pid;

static int begin(int pid)
{
	command_pid = pid;
	record_sched_start(pid);
	return 0;
}

/* Is there room for a process's file below the size that files may have? If not, that is said. */
static bool may_be_made(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= TRACE_META_MIN)
		return true;
	tool_error("record",
		"files may have %ju bytes here (ulimit -f), and a trace takes files of %lu KiB or more; raise the "
		"limit, or do without a trace",
		(uintmax_t)limit.rlim_cur, TRACE_META_MIN >> 10);
	return false;
}

/* The folder of a trace that nobody reads any more, and the one that it is in. */
static void remove_folder(struct record_folder *folder, const char *around)
{
	int error = record_folder_remove(folder);
	bool more = false;

	if (rmdir(around) < 0 && !error && errno != ENOENT) {
		error = errno;
		more = errno == ENOTEMPTY || errno == EEXIST;
	}
	if (more)
		record_error("the folder %s stays, since it holds more than the trace, such as snapshots; remove it "
			     "when you have read them", around);
	else if (error && error != ENOENT && error != ESTALE)
		record_error("the folder %s can't be removed: %s; remove it yourself", around, strerror(error));
}

/* What is to be done when the command has ended. What goes wrong is said, but its status is what counts. */
static void finish(struct record_folder *folder, const struct record_options *options, const char *path,
	const struct rules *rules, const char *searched, int wait_status)
{
	record_file_end(folder, command_pid, wait_status);
	record_outcome(folder, options, path, rules);
	/* As late as possible: processes that the command leaves running may be just beginning, or ending. */
	record_broker_stop();
	record_broker_say(folder);
	if (searched)
		tool_error("record",
			"the configuration %s was found and counts; -c FILE names another, -c /dev/null none",
			searched);
	if (rules->perf)
		perf_trace("record", folder->fd, folder->path);
	if (options->pack)
		record_pack(folder);
	if (options->follower && options->follower->report)
		options->follower->report(options->follower->context, folder->path);
	if (options->follower && options->follower->removes)
		remove_folder(folder, options->follower->removes);
	record_folder_close(folder);
}

static bool begin_following(const struct record_options *options, const char *folder)
{
	const struct record_follower *follower = options->follower;

	return !follower || !follower->begin || follower->begin(follower->context, folder);
}

int record_command(const struct record_options *given)
{
	struct record_options own = *given, *options = &own;
	struct record_folder folder;
	struct record_watcher watcher = {
		.begin = begin, .begun = begun, .ended = record_sched_ended, .context = &folder };
	struct record_objects objects;
	struct record_indexes left = { 0 };
	struct rules rules = { 0 };
	char *path, *output, *searched = NULL;
	int status;

	/* Things that may fail are tried before anything is made. */
	path = record_find(options->command[0], &status);
	if (!path)
		return status;
	status = RECORD_FAILED;
	if (!may_be_made()) {
		free(path);
		return status;
	}
	record_objects_find(&objects, path);
	output = record_probes_functions(options, &objects) ? record_prepare(options, &objects, &rules, &searched)
							     : NULL;
	if (!output)
		goto out;
	if (rules.perf && options->pack) {
		tool_error("record",
			"--perf, or perf = yes, makes a file for perf in the trace folder, which --pack removes");
		goto out;
	}
	record_indexes_make(&left, &rules, &objects);
	if (record_folder_make(&folder, output) < 0)
		goto out;
	record_indexes_aside(&left, &folder);
	record_sched_make(&folder, &rules);
	if (record_file_begin(&folder, options->command) < 0 || !begin_following(options, folder.path)) {
		record_folder_undo(&folder);
		goto out;
	}

	if (rules.perf)
		watcher.child = perf_anonymous_maps;
	record_broker_start(&folder);
	record_unmatched_begin(options, &rules);
	/* What is followed keeps its files as they are. */
	bool followed = options->follower && options->follower->end;
	if (!followed)
		record_reaper_start(&folder);
	record_asked_start(&folder);
	record_drain_start(&folder, rules_buffer(&rules));
	int wait_status = 0, failure = record_run(options->command, &watcher, &wait_status);
	if (followed)
		options->follower->end(options->follower->context, failure ? 0 : command_pid, wait_status);
	record_sched_stop();
	record_drain_stop();
	record_asked_stop();
	record_reaper_stop();
	if (failure) {
		record_broker_stop();
		record_folder_undo(&folder);
		status = failure;
		goto out;
	}
	finish(&folder, options, path, &rules, searched, wait_status);
	status = record_pass_on(wait_status);
out:
	for (size_t i = 0; i < left.count; i++)
		free(left.file[i]);
	free(left.file);
	if (own.functions.word != given->functions.word)
		free(own.functions.word);
	arena_free(&rules.arena);
	record_objects_free(&objects);
	free(searched);
	free(output);
	free(path);
	return status;
}

int record_followed(
	struct record_options *options, struct record_follower *follower, const char *name, const char *keep)
{
	char *folder = keep ? NULL : record_folder_temporary(name);

	if (!keep && !folder)
		return RECORD_FAILED;
	/*
	 * The trace is in a folder of that folder: processes that are left behind make the last folder of the path, if
	 * it is not there any more when they execute a program.
	 */
	char *trace = folder ? memory_format("%s/trace", folder) : NULL;
	follower->removes = folder;
	options->output = trace ? trace : keep;
	options->follower = follower;
	record_signals_begin();
	int status = record_command(options);
	if (folder)
		rmdir(folder);
	free(trace);
	free(folder);
	return status;
}

void record_options_free(struct record_options *options)
{
	free(options->libraries.word);
	free(options->functions.word);
	free(options->exclude.word);
	free(options->below.word);
	free(options->snapshots.word);
	free(options->also.word);
	free(options->contexts.word);
	free(options->requests.word);
	free(options->args.word);
	free(options->results.word);
	record_probes_free(options);
}

int record_main(int argc, char **argv)
{
	struct record_options options = { 0 };
	int first = options_take(&syntax, &options, argc, argv), status = first ? RECORD_FAILED : 0;

	if (first == argc) {
		tool_error("record", "no command to run; usage: xaudit record [OPTION]... [--] COMMAND [ARGUMENT]...");
	} else if (first > 0) {
		options.command = argv + first;
		record_signals_begin();
		status = record_command(&options);
	}
	record_options_free(&options);
	return status;
}
