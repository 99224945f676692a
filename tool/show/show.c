/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/show.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio_ext.h> /* __fsetlocking */
#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* isatty */

#include "format/pack.h"
#include "format/trace.h"
#include "tool/base/memory.h"
#include "tool/base/plain.h"
#include "tool/base/tool.h"
#include "tool/show/show_trace.h"

/* A word that stands alone: has it the look of a path, or is there such a file? Libraries stand behind an @. */
static bool is_path(const char *word)
{
	return (strchr(word, '/') && !strchr(word, '@')) || !access(word, F_OK);
}

/* A file of `xaudit pack`? */
static bool is_packed(const char *path)
{
	char magic[sizeof(PACK_MAGIC) - 1];
	int fd = plain_open(AT_FDCWD, path);

	if (fd < 0)
		return false;
	bool is = pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
		  !memcmp(magic, PACK_MAGIC, sizeof(magic));
	close(fd);
	return is;
}

static bool has(const char *path, const char *name)
{
	char *file = memory_format("%s/%s", path, name);
	bool is = !access(file, F_OK);

	free(file);
	return is;
}

/* A folder of processes which `xaudit record` did not make (xaudit env)? */
static bool has_process(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool is = false;

	while (folder && !is && (entry = readdir(folder))) {
		if (entry->d_name[0] != 'p' || entry->d_name[1] < '0' || entry->d_name[1] > '9')
			continue;
		char *process = memory_format("%s/%s", path, entry->d_name);
		is = has(process, "meta");
		free(process);
	}
	if (folder)
		closedir(folder);
	return is;
}

bool show_is_trace(const char *path)
{
	return has(path, "record") || has(path, "meta") || is_packed(path) || has_process(path);
}

/* Returns the index of the first word that is no option; or -1, and *status. */
static int begin(
	struct show_options *options, const struct options_syntax *syntax, int argc, char **argv, int *status)
{
	*options = (struct show_options){ .dir = TOOL_FOLDER, .color = tool_colour(NULL, STDOUT_FILENO) };
	/* The reader of our output may end early: then writing fails with EPIPE, and the command ends. */
	signal(SIGPIPE, SIG_IGN);
	/* One thread writes much text, and needs no lock for each piece. */
	__fsetlocking(stdout, FSETLOCKING_BYCALLER);
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, 64 << 10);
	int first = options_take(syntax, options, argc, argv);
	if (first > 0)
		return first;
	*status = first ? TOOL_USAGE : tool_flush(NULL);
	return -1;
}

/* The function in front of the folders. Returns the index of the first of these; or -1, after a line on stderr. */
static int take_function(const struct options_syntax *syntax, int argc, char **argv, int first, const char **function,
	bool needed)
{
	bool trace = first < argc && show_is_trace(argv[first]);

	if (needed && trace) {
		tool_error(syntax->command, "which function? '%s' is a trace; usage: xaudit %s FUNCTION %s",
			argv[first], syntax->command, argv[first]);
		return -1;
	}
	if (needed && first == argc) {
		tool_error(syntax->command, "which function; `xaudit %s --help` tells the usage", syntax->command);
		return -1;
	}
	/* A word that stands alone is the folder if it looks like one: that may be missing. */
	if (needed || (first < argc && !trace && (first + 1 < argc || !is_path(argv[first]))))
		*function = argv[first++];
	return first;
}

int show_begin_many(struct show_options *options, const struct options_syntax *syntax, int argc, char **argv,
	const char **function, bool needed, const char ***folder, uint32_t *count)
{
	int status, first = begin(options, syntax, argc, argv, &status);

	if (first < 0)
		return status;
	if (function)
		first = take_function(syntax, argc, argv, first, function, needed);
	if (first < 0)
		return TOOL_USAGE;
	*count = first < argc ? (uint32_t)(argc - first) : 1;
	*folder = memory_zeroed(*count, sizeof(**folder));
	(*folder)[0] = options->dir;
	for (int i = first; i < argc; i++)
		(*folder)[i - first] = argv[i];
	term_begin(!syntax->prose && !options->json);
	return -1;
}

struct xaudit_read_trace *show_begin(
	struct show_options *options, const struct options_syntax *syntax, int argc, char **argv, int *status)
{
	struct xaudit_read_trace *trace;
	int first = begin(options, syntax, argc, argv, status);

	if (first < 0)
		return NULL;
	*status = TOOL_USAGE;
	options->dir = tool_folder(syntax->command, argc, argv, first);
	if (!options->dir)
		return NULL;
	term_begin(!syntax->prose && !options->json);
	trace = show_trace(options->dir, options->pid);
	*status = trace ? TOOL_OK : TOOL_FAILED;
	return trace;
}

char *show_host(struct xaudit_read_process *process)
{
	const char *host = xaudit_read_process_info(process)->host;

	return host ? memory_text(host, strcspn(host, " ")) : NULL;
}

void show_points(uint64_t calls)
{
	if (calls)
		printf("%" PRIu64 " call%s traced at the entry only: %s no time\n", calls,
			calls == 1 ? " was" : "s were", calls == 1 ? "it has" : "they have");
}

void show_counted(uint64_t calls)
{
	if (calls)
		printf("%" PRIu64 " call%s only counted: %s no time\n", calls, calls == 1 ? " was" : "s were",
			calls == 1 ? "it has" : "they have");
}

void show_cpu_unknown(uint64_t calls)
{
	if (calls)
		printf("of %" PRIu64 " call%s it is not known how long %s on processors: see xaudit info\n", calls,
			show_s(calls), calls == 1 ? "it was" : "they were");
}

int show_end_trace(struct xaudit_read_trace *trace)
{
	int status = tool_flush(NULL);
	int damaged = show_trace_damage(trace);

	xaudit_read_close(trace);
	return status ? status : damaged;
}

static const struct {
	const char *phrase, *plural, *end;
} states[] = {
	[XAUDIT_READ_STATE_ENDED] = { "ended", "ended", "has ended" },
	[XAUDIT_READ_STATE_RUNNING] = { "is running", "are running", NULL },
	[XAUDIT_READ_STATE_EXECUTED] = { "executed another program", "executed another program",
		"executed another program" },
	[XAUDIT_READ_STATE_GONE] = { "was killed, ended by _exit(), or executed what was not traced",
		"were killed, ended by _exit(), or executed what was not traced", "has ended" },
	[XAUDIT_READ_STATE_LEFT] = { "gave up rights, and went on as another process of the trace",
		"gave up rights, and went on as other processes of the trace",
		"went on as another process of the trace" },
};

const char *show_state_phrase(int state)
{
	return states[state].phrase;
}

const char *show_state_plural(int state)
{
	return states[state].plural;
}

const char *show_state_end(int state)
{
	return states[state].end;
}

void show_change(FILE *file, const struct xaudit_read_change *change)
{
	const struct xaudit_read_function *function = change->function;

	switch (change->what) {
	case TRACE_CHANGE_ENABLED:
	case TRACE_CHANGE_DISABLED:
		fprintf(file, "%" PRIu64 " sites %s: ", change->value, change->word);
		break;
	case TRACE_CHANGE_STARTED:
		fputs("recording started", file);
		break;
	case TRACE_CHANGE_STOPPED:
		fputs("recording stopped", file);
		break;
	case TRACE_CHANGE_MODE:
		fprintf(file, "mode %s", xaudit_read_mode_word(change->value));
		break;
	case TRACE_CHANGE_THROTTLED:
		fputs("only counted from here on (throttled): ", file);
		names_print(file, function ? function->name : "[unknown]");
		fputs(" [", file);
		tool_text(file, function ? tool_base(function->object->path) : "[unknown]");
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

static const char *put_time(char buf[SHOW_TIME_SIZE], uint64_t ns, const char *second)
{
	if (ns < 1000000)
		snprintf(buf, SHOW_TIME_SIZE, "%" PRIu64 ".%03u us", ns / 1000, (unsigned)(ns % 1000));
	else if (ns < 1000000000)
		snprintf(buf, SHOW_TIME_SIZE, "%" PRIu64 ".%03u ms", ns / 1000000, (unsigned)(ns / 1000 % 1000));
	else
		snprintf(buf, SHOW_TIME_SIZE, "%" PRIu64 ".%03u %s", ns / 1000000000, (unsigned)(ns / 1000000 % 1000),
			second);
	return buf;
}

const char *show_time(char buf[SHOW_TIME_SIZE], uint64_t ns)
{
	return put_time(buf, ns, "s");
}

const char *show_time_column(char buf[SHOW_TIME_SIZE], uint64_t ns)
{
	return put_time(buf, ns, " s");
}

const struct show_colors *show_colors(const struct show_options *options)
{
	static const struct show_colors none = { "", "", "", "", "" };
	static const struct show_colors some = { "\033[1m", "\033[2m", "\033[36m", "\033[33m", "\033[0m" };

	return options->color ? &some : &none;
}

void show_say_coarse_trace(const struct xaudit_read_trace *trace, const char *begin)
{
	int events = xaudit_read_trace_info(trace)->coarse;

	if (events)
		printf("%stimes are coarse: the clock was read for one event in %d"
		       " of a thread, which those behind it share\n",
			begin, events);
}
