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

static const struct {
	const char *name, *what;
	int (*main)(int argc, char **argv);
} subcommand[] = {
	{ "record", "run a command and record the calls of functions in its libraries", record_main },
	{ "report", "calls and times per function, library or thread", report_main },
	{ "replay", "the calls as an indented tree, with durations", replay_main },
	{ "dump", "every event, in time order over all threads", dump_main },
	{ "info", "what was recorded, what was not, and why", info_main },
	{ "graph", "who called whom, how often, and for how long", graph_main },
	{ "stacks", "the stacks of calls with the most time of their own", stacks_main },
	{ "slow", "the longest calls of a function, and what made them slow", slow_main },
	{ "outliers", "functions one call of which took far longer than the others", outliers_main },
	{ "loads", "when libraries came and went, and how often they were called", loads_main },
	{ "pack", "make one compressed file of a trace, which is read as it is", pack_main },
	{ "unpack", "make a trace folder of such a file", unpack_main },
	{ "perf", "let perf find the callers of traced functions, in a trace made for that", perf_main },
	{ "ctl", "look into a running process, and change what is traced there", ctl_main },
	{ "check", "run a command and find out whether its unloading of libraries is safe", check_main },
	{ "env", "the variables that have a program traced which somebody else starts", env_main },
	{ "list", "what could be traced in an ELF file, without running it", list_main },
	{ "index", "find out, once for all, which functions' first instructions could run elsewhere", index_main },
};

#define SUBCOMMANDS (sizeof(subcommand) / sizeof(*subcommand))

static void help(FILE *to)
{
	fputs("Usage: xaudit COMMAND [OPTION]... [ARGUMENT]...\n"
	      "Traces calls of functions in shared libraries of a program, without rebuilding it.\n"
	      "\n"
	      "Commands:\n",
		to);
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		fprintf(to, "  %-8s %s\n", subcommand[i].name, subcommand[i].what);
	fputs("\n"
	      "Options:\n"
	      "  --help     this text\n"
	      "  --version  the version\n"
	      "\n"
	      "`xaudit COMMAND --help` tells a command's options. A first look:\n"
	      "  xaudit record COMMAND && xaudit report\n",
		to);
}

/* If stdout goes to a full disk, that shows here at the latest. */
static int flush(const char *command, int status)
{
	int written = tool_flush(command);

	return status ? status : written;
}

static int say_unknown(const char *command)
{
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

int main(int argc, char **argv)
{
	bus_begin();
	if (argc < 2) {
		help(stderr);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help(stdout);
		return flush(NULL, TOOL_OK);
	}
	if (!strcmp(argv[1], "--version")) {
		puts("xaudit " PACKAGE_VERSION);
		return flush(NULL, TOOL_OK);
	}
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		if (!strcmp(argv[1], subcommand[i].name))
			return flush(argv[1], subcommand[i].main(argc - 1, argv + 1));
	return say_unknown(argv[1]);
}
