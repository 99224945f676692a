/* SPDX-License-Identifier: MIT */
/*
 * The command: its subcommands, which main.c has in a table, and what all of them share, in tool.c. One thread; only
 * tool_error() and tool_base() may be called by others.
 */
#ifndef XAUDIT_TOOL_H
#define XAUDIT_TOOL_H

#include <stdbool.h>
#include <stdio.h>

#include "audit/rules/defaults.h"

/* Exit status of the reading commands. `record` passes the command's on; tool/record/run.h has its own failures. */
enum tool_status {
	TOOL_OK = 0,
	TOOL_FAILED = 1, /* no trace, a damaged one, output that can't be written */
	TOOL_USAGE = 2,	 /* options or arguments that are not understood */
};

/*
 * One per subcommand; argv[0] is its name. Returns the exit status. --help goes to stdout, status 0. main() flushes
 * stdout afterwards, and makes a status 0 TOOL_FAILED with a line when that fails.
 */
int record_main(int argc, char **argv);
int check_main(int argc, char **argv);
int ctl_main(int argc, char **argv);
int env_main(int argc, char **argv);
int list_main(int argc, char **argv);
int index_main(int argc, char **argv);
int trace_main(int argc, char **argv);
int alloc_main(int argc, char **argv);
int export_main(int argc, char **argv);
int report_main(int argc, char **argv);
int replay_main(int argc, char **argv);
int dump_main(int argc, char **argv);
int info_main(int argc, char **argv);
int graph_main(int argc, char **argv);
int stacks_main(int argc, char **argv);
int slow_main(int argc, char **argv);
int outliers_main(int argc, char **argv);
int loads_main(int argc, char **argv);
int html_main(int argc, char **argv);
int view_main(int argc, char **argv);
int locks_main(int argc, char **argv);
int pack_main(int argc, char **argv);
int unpack_main(int argc, char **argv);
int perf_main(int argc, char **argv);

/*
 * Says one line on stderr: "xaudit COMMAND: what, where, what to do", in a single write; command NULL: "xaudit: ...".
 * Bytes that would steer a terminal become '?', as in tool_text(). Keeps errno.
 */
void tool_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Writes for people a name, path or other text that comes from files and other processes: characters that would steer a
 * terminal, and bytes that are no UTF-8, become '?' (text_next() in runtime/base/text.h). All such texts go through
 * this function, tool_error() or json_string().
 */
void tool_text(FILE *file, const char *text);

/* To write to it has failed: because it is a pipe whose reader has ended? By errno, or as the pipe is now. */
bool tool_reader_is_gone(int fd);

/*
 * Writes what stands in stdout's buffer. Returns TOOL_OK, also if the reader of a pipe has ended (head): it has read
 * enough. Who writes much ignores SIGPIPE before. Else TOOL_FAILED after a line.
 */
int tool_flush(const char *command);

/* The trace of a command that is told of none. */
#define TOOL_FOLDER DEFAULTS_OUTPUT

/* The folder that the words from `first` on name, or TOOL_FOLDER. NULL, after one line: these are more than one. */
const char *tool_folder(const char *command, int argc, char **argv, int first);

/* Opens the folder of a trace. Returns a descriptor, or -1 after one line. */
int tool_open_folder(const char *command, const char *path);

/* Last component of a path. */
const char *tool_base(const char *path);

/*
 * Are colours wanted on fd? option: the value of --color (always, never, auto), or NULL. --color decides, then NO_COLOR
 * (set and not empty), then whether fd is a terminal and TERM is not dumb. Returns 1, 0, or -1 for another word.
 */
int tool_colour(const char *option, int fd);

#endif
