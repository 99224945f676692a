/* SPDX-License-Identifier: MIT */
/*
 * The running process in its trace: its head and records, and the lock of everything that is not one thread's own.
 *
 * Life: process_init() in la_version; process_start() at the first LA_ACT_CONSISTENT, or earlier by the first event (an
 * IFUNC resolver may be traced); in a forked child, by its first event or callback. All that follows from it lies in
 * memory that fork wipes (MADV_WIPEONFORK), the lock too: a child finds state NONE and an open lock. It takes a place
 * in the file of its family (pool.h), without a system call that asks for rights, and inherits what its parent had
 * described. Where the parent had no file yet, it makes a folder of its own. So does one that was forked while somebody
 * made it; and who was forked while the lock was held describes everything anew.
 *
 * Lock: process_lock() blocks all signals, then takes a word; so neither a signal handler nor (after a fork) a vanished
 * thread can leave it held. Before any code of the program has run there are no handlers, and signals stay as they are.
 * Innermost of all: holders call nothing that takes a lock of ld.so or libc. Whoever traverses or extends the lists of
 * audit/ or of stacks and threads holds it, unless said otherwise there.
 *
 * Contexts: any thread, async-signal-safe, no libc.
 */
#ifndef XAUDIT_PROCESS_H
#define XAUDIT_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"

enum process_state {
	PROCESS_NONE, /* no folder yet */
	PROCESS_ON,
	PROCESS_OFF, /* permanently: it could not be made, or we found our own state broken */
};

struct process_options {
	const char *output; /* absolute path, %p for the process id */
	uint64_t chunk_size; /* chunk_init() tells */
	const char *version, *source; /* texts for meta */
	const char *program; /* its path, looked at when a family is made; NULL or "": what /proc/self/exe names */
	void (*begin)(void); /* called when a process gets its head, before it; lock held. NULL: nothing to do */
	/*
	 * Called with the lock held when a process has its head, and its parent's records are not its own: writes
	 * every object, function and load that is known.
	 */
	void (*describe)(void);
};

/* Strings must stay. Returns 0 or -errno. One thread. */
int process_init(const struct process_options *options);

/* No code of the program has run yet (1), or is about to (0). One thread; lock not held. 0 until told. */
void process_quiet(int is);

/* A mask of blocked signals to restore. */
struct process_held {
	uint64_t signals;
	int blocked; /* 0: they were left as they are */
};

void process_lock(struct process_held *held);
void process_unlock(const struct process_held *held);

/* Takes the lock if it is free. Returns 1, or 0: then nothing has changed. */
int process_trylock(struct process_held *held);

/*
 * The program is about to be under a filter: from here on confined(), strictly or not, and nobody sleeps for the lock.
 * Lock not held.
 */
void process_confine(int strictly);

/* Any thread, no lock held or needed: just a look. */
enum process_state process_state(void);

/* Has the process get its head, if it has none. Lock held. Returns the state. */
enum process_state process_start(void);

/* Switches recording off for good and says why, once: "xaudit: WHAT: Permission denied". Lock held. */
void process_off(const char *what, const char *where, long error);

/*
 * Says a line on fd 2 ("xaudit: " is put before it), if that is still what it was at the start and takes it at once,
 * and notes it in meta. Lock held.
 */
void process_say(const char *line);

/*
 * Appends a record: head (its size field is filled in here), then body, then padding. Dropped and counted when meta
 * can't grow; silently when there is no folder yet: describe() will write it. Lock held.
 */
void process_append(struct trace_record *head, size_t head_size, const void *body, size_t body_size);

/*
 * Something that a record would have told has changed without one: this process, and children forked from now on, will
 * describe everything anew when they get their heads. Lock held.
 */
void process_untold(void);

/* Notes a change of the recording; text may be NULL. Lock held. */
void process_change(enum trace_change_what what, uint64_t value, const char *text);

/* Path of the process folder; "" when there is none yet. The string stays where it is, in memory that fork wipes. */
const char *process_folder(void);

/* Where process_state() looks. */
const uint32_t *process_state_place(void);

/* Refreshes trace_head.last. Any context; does nothing when somebody else is at it. */
void process_clock(void);

/* Counters and flags of this process in the trace, or NULL. */
struct trace_head *process_head(void);

/* Where process_head() looks. */
struct trace_head *const *process_head_place(void);

/* Adds to a counter of process_head(), from any thread. */
void process_count(uint64_t *counter, uint64_t n);

/* The same for a counter of the head, where there is one: a child that was forked a moment ago has none. */
#define PROCESS_COUNT(counter, n)                                                                                      \
	do {                                                                                                           \
		struct trace_head *head_ = process_head();                                                             \
		if (head_)                                                                                             \
			process_count(&head_->counter, n);                                                             \
	} while (0)

/* Counts an event that is lost; also before there is a head. Any thread. */
void process_lose(enum trace_lost cause);

/*
 * Opens t<n> of this process, making it if need be, so that it may be written up to `end`: a write there raises no
 * SIGXFSZ. Returns a descriptor to close, or -errno. Any thread that has a record.
 */
int process_open_stream(unsigned n, uint64_t end);

uint32_t process_pid(void);

/*
 * Which process this is among its forefathers. A thread that is in the middle of something notes it in memory that fork
 * keeps: where that is another number, it was left so by a thread that this process has not. Never 0; of a vfork child
 * its parent's. Lock held.
 */
uint32_t process_serial(void);

#endif
