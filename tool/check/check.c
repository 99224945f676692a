/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/check.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/memory.h"
#include "tool/record/record.h"
#include "tool/tool.h"

static const char help[] =
	"Usage: xaudit check [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"Runs a command and looks, whenever it unloads a library, whether that was safe: for threads that are inside "
	"it, for\n"
	"signal handlers and other functions of it that can still be called, for calls that come too late, and for "
	"libraries\n"
	"that stay although they were closed.\n"
	"\n"
	"Options:\n"
	"      --scan              search the memory for addresses of unloaded functions (possible findings)\n"
	"      --cycles            report memory that each cycle of opening and closing a library leaves behind\n"
	"      --error-exitcode=N  the exit status when an error was found (1); 0: the command's\n"
	"      --suppressions=FILE don't report what a block of the file describes; may be given again\n"
	"      --default-suppressions=WORD\n"
	"                          yes or no: those that come with xaudit (yes)\n"
	"      --gen-suppressions  write a block for each finding\n"
	"      --format=FORMAT     text or json (text)\n"
	"  -o, --output=FILE       write the report there instead of to standard error\n"
	"  -h, --help              this text\n"
	"\n"
	"The exit status is that of the command when no error was found; 125 xaudit failed, 126 the command can't be "
	"executed,\n"
	"127 it was not found.\n";

enum {
	OPTION_SCAN = 256,
	OPTION_CYCLES,
	OPTION_STATUS,
	OPTION_FORMAT,
	OPTION_SUPPRESS,
	OPTION_DEFAULTS,
	OPTION_GENERATE
};

static const struct option long_options[] = {
	{"scan", no_argument, NULL, OPTION_SCAN},
	{"cycles", no_argument, NULL, OPTION_CYCLES},
	{"error-exitcode", required_argument, NULL, OPTION_STATUS},
	{"suppressions", required_argument, NULL, OPTION_SUPPRESS},
	{"default-suppressions", required_argument, NULL, OPTION_DEFAULTS},
	{"gen-suppressions", no_argument, NULL, OPTION_GENERATE},
	{"format", required_argument, NULL, OPTION_FORMAT},
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct check_options check_options = {.error_status = 1};

/* Returns 0, or -1 after one line on stderr, or 1 when help was given. */
static int parse(struct check_options *options, int argc, char **argv)
{
	char *end;
	int c;

	opterr = 0;
	/* '+': what follows the command belongs to the command. */
	while ((c = getopt_long(argc, argv, "+:o:h", long_options, NULL)) != -1) {
		switch (c) {
		case OPTION_SCAN:
			options->scan = true;
			break;
		case OPTION_CYCLES:
			options->cycles = true;
			break;
		case OPTION_STATUS: {
			long n = strtol(optarg, &end, 10);

			if (!*optarg || *end || n < 0 || n > 255) {
				tool_error("check", "bad status '%s' for --error-exitcode; allowed: 0 to 255", optarg);
				return -1;
			}
			options->error_status = (int)n;
			break;
		}
		case OPTION_FORMAT:
			if (strcmp(optarg, "text") && strcmp(optarg, "json")) {
				tool_error("check", "unknown format '%s'; allowed: text, json", optarg);
				return -1;
			}
			options->json = !strcmp(optarg, "json");
			break;
		case OPTION_SUPPRESS:
			options->suppressions = memory_resize(options->suppressions,
				options->suppression_count + 1, sizeof(*options->suppressions));
			options->suppressions[options->suppression_count++] = optarg;
			break;
		case OPTION_DEFAULTS:
			if (strcmp(optarg, "yes") && strcmp(optarg, "no")) {
				tool_error(
					"check", "bad word '%s' for --default-suppressions; allowed: yes, no", optarg);
				return -1;
			}
			options->no_defaults = !strcmp(optarg, "no");
			break;
		case OPTION_GENERATE:
			options->generate = true;
			break;
		case 'o':
			options->output = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return 1;
		case ':':
			tool_error("check", "option '%s' needs a value; see xaudit check --help", argv[optind - 1]);
			return -1;
		default:
			if (optopt && optopt < 256)
				tool_error("check",
					"option '-%c' is unknown or takes no value; see xaudit check --help", optopt);
			else
				tool_error("check",
					"unknown option '%s', or it takes no value; see xaudit check --help",
					argv[optind - 1]);
			return -1;
		}
	}
	if (optind == argc) {
		tool_error("check", "no command to run; usage: xaudit check [OPTION]... [--] COMMAND [ARGUMENT]...");
		return -1;
	}
	options->command = argv + optind;
	return 0;
}

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
 * LeakSanitizer is a tracer itself: where there is one, it ends the program with a status of its own. It is part of
 * AddressSanitizer, which reads its variable, too. Returns 0, or -1.
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

/* Nothing is to be traced, whatever configurations say. */
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

static int begin(pid_t pid)
{
	/* For us alone: names are looked up while the program waits, so not over the network. */
	unsetenv("DEBUGINFOD_URLS");
	return check_trace_begin(pid);
}

static int run(void)
{
	static const struct record_watcher watcher = {.begin = begin, .wait = check_trace_wait};
	int status, wait_status;
	char *path = record_find(check_options.command[0], &status);

	if (!path)
		return status;
	if (read_suppressions() < 0 || prepare(path) < 0 || check_report_open() < 0) {
		free(path);
		return RECORD_FAILED;
	}
	status = record_run(check_options.command, &watcher, &wait_status);
	if (!status) {
		int findings = check_report_close();

		if (!check_counts.processes)
			record_why(check_options.command[0], path);
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
	int status;

	record_speaker = "check";
	status = parse(&check_options, argc, argv);
	if (status)
		return status < 0 ? RECORD_FAILED : 0;
	return run();
}
