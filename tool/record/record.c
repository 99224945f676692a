/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/record.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/rules/rules.h"
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
	"  -k, --kinds=KIND[,KIND]  kinds of sites: " TRACE_KIND_WORDS "\n"
	"  -b, --buffer=SIZE        buffer per thread: a power of two from 64k to 1G (4M)\n"
	"  -m, --mode=MODE          stream: every event (default); ring: the newest events; count: only how often\n"
	"      --ring=SIZE          what mode ring keeps per thread: a power of two from 256k to 1G (8M)\n"
	"      --size-limit=SIZE    record no more when the events of a process fill this, as in 1G\n"
	"      --overflow=WHAT      where the disk is too slow: wait for it (default), or drop events\n"
	"  -D, --depth=N            record only so many levels of calls\n"
	"  -t, --time=TIME          leave out calls that are shorter, as in 500ns, 10us, 1.5ms\n"
	"  -C, --below=PATTERN      record only these functions and what they call; repeatable\n"
	"      --throttle=N%        only count short functions that fill more than this share of a buffer\n"
	"      --clock=CLOCK        auto (default), tsc, monotonic; coarse: read for one event in 16\n"
	"      --start-disabled     begin switched off; xaudit ctl PID enable switches on\n"
	"      --prepare=WHAT       what can be switched on without a stop: selected (default), all, none\n"
	"      --snapshot=WHAT      keep a copy of the ring: exit, crash, signal:NAME; repeatable\n"
	"      --merge              let the kernel share patched pages between processes (KSM)\n"
	"  -c, --config=FILE        read this configuration instead of xaudit.conf\n"
	"  -h, --help               this text\n"
	"\n"
	"With -l alone: xray, patchable, guard and plt of these libraries. With -k alone: these kinds of every library "
	"and of the\n"
	"program. With neither: the configuration decides; where there is none, xray, patchable and guard of "
	"everything, and the\n"
	"calls of the program into its libraries.\n"
	"\n"
	"The exit status is that of the command; 125 xaudit failed, 126 the command can't be executed, 127 it was not "
	"found.\n";

/* Options without a letter. From KEY on: by enum record_key. */
enum { START_DISABLED = 256, SNAPSHOT, MERGE, KEY };

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "library", required_argument, NULL, 'l' },
	{ "filter", required_argument, NULL, 'F' },
	{ "notrace", required_argument, NULL, 'N' },
	{ "kinds", required_argument, NULL, 'k' },
	{ "buffer", required_argument, NULL, 'b' },
	{ "mode", required_argument, NULL, 'm' },
	{ "ring", required_argument, NULL, KEY + RECORD_RING },
	{ "size-limit", required_argument, NULL, KEY + RECORD_SIZE_LIMIT },
	{ "depth", required_argument, NULL, 'D' },
	{ "time", required_argument, NULL, 't' },
	{ "below", required_argument, NULL, 'C' },
	{ "overflow", required_argument, NULL, KEY + RECORD_OVERFLOW },
	{ "throttle", required_argument, NULL, KEY + RECORD_THROTTLE },
	{ "clock", required_argument, NULL, KEY + RECORD_CLOCK },
	{ "start-disabled", no_argument, NULL, START_DISABLED },
	{ "prepare", required_argument, NULL, KEY + RECORD_PREPARE },
	{ "snapshot", required_argument, NULL, SNAPSHOT },
	{ "merge", no_argument, NULL, MERGE },
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
			tool_error("record", "unknown kind '%.*s'; allowed: " TRACE_KIND_WORDS, (int)n, p);
			return -1;
		}
		*kinds |= 1u << kind;
		p += n;
		if (!*p)
			return 0;
	}
}

static int set_key(struct record_options *options, enum record_key key, const char *value)
{
#define X(NAME, key, what, option) { key, what, option },
	static const struct {
		const char *key, *what, *option;
	} name[] = { RECORD_KEYS(X) };
#undef X
	const char *allowed = rules_wrong(name[key].key, value);

	options->value[key] = value;
	if (!allowed)
		return 0;
	tool_error("record", "bad %s '%s' for %s; allowed: %s", name[key].what, value, name[key].option, allowed);
	return -1;
}

static int add_snapshot(struct record_words *words, const char *value)
{
	const char *allowed = rules_wrong("snapshot", value);

	add(words, value);
	if (!allowed)
		return 0;
	tool_error("record", "bad value '%s' for --snapshot; allowed: %s", value, allowed);
	return -1;
}

/* Returns 0, or -1 after one line on stderr, or 1 when help was given. */
static int parse(struct record_options *options, int argc, char **argv)
{
	int c;

	opterr = 0;
	/* '+': what follows the command belongs to the command. */
	while ((c = getopt_long(argc, argv, "+:o:l:F:N:k:b:m:D:t:C:c:h", long_options, NULL)) != -1) {
		enum record_key key = RECORD_KEY_COUNT;

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
			key = RECORD_BUFFER;
			break;
		case 'm':
			key = RECORD_MODE;
			break;
		case 'D':
			key = RECORD_DEPTH;
			break;
		case 't':
			key = RECORD_TIME;
			break;
		case 'C':
			add(&options->below, optarg);
			break;
		case START_DISABLED:
			options->start_disabled = true;
			break;
		case SNAPSHOT:
			if (add_snapshot(&options->snapshots, optarg) < 0)
				return -1;
			break;
		case MERGE:
			options->merge = true;
			break;
		case KEY ... KEY + RECORD_KEY_COUNT - 1:
			key = (enum record_key)(c - KEY);
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
			if (optopt && !strncmp(argv[optind - 1], "--", 2))
				tool_error("record", "option '%s' takes no value; see xaudit record --help",
					argv[optind - 1]);
			else if (optopt)
				tool_error("record",
					"option '-%c' is unknown or takes no value; see xaudit record --help", optopt);
			else
				tool_error("record", "unknown option '%s'; see xaudit record --help", argv[optind - 1]);
			return -1;
		}
		if (key != RECORD_KEY_COUNT && set_key(options, key, optarg) < 0)
			return -1;
	}
	if (optind == argc) {
		tool_error("record", "no command to run; usage: xaudit record [OPTION]... [--] COMMAND [ARGUMENT]...");
		return -1;
	}
	options->command = argv + optind;
	return 0;
}

static void begun(void *folder)
{
	record_folder_begun(folder);
}

static int run(const struct record_options *options)
{
	struct record_folder folder;
	const struct record_watcher watcher = {.begun = begun, .context = &folder};
	char *path, *output, *searched = NULL;
	int status;
	bool off;

	/* All that can fail is tried before anything is made. */
	path = record_find(options->command[0], &status);
	if (!path)
		return status;
	status = RECORD_FAILED;
	output = record_prepare(options, path, &off, &searched);
	if (!output || record_folder_make(&folder, output) < 0)
		goto out;
	if (record_folder_begin(&folder, options->command) < 0) {
		record_folder_undo(&folder);
		goto out;
	}

	record_broker_start(&folder);
	record_early_start(&folder);
	record_drain_start(&folder);
	int wait_status, failure = record_run(options->command, &watcher, &wait_status);
	record_drain_stop();
	record_early_stop();
	if (failure) {
		record_broker_stop();
		record_folder_undo(&folder);
		status = failure;
		goto out;
	}
	/* What goes wrong from here on is said, but the command ran: its status is what counts. */
	record_folder_end(&folder, wait_status);
	record_after(&folder, options->command[0], path, off);
	/* As late as can be: what the command has left behind may still be at its beginning, or its end. */
	record_broker_stop();
	record_broker_say(&folder);
	if (searched)
		tool_error("record",
			"the configuration %s was found and counts; -c FILE names another, -c /dev/null none",
			searched);
	record_folder_close(&folder);
	status = record_pass_on(wait_status);
out:
	free(searched);
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
	free(options.below.word);
	free(options.snapshots.word);
	return status;
}
