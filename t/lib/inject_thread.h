/* SPDX-License-Identifier: MIT */
/*
 * The thread that t/lib/inject.c traces: its memory, its breakpoints, its time, and what it is told from outside. One
 * at a time; whatever goes wrong ends the tracer with a line (thread_fail()).
 */
#ifndef XAUDIT_T_LIB_INJECT_THREAD_H
#define XAUDIT_T_LIB_INJECT_THREAD_H

#include <stdint.h>
#include <sys/types.h> /* pid_t */
#include <sys/user.h>  /* struct user_regs_struct */

#include "t/lib/inject.h"

#define PAUSE (3ul << 30) /* ticks: 1.5 times 2^31 */

/* Where it stopped: at our breakpoint, at a marker, behind one step. */
enum stop { STOP_BREAK, STOP_BEGIN, STOP_END, STOP_DONE, STOP_STEP };

extern struct inject_shared *inject_shared;
extern const char *thread_module_path;
extern uint64_t thread_module;			 /* where it is loaded; 0: not known yet */
extern pid_t thread_command, thread_tid;	 /* 0: none */
extern int thread_runs;				 /* it was just seized, and has not stopped yet */
extern struct user_regs_struct thread_registers; /* as of the last stop */
extern uint64_t thread_pauses;			 /* ticks, all that were injected */

/* What thread_fail() tells of. */
extern const char *thread_doing;
extern uint64_t thread_at;

void thread_fail(const char *what) __attribute__((noreturn));
void thread_on_alarm(int signal);

/* The module's symbols; an address in the thread, and what to call one. */
void thread_read_symbols(void);
uint64_t thread_symbol(const char *name);
const char *thread_name_of(uint64_t address);

/* Is that the module's text, or a stub of its? thread_read_maps() looks where these are now. */
void thread_read_maps(void);
int thread_is_ours(uint64_t rip);

void thread_get_registers(void);

/* One breakpoint at a time. Returns 0 where the code can't be written. */
int thread_break_at(uint64_t address);
void thread_no_break(void);

/* Goes on, by one step or to the next stop that is of interest, first with a signal. */
enum stop thread_go_on(int step, int signal);

/* The same without a signal, to such a stop. */
void thread_expect(enum stop wanted, const char *doing);

/* The places of rdtsc, from a file; has the thread get our time from now on, or its own again. */
void thread_read_tsc_places(const char *path);
void thread_take_tsc(int take);
uint64_t thread_ticks(void); /* our time at this moment */
int thread_is_tsc(uint64_t address);

/* As `xaudit ctl` does it: mode ring, or stream again. Where somebody has the lock, a little later. */
void thread_switch_mode(void);

#endif
