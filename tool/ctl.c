/* SPDX-License-Identifier: MIT */
/* xaudit ctl: the command line, and requests as a whole. */
#define _GNU_SOURCE
#include "tool/ctl.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/ctl_folder.h"
#include "tool/ctl_help.h"
#include "tool/memory.h"
#include "tool/tool.h"
#include "tool/trace_folder.h"
#include "tool/trace_state.h"

#define MS	 1000000ull
#define PATIENCE (2000 * MS)
#define MOST_PATCHES (1u << 22)

/* ---- a request ---- */

/* Code bytes of an answer: writes them, and tells the module. */
static int apply(struct ctl_world *world, struct control_request *request, struct ctl_written *written)
{
	struct control_request done = { .op = CONTROL_WRITTEN, .argument = request->op == CONTROL_DISABLE };
	struct control_patch *patch;
	size_t count = request->patch_count, size = count * sizeof(*patch);
	int r;

	if (request->patch_count > MOST_PATCHES) {
		tool_error("ctl", "process %d: libxaudit.so gives a damaged answer; please report this", (int)world->process->pid);
		return -1;
	}
	patch = memory_zeroed(count ? count : 1, sizeof(*patch));
	if (!ctl_read(world->process, request->patches, patch, size) && count) {
		tool_error("ctl", "process %d: libxaudit.so gives a damaged answer; please report this", (int)world->process->pid);
		r = -1;
	} else {
		r = ctl_patch(world, patch, count, written);
	}
	free(patch);
	if (r)
		return -1;
	r = ctl_call(world, &done);
	/* Who can't be asked now need not be: the next request does the rest. */
	request->pages = r == 0 && done.error == 0 ? done.pages : 0;
	return r < 0 && r != -EAGAIN ? -1 : 0;
}

/* One attempt: as ctl_call(). */
static int attempt(struct ctl_world *world, struct control_request *request, struct ctl_written *written)
{
	int r = ctl_stop(world);

	if (r)
		return r;
	ctl_limit_begin();
	r = ctl_call(world, request);
	if (r == 0 && request->error == -EAGAIN)
		r = -EAGAIN;
	if (r == 0 && request->error == 0 && written)
		r = apply(world, request, written);
	ctl_go(world);
	return r;
}

static bool say_error(const struct ctl_process *process, int error)
{
	int pid = (int)process->pid;

	switch (error) {
	case 0:
		return true;
	case -ECANCELED:
		tool_error("ctl", "process %d: xaudit switched itself off there; the reason was said on its standard error", pid);
		break;
	case -ENOMEM:
		tool_error("ctl", "process %d has no memory for this", pid);
		break;
	default:
		tool_error("ctl", "process %d: libxaudit.so can't do this: %s", pid, strerror(-error));
	}
	return false;
}

static void say_in_the_way(const struct ctl_world *world, pid_t stuck)
{
	int pid = (int)world->process->pid;
	char state = stuck ? ctl_state(world->process->pid, stuck) : 0;

	if (stuck)
		tool_error("ctl", "process %d: thread %d does not stop (%s); nothing was changed, try again", pid, (int)stuck,
			state == 'D' ? "it waits for a device, or for the child of its vfork" : "it gets no time to run");
	else
		tool_error("ctl", "process %d is busy with its libraries, or with another xaudit ctl; nothing was changed, try again", pid);
}

bool ctl_request(struct ctl_process *process, struct control_request *request, struct ctl_written *written, uint64_t *pause)
{
	struct ctl_world world = { .process = process };
	uint64_t begin = ctl_now();
	sigset_t child;
	pid_t stuck = 0;
	int r;

	/* For ctl_wait(). */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	while ((r = attempt(&world, request, written)) == -EAGAIN && ctl_now() - begin < PATIENCE) {
		stuck = world.stuck;
		/* The program shall get on meanwhile. */
		ctl_wait(stuck ? 20 * MS : MS);
	}
	*pause = world.pause;
	if (r == -EAGAIN)
		say_in_the_way(&world, stuck);
	ctl_world_free(&world);
	return r == 0 && say_error(process, request->error);
}

/* ---- the command line ---- */

static const struct {
	const char *name;
	int (*run)(struct ctl_targets *targets, int argc, char **argv);
} subcommand[] = {
	{ "enable", ctl_rules },
	{ "disable", ctl_rules },
	{ "start", ctl_record },
	{ "stop", ctl_record },
	{ "mode", ctl_record },
};

#define SUBCOMMANDS (sizeof(subcommand) / sizeof(*subcommand))

/* Those that only read the trace (ctl_folder.h). */
static const struct {
	const char *name;
	int (*run)(uint32_t pid, char *const *folder, size_t folders, int argc, char **argv);
} reader[] = {
	{ "snapshot", ctl_snapshot },
	{ "top", ctl_top },
};

#define READERS (sizeof(reader) / sizeof(*reader))

static int say_unknown(const char *name)
{
	char allowed[200] = "status";

	for (size_t i = 0; i < SUBCOMMANDS; i++) {
		size_t n = strlen(allowed);
		snprintf(allowed + n, sizeof(allowed) - n, ", %s", subcommand[i].name);
	}
	for (size_t i = 0; i < READERS; i++) {
		size_t n = strlen(allowed);
		snprintf(allowed + n, sizeof(allowed) - n, ", %s", reader[i].name);
	}
	tool_error("ctl", "unknown command '%s'; allowed: %s", name, allowed);
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

/* The process folder that is meant: the folder itself, or the only one in it. NULL after saying why there is none. */
static char *process_folder_in(const char *path)
{
	char *found = NULL;
	size_t count = 0;
	struct dirent *entry;

	if (has_meta(path)) {
		found = memory_text(path, strlen(path));
		for (size_t n = strlen(found); n > 1 && found[n - 1] == '/'; n--)
			found[n - 1] = '\0';
		return found;
	}
	DIR *dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		char *each = entry->d_name[0] == 'p' ? memory_format("%s/%s", path, entry->d_name) : NULL;
		if (each && has_meta(each)) {
			free(found);
			found = each;
			count++;
		} else {
			free(each);
		}
	}
	if (dir)
		closedir(dir);
	if (count == 1)
		return found;
	free(found);
	if (count)
		tool_error("ctl", "%s holds traces of %zu processes: name one of its folders", path, count);
	else
		tool_error("ctl", "%s is no trace folder", path);
	return NULL;
}

/* Of a living process. NULL: it has none; said so, unless it is one of several. */
static char *process_folder_of(const struct ctl_targets *targets, pid_t *pid)
{
	struct ctl_process process;
	char *folder;

	if (!ctl_open(&process, *pid))
		return NULL;
	*pid = process.pid;
	folder = ctl_folder(&process);
	if (!folder && !ctl_targets_several(targets))
		tool_error("ctl", "process %d has no trace yet: nothing is switched on in it", (int)*pid);
	ctl_close(&process);
	return folder;
}

/* The process that writes to the folder, for commands that need it alive. 0 after saying why there is none. */
static pid_t living(const char *path)
{
	char *name = process_folder_in(path);
	struct folder *folder = name ? folder_open_process("ctl", name, 0) : NULL;
	pid_t pid = 0;

	if (folder) {
		char *other = NULL;
		struct ctl_process process;
		struct stat a, b;

		pid = (pid_t)folder->process[0]->head.pid;
		process_load(folder->process[0]);
		const char *end = process_state_end(process_state(folder->process[0]));
		if (!end && !ctl_open(&process, pid)) {
			pid = 0;
		} else if (!end) {
			other = ctl_folder(&process);
			ctl_close(&process);
			/* A copy of a trace, or a process that has got the number meanwhile. */
			if (!other || stat(other, &a) || stat(name, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
				end = "writes to another folder now";
		}
		if (end) {
			tool_error("ctl",
				"process %d, whose trace is in %s, %s: status, snapshot and top show what it has left",
				(int)pid, name, end);
			pid = 0;
		}
		free(other);
		folder_close(folder);
	}
	free(name);
	return pid;
}

/* pid: the process that is read, if there is one. */
static int run_reader(size_t i, struct ctl_targets *targets, const char *where, int argc, char **argv)
{
	char **folder = NULL;
	size_t folders = 0, failed = 0;
	pid_t pid = 0;
	int status = TOOL_FAILED;

	/* Its help needs no process. */
	if (argc == 2 && !strcmp(argv[1], "--help"))
		return reader[i].run(0, NULL, 0, argc, argv);
	if (reader[i].run == ctl_top && targets->count > 1) {
		tool_error("ctl", "top shows one process: name one of the %zu", targets->count);
		return TOOL_USAGE;
	}
	folder = memory_zeroed(targets->count + 1, sizeof(*folder));
	for (size_t k = 0; k < targets->count; k++) {
		pid_t each = targets->pid[k];
		folder[folders] = process_folder_of(targets, &each);
		failed += !folder[folders] && !ctl_targets_several(targets);
		pid = folder[folders] && !folders ? each : pid;
		folders += folder[folders] != NULL;
	}
	if (where && (folder[0] = process_folder_in(where)))
		folders = 1;
	if (folders)
		status = reader[i].run((uint32_t)pid, folder, folders, argc, argv);
	else if (!where && !failed)
		tool_error("ctl", "none of the %zu processes has a trace yet: nothing is switched on in them",
			targets->count);
	for (size_t k = 0; k < folders; k++)
		free(folder[k]);
	free(folder);
	return status;
}

/* A process id, or 0. */
static pid_t number(const char *word)
{
	char *end;
	unsigned long pid = strtoul(word, &end, 10);

	return *word >= '0' && *word <= '9' && !*end && pid <= 0x7fffffff ? (pid_t)pid : 0;
}

static int run(struct ctl_targets *targets, const char *where, int argc, char **argv)
{
	if (!strcmp(argv[0], "status"))
		return ctl_status(targets, where, argc, argv);
	for (size_t i = 0; i < READERS; i++)
		if (!strcmp(argv[0], reader[i].name))
			return run_reader(i, targets, where, argc, argv);
	for (size_t i = 0; i < SUBCOMMANDS; i++) {
		if (strcmp(argv[0], subcommand[i].name))
			continue;
		pid_t pid = where ? living(where) : 0;
		if (where && !pid)
			return TOOL_FAILED;
		if (pid)
			ctl_targets_add(targets, pid);
		return subcommand[i].run(targets, argc, argv);
	}
	return say_unknown(argv[0]);
}

/* Options before the processes. Returns 0, or why to end: status + 1. */
static int take_options(struct ctl_targets *targets, int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "tree", required_argument, NULL, 't' },
		{ "name", required_argument, NULL, 'n' },
		{ 0 },
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
		switch (option) {
		case 'h':
			fputs(ctl_help, stdout);
			return TOOL_OK + 1;
		case 't':
			if (!number(optarg)) {
				tool_error("ctl", "--tree takes a process id, not '%s'", optarg);
				return TOOL_USAGE + 1;
			}
			ctl_targets_add_tree(targets, number(optarg));
			break;
		case 'n':
			ctl_targets_add_name(targets, optarg);
			break;
		default:
			tool_error("ctl",
				option == ':' ? "'%s' has no value: see xaudit ctl --help"
					      : "unknown option '%s': see xaudit ctl --help",
				argv[optind - 1]);
			return TOOL_USAGE + 1;
		}
	}
	return 0;
}

/* Nobody of those trees and names. */
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
		tool_error("ctl", "%s: xaudit ctl PID COMMAND", argc ? "what is to be done there? usage" : "which process? usage");
		return TOOL_USAGE;
	}
	for (; argc && number(argv[0]); argc--, argv++)
		ctl_targets_add(targets, number(argv[0]));
	if (!targets->named && !targets->trees && !targets->names) {
		/* A folder whose name is a number is ./NUMBER. */
		if (!is_folder(argv[0])) {
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
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		targets->change |= !strcmp(argv[0], subcommand[i].name);
	ctl_targets_look(targets);
	if (!where && !targets->count && targets->left_alone)
		return TOOL_FAILED;
	if (!where && !targets->count)
		return say_nobody(targets);
	return run(targets, where, argc, argv);
}

int ctl_main(int argc, char **argv)
{
	struct ctl_targets targets = { 0 };
	int status = take_options(&targets, argc, argv);

	if (status) {
		status--;
	} else {
		argc -= optind;
		argv += optind;
		optind = 0;
		status = obey(&targets, argc, argv);
	}
	ctl_targets_free(&targets);
	return status;
}
