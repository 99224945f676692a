/* SPDX-License-Identifier: MIT */
/*
 * xaudit ctl: looks into a running process, and changes what is traced there (runtime/control.h has the protocol).
 *
 * Commands that only look need not stop the process: ctl_open() finds the module's control block, ctl_read() reads
 * memory; data that the process changes meanwhile may be read half old, half new, so addresses and counts in it are
 * checked before use. Commands that change something call ctl_request(), which stops all threads (tool/ctl/stop.c),
 * lets one of them call the module (tool/ctl/call.c), after it has been given what it lacks (tool/ctl/indexes.h),
 * brings them out of bytes that change (tool/ctl/position.h), writes those (tool/ctl/patch.c), and lets all go.
 *
 * Killed at any moment, the tool leaves a process that runs on: the kernel lets the threads go, and between any two of
 * the tool's system calls the process is whole. Exceptions are marked where they happen.
 *
 * One thread. Functions report errors themselves, in one line ("xaudit ctl: ..."), unless their comment says otherwise.
 */
#ifndef XAUDIT_TOOL_CTL_CTL_H
#define XAUDIT_TOOL_CTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "runtime/control.h"
#include "tool/ctl/targets.h"

/* ---- a process ---- */

struct ctl_mapping {
	uint64_t start, end;
	bool readable, writable, executable;
	char *path; /* as in /proc/PID/maps, "" for none */
};

struct ctl_process {
	pid_t pid;  /* of the process, also if the user named a thread */
	int memory;	/* /proc/PID/mem */
	/*
	 * `memory` can be written; not if /proc is mounted read-only: then code is written by ptrace, a word at a time
	 */
	bool writable;
	bool denied; /* its filter of system calls would have killed it for one that was needed */
	uint64_t block_at;
	struct control_block block; /* as it was when it was read; pointers are addresses in the process */
	struct ctl_mapping *mapping; /* in order; when it was opened, or ctl_maps() was called */
	size_t mappings, path_bytes;
};

/*
 * Finds the process and the module in it; waits up to two seconds for a process that is just starting. Returns whether
 * it found them; if not, has said why.
 */
bool ctl_open(struct ctl_process *process, pid_t pid);
void ctl_close(struct ctl_process *process);

/* Reads the list of mappings again, silently; returns whether there is one. */
bool ctl_maps(struct ctl_process *process);
void ctl_maps_free(struct ctl_process *process);
const struct ctl_mapping *ctl_mapping(const struct ctl_process *process, uint64_t address);

/*
 * The data of a process may be forged: lists without an end, counts of any size. So reading is bounded, in reads, bytes
 * and time, from ctl_limit_begin() on, which ctl_open() and each attempt of ctl_request() call; beyond the bounds
 * ctl_read() fails.
 */
void ctl_limit_begin(void);
bool ctl_limit_reached(void);

/*
 * Reads or writes memory of the process, all of it or returns false; silent. Memory to be written must be writable for
 * the process, too.
 */
bool ctl_read(const struct ctl_process *process, uint64_t address, void *to, size_t size);
bool ctl_write(const struct ctl_process *process, uint64_t address, const void *from, size_t size);

/* A string of the process, which the caller frees; NULL if there is none, or it is longer than 4095 bytes. Silent. */
char *ctl_text(const struct ctl_process *process, uint64_t address);

/*
 * Path of the folder that the process's trace is in (p<pid>), as this process finds it; the caller frees it. *place: of
 * its head there. NULL: it has none (yet). Silent.
 */
char *ctl_folder(const struct ctl_process *process, uint32_t *place);

/* Why nothing is recorded in the process, for people; the caller frees it. NULL: no such reason is known. Silent. */
char *ctl_why(const struct ctl_process *process);

/* From /proc: the number after a key of PID's status ("TracerPid"), or -1; the state, 0 if it is gone. */
long ctl_status_number(pid_t pid, pid_t tid, const char *key);
char ctl_state(pid_t pid, pid_t tid);
uint64_t ctl_begin(pid_t pid); /* when it began: ns, CLOCK_BOOTTIME; 0: it is gone */
bool ctl_is_kernels(pid_t pid); /* one that never has memory of its own */

/* Says why the kernel refuses to let us look into the process, or at its threads. error: errno. */
void ctl_explain(pid_t pid, pid_t tid, int error);

/* ---- all threads, stopped ---- */

struct ctl_thread {
	pid_t tid, pid; /* pid: of the process, or of another one that shares its memory */
	bool stopped, listed, looked; /* looked: at what it waits for */
	struct {
		uint64_t since; /* as tool_now(); 0: not known */
		uint64_t sleeps; /* how often it had slept then, this time included */
	} waits; /* tool/ctl/left.h */
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

/* What becomes of one thread that was let run. */
enum ctl_event { CTL_SYSCALL, CTL_STOP, CTL_SIGNAL, CTL_GONE, CTL_NONE };

/*
 * Waits for the thread, for two seconds at most; never beyond `until` (CTL_NONE). signal: with CTL_SIGNAL, that it has
 * stopped for.
 */
enum ctl_event ctl_await(pid_t tid, int *signal, uint64_t until);

/*
 * Lets a stopped thread call control_run() with the request, and reads the answer back into it. Returns 0, -EAGAIN (no
 * thread can be asked right now), or -1 after saying why. Afterwards the thread is as before.
 */
int ctl_call(struct ctl_world *world, struct control_request *request);

/* What ctl_patch() did. */
struct ctl_written {
	size_t sites;
	size_t refused_bytes;	 /* sites whose bytes are not what the module said */
	size_t refused_straddle; /* sites that can't be written safely: across two pages */
	size_t refused_position; /* sites whose bytes something stands in, and can't leave now */
	size_t moved;		 /* threads and interrupted frames that stood within sites */
	size_t writes;
};

/*
 * Moves all threads out of the bytes that change (tool/ctl/position.h), and changes them. All threads stopped. Returns
 * 0, or -1 after saying why.
 */
int ctl_patch(struct ctl_world *world, const struct control_patch *patch, size_t count, struct ctl_written *written);

/* ---- requests: tool/ctl/request.c ---- */

/*
 * Stops, calls, writes and lets go; repeats that for at most two seconds after -EAGAIN. Returns whether it was done; if
 * not, has said why. What would change nothing is answered without a stop. indexes: what the request brings along
 * (tool/ctl/indexes.h), or NULL; written may be NULL for requests without patches; pause: ns.
 */
struct ctl_indexes;
bool ctl_request(struct ctl_process *process, struct control_request *request, const struct ctl_indexes *indexes,
	struct ctl_written *written, uint64_t *pause);

/* ---- subcommands: argv[0] is the name. They take their own options and return the exit status. ---- */

int ctl_status(const struct ctl_targets *targets, const char *where, int argc,
	char **argv); /* where: a trace folder instead, or NULL */
int ctl_rules(struct ctl_targets *targets, int argc, char **argv);			       /* enable, disable */
int ctl_record(struct ctl_targets *targets, int argc, char **argv);			       /* start, stop, mode */

#endif
