/* SPDX-License-Identifier: MIT */
/*
 * The running process in its trace: its head and records, and the lock of everything that more than one thread uses.
 *
 * Life: process_init() in la_version; process_start() at the first LA_ACT_CONSISTENT, or earlier by the first event (an
 * IFUNC resolver may be traced); in a forked child, by its first event or callback. All its state lies in memory that
 * fork wipes (MADV_WIPEONFORK), the lock too: a child finds state NONE and an open lock. It takes a place in the file
 * of its family (pool.h), without a system call that asks for rights, and inherits what its parent had described. Where
 * the family has no place left it stays in state NONE, its events are lost, and counted in the family's first head; the
 * first such process says so, and each looks for a place about once a second. If the parent had no file yet, or a
 * thread was just making it, the child makes a folder of its own; if the lock was held at the fork, the child describes
 * everything anew.
 *
 * Lock: process_lock() blocks all signals, then takes a word; so neither a signal handler nor (after a fork) a vanished
 * thread can leave it held; from a task that is killed alone it is taken over (lock.h). Before any code of the program
 * has run there are no handlers, and signals stay as they are.
 *
 * SIGSYS alone stays open: a filter of system calls that answers by a trap (SECCOMP_RET_TRAP) ends a thread that blocks
 * it. So a handler of SIGSYS may run on the holder's thread, within a system call of ours. Should that handler need the
 * lock, process_lock() takes it for held: what the holder was changing is as in a child that was forked at that moment.
 * Where less will do, callers ask process_is_inside() and do without: events are lost and counted, or are entries
 * alone. A handler that jumps away from there leaves the lock to its thread.
 *
 * It is the innermost of all locks: a holder calls nothing that takes a lock of ld.so or libc. Code that traverses or
 * extends the lists of audit/ or of stacks and threads holds it, unless a comment there says otherwise.
 *
 * Contexts: any thread, async-signal-safe, no libc.
 */
#ifndef XAUDIT_PROCESS_H
#define XAUDIT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "runtime/files/output.h"
#include "runtime/files/pool.h"
#include "x86_64/confined.h"

enum process_state {
	PROCESS_NONE, /* no folder yet */
	PROCESS_ON,
	PROCESS_OFF, /* permanently: it could not be made, or we found our own state broken */
};

struct process_options {
	const char *output; /* absolute path, %p for the process id, %u for the user's */
	uint64_t chunk_size; /* from chunk_init() */
	const char *version, *source; /* texts for meta */
	const char *program; /* its path, read when a family is made; NULL or "": what /proc/self/exe names */
	void (*begin)(void); /* called when a process gets its head, before it; lock held. NULL: nothing to do */
	void (*confine)(void); /* called before the process is under a filter; lock not held. NULL: nothing to do */
	void (*made)(void); /* called when there is a new folder, of this process; lock held. NULL: nothing to do */
	/*
	 * Called with the lock held when a process has its head, and does not inherit its parent's records: writes
	 * every object, function and load that is known.
	 */
	void (*describe)(void);
};

/* Strings must stay. Returns 0 or -errno. One thread. */
int process_init(const struct process_options *options);

/* No code of the program has run yet (1), or is about to (0). One thread; lock not held. 0 until told. */
void process_quiet(int is);

/* What process_unlock() restores. */
struct process_held {
	uint64_t signals; /* the mask of blocked ones */
	int blocked; /* 0: signals were left as they are */
	uint32_t number; /* of the holder (runtime/process/lock.h); 0: the thread held it already */
};

void process_lock(struct process_held *held);
void process_unlock(const struct process_held *held);

/* Does the calling thread hold the lock? Then this is a handler of SIGSYS, or what it has called. */
bool process_is_inside(void);

/* Takes the lock if it is free. Returns 1, or 0: then nothing has changed. */
bool process_trylock(struct process_held *held);

/*
 * The program will soon be under a filter of system calls: from here on confined(), strictly or not, and no thread
 * sleeps for the lock. Waits for a snapshot that is being taken. Lock not held.
 */
void process_confine(int strictly);

/* Any thread, no lock held or needed: just a look. */
enum process_state process_state(void);

/*
 * May it make its head? Under a filter of system calls no folder can be made, but a forked child has its place in its
 * family's. Any thread, no lock.
 */
static inline bool process_may_begin(void)
{
	return !confined() || pool_is_open();
}

/*
 * Makes the process's head, if it has none. Lock held. Returns the state: NONE, where it may not, or the family has no
 * place for another head.
 */
enum process_state process_start(void);

/*
 * Leaves the family, or the one that the process was forked in: process_start() makes another one. Returns 0 or -errno:
 * then nothing has changed. All records of threads are wiped (runtime/process/thread.h). Lock held; there is a family
 * (runtime/files/pool.h). ends: the process does, nothing more is recorded of it.
 */
long process_leave(bool ends);

/* Switches recording off for good and says why, once: "xaudit: WHAT: Permission denied". Lock held. */
void process_off(const char *what, const char *where, long error);

/* Keeps for `xaudit ctl`, cut to its room, why nothing is recorded in this process. Lock held. */
#define PROCESS_WHY 400
void process_why(const char *line);

/* Where that is kept: a string, "" if there is no such reason. It stays where it is, in memory that fork wipes. */
const char *process_why_place(void);

/*
 * Notes a line in meta; say: and writes it to fd 2 ("xaudit: " is put before it), if that is still the same file as at
 * the start and takes the line at once. Lock held.
 */
void process_note(const char *line, bool say);
static inline void process_say(const char *line)
{
	process_note(line, true);
}

/*
 * Appends a record: head (its size field is filled in here), then body, then padding. Dropped and counted when meta
 * can't grow; not counted when there is no folder yet: describe() will write it. Lock held.
 */
void process_append(struct trace_record *head, size_t head_size, const void *body, size_t body_size);

/*
 * Something has changed, and no record tells it: this process, and children forked from now on, will describe
 * everything anew when they get their heads. Lock held.
 */
void process_untold(void);

/* Notes a change of the recording; text may be NULL. Lock held. */
void process_change(enum trace_change_what what, uint64_t value, const char *text);

/* What runtime/snapshot/snapshot.h tells of. 0 at first, and in a forked child. */
struct process_snapshots {
	uint32_t lock; /* as runtime/process/lock.h has it */
	uint32_t asked, begun;
};

struct process_snapshots *process_snapshots(void);

/* Path of the process folder; "" when there is none yet. The string stays where it is, in memory that fork wipes. */
const char *process_folder(void);

/* The address of the word that process_state() reads. */
const uint32_t *process_state_place(void);

/* Refreshes trace_head.last. Any context; does nothing when another thread is doing it. */
void process_clock(void);

/* Counters and flags of this process in the trace, or NULL. */
struct trace_head *process_head(void);

/* The address of the pointer that process_head() reads. */
struct trace_head *const *process_head_place(void);

/* Its place. What the head says of it, others may have changed. */
uint32_t process_place(void);

/* A number for another thread's record: 0, 1 ... Any thread. */
uint32_t process_new_thread(void);
uint32_t process_threads(void); /* how many have one */

/* Time between attempts to get a chunk after one failed, in ticks: about a second by TSC, two by CLOCK_MONOTONIC. */
#define PROCESS_RETRY 2000000000ull

/*
 * Opens t<n> of this process, making it if need be, so that it may be written up to `end`: a write there raises no
 * SIGXFSZ. Returns as family_open(). Any thread that has a record.
 */
int process_open_stream(unsigned n, uint64_t end, struct output_place *place);

uint32_t process_pid(void);

/*
 * A number that tells this process from those that it was forked from. A thread that is in the middle of something
 * notes this number in memory that fork keeps: another number there was noted by a thread which this process does not
 * have. Never 0; in a vfork child its parent's. Lock held.
 */
uint32_t process_serial(void);

#endif
