/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/show.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h> /* __fpurge, __fsetlocking */
#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* isatty */

#include "tool/show/open.h"
#include "tool/tool.h"
#include "tool/read/folder.h"

static void usage(const struct show_options *options, const char *what, const char *word)
{
	tool_error(options->command, "%s '%s'; `xaudit %s --help` lists what there is", what, word, options->command);
}

bool show_bad_value(const struct show_options *options, const char *option, const char *value, const char *allowed)
{
	tool_error(options->command, "%s can't be '%s'; it is %s", option, value, allowed);
	return false;
}

bool show_number(const char *text, uint32_t max, uint32_t *number)
{
	char *end;

	errno = 0;
	unsigned long n = strtoul(text, &end, 10);
	if (end == text || *end || errno || *text == '-' || !n || n > max)
		return false;
	*number = (uint32_t)n;
	return true;
}

int show_choice(const char *text, const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(text, names[i]))
			return i;
	return -1;
}

/* Returns the exit status, after one line on stderr if the output could not be written. */
static int flush(void)
{
	struct pollfd pipe = { .fd = STDOUT_FILENO };

	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return TOOL_OK;
	/* The error may be one of long ago, whose errno is gone: a pipe without a reader has this mark. */
	bool gone = errno == EPIPE || (poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR);
	if (!gone)
		tool_error(NULL, "the output can't be written: %s", strerror(errno ? errno : EIO));
	/* Said, or no error: main() need not find it again. */
	__fpurge(stdout);
	clearerr(stdout);
	return gone ? TOOL_OK : TOOL_FAILED;
}

/* Anything but the options that all readers have, such as the '?' and ':' of getopt_long(), is reported. */
static bool common(struct show_options *options, const struct show_syntax *syntax, int option, char **argv)
{
	const char *const format[] = { syntax->table ? "table" : "text", "json", NULL };
	char letter[3] = { '-', 0, 0 };
	int choice;

	switch (option) {
	case SHOW_PID:
		if (!show_number(optarg, INT32_MAX, &options->pid))
			return show_bad_value(options, "--pid", optarg, "the id of a process");
		return true;
	case SHOW_COLOR:
		choice = tool_colour(optarg, STDOUT_FILENO);
		if (choice < 0)
			return show_bad_value(options, "--color", optarg, "always, never or auto");
		options->color = choice;
		return true;
	case SHOW_FORMAT:
		choice = show_choice(optarg, format);
		if (choice < 0)
			return show_bad_value(options, "--format", optarg,
				syntax->table ? "table or json" : "text or json");
		options->json = choice;
		return true;
	}
	/* For a letter, optopt is the letter; for a word it is 0 or the option's value. */
	letter[1] = (char)optopt;
	bool is_letter = optopt > 0 && optopt < 256;
	usage(options, option == ':' ? "a value is missing behind the option" : "there is no option",
		is_letter ? letter : argv[optind - 1]);
	return false;
}

int show_begin(struct show_options *options, const struct show_syntax *syntax, void *context, int argc, char **argv)
{
	int option;

	*options = (struct show_options){
		.command = syntax->command, .dir = "xaudit.data", .color = tool_colour(NULL, STDOUT_FILENO)
	};
	/* Whoever reads our output may go away: then writing fails with EPIPE, and that is the end of it. */
	signal(SIGPIPE, SIG_IGN);
	/* One thread, much text. */
	__fsetlocking(stdout, FSETLOCKING_BYCALLER);
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, 64 << 10);
	opterr = 0;
	optind = 0; /* start anew, at argv[1] */
	while ((option = getopt_long(argc, argv, syntax->letters, syntax->options, NULL)) != -1) {
		if (option == SHOW_HELP) {
			fputs(syntax->help, stdout);
			return flush();
		}
		bool own = option >= SHOW_OWN || (option < SHOW_HELP && option != '?' && option != ':');
		if (!(own ? syntax->own(options, option, context) : common(options, syntax, option, argv)))
			return TOOL_USAGE;
	}
	if (optind < argc)
		options->dir = argv[optind++];
	if (optind < argc) {
		usage(options, "one folder is enough, so what is", argv[optind]);
		return TOOL_USAGE;
	}
	return -1;
}

int show_end(struct read_folder *folder)
{
	int status = flush();
	int damaged = show_damage(&folder->damage);

	read_folder_close(folder);
	return status ? status : damaged;
}

const struct read_function *change_function(const struct read_process *process, const struct read_change *change)
{
	return change->value <= TRACE_ID_MASK ? read_process_function(process, (uint32_t)change->value) : NULL;
}

void change_print(FILE *file, const struct read_process *process, const struct read_change *change)
{
	const struct read_function *function;
	char buf[320];

	switch (change->what) {
	case TRACE_CHANGE_ENABLED:
	case TRACE_CHANGE_DISABLED:
		fprintf(file, "%" PRIu64 " sites %s: ", change->value, read_change_word(change->what));
		break;
	case TRACE_CHANGE_STARTED:
		fputs("recording started", file);
		break;
	case TRACE_CHANGE_STOPPED:
		fputs("recording stopped", file);
		break;
	case TRACE_CHANGE_MODE:
		fprintf(file, "mode %s", read_mode_word(change->value));
		break;
	case TRACE_CHANGE_THROTTLED:
		function = change_function(process, change);
		fputs("only counted from here on (throttled): ", file);
		tool_text(file, read_function_name(process, function, buf, sizeof(buf)));
		fputs(" [", file);
		tool_text(file, read_path_base(read_object_path(function ? read_process_object(process, function->object) : NULL)));
		fputs("]", file);
		break;
	case TRACE_CHANGE_SNAPSHOT:
		fputs("snapshot ", file);
		break;
	case TRACE_CHANGE_FULL:
		fprintf(file, "the limit of %" PRIu64 " bytes was reached, nothing more is recorded", change->value);
		break;
	default:
		fprintf(file, "change %" PRIu32 " ", change->what);
	}
	tool_text(file, change->text);
}

const char *show_time(char buf[SHOW_TIME_SIZE], uint64_t ns)
{
	if (ns < 1000000)
		snprintf(buf, SHOW_TIME_SIZE, "%" PRIu64 ".%03u us", ns / 1000, (unsigned)(ns % 1000));
	else if (ns < 1000000000)
		snprintf(buf, SHOW_TIME_SIZE, "%" PRIu64 ".%03u ms", ns / 1000000, (unsigned)(ns / 1000 % 1000));
	else
		snprintf(
			buf, SHOW_TIME_SIZE, "%" PRIu64 ".%03u  s", ns / 1000000000, (unsigned)(ns / 1000000 % 1000));
	return buf;
}

const struct show_colors *show_colors(const struct show_options *options)
{
	static const struct show_colors none = { "", "", "", "", "" };
	static const struct show_colors some = { "\033[1m", "\033[2m", "\033[36m", "\033[33m", "\033[0m" };

	return options->color ? &some : &none;
}

void show_say_coarse(const struct read_folder *folder, const char *begin)
{
	uint32_t events = 0;

	for (unsigned i = 0; i < folder->processes; i++)
		if (folder->process[i]->head.coarse > events)
			events = folder->process[i]->head.coarse;
	if (events)
		printf("%stimes are coarse: the clock was read for one event in %" PRIu32
		       " of a thread, which those behind it share\n",
			begin, events);
}
