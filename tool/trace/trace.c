/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/record/record.h"
#include "tool/record/run.h"
#include "tool/show/term/srcline.h"
#include "tool/trace/follow.h"
#include "tool/trace/select.h"

struct trace_options {
	struct record_options record; /* first: rows of record's write to it */
	struct follow_options follow;
	struct select_words select;
	const char *output, *keep, *command;
	bool table, both;
	uint32_t pid, text;
	int caught;
};

#define AT(member) .at = offsetof(struct trace_options, member)

/* ---- options ---- */

static bool take_time(const struct options_given *given)
{
	struct trace_options *options = given->context;

	options->follow.line.time += options->follow.line.time < LINE_EPOCH;
	return true;
}

static bool take_selection(const struct options_given *given)
{
	struct trace_options *options = given->context;

	return select_take(&options->select, given->value);
}

static bool take_size(const struct options_given *given)
{
	static const char units[] = "kMG";
	struct trace_options *options = given->context;
	char *end;
	unsigned long long number = strtoull(given->value, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;

	if (given->value[0] < '0' || given->value[0] > '9' || (*end && (!unit || end[1])) || number > 1ull << 30 ||
		number << shift < 1u << 20)
		return options_wrong(given, given->row->allowed);
	options->follow.behind = number << shift;
	return true;
}

static bool take_nothing(const struct options_given *given)
{
	(void)given;
	return true;
}

static bool take_callers(const struct options_given *given)
{
	struct trace_options *options = given->context;

	if (options->follow.line.callers)
		return srcline_take(given);
	options->follow.line.callers = true;
	return true;
}

static const struct options_row own_rows[] = {
	{ 'e', "trace", "LIST", "only these functions, as in open,malloc or !free; open is open64 and __open, too",
		.take = take_selection },
	{ 'o', "output", "FILE", "print into this file, each line with its thread's number",
		.take = options_text, AT(output) },
	{ 'n', "nested", NULL, "indent calls that are made in others",
		.take = options_flag, AT(follow.line.nested) },
	{ 'c', "summary-only", NULL, "print a table of calls, errors and times at the end, and no calls",
		.take = options_flag, AT(table) },
	{ 'C', "summary", NULL, "print that table, too", .take = options_flag, AT(both) },
	{ 't', "timestamps", NULL, "when each call began; -tt with microseconds, -ttt in seconds since 1970",
		.take = take_time },
	{ 'r', "relative-timestamps", NULL, "how long after the call on the line before it began",
		.take = options_flag, AT(follow.line.relative) },
	{ 'T', "call-times", NULL, "how long each call took", .take = options_flag, AT(follow.line.duration) },
	{ 's', "string-limit", "N", "show so many bytes of a text (" OPTIONS_NUMBER(TRACE_TEXT_SHOWN) ")",
		.take = options_number, .most = INT32_MAX, AT(text), .allowed = "a number of bytes from 1 up" },
	{ 'y', "decode-fds", NULL, "show what descriptors are, as in 3</etc/hosts>",
		.take = options_flag, AT(follow.line.descriptors) },
	{ 'k', "stack-traces", NULL, "who called, traced or not, in lines below; -kk with files and lines",
		.take = take_callers },
	{ 'z', "successful-only", NULL, "only calls that returned without an error",
		.take = options_flag, AT(follow.good) },
	{ 'Z', "failed-only", NULL, "only calls that failed", .take = options_flag, AT(follow.failed) },
	{ 'q', "quiet", NULL, "no lines about how processes end", .take = options_flag, AT(follow.quiet) },
	{ 'p', "attach", "PID", "trace a process that runs under xaudit, from now on",
		.take = options_number, .most = INT32_MAX, AT(pid), .allowed = "the id of a process" },
	{ 0, "behind", "SIZE", "how much recorded may wait to be printed, from 1M up (1G, to a terminal 64M)",
		.take = take_size, AT(follow.behind), .allowed = "a size from 1M up, as in 64M or 2G" },
	{ 0, "command", "TEXT", "run this command, whose words are separated as a shell does it",
		.take = options_text, AT(command) },
	{ 0, "keep", "DIR", "keep the trace in this folder, for xaudit report and the others",
		.take = options_text, AT(keep) },
	{ 'f', "follow-forks", NULL, NULL, .take = take_nothing }, /* as always */
	{ 'F', "filter", "PATTERN", "only these functions, FUNCGLOB or FUNCGLOB@LIBGLOB; repeatable",
		.take = NULL },
	{ 'l', "library", "GLOB", "only functions of this library; repeatable",
		.take = NULL },
};

/* Of record's options, those that are not for `trace`. */
static const char *const not_here[] = { "output", "mode", "ring", "start-disabled", "prepare", "snapshot", "merge",
	"sched", "perf", "pack", "throttle", "args-of-all", "request",
	"event-backtrace" };

static bool is_here(const char *word)
{
	for (size_t i = 0; i < sizeof(not_here) / sizeof(*not_here); i++)
		if (!strcmp(word, not_here[i]))
			return false;
	return true;
}

static const struct options_row *record_row(const char *word)
{
	const struct options_row *row = record_rows;

	while (row->word && strcmp(row->word, word))
		row++;
	return row->word ? row : NULL;
}

#define OWN (sizeof(own_rows) / sizeof(*own_rows))

/* Ours, those of strace that are refused, and the words of record's. The caller frees them. */
static struct options_row *make_rows(void)
{
	size_t count = 0, refused;
	const struct options_row *strace = select_refused(&refused);

	while (record_rows[count].word)
		count++;
	struct options_row *rows = memory_zeroed(OWN + refused + count + 1, sizeof(*rows)), *to = rows;
	for (size_t i = 0; i < OWN; i++) {
		const struct options_row *same = own_rows[i].take ? NULL : record_row(own_rows[i].word);
		*to = own_rows[i];
		if (same) {
			to->take = same->take;
			to->at = same->at;
		}
		to++;
	}
	for (size_t i = 0; i < count; i++) {
		const struct options_row *own = rows;
		while (own < to && strcmp(own->word, record_rows[i].word))
			own++;
		if (own < to || !is_here(record_rows[i].word))
			continue;
		*to = record_rows[i];
		/* The letters are those of strace. */
		to->letter = to->take ? 0 : 'h';
		to++;
	}
	for (size_t i = 0; i < refused; i++)
		*to++ = strace[i];
	return rows;
}

static struct options_syntax syntax = {
	.command = "trace",
	.column = 29,
	.aligned = true,
	.in_front = true,
	.head = "Usage: xaudit trace [OPTION]... [--] COMMAND [ARGUMENT]...\n"
		"       xaudit trace [OPTION]... -p PID\n"
		"Runs a command and prints the calls of functions in its libraries as they end,\n"
		"with what they were given and what came back, as strace and ltrace do.\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"Without -e, -F and -l: the calls of the program into its libraries. Letters are\n"
		"strace's; the last options are those of xaudit record. Lines go to standard\n"
		"error. All processes and threads are traced that the command starts.\n"
		"\n"
		"The exit status is that of the command; 125 xaudit failed, 126 the command can't\n"
		"be executed, 127 it was not found.\n",
};

/* ---- a command ---- */

static bool begin(void *context, const char *folder)
{
	struct trace_options *options = context;

	return follow_begin(&options->follow, folder);
}

static void end(void *context, int pid, int status)
{
	struct trace_options *options = context;

	options->caught = follow_end(pid, status);
}

static int run(struct trace_options *options)
{
	struct record_follower follower = { .begin = begin, .end = end, .context = options };

	return record_followed(&options->record, &follower, "trace", options->keep);
}

/* ---- all ---- */

/* Ends by a signal as if it had never been caught. */
static void die_of(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static int attach(struct trace_options *options)
{
	options->follow.pid = options->pid;
	if (!follow_begin(&options->follow, NULL))
		return RECORD_FAILED;
	options->caught = follow_end(0, 0);
	return 0;
}

/* Opens the file for lines. Returns false after a line on stderr. */
static bool open_output(struct trace_options *options)
{
	options->follow.fd = STDERR_FILENO;
	if (!options->output)
		return true;
	options->follow.line.file = true;
	options->follow.fd = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (options->follow.fd >= 0)
		return true;
	tool_error("trace", "%s can't be written: %s", options->output, strerror(errno));
	return false;
}

/* Do options say how a command is to be recorded? no_values also says what is shown. */
static bool says_how(const struct record_options *record)
{
	bool any = record->lines || record->kinds || record->config;
	const struct record_words *const words[] = { &record->exclude, &record->below, &record->contexts, &record->args,
		&record->results };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		any |= words[i]->count > 0;
	for (size_t i = 0; i < sizeof(record->value) / sizeof(*record->value); i++)
		any |= record->value[i] != NULL;
	return any;
}

/* What contradicts itself, or lacks something; returns false after a line on stderr. */
static bool check(const struct trace_options *options, bool command)
{
	const char *wrong = NULL;

	if (options->follow.good && options->follow.failed)
		wrong = "-z and -Z exclude each other: calls that failed, and those that did not";
	else if (options->pid && (command || options->command))
		wrong = "-p traces a process that runs, so there is no command to run";
	else if (options->pid && (options->keep || options->select.any || options->record.functions.count ||
					 options->record.libraries.count))
		wrong = "-p shows what the process records by itself; `xaudit ctl PID enable FUNCTION` changes that";
	else if (options->pid && says_how(&options->record))
		wrong = "-p shows what the process records by itself, so options of xaudit record are of no use; "
			"`xaudit ctl PID` changes that, by enable, function, probe, add-context and when";
	else if (options->follow.line.callers && options->record.no_values)
		wrong = "-k shows what is recorded with the values of calls, so it does not go with --no-values";
	else if (command && options->command)
		wrong = "--command names the command, so none can follow";
	else if (!command && !options->command && !options->pid)
		wrong = "no command to run; usage: xaudit trace [OPTION]... [--] COMMAND [ARGUMENT]...";
	if (wrong)
		tool_error("trace", "%s", wrong);
	return !wrong;
}

/* Splits the text of --command. Returns false after a line on stderr. */
static bool split(const char *text, wordexp_t *words)
{
	int error = wordexp(text, words, WRDE_NOCMD);

	if (!error && words->we_wordc)
		return true;
	if (error)
		*words = (wordexp_t){ 0 };
	tool_error("trace", "--command: %s", error == WRDE_NOSPACE ? "out of memory" :
		!error ? "there is no word in it" :
		"that is more than words; `sh -c` runs what a shell understands");
	return false;
}

static int trace(struct trace_options *options, char **command)
{
	wordexp_t words = { 0 };
	int status = RECORD_FAILED;

	options->follow.line.text = options->text;
	options->follow.table = options->table || options->both;
	options->follow.keep = options->keep;
	options->record.args_of_all =
		!options->record.no_values && !options->record.args.count && !options->record.results.count;
	options->follow.lines = !options->table || options->both;
	if (!check(options, *command) || (options->command && !split(options->command, &words)))
		return status;
	/* The first backtrace that is asked for of a function counts: one of --context. */
	if (options->follow.line.callers && options->follow.lines)
		record_words_add(&options->record.contexts, "*:backtrace");
	options->record.command = options->command ? words.we_wordv : command;
	select_put(&options->select, &options->record);
	if (open_output(options))
		status = options->pid ? attach(options) : run(options);
	wordfree(&words);
	return status;
}

int trace_main(int argc, char **argv)
{
	struct trace_options options = { .text = TRACE_TEXT_SHOWN };
	struct options_row *rows = make_rows();

	record_speak_as("trace");
	syntax.rows = rows;
	int first = options_take(&syntax, &options, argc, argv), status = first ? RECORD_FAILED : 0;
	if (first > 0)
		status = trace(&options, argv + first);
	select_free(&options.select);
	record_options_free(&options.record);
	free(rows);
	if (options.caught)
		die_of(options.caught);
	return status;
}
