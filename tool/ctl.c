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

#define MS	 1000000ull
#define PATIENCE (2000 * MS)

/* ---- a request ---- */

/* Code bytes of an answer: writes them, and tells the module. */
static int apply(struct ctl_world *world, struct control_request *request, struct ctl_written *written)
{
	struct control_request done = { .op = CONTROL_WRITTEN, .argument = request->op == CONTROL_DISABLE };
	struct control_patch *patch;
	size_t count = request->patch_count, size = count * sizeof(*patch);
	int r;

	if (count > SIZE_MAX / sizeof(*patch) / 2) {
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
	int (*run)(pid_t pid, int argc, char **argv);
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
	int (*run)(uint32_t pid, const char *folder, int argc, char **argv);
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

/* Of a living process. */
static char *process_folder_of(pid_t *pid)
{
	struct ctl_process process;
	char *folder;

	if (!ctl_open(&process, *pid))
		return NULL;
	*pid = process.pid;
	folder = ctl_folder(&process);
	if (!folder)
		tool_error("ctl", "process %d has no trace yet: nothing is switched on in it", (int)*pid);
	ctl_close(&process);
	return folder;
}

static int run_reader(size_t i, pid_t pid, const char *where, int argc, char **argv)
{
	char *folder;
	int status;

	/* Its help needs no process. */
	if (argc == 2 && !strcmp(argv[1], "--help"))
		return reader[i].run(0, "", argc, argv);
	folder = pid ? process_folder_of(&pid) : process_folder_in(where);
	if (!folder)
		return TOOL_FAILED;
	status = reader[i].run((uint32_t)pid, folder, argc, argv);
	free(folder);
	return status;
}

int ctl_main(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	unsigned long pid;
	char *end;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(ctl_help, stdout);
			return TOOL_OK;
		}
		tool_error("ctl", "unknown option '%s': see xaudit ctl --help", argv[optind - 1]);
		return TOOL_USAGE;
	}
	argc -= optind;
	argv += optind;
	optind = 0;
	if (argc < 2) {
		tool_error("ctl", "%s: xaudit ctl PID COMMAND", argc ? "what is to be done there? usage" : "which process? usage");
		return TOOL_USAGE;
	}
	pid = strtoul(argv[0], &end, 10);
	bool number = *argv[0] >= '0' && *argv[0] <= '9' && !*end, takes_folder = !strcmp(argv[1], "status");
	for (size_t i = 0; i < READERS; i++)
		takes_folder |= !strcmp(argv[1], reader[i].name);
	/* A folder of that name is ./NUMBER. */
	if (number || !takes_folder || !is_folder(argv[0])) {
		if (!number || !pid || pid > 0x7fffffff) {
			tool_error("ctl", "'%s' is no process id%s", argv[0], takes_folder ? ", and no trace folder" : "");
			return TOOL_USAGE;
		}
	} else {
		pid = 0;
	}
	if (!strcmp(argv[1], "status"))
		return ctl_status((pid_t)pid, argv[0], argc - 1, argv + 1);
	for (size_t i = 0; i < READERS; i++)
		if (!strcmp(argv[1], reader[i].name))
			return run_reader(i, (pid_t)pid, argv[0], argc - 1, argv + 1);
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		if (!strcmp(argv[1], subcommand[i].name))
			return subcommand[i].run((pid_t)pid, argc - 1, argv + 1);
	return say_unknown(argv[1]);
}
