/* SPDX-License-Identifier: MIT */
/*
 * xaudit check, which has one thread. The command is the ptrace tracer of the program and of all that it starts; the
 * module in each process speaks to it by the protocol of audit/check/check.h, and what else the command needs to know,
 * it reads out of the stopped process.
 *
 * The files, in an order in which none needs a later one (t/docs/tool-order.t):
 *
 *	state		the options, and numbers
 *	tasks		threads and memory of a process
 *	stack		stacks and names
 *	finding		what is told of a mistake
 *	suppress	findings that shall not be told
 *	report		findings, in the forms of report_text and report_json
 *	growth		memory per cycle
 *	stayed		libraries that stay
 *	late		faults in unloaded libraries
 *	scan		the search for pointers into an unloaded library: of libc's lists (libc_lists) and of the memory
			(pointers)
 *	judge		all that an unload leaves undone
 *	tracer		the events of ptrace
 *	check		options and result
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/check/growth.h"
#include "tool/check/libc_lists.h"
#include "tool/check/report.h"
#include "tool/check/report_json.h"
#include "tool/check/report_text.h"
#include "tool/check/state.h"
#include "tool/check/stayed.h"
#include "tool/check/suppress.h"
#include "tool/check/tasks.h"
#include "tool/check/tracer.h"
#include "tool/record/rules.h"
#include "tool/record/run.h"
#include "tool/record/untraced.h"
#include "tool/show/term/names.h"

/* ---- options ---- */

static bool take_status(const struct options_given *given)
{
	struct check_options *options = given->context;
	char *end;
	long n = strtol(given->value, &end, 10);

	if (!*given->value || *end || n < 0 || n > 255)
		return options_wrong(given, given->row->allowed);
	options->error_status = (int)n;
	return true;
}

static bool take_suppressions(const struct options_given *given)
{
	struct check_options *options = given->context;

	options->suppressions = memory_resize(
		options->suppressions, options->suppression_count + 1, sizeof(*options->suppressions));
	options->suppressions[options->suppression_count++] = given->value;
	return true;
}

#define AT(member) .at = offsetof(struct check_options, member)

static const struct options_row rows[] = {
	{ 0, "scan", NULL, "search the memory for addresses of unloaded functions (possible findings)",
		.take = options_flag, AT(scan) },
	{ 0, "cycles", NULL, "report memory that each cycle of opening and closing a library leaves behind",
		.take = options_flag, AT(cycles) },
	{ 0, "error-exitcode", "N", "the exit status when an error was found (1); 0: the command's",
		.take = take_status, .wrong = "bad status '%v' for %o; allowed: %a", .allowed = "0 to 255" },
	{ 0, "suppressions", "FILE", "don't report what a block of the file describes; may be given again",
		.take = take_suppressions },
	{ 0, "default-suppressions", "WORD", "yes or no: those that come with xaudit (yes)",
		.take = options_word, AT(no_defaults),
		.wrong = "bad word '%v' for %o; allowed: %a", .allowed = "yes, no" },
	{ 0, "gen-suppressions", NULL, "write a block for each finding", .take = options_flag, AT(generate) },
	{ 0, "format", "FORMAT", "text or json (text)", .take = options_word, AT(json), .allowed = "text, json" },
	{ 'o', "output", "FILE", "write the report there instead of to standard error",
		.take = options_text, AT(output) },
	NAMES_ROW,
	OPTIONS_HELP,
	{ 0 },
};

static const struct options_wording wording = {
	.no_value = "option '%o' needs a value; see xaudit %c --help",
	.unknown = "unknown option '%o', or it takes no value; see xaudit %c --help",
	.letter = "option '%l' is unknown or takes no value; see xaudit %c --help",
	.wrong = "unknown format '%v'; allowed: %a",
};

static const struct options_syntax syntax = {
	.command = "check",
	.rows = rows,
	.column = 26,
	.aligned = true,
	.in_front = true,
	.wording = &wording,
	.head = "Usage: xaudit check [OPTION]... [--] COMMAND [ARGUMENT]...\n"
		"Runs a command and looks, whenever it unloads a library, whether that was safe:\n"
		"for threads that are inside it, for signal handlers and other functions of it\n"
		"that can still be called, for calls that come too late, and for libraries that\n"
		"stay although they were closed.\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"The exit status is that of the command when no error was found; 125 xaudit\n"
		"failed, 126 the command can't be executed, 127 it was not found.\n",
};

/* ---- the command ---- */

/* Does a sanitizer's variable set the flag? */
static bool has_flag(const char *variable, const char *flag)
{
	static const char between[] = " ,:\t\r\n";
	const char *p = getenv(variable);
	size_t n = strlen(flag);

	for (; p && *p; p += strcspn(p, between)) {
		p += strspn(p, between);
		if (!strncmp(p, flag, n) && p[n] == '=')
			return true;
	}
	return false;
}

/*
 * LeakSanitizer is a tracer itself: if the program has another tracer, it ends the program with a status of its own. It
 * is part of AddressSanitizer, which reads its variable, too. Returns 0, or -1.
 */
static int leave_leaks(void)
{
	const char *before = getenv("LSAN_OPTIONS");

	if (has_flag("ASAN_OPTIONS", "detect_leaks") || has_flag("LSAN_OPTIONS", "detect_leaks"))
		return 0;
	char *value = memory_format("%s%sdetect_leaks=0", before ? before : "", before && *before ? ":" : "");
	int status = setenv("LSAN_OPTIONS", value, 1);
	free(value);
	return status;
}

/* Nothing shall be traced, whatever configurations say. */
static int prepare(const char *path)
{
	char pid[32];

	if (record_environment(path) < 0)
		return -1;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (setenv(CHECK_VARIABLE, pid, 1) < 0 || setenv("XAUDIT_CONFIG", "/dev/null", 1) < 0 ||
		setenv("XAUDIT_RULES", "[library *]\nkinds = none\n[program]\nkinds = none\n", 1) < 0 ||
		leave_leaks() < 0) {
		tool_error("check", "out of memory");
		return -1;
	}
	return 0;
}

static int read_suppressions(void)
{
	for (size_t i = 0; i < check_options.suppression_count; i++)
		if (check_suppress_read(check_options.suppressions[i]) < 0)
			return -1;
	return check_options.no_defaults ? 0 : check_suppress_read_default();
}

/* A process's mappings are gone, or the process itself. */
static void judge_gone(struct check_process *process)
{
	check_stayed_end(process);
	check_growth_judge(process);
	check_libc_lists_drop(process);
}

static const struct check_judges judges = { .inherited = check_libc_lists_inherit, .gone = judge_gone };

static int begin(pid_t pid)
{
	check_judges_set(&judges);
	return check_tracer_begin(pid);
}

static int run(void)
{
	static const struct record_watcher watcher = {.begin = begin, .wait = check_tracer_wait};
	const struct check_form *form = check_options.json ? &check_json : &check_text;
	int status, wait_status;
	char *path = record_find(check_options.command[0], &status);

	if (!path)
		return status;
	if (read_suppressions() < 0 || prepare(path) < 0 || check_report_open(form) < 0) {
		free(path);
		return RECORD_FAILED;
	}
	status = record_run(check_options.command, &watcher, &wait_status);
	if (!status) {
		int findings = check_report_close();

		if (!check_counts.processes)
			record_untraced_say(check_options.command[0], path);
		if (findings < 0)
			status = RECORD_FAILED;
		else
			status = findings && check_options.error_status && !WIFSIGNALED(wait_status)
					 ? check_options.error_status
					 : record_pass_on(wait_status);
	}
	free(path);
	return status;
}

int check_main(int argc, char **argv)
{
	int first = options_take(&syntax, &check_options, argc, argv);

	record_speaker = "check";
	if (first <= 0)
		return first ? RECORD_FAILED : 0;
	if (first == argc) {
		tool_error("check", "no command to run; usage: xaudit check [OPTION]... [--] COMMAND [ARGUMENT]...");
		return RECORD_FAILED;
	}
	check_options.command = argv + first;
	return run();
}
