/* SPDX-License-Identifier: MIT */
/*
 * The module's side of `xaudit check`: tells the tracer (tool/check/tracer.h) what is loaded, closed, unloaded and
 * kept.
 *
 * Check mode is on in a process when the environment holds XAUDIT_CHECK=PID and that process is its ptrace tracer. The
 * module sends messages by remote_tell() (x86_64/remote.h), with CHECK_MAGIC and the address of a struct check_message:
 * the tracer suppresses the SIGTRAP, and may examine and change the process before it resumes it. Before each message
 * the module makes sure that the tracer is still there: nothing is sent by a process that the tracer has let go.
 *
 * A process under a filter of system calls (x86_64/confined.h) could be killed for the question who traces it: from
 * then on its unloads go unchecked, and nothing here makes a system call.
 *
 * Nothing here traces calls: under `xaudit check` the rules select nothing. Addresses that dlclose unmaps stay
 * reserved, so that a late call faults.
 *
 * Contexts: ld.so's callbacks, and check_dlclose() on any thread of the program; takes the process lock.
 */
#ifndef XAUDIT_AUDIT_CHECK_CHECK_H
#define XAUDIT_AUDIT_CHECK_CHECK_H

#include <link.h>
#include <stdint.h>

#include "audit/model/object.h"

#define CHECK_VARIABLE "XAUDIT_CHECK"
#define CHECK_MAGIC    0x6b63656863647561ull

/* Number of unloaded ranges that stay reserved; after that, a new one replaces the oldest. */
#define CHECK_RANGES 16384

/* Loads whose unload is awaited at a time; further ones are counted, but not checked. */
#define CHECK_CLOSING_MAX 256

#define CHECK_SIGNALS 64

enum check_event {
	CHECK_STARTED = 1, /* the program's start-up objects are relocated; no constructor ran */
	CHECK_CLOSING,	   /* destructors ran, text is still there */
	CHECK_UNLOADED,	   /* text is gone */
	CHECK_KEPT,	   /* the last dlclose of it has returned, and it is still there */
	CHECK_CONFINED,	   /* the process puts itself under a filter of system calls: no more messages come from it */
};

enum check_flags {
	CHECK_RESERVED = 1,   /* UNLOADED: the range is reserved now */
	CHECK_FROM_START = 2, /* KEPT: loaded at start, so it belongs to the program */
	CHECK_NODELETE = 4,   /* KEPT: DF_1_NODELETE in its dynamic section */
	CHECK_BLIND = 8,      /* STARTED: ld.so's counts were not found, so KEPT will not come */
	CHECK_MARKED = 32,    /* KEPT: ld.so will never unload it: NODELETE, RTLD_NODELETE or a unique symbol */
	CHECK_MISSED = 16,    /* UNLOADED: since the last UNLOADED, some loads were not checked: too many at a time */
};

/* The tracer reads it from the process's memory; both sides are of one build. */
struct check_message {
	uint64_t size; /* of this struct: another build's is refused */
	uint32_t event, flags;
	uint64_t load;		       /* its number, unique in the process and its forks */
	uint64_t base, start, end;     /* of the mapping */
	uint64_t text_start, text_end; /* from the first to the last executable segment; 0: unknown */
	uint64_t path;		       /* address of a string */
	uint64_t libc; /* CLOSING, UNLOADED: number of the newest load of a libc: each namespace has its own libc */
	uint64_t cost;		       /* UNLOADED: bytes that this load leaked because there is an audit module */
	/*
	 * CLOSING and UNLOADED: for each signal (0: SIGHUP), its handler and the address that the handler returns to.
	 */
	uint64_t handler[CHECK_SIGNALS], restorer[CHECK_SIGNALS];
	/* KEPT */
	uint64_t needed_by;	       /* address of the path of an open object that names it as DT_NEEDED, or 0 */
	uint64_t bound_by, bound_name; /* paths of an open object with a binding into it, and the symbol */
	uint64_t destructors;	       /* thread_local destructors that are still to run */
	/* STARTED: bytes from a thread's fs base to libc's list of functions for the thread's end; 0: unknown */
	int64_t thread_list;
};

/*
 * la_version. environment: a function like getenv. One thread. Returns 0; or 1: the process is one of `xaudit check`'s,
 * but can't be checked, and shall run without the module. The tracer is not its own, or not seen by it (a namespace of
 * processes), or another program executes its instructions, to which a message would be a breakpoint (valgrind).
 */
int check_init(char *(*environment)(const char *));

/* Is this process checked? Any context. */
int check_mode(void);

/* The process is about to be under a filter of system calls. Any thread; the process lock is not held. */
void check_confine(void);

/* la_objclose, not at exit, before object_close(). */
void check_closing(struct load *load);

/* LA_ACT_CONSISTENT, before object_retire(). */
void check_consistent(void);

/* ---- for audit/check/dlclose.c ---- */

/* Tells the tracer. No lock held. */
void check_speak(struct check_message *message);

/* Tells the tracer of the loads that were unmapped. locked: ld.so's lock is held. */
void check_tell_unloaded(int locked);

#endif
