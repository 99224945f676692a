/* SPDX-License-Identifier: MIT */
/*
 * The thread that t/lib/inject.c traces: its memory, its breakpoints, its time, and requests from outside. One thread
 * at a time; any error ends the tracer with a line (thread_fail()).
 */
#ifndef XAUDIT_T_LIB_INJECT_THREAD_H
#define XAUDIT_T_LIB_INJECT_THREAD_H

#include <stdint.h>
#include <sys/types.h> /* pid_t */
#include <sys/user.h>  /* struct user_regs_struct */

#include "t/lib/inject.h"

#define PAUSE (3ul << 30) /* ticks: 1.5 times 2^31 */

/* Where the thread stopped: at our breakpoint, at a marker, after one step. */
enum stop { STOP_BREAK, STOP_BEGIN, STOP_END, STOP_DONE, STOP_STEP };

extern struct inject_shared *inject_shared;
extern const char *thread_module_path;
extern const char *thread_library; /* whose instructions count, too: the end of its path; NULL: none */
extern uint64_t thread_module;			 /* where it is loaded; 0: not known yet */
extern pid_t thread_command, thread_tid;	 /* 0: none */
extern int thread_runs;				 /* it was just seized, and has not stopped yet */
extern struct user_regs_struct thread_registers; /* as of the last stop */
extern uint64_t thread_pauses;			 /* sum of all injected pauses, in ticks */

/* What was being done, for thread_fail(). */
extern const char *thread_doing;
extern uint64_t thread_at;

void thread_fail(const char *what) __attribute__((noreturn));
void thread_on_alarm(int signal);

/* The module's symbols; an address in the thread, and what to call one. */
void thread_read_symbols(void);
uint64_t thread_symbol(const char *name);
const char *thread_name_of(uint64_t address);

/* Is the address in the module's text, or in a stub of the module? thread_read_maps() finds where these are now. */
void thread_read_maps(void);
int thread_is_ours(uint64_t rip);

void thread_get_registers(void);

/* One breakpoint at a time. Returns 0 where the code can't be written, or is that library's. */
int thread_break_at(uint64_t address);
void thread_no_break(void);

/* Delivers a signal, if any, and goes on by one step or to the next stop of interest. */
enum stop thread_go_on(int step, int signal);

/* As thread_go_on() without a step or a signal; fails unless the stop is this one. */
void thread_expect(enum stop wanted, const char *doing);

/*
 * The first reads the addresses of rdtsc from a file. The next make the thread read our time from now on, or its own
 * again.
 */
void thread_read_tsc_places(const char *path);
void thread_take_tsc(int take);
uint64_t thread_ticks(void); /* our time at this moment */
int thread_is_tsc(uint64_t address);

/*
 * Changes to mode ring or back to stream, as `xaudit ctl` does. If a thread holds the lock, it is tried again a little
 * later.
 */
void thread_switch_mode(void);

#endif
