/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/trace.h"
#include "runtime/files/output.h"
#include "runtime/snapshot/ask.h"
#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/base/tool.h"
#include "tool/base/whole.h"
#include "tool/ctl/find_module.h"
#include "tool/ctl/process.h"
#include "tool/ctl/targets.h"
#include "tool/record/asked/asked.h"
#include "tool/record/asked_thread.h"
#include "tool/record/folder.h"
#include "tool/record/run.h"

#define MS	 1000000ull
#define STEP	 (10 * MS)   /* between two looks at whether somebody has asked */
#define BEAT	 (100 * MS)  /* between two heartbeats */

/* A family of which processes are watched. */
struct family {
	char *name; /* of its folder, in that of the trace */
	int meta;
	uint32_t asked; /* trace_head.asked, as it was seen last */
};

struct target {
	pid_t pid;
	uint64_t began; /* another process of that number began at another time */
};

static struct {
	struct record_folder folder; /* of the trace: path and fd */
	struct family *family;
	size_t families;
	struct target *target;
	size_t targets;
} watch = { .folder = { .fd = -1 } };

static volatile sig_atomic_t caught;

static void on_signal(int signal)
{
	caught = signal;
}

/* ---- heartbeats ---- */

static bool read_head(int meta, size_t at, void *to, size_t size)
{
	return whole_read(meta, to, size, at);
}

/* The newer one of both heartbeats; 0: there is none that is young. */
static uint64_t young_beat(int meta)
{
	uint64_t drain = 0, copy = 0;

	if (!read_head(meta, offsetof(struct trace_head, drain_beat), &drain, sizeof(drain)) ||
		!read_head(meta, offsetof(struct trace_head, copy_beat), &copy, sizeof(copy)))
		return 0;
	const uint64_t beat = drain > copy ? drain : copy, now = tool_now();
	return beat <= now && now - beat < ASK_BEAT_OLD ? beat : 0;
}

static void nap(uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
}

/* Is somebody at it? One that was killed has left a heartbeat that does not change any more. */
static bool is_watched(int meta)
{
	const uint64_t first = young_beat(meta);
	uint64_t beat = first;

	while (beat && beat == first) {
		nap(STEP);
		beat = young_beat(meta);
	}
	return beat;
}

static void write_beat(const struct family *f, uint64_t now)
{
	/* If it can't be written, threads make their snapshots themselves. */
	whole_write(f->meta, &now, sizeof(now), offsetof(struct trace_head, copy_beat));
}

/* ---- what is watched ---- */

/* Opens meta in the family's folder, as one that another user might have put there. Returns as system calls. */
static int open_meta(const char *path)
{
	long folder = output_open(AT_FDCWD, path, NULL);
	long meta = folder < 0 ? folder : output_open_file((int)folder, "meta", O_RDWR | O_NONBLOCK);

	if (folder >= 0)
		close((int)folder);
	return (int)meta;
}

static const char *why(int error)
{
	return error == OUTPUT_FOREIGN ? "it is another user's, so run this as that user" : strerror(-error);
}

static void add_target(pid_t pid)
{
	watch.target = memory_grow(watch.target, watch.targets, sizeof(*watch.target));
	watch.target[watch.targets++] = (struct target){ pid, ctl_begin(pid) };
}

/* Is that folder the one of all that is watched? */
static bool set_folder(const char *path, size_t length)
{
	char *folder = memory_text(path, length);
	bool first = !watch.folder.path, same = first || !strcmp(watch.folder.path, folder);

	if (first) {
		watch.folder.path = memory_text(path, length);
		watch.folder.fd = (int)output_open(AT_FDCWD, folder, NULL);
	}
	if (!same)
		tool_error("ctl", "the processes have traces in %s and in %s: watch those of one folder",
			watch.folder.path, folder);
	else if (watch.folder.fd < 0)
		tool_error("ctl", "%s can't be opened: %s", folder, why(watch.folder.fd));
	free(folder);
	return same && watch.folder.fd >= 0;
}

static bool has_family(const char *name)
{
	for (size_t i = 0; i < watch.families; i++)
		if (!strcmp(watch.family[i].name, name))
			return true;
	return false;
}

/* The family in the folder of this path is watched from now on; returns as watch_begin(). */
static int add_family(const char *path, pid_t pid)
{
	const char *name = tool_base(path);

	if (!set_folder(path, (size_t)(name - path) - 1))
		return -1;
	if (has_family(name))
		return 1;
	int meta = open_meta(path);
	if (meta < 0) {
		tool_error("ctl", "process %d can't be watched: its trace in %s can't be opened: %s", (int)pid, path,
			why(meta));
		return -1;
	}
	if (is_watched(meta)) {
		printf("process %d is watched already, by xaudit record or another xaudit ctl\n", (int)pid);
		close(meta);
		return 0;
	}
	watch.family = memory_grow(watch.family, watch.families, sizeof(*watch.family));
	watch.family[watch.families++] = (struct family){ .name = memory_text(name, strlen(name)), .meta = meta };
	return 1;
}

static int begin_one(void *unused, const struct ctl_targets *targets, struct ctl_process *process)
{
	uint32_t place;
	char *path = ctl_folder(process, &place);
	int added = path ? add_family(path, process->pid) : -1;

	(void)unused;
	(void)targets;
	if (!path)
		tool_error("ctl",
			"process %d has no trace yet, as nothing that is traced was called in it: watch it later",
			(int)process->pid);
	if (added > 0)
		add_target(process->pid);
	free(path);
	return added < 0 ? TOOL_FAILED : TOOL_OK;
}

int watch_begin(struct ctl_targets *targets)
{
	size_t opened;
	int status = ctl_targets_each(targets, begin_one, NULL, &opened);

	if (status != TOOL_OK || !watch.targets) {
		if (status == TOOL_OK && !opened)
			tool_error("ctl", "no process is left: all have ended meanwhile");
		watch_leave();
		return status == TOOL_OK && opened ? 0 : -1;
	}
	asked_begin(watch.folder.fd, watch.folder.path, "ctl");
	for (size_t i = 0; i < watch.families; i++) {
		asked_skip(watch.family[i].name);
		write_beat(&watch.family[i], tool_now());
	}
	return 1;
}

void watch_leave(void)
{
	for (size_t i = 0; i < watch.families; i++) {
		write_beat(&watch.family[i], 0);
		close(watch.family[i].meta);
		free(watch.family[i].name);
	}
	free(watch.family);
	free(watch.target);
	free(watch.folder.path);
	if (watch.folder.fd >= 0)
		close(watch.folder.fd);
	memset(&watch, 0, sizeof(watch));
	watch.folder.fd = -1;
}

bool watch_is_beside(const struct ctl_process *process)
{
	uint32_t place;
	char *path = ctl_folder(process, &place);
	int meta = path ? open_meta(path) : -1;
	bool is = !path || (meta >= 0 && young_beat(meta));

	if (meta >= 0)
		close(meta);
	free(path);
	return is;
}

/* ---- watching ---- */

static bool is_alive(const struct target *target)
{
	const char state = ctl_state(target->pid, 0);

	return state && state != 'Z' && state != 'X' && ctl_begin(target->pid) == target->began;
}

static bool any_is_alive(void)
{
	for (size_t i = 0; i < watch.targets; i++)
		if (is_alive(&watch.target[i]))
			return true;
	return false;
}

/* Tells who copies if somebody has asked. */
static void look(struct family *f)
{
	uint32_t asked;

	if (read_head(f->meta, offsetof(struct trace_head, asked), &asked, sizeof(asked)) && asked != f->asked &&
		record_asked_add(f->name))
		f->asked = asked;
}

static void beat_all(uint64_t now)
{
	for (size_t i = 0; i < watch.families; i++)
		write_beat(&watch.family[i], now);
}

/* By the thread that copies, while the other one prints nothing. */
static void print_made(const char *path)
{
	puts(path);
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal }, before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		/* nohup, and shells in the background, have some ignored. */
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

int watch_run(void)
{
	uint64_t beat = 0;

	catch_signals();
	record_speaker = "ctl";
	asked_tell(print_made);
	record_asked_start(&watch.folder);
	/* Whether they have calls to look for. */
	for (size_t i = 0; i < watch.families; i++)
		record_asked_add(watch.family[i].name);
	for (uint64_t now; !caught; nap(STEP)) {
		now = tool_now();
		if (now - beat >= BEAT) {
			beat_all(now);
			beat = now;
			if (!any_is_alive())
				break;
		}
		for (size_t i = 0; i < watch.families; i++)
			look(&watch.family[i]);
	}
	/* From now on threads make theirs themselves. */
	beat_all(0);
	for (size_t i = 0; i < watch.families; i++)
		look(&watch.family[i]);
	record_asked_stop();
	watch_leave();
	return TOOL_OK;
}

int ctl_watch(struct ctl_targets *targets, int argc, char **argv)
{
	if (argc > 1) {
		tool_error("ctl", "watch takes no '%s': xaudit ctl PID watch", argv[1]);
		return TOOL_USAGE;
	}
	int begun = watch_begin(targets);
	return begun > 0 ? watch_run() : begun ? TOOL_FAILED : TOOL_OK;
}
