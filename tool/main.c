/* SPDX-License-Identifier: MIT */
/* The command line's first word: a subcommand. */
#define _GNU_SOURCE
#include "tool/base/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tool/base/bus.h"
#include "tool/base/memory.h"
#include "tool/base/nearest.h"

static const struct {
	const char *name, *what;
	int (*main)(int argc, char **argv);
} subcommand[] = {
	{ "record", "run a command and record the calls of functions in its libraries", record_main },
	{ "trace", "run a command and print its calls as they end", trace_main },
	{ "report", "calls and times per function, library or thread", report_main },
	{ "replay", "the calls as an indented tree, with durations", replay_main },
	{ "dump", "every event, in time order over all threads", dump_main },
	{ "info", "what was recorded, what was not, and why", info_main },
	{ "graph", "who called whom, how often, and for how long", graph_main },
	{ "stacks", "the stacks of calls with the most time of their own", stacks_main },
	{ "slow", "the longest calls of a function, and what made them slow", slow_main },
	{ "outliers", "functions one call of which took far longer than the others", outliers_main },
	{ "html", "a page for browsers that shows a trace, in one file", html_main },
	{ "view", "the same, opened in the browser", view_main },
	{ "alloc", "who allocated how much memory: a command, a process, a trace", alloc_main },
	{ "loads", "when libraries came and went, and how often they were called", loads_main },
	{ "locks", "run a command, and show who held which lock while who waited", locks_main },
	{ "export", "write the calls in a format that other tools read", export_main },
	{ "pack", "make one compressed file of a trace, which is read as it is", pack_main },
	{ "unpack", "make a trace folder of such a file", unpack_main },
	{ "perf", "let perf find the callers of traced functions (record --perf)", perf_main },
	{ "ctl", "look into a running process, and change what is traced there", ctl_main },
	{ "check", "run a command, and find out whether it unloads libraries safely", check_main },
	{ "env", "the variables that have a program traced which somebody else starts", env_main },
	{ "list", "what could be traced in an ELF file, without running it", list_main },
	{ "index", "find out, once for all, where kind entry can trace functions", index_main },
};

#define SUBCOMMANDS (sizeof(subcommand) / sizeof(*subcommand))

static void help(FILE *to)
{
	fputs("Usage: xaudit COMMAND [OPTION]... [ARGUMENT]...\n"
	      "Traces calls of functions in a program's libraries, without rebuilding it.\n"
	      "\n"
	      "Commands:\n",
		to);
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		fprintf(to, "  %-8s %s\n", subcommand[i].name, subcommand[i].what);
	fputs("\n"
	      "Options:\n"
	      "  -h, --help     this text\n"
	      "  -V, --version  the version\n"
	      "\n"
	      "`xaudit COMMAND --help`, or `xaudit help COMMAND`, tells a command's options.\n"
	      "A first look:\n"
	      "  xaudit record COMMAND && xaudit report\n",
		to);
}

/* If stdout goes to a full disk, that shows here at the latest. */
static int flush(const char *command, int status)
{
	int written = tool_flush(command);

	return status ? status : written;
}

/* Words that other tools have for what a command here is for, and what is asked of `ctl`. */
static const struct {
	const char *word, *here;
} other_word[] = {
	{ "attach", "ctl PID enable FUNCTION" },
	{ "diff", "report --diff" },
	{ "disable", "ctl PID disable" },
	{ "enable", "ctl PID enable" },
	{ "flamegraph", "stacks --format=folded" },
	{ "ltrace", "trace" },
	{ "mode", "ctl PID mode" },
	{ "run", "record" },
	{ "script", "dump" },
	{ "snapshot", "ctl PID snapshot" },
	{ "start", "ctl PID start" },
	{ "status", "ctl PID status" },
	{ "stop", "ctl PID stop" },
	{ "strace", "trace" },
	{ "top", "ctl PID top" },
};

/* What was probably meant; NULL: that can't be told. The caller frees it. */
static char *meant_by(const char *command)
{
	struct nearest nearest = { .written = command };

	for (size_t i = 0; i < sizeof(other_word) / sizeof(*other_word); i++)
		if (!strcmp(command, other_word[i].word))
			return memory_text(other_word[i].here, strlen(other_word[i].here));
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		nearest_look(&nearest, subcommand[i].name);
	return nearest.word;
}

static int say_unknown(const char *command)
{
	char *meant = meant_by(command);

	if (command[0] == '-') {
		tool_error(NULL,
			"there is no option '%s' in front of a command, which comes first, as in `xaudit record "
			"--library=LIB COMMAND`; `xaudit --help` lists what there is", command);
		free(meant);
		return TOOL_USAGE;
	}
	if (meant) {
		tool_error(NULL, "unknown command '%s': did you mean `xaudit %s`? `xaudit --help` lists what there is",
			command, meant);
		free(meant);
		return TOOL_USAGE;
	}
	char *allowed;
	size_t size;
	FILE *to = memory_need(open_memstream(&allowed, &size));

	for (size_t i = 0; i < SUBCOMMANDS; i++)
		fprintf(to, "%s, ", subcommand[i].name);
	fclose(to);
	tool_error(NULL, "unknown command '%s'; allowed: %s--help, --version", command, allowed);
	free(allowed);
	return TOOL_USAGE;
}

static int run(int argc, char **argv)
{
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		if (!strcmp(argv[0], subcommand[i].name))
			return flush(argv[0], subcommand[i].main(argc, argv));
	return say_unknown(argv[0]);
}

/* xaudit help [COMMAND]... The words behind it are those of an example, as in `help ctl PID top`. */
static int help_on(int argc, char **argv)
{
	char option[] = "--help", *asks[] = { argv[0], option, NULL };

	if (argc)
		return run(2, asks);
	help(stdout);
	return flush(NULL, TOOL_OK);
}

static bool is_either(const char *word, const char *one, const char *other)
{
	return !strcmp(word, one) || !strcmp(word, other);
}

int main(int argc, char **argv)
{
	bus_begin();
	if (argc < 2) {
		help(stderr);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "help"))
		return help_on(argc - 2, argv + 2);
	if (is_either(argv[1], "-h", "--help"))
		return help_on(0, NULL);
	if (is_either(argv[1], "-V", "--version")) {
		puts("xaudit " PACKAGE_VERSION);
		return flush(NULL, TOOL_OK);
	}
	return run(argc - 1, argv + 1);
}
