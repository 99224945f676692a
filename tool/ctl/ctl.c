/* SPDX-License-Identifier: MIT */
/*
 * xaudit ctl: looks into a running process, and changes what is traced there (runtime/control.h has the protocol). This
 * is the command line.
 *
 * Commands that only look need not stop the process: ctl_open() finds the module's control block, ctl_read() reads
 * memory; data that the process changes meanwhile may be read half old, half new, so addresses and counts in it are
 * checked before use. Commands that change something call ctl_request() (request.h).
 *
 * One thread. Functions report errors themselves, in one line ("xaudit ctl: ..."), unless their comment says otherwise.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/base/memory.h"
#include "tool/base/nearest.h"
#include "tool/base/options.h"
#include "tool/base/proc.h"
#include "tool/base/tool.h"
#include "tool/ctl/change.h"
#include "tool/ctl/contexts.h"
#include "tool/ctl/find_module.h"
#include "tool/ctl/folder.h"
#include "tool/ctl/function.h"
#include "tool/ctl/probes.h"
#include "tool/ctl/process.h"
#include "tool/ctl/snapshot.h"
#include "tool/ctl/status.h"
#include "tool/ctl/targets.h"
#include "tool/ctl/top.h"
#include "tool/ctl/watch.h"
#include "tool/ctl/when.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/show/show.h"
#include "tool/show/show_trace.h"

/* ---- the command line ---- */

/* Each command has one of the three functions. */
static const struct command {
	const char *name, *arguments, *what;
	/* Changes living processes. */
	int (*change)(struct ctl_targets *targets, int argc, char **argv);
	/* Only reads traces (tool/ctl/folder.h). */
	int (*read)(uint32_t pid, const struct ctl_trace *trace, size_t traces, int argc, char **argv);
	/* Looks at living processes, or at a trace. */
	int (*look)(const struct ctl_targets *targets, const char *where, int argc, char **argv);
} commands[] = {
	{ "status", "", "what is traced, and its costs; PID may be a folder", .look = ctl_status },
	{ "enable", " RULE...", "switch sites on: [KIND:]FUNCTION[@LIBRARY], patterns", .change = ctl_rules },
	{ "disable", " RULE...", "switch sites off", .change = ctl_rules },
	{ "add-context", " FUNCTION CONTEXT...", "record values of its calls: args, retval, arg1 ...",
		.change = ctl_contexts },
	{ "del-context", " FUNCTION...", "record no values of its calls", .change = ctl_contexts },
	{ "contexts", "", "which values are recorded", .change = ctl_contexts },
	{ "function", " [NAME=]FUNCTION...", "record its calls, by that name", .change = ctl_function },
	{ "probe", " [NAME=]PLACE...", "record events at instructions: FUNCTION+OFFSET@LIBRARY",
		.change = ctl_probes },
	{ "unprobe", " NAME...", "take probes away again", .change = ctl_probes },
	{ "probes", "", "which there are, and why others can't be", .change = ctl_probes },
	{ "when", " 'FUNCTION|PROBE ...' ACTION", "mark, snapshot, start or stop when it is called",
		.change = ctl_when },
	{ "watch", "", "stay, and make the snapshots that actions ask for", .change = ctl_watch },
	{ "start", "", "record again", .change = ctl_record },
	{ "stop", "", "record nothing", .change = ctl_record },
	{ "mode", " stream|ring|count", "record in another way", .change = ctl_record },
	{ "snapshot", "", "copy the newest events; PID may be a folder", .read = ctl_snapshot },
	{ "top", "", "functions, most self time first; PID may be a folder", .read = ctl_top },
};

#define SHOWN	       8  /* processes that a message names */
#define COMMAND_COLUMN 24 /* of --help: where the texts begin */
#define COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static int say_unknown(const char *name)
{
	struct nearest nearest = { .written = name };
	char *allowed;
	size_t size;
	FILE *to = memory_need(open_memstream(&allowed, &size));

	for (size_t i = 0; i < COMMANDS; i++) {
		fprintf(to, "%s%s", i ? ", " : "", commands[i].name);
		nearest_look(&nearest, commands[i].name);
	}
	fclose(to);
	if (nearest.word)
		tool_error("ctl", "unknown command '%s': did you mean %s? `xaudit ctl --help` lists what there is",
			name, nearest.word);
	else
		tool_error("ctl", "unknown command '%s'; allowed: %s", name, allowed);
	nearest_free(&nearest);
	free(allowed);
	return TOOL_USAGE;
}

static bool is_folder(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool has_meta(const char *folder)
{
	char *meta = memory_format("%s/meta", folder);
	struct stat s;
	bool there = stat(meta, &s) == 0;

	free(meta);
	return there;
}

/*
 * The path of the process that is meant: `path` itself, or that of the only process in the folder. NULL after saying
 * why there is none.
 */
static char *process_in(const char *path)
{
	char *found = NULL;

	if (!is_folder(path) || has_meta(path)) {
		found = memory_text(path, strlen(path));
		for (size_t n = strlen(found); n > 1 && found[n - 1] == '/'; n--)
			found[n - 1] = '\0';
		return found;
	}
	struct xaudit_read_trace *trace = show_trace(path, 0);
	if (!trace)
		return NULL;
	const struct xaudit_read_trace_info *info = xaudit_read_trace_info(trace);
	const char *first = xaudit_read_process_head(xaudit_read_process(trace, 0))->name;
	char *name = memory_format("%s/%s", info->path, first);
	if (info->processes == 1) {
		found = name;
	} else {
		tool_error("ctl", "%s holds traces of %" PRIu32 " processes: name one of them, such as %s", path,
			info->processes, name);
		free(name);
	}
	xaudit_read_close(trace);
	return found;
}

/* Finds the trace of a living process. Returns false if it has none, after saying so unless it is one of several. */
static bool trace_of(struct ctl_trace *trace, const struct ctl_targets *targets, pid_t *pid)
{
	struct ctl_process process;

	*trace = (struct ctl_trace){ 0 };
	if (!ctl_open(&process, *pid))
		return false;
	*pid = process.pid;
	trace->path = ctl_folder(&process, &trace->place);
	if (!trace->path && !ctl_targets_several(targets))
		tool_error("ctl", "process %d has no trace yet: nothing is switched on in it", (int)*pid);
	ctl_close(&process);
	return trace->path != NULL;
}

/* Does the process write there? Not if that is a copy of a trace, or another process has got the number meanwhile. */
static bool writes_to(const struct ctl_process *process, const struct xaudit_read_head *head)
{
	uint32_t place;
	char *other = ctl_folder(process, &place);
	struct stat a, b;
	bool same = other && !stat(other, &a) && !stat(head->folder, &b) && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino && place == head->place;

	free(other);
	return same;
}

/* The process that writes to the folder, for commands that need it alive. 0 after saying why there is none. */
static pid_t living(const char *path)
{
	char *name = process_in(path);
	struct xaudit_read_trace *trace = name ? show_trace_process("ctl", name, 0) : NULL;
	pid_t pid = 0;

	if (trace) {
		struct xaudit_read_process *of = xaudit_read_process(trace, 0);
		const struct xaudit_read_head *head = xaudit_read_process_head(of);
		struct ctl_process process;

		pid = (pid_t)head->pid;
		const char *end = show_state_end(xaudit_read_process_state(of));
		show_trace_need_memory(trace);
		if (!end && !ctl_open(&process, pid)) {
			pid = 0;
		} else if (!end) {
			if (!writes_to(&process, head))
				end = "writes to another folder now";
			ctl_close(&process);
		}
		if (end) {
			tool_error("ctl",
				"process %d, whose trace is in %s, %s: status, snapshot and top show what it has left",
				(int)pid, name, end);
			pid = 0;
		}
		xaudit_read_close(trace);
	}
	free(name);
	return pid;
}

static void say_several(const struct ctl_targets *targets)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	for (size_t i = 0; i < targets->count && i < SHOWN; i++) {
		char name[16];
		proc_name(targets->pid[i], name);
		fprintf(to, "%s %d (%s)", i ? "," : "", (int)targets->pid[i], name);
	}
	if (targets->count > SHOWN)
		fprintf(to, " and %zu more", targets->count - SHOWN);
	fclose(to);
	tool_error("ctl", "top shows one process, and these are %zu; name one of%s", targets->count, text);
	free(text);
}

/* The reader is told the first process, whether it has a trace or not: a snapshot of several bears its number. */
static int run_reader(
	const struct command *command, struct ctl_targets *targets, const char *where, int argc, char **argv)
{
	struct ctl_trace *trace = NULL;
	size_t traces = 0, failed = 0;
	pid_t pid = 0;
	int status = TOOL_FAILED;

	if (command->read == ctl_top && targets->count > 1) {
		say_several(targets);
		return TOOL_USAGE;
	}
	trace = memory_zeroed(targets->count + 1, sizeof(*trace));
	for (size_t k = 0; k < targets->count; k++) {
		pid_t each = targets->pid[k];
		bool any = trace_of(&trace[traces], targets, &each);
		failed += !any && !ctl_targets_several(targets);
		pid = k ? pid : each;
		traces += any;
	}
	if (where && (trace->path = process_in(where)))
		traces = 1;
	if (traces)
		status = command->read((uint32_t)pid, trace, traces, argc, argv);
	else if (!where && !failed)
		tool_error("ctl", "none of the %zu processes has a trace yet: nothing is switched on in them",
			targets->count);
	for (size_t k = 0; k < traces; k++)
		free(trace[k].path);
	free(trace);
	return status;
}

/* A process id, or 0. */
static pid_t number(const char *word)
{
	char *end;
	unsigned long pid = strtoul(word, &end, 10);

	return *word >= '0' && *word <= '9' && !*end && pid <= 0x7fffffff ? (pid_t)pid : 0;
}

/* ---- options before the processes ---- */

static bool take_tree(const struct options_given *given)
{
	pid_t pid = number(given->value);

	if (!pid)
		return options_wrong(given, given->row->allowed);
	ctl_targets_add_tree(given->context, pid);
	return true;
}

static bool take_name(const struct options_given *given)
{
	ctl_targets_add_name(given->context, given->value);
	return true;
}

static const struct options_row rows[] = {
	{ 0, "tree", "PID", "the process and all that descend from it",
		.take = take_tree, .allowed = "a process id" },
	{ 0, "name", "PATTERN", "processes of that name, or whose program has it", .take = take_name },
	/* Listed after the commands, whose options are in the same list. */
	{ .letter = 'h', .word = "help" },
	{ 0 },
};

static void print_commands(void)
{
	puts("\nCommands:");
	for (size_t i = 0; i < COMMANDS; i++) {
		int width = printf("  %s%s", commands[i].name, commands[i].arguments);

		if (width >= COMMAND_COLUMN) {
			putchar('\n');
			width = 0;
		}
		printf("%*s%s\n", COMMAND_COLUMN - width, "", commands[i].what);
	}
}

static const struct options_wording wording = {
	.no_value = "'%o' has no value: see xaudit ctl --help",
	.unknown = "unknown option '%o': see xaudit ctl --help",
	.wrong = "%o takes %a, not '%v'",
};

static const struct options_syntax syntax = {
	.command = "ctl",
	.rows = rows,
	.column = 18,
	.in_front = true,
	.wording = &wording,
	.head = "Usage: xaudit ctl [OPTION]... PID... COMMAND [ARGUMENT]...\n"
		"Looks into processes that run under libxaudit.so, and changes what is traced\n"
		"there.\n"
		"\n"
		"Options, before the command, in place of PID or beside:\n",
	.more = print_commands,
	.tail = "\n"
		"Options, behind the command:\n"
		"  --context=CONTEXT    of probe, function: values: regs, args, backtrace ...\n"
		"  --if=CONDITION       of probe, function: only where it holds\n"
		"  --every=N            of probe, function: one in so many\n"
		"  --then=ACTION        of probe: mark, snapshot, start or stop\n"
		"  --format=FORMAT      of status, probes: table (default) or json\n"
		"  -o, --output=DIR     of snapshot: the folder (default: xaudit.snapshot.PID)\n"
		"                       of when: the name of snapshots; %n is their number\n"
		"  --at-most=TIME       of when: do it once in that time at most\n"
		"  --watch              of when: stay and make the snapshots, as watch does\n"
		"  -b, --batch          of top: screens as text, one after another\n"
		"  -n, --count=COUNT    of top: end after so many screens\n"
		"  -d, --delay=SECONDS  of top: time between screens (" OPTIONS_NUMBER(TOP_DELAY) ")\n"
		"  --no-demangle        of top: names of C++ and Rust as files have them\n"
		"  --full-names         of top: names of C++ with all arguments of templates\n"
		"  -h, --help           this text\n",
};

/* ---- the command ---- */

/* Is it asked for the help of a command? That needs no process. Returns -1, or the exit status. */
static int help(const struct command *command, int argc, char **argv)
{
	if (argc != 2 || (strcmp(argv[1], "-h") && strcmp(argv[1], "--help")))
		return -1;
	if (command->read)
		return command->read(0, NULL, 0, argc, argv);
	options_help(&syntax);
	return TOOL_OK;
}

static int run(
	const struct command *command, struct ctl_targets *targets, const char *where, int argc, char **argv)
{
	if (command->look)
		return command->look(targets, where, argc, argv);
	if (command->read)
		return run_reader(command, targets, where, argc, argv);
	pid_t pid = where ? living(where) : 0;
	if (where && !pid)
		return TOOL_FAILED;
	if (pid)
		ctl_targets_add(targets, pid);
	return command->change(targets, argc, argv);
}

/* Says that no process of those trees and names was found. */
static int say_nobody(const struct ctl_targets *targets)
{
	for (size_t i = 0; i < targets->trees; i++)
		if (!ctl_state(targets->tree[i], 0))
			tool_error("ctl", "there is no process %d", (int)targets->tree[i]);
		else
			tool_error("ctl",
				"neither process %d nor what descends from it runs under libxaudit.so, as far as may "
				"be seen",
				(int)targets->tree[i]);
	for (size_t i = 0; i < targets->names; i++)
		tool_error("ctl", "no process of the name '%s' runs under libxaudit.so, as far as may be seen",
			targets->name[i]);
	return TOOL_FAILED;
}

static int obey(struct ctl_targets *targets, int argc, char **argv)
{
	const char *where = NULL;

	if (!argc || (argc < 2 && !targets->trees && !targets->names)) {
		tool_error("ctl", "%s: xaudit ctl PID COMMAND",
			argc ? "what is to be done there? usage" : "which process? usage");
		return TOOL_USAGE;
	}
	for (; argc && number(argv[0]); argc--, argv++)
		ctl_targets_add(targets, number(argv[0]));
	if (!targets->named && !targets->trees && !targets->names) {
		/* A folder whose name is a number is ./NUMBER. */
		if (!is_folder(argv[0]) && !xaudit_read_may_be_process(argv[0])) {
			tool_error("ctl", "'%s' is no process id, and no trace folder", argv[0]);
			return TOOL_USAGE;
		}
		where = argv[0];
		argc--;
		argv++;
	}
	if (!argc) {
		tool_error("ctl", "what is to be done there? usage: xaudit ctl PID COMMAND");
		return TOOL_USAGE;
	}
	const struct command *command = find_command(argv[0]);
	int helped = command ? help(command, argc, argv) : -1;
	if (helped >= 0)
		return helped;
	targets->change = command && command->change;
	ctl_targets_look(targets);
	if (!where && !targets->count && targets->left_alone)
		return TOOL_FAILED;
	if (!where && !targets->count)
		return say_nobody(targets);
	return command ? run(command, targets, where, argc, argv) : say_unknown(argv[0]);
}

int ctl_main(int argc, char **argv)
{
	struct ctl_targets targets = { 0 };
	int first = options_take(&syntax, &targets, argc, argv), status = first ? TOOL_USAGE : TOOL_OK;

	/* In one file with errors each answer stands whole, before those that follow it. */
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	if (first > 0)
		status = obey(&targets, argc - first, argv + first);
	ctl_targets_free(&targets);
	return status;
}
