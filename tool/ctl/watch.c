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
#include <sys/resource.h>
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
	struct ctl_process process; /* what it runs; without memory: that is still to be found */
	uint64_t executed;	    /* since when it is looked for: ns */
	bool settled;		    /* the family that it has its trace in is watched */
	bool left;		    /* it is watched no more, which was said */
};

static struct {
	struct record_folder folder; /* of the trace: path and fd */
	struct family *family;
	size_t families;
	struct target *target;
	size_t targets;
	uint64_t beat, beat_before; /* the last two heartbeats: ns; 0: none was written yet */
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

/* The heartbeat at that place of the head; 0: there is none that is young. */
static uint64_t beat_at(int meta, size_t at)
{
	uint64_t beat;

	if (!read_head(meta, at, &beat, sizeof(beat)))
		return 0;
	const uint64_t now = tool_now();
	return beat <= now && now - beat < ASK_BEAT_OLD ? beat : 0;
}

#define DRAIN_BEAT offsetof(struct trace_head, drain_beat)
#define COPY_BEAT  offsetof(struct trace_head, copy_beat)

/* The newer one of both. */
static uint64_t young_beat(int meta)
{
	const uint64_t drain = beat_at(meta, DRAIN_BEAT), copy = beat_at(meta, COPY_BEAT);

	return drain > copy ? drain : copy;
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

/*
 * The same of a family whose program was executed by one that we watch: it begins with a heartbeat of ours
 * (family_beat() of runtime/files/family.h), or with none.
 */
static bool is_others(int meta)
{
	const uint64_t copy = beat_at(meta, COPY_BEAT);

	return beat_at(meta, DRAIN_BEAT) || (copy > watch.beat_before && copy != watch.beat);
}

static void write_beat(const struct family *f, uint64_t now)
{
	/* If it can't be written, threads make their snapshots themselves. */
	whole_write(f->meta, &now, sizeof(now), COPY_BEAT);
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

static void add_target(const struct ctl_process *process)
{
	struct target target = { .pid = process->pid, .began = ctl_begin(process->pid), .executed = tool_now(),
		.settled = true };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)process->pid);
	target.process = *process;
	/* The mappings stay the caller's; so does its descriptor, with a lock that it may have. */
	target.process.mapping = NULL;
	target.process.mappings = 0;
	target.process.memory = open(path, O_RDONLY | O_CLOEXEC);
	watch.target = memory_grow(watch.target, watch.targets, sizeof(*watch.target));
	watch.target[watch.targets++] = target;
}

static bool is_folder(const char *path, size_t length)
{
	return !strncmp(watch.folder.path, path, length) && !watch.folder.path[length];
}

/* Is that folder the one of all that is watched? */
static bool set_folder(const char *path, size_t length)
{
	char *folder = memory_text(path, length);
	bool first = !watch.folder.path, same = first || is_folder(path, length);

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

static struct family *keep_family(const char *name, int meta)
{
	watch.family = memory_grow(watch.family, watch.families, sizeof(*watch.family));
	struct family *f = &watch.family[watch.families++];
	*f = (struct family){ .name = memory_text(name, strlen(name)), .meta = meta };
	return f;
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
	keep_family(name, meta);
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
		add_target(process);
	free(path);
	return added < 0 ? TOOL_FAILED : TOOL_OK;
}

/* A descriptor for each process, and one for each family. */
static void may_open_many(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	/* Of a process whose memory can't be opened that is said. */
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void beat_all(uint64_t now)
{
	for (size_t i = 0; i < watch.families; i++)
		write_beat(&watch.family[i], now);
	watch.beat_before = watch.beat;
	watch.beat = now;
}

int watch_begin(struct ctl_targets *targets)
{
	size_t opened;

	may_open_many();
	int status = ctl_targets_each(targets, begin_one, NULL, &opened);

	if (status != TOOL_OK || !watch.targets) {
		if (status == TOOL_OK && !opened)
			tool_error("ctl", "no process is left: all have ended meanwhile");
		watch_leave();
		return status == TOOL_OK && opened ? 0 : -1;
	}
	asked_begin(watch.folder.fd, watch.folder.path, "ctl");
	for (size_t i = 0; i < watch.families; i++)
		asked_skip(watch.family[i].name);
	beat_all(tool_now());
	return 1;
}

void watch_leave(void)
{
	for (size_t i = 0; i < watch.families; i++) {
		write_beat(&watch.family[i], 0);
		close(watch.family[i].meta);
		free(watch.family[i].name);
	}
	for (size_t i = 0; i < watch.targets; i++)
		ctl_close(&watch.target[i].process);
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
		if (!watch.target[i].left && is_alive(&watch.target[i]))
			return true;
	return false;
}

/* ---- programs that they execute ---- */

/* reason: is freed. */
static void leave(struct target *target, char *reason)
{
	tool_error("ctl", "process %d is watched no more: %s", (int)target->pid, reason);
	free(reason);
	ctl_close(&target->process);
	target->left = true;
}

/* The process has its trace in this folder of a family now. */
static void follow_to(struct target *target, const char *path)
{
	const char *name = tool_base(path);

	if (!is_folder(path, (size_t)(name - path) - 1)) {
		leave(target, memory_format("it runs another program now, whose trace is in %s: `xaudit ctl %d watch` "
					    "is for that", path, (int)target->pid));
		return;
	}
	target->settled = true;
	if (has_family(name))
		return;
	const int meta = open_meta(path);
	if (meta < 0 || is_others(meta)) {
		leave(target, memory_format("it runs another program now, whose trace in %s %s%s", path,
			meta < 0 ? "can't be opened: " : "is watched by xaudit record or another xaudit ctl",
			meta < 0 ? why(meta) : ""));
		if (meta >= 0)
			close(meta);
		return;
	}
	struct family *f = keep_family(name, meta);
	write_beat(f, watch.beat);
	/* Whether it has calls to look for. */
	record_asked_add(f->name);
}

/* Looks for the module in what the process runs now. Returns false: it is not there, or not yet. */
static bool find_again(struct target *target, uint64_t since)
{
	struct ctl_process *process = &target->process;
	const enum ctl_looked looked = ctl_look(process, target->pid, since);
	const int error = errno;

	/* Behind the look: it may have ended meanwhile, and another one have its number. */
	if (looked == CTL_YET || !is_alive(target)) {
		ctl_close(process);
		return false;
	}
	if (looked == CTL_NEVER)
		leave(target, memory_format("%s%s",
			error ? "what it runs now can't be looked into: "
			      : "it runs another program now, without libxaudit.so",
			error ? strerror(error) : ""));
	ctl_maps_free(process);
	return looked == CTL_FOUND;
}

/* Does the process run another program by now? Then that is watched. */
static void follow(struct target *target, uint64_t now)
{
	struct ctl_process *process = &target->process;
	uint32_t place;

	ctl_limit_begin();
	if (process->memory >= 0 && ctl_is_other(process)) {
		ctl_close(process);
		target->executed = now;
		target->settled = false;
	}
	if ((process->memory < 0 && !find_again(target, now - target->executed)) || target->settled)
		return;
	char *path = ctl_folder(process, &place), *off = path ? NULL : ctl_why(process);
	if (path)
		follow_to(target, path);
	if (off)
		leave(target, memory_format("nothing is recorded in it: %s", off));
	free(path);
	free(off);
}

/* Tells who copies if somebody has asked. */
static void look(struct family *f)
{
	uint32_t asked;

	if (read_head(f->meta, offsetof(struct trace_head, asked), &asked, sizeof(asked)) && asked != f->asked &&
		record_asked_add(f->name))
		f->asked = asked;
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
	catch_signals();
	record_speaker = "ctl";
	asked_tell(print_made);
	record_asked_start(&watch.folder);
	/* Whether they have calls to look for. */
	for (size_t i = 0; i < watch.families; i++)
		record_asked_add(watch.family[i].name);
	for (uint64_t now, looked = 0; !caught; nap(STEP)) {
		now = tool_now();
		if (now - looked >= BEAT) {
			beat_all(now);
			looked = now;
			if (!any_is_alive())
				break;
			for (size_t i = 0; i < watch.targets; i++)
				if (!watch.target[i].left)
					follow(&watch.target[i], now);
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
