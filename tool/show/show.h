/* SPDX-License-Identifier: MIT */
/*
 * What `xaudit report`, `replay`, `dump` and `info` have in common: options, colours, times, and the end of the output.
 *
 * Exit status of all: 0; 1 when the trace is missing or damaged or the output can't be written; 2 for wrong usage. A
 * reader of the output that goes away early (`| head`) is no error.
 */
#ifndef XAUDIT_TOOL_SHOW_SHOW_H
#define XAUDIT_TOOL_SHOW_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct show_options {
	const char *command; /* "report" */
	const char *dir;
	uint32_t pid; /* 0: all */
	bool color;
	bool json;
};

struct option;
struct read_folder;

/* What one reader accepts. */
struct show_syntax {
	const char *command;	      /* "report" */
	const char *help;
	const char *letters;	      /* the short options, for getopt_long(): ":D:" */
	const struct option *options; /* the long ones, among them SHOW_LONG_OPTIONS */
	bool table;		      /* JSON's opposite is called a table, not text */
	/*
	 * Takes an option of this reader alone, a letter or from SHOW_OWN on; its value is in optarg. Returns as
	 * show_bad_value(). NULL: there is none.
	 */
	bool (*own)(const struct show_options *options, int option, void *context);
};

/* Values of the long options that all readers have; the short ones of a command are its own business. */
enum { SHOW_HELP = 256, SHOW_PID, SHOW_COLOR, SHOW_FORMAT, SHOW_OWN };

/* Lines for the array of struct option. */
#define SHOW_LONG_OPTIONS                                 \
	{ "help", no_argument, NULL, SHOW_HELP },             \
		{ "pid", required_argument, NULL, SHOW_PID }, \
		{ "color", required_argument, NULL, SHOW_COLOR }

/* Text for --help. */
#define SHOW_HELP_TEXT                                                         \
	"  --pid=N          only the process with this id\n"                    \
	"  --color=WHEN     always, never, or auto: on a terminal (default)\n" \
	"  --help           this text\n"

/*
 * Takes the command line: options, and at most one word, the folder. Also sets what concerns the process: no SIGPIPE.
 * context: for syntax->own. Returns -1, or the exit status with which the command is to end now: help was given, or one
 * line on stderr.
 */
int show_begin(struct show_options *options, const struct show_syntax *syntax, void *context, int argc, char **argv);

/* Says that the value of an option is none; allowed: what would be one. Returns false. */
bool show_bad_value(const struct show_options *options, const char *option, const char *value, const char *allowed);

/* The number in text, from 1 to max. Returns false if it is none. */
bool show_number(const char *text, uint32_t max, uint32_t *number);

/* Index of text in names, which ends with NULL; -1: not in it. */
int show_choice(const char *text, const char *const *names);

/* Whether nobody wants more output: it is time to end. */
static inline bool show_output_broken(void)
{
	return ferror(stdout);
}

/*
 * The end: flushes the output, reports the folder's damage and closes it. Returns the exit status, after one line on
 * stderr if the output could not be written.
 */
int show_end(struct read_folder *folder);

/* Says, in a line that begins so, that times are coarse, if those of any process are. */
void show_say_coarse(const struct read_folder *folder, const char *begin);

struct read_process;
struct read_change;
struct read_function;

/* Writes what changed, as a phrase: "only counted from here on (throttled): foo [libfoo.so]". */
void change_print(FILE *file, const struct read_process *process, const struct read_change *change);

/* The function that a TRACE_CHANGE_THROTTLED is about, or NULL. */
const struct read_function *change_function(const struct read_process *process, const struct read_change *change);

#define SHOW_TIME_SIZE 24

/* A time as text: "0.050 us", "12.345 ms", "1.000  s". Three decimals, and a unit of two characters. Returns buf. */
const char *show_time(char buf[SHOW_TIME_SIZE], uint64_t ns);

/* Escape sequences; empty without colours. */
struct show_colors {
	const char *head, *dim, *name, *warn, *off;
};
const struct show_colors *show_colors(const struct show_options *options);

#endif
