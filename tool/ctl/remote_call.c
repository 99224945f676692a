/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/remote_call.h"

#include <errno.h>
#include <linux/seccomp.h> /* SECCOMP_MODE_STRICT */
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/base/now.h"
#include "tool/base/tool.h"
#include "tool/ctl/process.h"
#include "tool/ctl/world.h"
#include "x86_64/remote.h"

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#define PTRACE_SETSIGMASK 0x420b
#endif
#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

#ifndef PTRACE_O_SUSPEND_SECCOMP
#define PTRACE_O_SUSPEND_SECCOMP (1 << 21)
#endif

#define ROOM	  (16 << 10) /* below the stack pointer, where we like it */
#define ROOM_LEAST 2048
#define PATIENCE  2000000000ull
#define LONGEST	  6000000000ull /* all of it: a thread that is not ours may make system calls for ever */

/* ---- which thread ---- */

/* Is it in a restartable sequence? The kernel would take our change of the program counter for its end. */
static bool in_rseq(const struct ctl_world *world, const struct ctl_thread *thread)
{
	struct {
		uint64_t address;
		uint32_t size, signature, flags, pad;
	} rseq;
	uint64_t section = 0;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread->tid, sizeof(rseq), &rseq) != sizeof(rseq) || !rseq.address)
		return false;
	return ctl_read(world->process, rseq.address + 8, &section, sizeof(section)) && section;
}

/* System calls with a mask of signals of their own. */
static bool has_own_mask(const struct user_regs_struct *r)
{
	switch (remote_call(r)) {
	case __NR_rt_sigsuspend:
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
	case __NR_io_pgetevents:
	case __NR_io_uring_enter:
		return true;
	default:
		return false;
	}
}

#define FIT 7

/* How well suited a thread is; 0: not at all, FIT: no other need be looked at. */
static int fitness(const struct ctl_world *world, const struct ctl_thread *thread)
{
	const struct user_regs_struct *r = &thread->regs;
	const struct ctl_mapping *stack = ctl_mapping(world->process, remote_sp(r) - REMOTE_RED_ZONE - 1);

	if (!remote_is_native(r) || !stack || !stack->writable || !stack->readable)
		return 0;
	uint64_t room = remote_sp(r) - stack->start;
	/* (No system call is made in a restartable sequence.) */
	if (room < ROOM_LEAST || (remote_call(r) < 0 && in_rseq(world, thread)))
		return 0;
	/* The stack of a coroutine may lie in a larger mapping; its room can't be seen. */
	return 1 + 4 * (room >= ROOM && strcmp(stack->path, "[heap]") != 0) + 2 * !has_own_mask(r) +
	       (remote_call(r) < 0);
}

static struct ctl_thread *choose(const struct ctl_world *world)
{
	struct ctl_thread *best = NULL;
	int most = 0;

	for (size_t i = 0; i < world->threads && most < FIT; i++) {
		/* Others that share the memory are no threads of the process to the module. */
		if (world->thread[i].pid != world->process->pid)
			continue;
		int fits = fitness(world, &world->thread[i]);
		if (fits > most) {
			most = fits;
			best = &world->thread[i];
		}
	}
	return best;
}

/* ---- there and back ---- */

/* The registers as they must be if the tool is not there any more to let the kernel restart the system call. */
static struct control_frame frame_of(const struct user_regs_struct *r, uint64_t mask)
{
	struct control_frame f = remote_frame(r, mask);

	if (remote_call(r) < 0)
		return f;
	switch (-remote_result(r)) {
	case RESTART_SYS:
	case RESTART_NO_INTR:
	case RESTART_NO_HAND:
		remote_frame_calls(&f, remote_call(r));
		break;
	case RESTART_BLOCK:
		remote_frame_calls(&f, __NR_restart_syscall);
		break;
	default:
		break;
	}
	return f;
}

enum ctl_event ctl_await(pid_t tid, int *signal, uint64_t until)
{
	uint64_t begin = tool_now();
	int status;

	if (begin > until)
		return CTL_NONE;

	for (;;) {
		pid_t r = waitpid(tid, &status, __WALL | WNOHANG);
		if (r < 0 || (r == tid && !WIFSTOPPED(status)))
			return CTL_GONE;
		if (r == tid) {
			*signal = WSTOPSIG(status);
			if (status >> 16 == PTRACE_EVENT_STOP)
				return CTL_STOP;
			return *signal == (SIGTRAP | 0x80) ? CTL_SYSCALL : CTL_SIGNAL;
		}
		if (tool_now() - begin > PATIENCE)
			return CTL_NONE;
		ctl_wait(1000000);
	}
}

/* Is the thread about to make the system call at the end of control_entry? */
static bool is_done(const struct ctl_world *world, pid_t tid)
{
	const struct control_block *b = &world->process->block;
	struct user_regs_struct r;

	return ptrace(PTRACE_GETREGS, tid, 0, &r) == 0 &&
	       remote_is_done(&r, (uint64_t)(uintptr_t)b->entry, (uint64_t)(uintptr_t)b->entry_end);
}

static int say_lost(const struct ctl_world *world, enum ctl_event event)
{
	if (event == CTL_GONE)
		ctl_say_ended(world->process->pid);
	else
		tool_error("ctl",
			"process %d: libxaudit.so does not answer in time (is a disk stuck?); it may still do what it "
			"was asked for",
			(int)world->process->pid);
	return -1;
}

/*
 * A filter of system calls that is the process's own may kill it for those that our code makes. The kernel lets us
 * suspend filters, if we may do everything; else we see each call begin, and answer in the kernel's place that it is
 * denied. A filter that we are under, too, a container's as a rule, knows these calls.
 */
enum filter { FILTER_NONE, FILTER_SUSPENDED, FILTER_LEFT, FILTER_STRICT };

static enum filter suspend_filter(const struct ctl_world *world, pid_t tid)
{
	pid_t pid = world->process->pid;
	long mode = ctl_status_number(pid, tid, "Seccomp");

	if (mode <= 0)
		return FILTER_NONE;
	/* The call by which control_entry ends would be too much, and reading the TSC. Nothing is recorded there. */
	if (mode == SECCOMP_MODE_STRICT)
		return FILTER_STRICT;
	if (!ptrace(PTRACE_SETOPTIONS, tid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_SUSPEND_SECCOMP))
		return FILTER_SUSPENDED;
	if (ctl_status_number(pid, tid, "Seccomp_filters") <= ctl_status_number(getpid(), 0, "Seccomp_filters"))
		return FILTER_NONE;
	return FILTER_LEFT;
}

/*
 * The thread begins or ends a system call, in turns. own: its registers after one that was denied; its pc is 0 where
 * none was. Returns whether it goes on.
 */
static bool deny(const struct ctl_world *world, pid_t tid, bool *begun, struct user_regs_struct *own)
{
	struct user_regs_struct r;

	*begun = !*begun;
	if (!*begun) {
		bool goes = !remote_pc(own) || !ptrace(PTRACE_SETREGS, tid, 0, own);
		remote_set_pc(own, 0);
		return goes;
	}
	if (ptrace(PTRACE_GETREGS, tid, 0, &r))
		return false;
	if (remote_call(&r) == __NR_rt_sigprocmask)
		return true;
	world->process->denied = true;
	remote_deny_call(&r, own);
	return !ptrace(PTRACE_SETREGS, tid, 0, &r);
}

/* Runs the thread until it has called control_run(). */
static int run(struct ctl_world *world, const struct ctl_thread *thread, uint64_t mask, enum filter filter)
{
	pid_t tid = thread->tid;
	uint64_t until = tool_now() + LONGEST;
	struct user_regs_struct own = { 0 };
	bool begun = false;

	for (;;) {
		int signal;
		if (ptrace(PTRACE_SYSCALL, tid, 0, 0))
			return say_lost(world, CTL_GONE);
		enum ctl_event event = ctl_await(tid, &signal, until);
		switch (event) {
		case CTL_SYSCALL:
			if (is_done(world, tid))
				return 0;
			if (filter == FILTER_LEFT && !deny(world, tid, &begun, &own))
				return say_lost(world, CTL_GONE);
			break;
		case CTL_STOP:
			break;
		case CTL_SIGNAL:
			/* SIGSTOP can't be blocked; it has its turn afterwards. */
			if (signal == SIGSTOP) {
				world->pending_stop = signal;
				break;
			}
			tool_error("ctl", "process %d: libxaudit.so failed with signal %d; please report this",
				(int)world->process->pid, signal);
			ptrace(PTRACE_SETREGS, tid, 0, &thread->regs);
			ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
			return -1;
		default:
			return say_lost(world, event);
		}
	}
}

/*
 * The thread's own registers again. It stops after the system call that brings its mask back, before any signal is
 * delivered: there, with its system call's number and result as they were, the kernel restarts that system call, or
 * lets a signal that came meanwhile interrupt it, as ever.
 */
static int bring_back(struct ctl_world *world, struct ctl_thread *thread)
{
	pid_t tid = thread->tid;
	bool back = false;
	int signal = 0;
	uint64_t until = tool_now() + LONGEST;

	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) || ptrace(PTRACE_CONT, tid, 0, 0))
		return say_lost(world, CTL_GONE);
	for (;;) {
		enum ctl_event event = ctl_await(tid, &signal, until);
		if (event == CTL_GONE || event == CTL_NONE)
			return say_lost(world, event);
		if (!back && ptrace(PTRACE_SETREGS, tid, 0, &thread->regs))
			return say_lost(world, CTL_GONE);
		back = true;
		if (event == CTL_STOP)
			break;
		/*
		 * A signal came nevertheless: it finds the thread as it was, and the thread stops after its delivery.
		 */
		if (ptrace(PTRACE_CONT, tid, 0, event == CTL_SIGNAL ? (long)signal : 0))
			return say_lost(world, CTL_GONE);
	}
	if (ptrace(PTRACE_GETREGS, tid, 0, &thread->regs))
		return say_lost(world, CTL_GONE);
	return 0;
}

/* Of a request, the part that is in use. */
static size_t request_size(const struct control_request *request)
{
	size_t length = 0;

	if (request->op == CONTROL_ENABLE || request->op == CONTROL_DISABLE || request->op == CONTROL_ADD_CONTEXT ||
		request->op == CONTROL_DEL_CONTEXT || request->op == CONTROL_NAMES) {
		while (length + 1 < sizeof(request->text) && (request->text[length] || request->text[length + 1]))
			length++;
		length += 2;
	}
	return offsetof(struct control_request, text) +
	       (length < sizeof(request->text) ? length : sizeof(request->text));
}

int ctl_call(struct ctl_world *world, struct control_request *request)
{
	const struct control_block *b = &world->process->block;
	uint64_t at = (uint64_t)(uintptr_t)b->request, all = ~0ull, mask;
	struct ctl_thread *thread;

	ctl_maps(world->process);
	thread = choose(world);
	if (!thread)
		return -EAGAIN;
	enum filter filter = suspend_filter(world, thread->tid);
	if (filter == FILTER_STRICT) {
		request->error = -ECANCELED;
		return 0;
	}
	request->error = -EINPROGRESS;
	if (ptrace(PTRACE_GETSIGMASK, thread->tid, sizeof(mask), &mask) ||
		!ctl_write(world->process, at, request, request_size(request))) {
		ctl_explain(world->process->pid, 0, errno);
		return -1;
	}
	struct control_frame frame = frame_of(&thread->regs, mask);
	if (!ctl_write(world->process, remote_frame_at(&thread->regs), &frame, sizeof(frame)))
		return -EAGAIN;
	struct user_regs_struct r;
	remote_enter(&r, &thread->regs, (uint64_t)(uintptr_t)b->entry, (uint64_t)(uintptr_t)b->stack_top);
	/*
	 * Killed between the two, we leave a thread that runs control_entry with its signals open: they may come, and
	 * it goes on after them.
	 */
	if (ptrace(PTRACE_SETREGS, thread->tid, 0, &r) || ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(all), &all))
		return say_lost(world, CTL_GONE);
	if (run(world, thread, mask, filter) || bring_back(world, thread)) {
		/* Let go as it is: it finds its way itself. */
		ptrace(PTRACE_DETACH, thread->tid, 0, 0);
		return -1;
	}
	if (filter == FILTER_SUSPENDED)
		ptrace(PTRACE_SETOPTIONS, thread->tid, 0, PTRACE_O_TRACESYSGOOD);
	if (!ctl_read(world->process, at, request, offsetof(struct control_request, text)))
		return say_lost(world, CTL_GONE);
	return 0;
}
