/* SPDX-License-Identifier: MIT */
/* All threads of a process, stopped, and let go again. One thread. */
#ifndef XAUDIT_TOOL_CTL_WORLD_H
#define XAUDIT_TOOL_CTL_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct ctl_process;

struct ctl_thread {
	pid_t tid, pid; /* pid: of the process, or of another one that shares its memory */
	bool stopped, listed, looked; /* looked: at what it waits for */
	struct {
		uint64_t since;     /* as tool_now(); 0: not known */
		uint64_t sleeps;    /* how often it had slept then, this time included, */
		uint64_t preempted; /* and had to give way */
	} waits; /* timeouts.h */
	struct user_regs_struct regs; /* while stopped */
};

struct ctl_world {
	struct ctl_process *process;
	struct ctl_thread *thread;
	size_t threads, room;
	uint64_t began; /* when the first thread was asked to stop, ns */
	uint64_t pause; /* how long the longest stop took, ns */
	pid_t stuck;	/* a thread that did not stop */
	pid_t newest;	/* numbers up to this one were looked at, for processes that share the memory; 0: none */
	int pending_stop; /* SIGSTOP and the like that came while we had the threads; sent again afterwards */
};

/*
 * The (negative) result that the kernel leaves of a system call that it will restart: its include/linux/errno.h.
 * NO_HAND: unless a handler runs.
 */
enum { RESTART_SYS = 512, RESTART_NO_INTR = 513, RESTART_NO_HAND = 514, RESTART_BLOCK = 516 };

/* Sleeps, at most that long, until something happens to a thread. */
void ctl_wait(uint64_t ns);

/*
 * Stops all threads, also of processes that share the memory. Returns 0; -EAGAIN if a thread did not stop, or our code
 * is still at work in one; or -1 after saying why. After an error all threads run again.
 */
int ctl_stop(struct ctl_world *world);

/* Lets all threads go, and takes the time. */
void ctl_go(struct ctl_world *world);

/* The end: threads that did not stop yet are let go when this process ends. */
void ctl_world_free(struct ctl_world *world);

#endif
