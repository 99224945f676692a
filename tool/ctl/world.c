/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/world.h"

#include <dirent.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/base/tool.h"
#include "tool/ctl/process.h"
#include "tool/ctl/timeouts.h"
#include "x86_64/remote.h"

#define MS 1000000ull

/* How long we wait for one stop: while all but one are stopped, the program stands still. */
#define PATIENCE     (200 * MS)
#define FEW_NEW	     4096	/* processes and threads */
#define PATIENCE_DEAF (20 * MS) /* when all that are missing sleep deaf to signals */

void ctl_wait(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
	sigset_t set;

	/* SIGCHLD is blocked (ctl_request): one that came since we looked is still there. */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigtimedwait(&set, NULL, &t);
}

static struct ctl_thread *find(struct ctl_world *world, pid_t tid)
{
	for (size_t i = 0; i < world->threads; i++)
		if (world->thread[i].tid == tid)
			return &world->thread[i];
	return NULL;
}

static void drop(struct ctl_world *world, struct ctl_thread *thread)
{
	*thread = world->thread[--world->threads];
}

/*
 * System calls that end with EINTR when the kernel stops the thread even though no handler runs (signal(7)): these are
 * made to wait again, as calls that restart by themselves, for the time that was left (timeouts.h). If a handler will
 * run, they end as usual. No data was transferred when they end so.
 */
static bool ends_needlessly(const struct user_regs_struct *r)
{
	static const short calls[] = { __NR_epoll_wait, __NR_epoll_pwait, __NR_epoll_pwait2, __NR_rt_sigtimedwait,
		__NR_semop, __NR_semtimedop, __NR_io_getevents, __NR_io_pgetevents, __NR_read, __NR_readv,
		__NR_write, __NR_writev, __NR_recvfrom, __NR_recvmsg, __NR_recvmmsg, __NR_sendto, __NR_sendmsg,
		__NR_accept, __NR_accept4 };

	if (remote_result(r) != -EINTR)
		return false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (remote_call(r) == calls[i])
			return true;
	return false;
}

/* Something happened to a thread. */
static void note(struct ctl_world *world, struct ctl_thread *thread, int status)
{
	if (!WIFSTOPPED(status)) {
		drop(world, thread);
		return;
	}
	if (status >> 16 == PTRACE_EVENT_STOP) {
		thread->stopped = ptrace(PTRACE_GETREGS, thread->tid, 0, &thread->regs) == 0;
		if (thread->stopped && ends_needlessly(&thread->regs)) {
			remote_set_result(&thread->regs, -RESTART_NO_HAND);
			timeouts_take(world, thread);
			ptrace(PTRACE_SETREGS, thread->tid, 0, &thread->regs);
		}
		return;
	}
	/*
	 * A signal that was on its way when we came: it is delivered now, and the thread stops after that, before the
	 * handler's first instruction.
	 */
	ptrace(PTRACE_CONT, thread->tid, 0, (long)WSTOPSIG(status));
}

static void collect(struct ctl_world *world)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		struct ctl_thread *thread = find(world, tid);
		if (thread)
			note(world, thread, status);
	}
}

/*
 * Seizes the threads of a process that the kernel lists and we don't know yet. Returns how many, or -1 after saying why
 * not.
 */
static int seize_threads(struct ctl_world *world, pid_t pid)
{
	char path[64];
	struct dirent *entry;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	if (!folder && pid != world->process->pid)
		return 0;
	if (!folder) {
		ctl_explain(pid, 0, ESRCH);
		return -1;
	}
	while (found >= 0 && (entry = readdir(folder))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct ctl_thread *known = tid > 0 ? find(world, tid) : NULL;
		if (known)
			known->listed = true;
		if (tid <= 0 || known)
			continue;
		if (ptrace(PTRACE_SEIZE, tid, 0, (long)PTRACE_O_TRACESYSGOOD)) {
			int error = errno;
			char state = ctl_state(pid, tid);
			/* It has just ended, or is a first thread that ended before the others. */
			if (error == ESRCH || !state ||
				((state == 'Z' || state == 'X') && (tid != pid || world->threads)))
				continue;
			if (state == 'Z' && ctl_status_number(pid, 0, "Threads") > 1)
				continue;
			ctl_explain(pid, tid, error);
			found = -1;
			break;
		}
		if (world->threads == world->room) {
			world->room = world->room ? 2 * world->room : 64;
			world->thread = memory_resize(world->thread, world->room, sizeof(*world->thread));
		}
		world->thread[world->threads++] = (struct ctl_thread){ .tid = tid, .pid = pid, .listed = true };
		found++;
	}
	closedir(folder);
	return found;
}

/* The number that a process or thread got last, of all; 0: not known. */
static pid_t newest(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	int number = 0;

	if (!file || fscanf(file, "%*s %*s %*s %*s %d", &number) != 1)
		number = 0;
	if (file)
		fclose(file);
	return number;
}

/*
 * Seizes the threads of a process if it is another one that has the same memory. Where ours is ending it has none, as
 * those of the kernel.
 */
static int seize_sharer(struct ctl_world *world, pid_t pid)
{
	pid_t own = world->process->pid;

	if (pid <= 0 || pid == own || syscall(SYS_kcmp, own, pid, KCMP_VM, 0, 0) || ctl_is_kernels(pid))
		return 0;
	return seize_threads(world, pid);
}

/*
 * Processes that share the memory (clone(CLONE_VM)) run its code, too. The kernel has no list of them, so all are
 * looked at; again those alone that are new, since the program may stand still by then.
 */
static int seize_sharers(struct ctl_world *world)
{
	pid_t last = newest();
	int found = 0, more;

	if (last && world->newest && last >= world->newest && last - world->newest < FEW_NEW) {
		while (found >= 0 && world->newest < last) {
			more = seize_sharer(world, ++world->newest);
			found = more < 0 ? -1 : found + more;
		}
		return found;
	}
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	world->newest = last;
	while (folder && found >= 0 && (entry = readdir(folder))) {
		more = seize_sharer(world, (pid_t)strtol(entry->d_name, NULL, 10));
		found = more < 0 ? -1 : found + more;
	}
	if (folder)
		closedir(folder);
	return found;
}

/* Seizes those that are new, of all processes that have the memory. As seize_threads(). */
static int seize_new(struct ctl_world *world)
{
	for (size_t i = 0; i < world->threads; i++)
		world->thread[i].listed = false;
	int found = seize_threads(world, world->process->pid), more = found < 0 ? -1 : seize_sharers(world);
	/* Those that were found before, and may have new threads. */
	for (size_t i = 0; more >= 0 && i < world->threads; i++) {
		pid_t pid = world->thread[i].pid;
		if (pid == world->process->pid || world->thread[i].listed)
			continue;
		int again = seize_threads(world, pid);
		more = again < 0 ? -1 : more + again;
	}
	if (more < 0)
		return -1;
	found += more;
	/* A thread that called execve() goes on as the first thread, without notice. */
	for (size_t i = world->threads; i-- > 0;)
		if (!world->thread[i].listed && !world->thread[i].stopped)
			drop(world, &world->thread[i]);
	return found;
}

/* Right before they are stopped. */
static void look_at_waits(struct ctl_world *world)
{
	for (size_t i = 0; i < world->threads; i++) {
		if (world->thread[i].looked)
			continue;
		timeouts_look(&world->thread[i]);
		world->thread[i].looked = true;
	}
}

static struct ctl_thread *running(struct ctl_world *world)
{
	for (size_t i = 0; i < world->threads; i++)
		if (!world->thread[i].stopped)
			return &world->thread[i];
	return NULL;
}

/* Does every thread that runs sleep so that no signal wakes it, as one that waits for the child of its vfork? */
static bool all_deaf(const struct ctl_world *world)
{
	for (size_t i = 0; i < world->threads; i++)
		if (!world->thread[i].stopped && ctl_state(world->thread[i].pid, world->thread[i].tid) != 'D')
			return false;
	return true;
}

/* Waits for the threads that were asked to stop. */
static bool await(struct ctl_world *world)
{
	uint64_t begin = tool_now(), passed = 0;

	for (;;) {
		struct ctl_thread *thread;
		collect(world);
		thread = running(world);
		if (!thread)
			return true;
		passed = tool_now() - begin;
		if (passed > PATIENCE || (passed > PATIENCE_DEAF && all_deaf(world))) {
			world->stuck = thread->tid;
			return false;
		}
		ctl_wait(MS);
	}
}

/* Is our code at work in a thread, for a tool that was killed? */
static bool is_busy(const struct ctl_world *world)
{
	const struct control_block *b = &world->process->block;
	uint64_t entry = (uint64_t)(uintptr_t)b->entry, end = (uint64_t)(uintptr_t)b->entry_end;
	uint64_t top = (uint64_t)(uintptr_t)b->stack_top, bottom = top - b->stack_size;

	for (size_t i = 0; i < world->threads; i++) {
		const struct user_regs_struct *r = &world->thread[i].regs;
		uint64_t pc = remote_pc(r), sp = remote_sp(r);
		if ((pc >= entry && pc < end) || (sp >= bottom && sp <= top))
			return true;
	}
	return false;
}

int ctl_stop(struct ctl_world *world)
{
	struct ctl_process *process = world->process;
	uint64_t magic = 0;
	int found;

	world->stuck = world->newest = 0;
	world->began = 0;
	/* Until a whole round finds no new thread: a thread may make others until it stops. */
	while ((found = seize_new(world)) > 0 || running(world)) {
		if (found < 0)
			break;
		look_at_waits(world);
		if (!world->began)
			world->began = tool_now();
		for (size_t i = 0; i < world->threads; i++)
			if (!world->thread[i].stopped)
				ptrace(PTRACE_INTERRUPT, world->thread[i].tid, 0, 0);
		if (!await(world)) {
			ctl_go(world);
			return -EAGAIN;
		}
	}
	if (found < 0) {
		ctl_go(world);
		return -1;
	}
	/* It may have executed another program meanwhile. */
	if (!world->threads || !ctl_read(process, process->block_at, &magic, sizeof(magic)) || magic != CONTROL_MAGIC) {
		ctl_go(world);
		if (!world->threads || !ctl_state(process->pid, 0))
			ctl_say_ended(process->pid);
		else
			tool_error("ctl", "process %d executed another program meanwhile", (int)process->pid);
		return -1;
	}
	if (is_busy(world)) {
		ctl_go(world);
		return -EAGAIN;
	}
	return 0;
}

void ctl_go(struct ctl_world *world)
{
	uint64_t pause;
	int again = world->pending_stop;

	for (size_t i = world->threads; i-- > 0;) {
		if (!world->thread[i].stopped)
			continue;
		ptrace(PTRACE_DETACH, world->thread[i].tid, 0, 0);
		drop(world, &world->thread[i]);
	}
	pause = world->began ? tool_now() - world->began : 0;
	if (pause > world->pause)
		world->pause = pause;
	world->pending_stop = 0;
	if (again)
		kill(world->process->pid, again);
}

void ctl_world_free(struct ctl_world *world)
{
	free(world->thread);
	world->thread = NULL;
	world->threads = world->room = 0;
}
