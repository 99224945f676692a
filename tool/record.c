/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/rules.h"
#include "tool/memory.h"
#include "tool/tool.h"

static const char help[] =
	"Usage: xaudit record [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"Runs a command and records the calls of functions in its libraries.\n"
	"\n"
	"Options:\n"
	"  -o, --output=DIR         the trace folder (xaudit.data); an older trace is kept as DIR.old\n"
	"  -l, --library=GLOB       trace this library; repeatable\n"
	"  -F, --filter=PATTERN     trace only these functions, FUNCGLOB or FUNCGLOB@LIBGLOB; repeatable\n"
	"  -N, --notrace=PATTERN    never trace these functions; repeatable\n"
	"  -k, --kinds=KIND[,KIND]  kinds of sites: xray, patchable, plt, calls\n"
	"  -b, --buffer=SIZE        buffer per thread: a power of two from 64k to 1G (4M)\n"
	"  -c, --config=FILE        read this configuration instead of xaudit.conf\n"
	"  -h, --help               this text\n"
	"\n"
	"With -l alone: xray, patchable and plt of these libraries. With -k alone: these kinds of every library and of the\n"
	"program. With neither: the configuration decides; where there is none, xray and patchable of everything, and the\n"
	"calls of the program into its libraries.\n"
	"\n"
	"The exit status is that of the command; 125 xaudit failed, 126 the command can't be executed, 127 it was not found.\n";

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "library", required_argument, NULL, 'l' },
	{ "filter", required_argument, NULL, 'F' },
	{ "notrace", required_argument, NULL, 'N' },
	{ "kinds", required_argument, NULL, 'k' },
	{ "buffer", required_argument, NULL, 'b' },
	{ "config", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void add(struct record_words *words, const char *word)
{
	words->word = memory_resize(words->word, words->count + 1, sizeof(*words->word));
	words->word[words->count++] = word;
}

static int add_kinds(unsigned *kinds, const char *list)
{
	for (const char *p = list;; p++) {
		size_t n = strcspn(p, ",");
		int kind = rules_kind(p, n);

		if (kind < 0) {
			tool_error("record", "unknown kind '%.*s'; allowed: xray, patchable, plt, calls", (int)n, p);
			return -1;
		}
		*kinds |= 1u << kind;
		p += n;
		if (!*p)
			return 0;
	}
}

/* Returns 0, or -1 after one line on stderr, or 1 when help was given. */
static int parse(struct record_options *options, int argc, char **argv)
{
	int c;

	opterr = 0;
	/* '+': what follows the command belongs to the command. */
	while ((c = getopt_long(argc, argv, "+:o:l:F:N:k:b:c:h", long_options, NULL)) != -1) {
		switch (c) {
		case 'o':
			options->output = optarg;
			break;
		case 'l':
			add(&options->libraries, optarg);
			break;
		case 'F':
			add(&options->functions, optarg);
			break;
		case 'N':
			add(&options->exclude, optarg);
			break;
		case 'k':
			if (add_kinds(&options->kinds, optarg) < 0)
				return -1;
			break;
		case 'b':
			options->buffer = optarg;
			if (!rules_size(optarg)) {
				tool_error("record",
					"bad size '%s' for -b; allowed: a power of two from 64k to 1G, as in 4M",
					optarg);
				return -1;
			}
			break;
		case 'c':
			options->config = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return 1;
		case ':':
			tool_error("record", "option '%s' needs a value; see xaudit record --help", argv[optind - 1]);
			return -1;
		default:
			if (optopt)
				tool_error("record",
					"option '-%c' is unknown or takes no value; see xaudit record --help", optopt);
			else
				tool_error("record", "unknown option '%s'; see xaudit record --help", argv[optind - 1]);
			return -1;
		}
	}
	if (optind == argc) {
		tool_error("record", "no command to run; usage: xaudit record [OPTION]... [--] COMMAND [ARGUMENT]...");
		return -1;
	}
	options->command = argv + optind;
	return 0;
}

static int run(const struct record_options *options)
{
	struct record_folder folder;
	char *path, *output;
	int status;

	/* All that can fail is tried before anything is made. */
	path = record_find(options->command[0], &status);
	if (!path)
		return status;
	status = RECORD_FAILED;
	output = record_prepare(options, path);
	if (!output || record_folder_make(&folder, output) < 0)
		goto out;
	if (record_folder_begin(&folder, options->command) < 0) {
		record_folder_undo(&folder);
		goto out;
	}

	int wait_status, failure = record_run(options->command, NULL, &wait_status);
	if (failure) {
		record_folder_undo(&folder);
		status = failure;
		goto out;
	}
	/* What goes wrong from here on is said, but the command ran: its status is what counts. */
	record_folder_end(&folder, wait_status);
	record_after(&folder, options->command[0], path);
	close(folder.fd);
	status = record_pass_on(wait_status);
out:
	free(output);
	free(path);
	return status;
}

int record_main(int argc, char **argv)
{
	struct record_options options = { 0 };
	int status = parse(&options, argc, argv);

	if (status < 0)
		status = RECORD_FAILED;
	else if (status > 0)
		status = 0;
	else
		status = run(&options);
	free(options.libraries.word);
	free(options.functions.word);
	free(options.exclude.word);
	return status;
}
