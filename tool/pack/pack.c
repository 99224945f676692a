/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/pack.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/pack/block.h"
#include "tool/pack/pack_folder.h"
#include "tool/pack/sources.h"
#include "tool/pack/write.h"
#include "tool/read/path.h"

struct options {
	const char *output; /* NULL: beside the folder */
	uint32_t jobs, level;
	bool no_values;
};

static const struct options_row rows[] = {
	{ 'o', "output", "FILE", "the packed file (DIR.pack); -: standard output", .take = options_text,
		.at = offsetof(struct options, output) },
	{ 'j', "jobs", "N", "use so many threads, instead of one per processor", .take = options_number,
		.at = offsetof(struct options, jobs), .allowed = "a number from 1 to 256", .most = PACK_JOBS_MOST },
	{ 0, "level", "N", "of zstd: " OPTIONS_NUMBER(PACK_LEVEL) " (default) is fast, " OPTIONS_NUMBER(PACK_LEVELS)
		" makes the smallest file", .take = options_number,
		.at = offsetof(struct options, level), .allowed = "a number from 1 to 19", .most = PACK_LEVELS },
	{ 0, "no-values", NULL, "leave out the values of calls: arguments, results, texts", .take = options_flag,
		.at = offsetof(struct options, no_values) },
	OPTIONS_HELP,
	{ 0 },
};

static const struct options_syntax syntax = {
	.command = "pack",
	.rows = rows,
	.column = 21,
	.head = "Usage: xaudit pack [OPTION]... [DIR]\n"
		"Makes one compressed file of a trace (default: " TOOL_FOLDER "), which all commands\n"
		"read as it is.\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"The folder stays. `xaudit unpack FILE` makes it again.\n",
};

/* The folder's name without slashes at its end. */
static char *plain(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return memory_text(path, length);
}

/* Is there anything of a trace in the folder: its file record, or a meta? */
static bool is_trace(int fd)
{
	struct pack_write look = { .folder = fd, .ours = true };
	/* What is wrong will be told by packing. */
	bool is = pack_sources_find(&look) < 0;

	for (size_t i = 0; i < look.sources && !is; i++) {
		const char *name = look.source[i].name, *slash = strchr(name, '/');
		is = !strcmp(name, "record") || slash;
	}
	pack_write_free(&look);
	return is;
}

static void put_size(uint64_t bytes)
{
	if (bytes < 1000000)
		printf("%.1f kB", (double)bytes / 1e3);
	else if (bytes < 1000000000)
		printf("%.1f MB", (double)bytes / 1e6);
	else
		printf("%.2f GB", (double)bytes / 1e9);
}

static void tell(const struct pack_order *order)
{
	tool_text(stdout, order->file);
	fputs(": ", stdout);
	put_size(order->data);
	fputs(" packed in ", stdout);
	put_size(order->packed);
	printf(", %.1f %%\n", order->data ? 100.0 * (double)order->packed / (double)order->data : 100.0);
}

int pack_main(int argc, char **argv)
{
	struct options options = { 0 };
	int first = options_take(&syntax, &options, argc, argv), status = TOOL_FAILED;

	if (first <= 0)
		return first ? TOOL_USAGE : TOOL_OK;
	const char *path = tool_folder("pack", argc, argv, first);
	if (!path)
		return TOOL_USAGE;
	bool stream = options.output && !strcmp(options.output, "-");
	if (stream && isatty(STDOUT_FILENO)) {
		tool_error("pack", "a packed trace is not for a terminal: `-o -` wants a pipe, or a file");
		return TOOL_USAGE;
	}
	/* A reader that goes away, and a file that would become too large (ulimit -f), are errors like others. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	char *dir = plain(path);
	char *file = stream ? NULL :
		     options.output ? memory_format("%s", options.output) :
				      memory_format("%s%s", dir, PACK_SUFFIX);
	struct pack_order order = { .command = "pack", .folder = dir, .file = file, .jobs = options.jobs,
		.level = (int)options.level, .no_values = options.no_values,
		.fd = tool_open_folder("pack", dir) };
	if (order.fd >= 0 && !is_trace(order.fd))
		tool_error("pack", "no traced process in %s; is it a folder that `xaudit record` made?", dir);
	else if (order.fd >= 0)
		status = pack_folder(&order) ? TOOL_FAILED : TOOL_OK;
	if (status == TOOL_OK && !stream)
		tell(&order);
	if (order.fd >= 0)
		close(order.fd);
	free(dir);
	free(file);
	return status;
}
