/* SPDX-License-Identifier: MIT */
/*
 * What became of a traced process, as far as its trace and this system tell. Only exit() leaves a mark in the trace. A
 * program that was executed makes a process folder of its own, if it is traced; the kernel tells of a live process when
 * it started and which program it runs.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_READ_STATE_H
#define XAUDIT_TOOL_READ_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/folder.h"

enum read_process_state {
	READ_PROCESS_ENDED,	  /* by exit() */
	READ_PROCESS_RUNNING,  /* still, the same program */
	READ_PROCESS_EXECUTED, /* another program, in the same process */
	READ_PROCESS_LEFT,     /* it gave up rights, and goes on in another file, as another process of the trace */
	READ_PROCESS_GONE,	  /* killed, or by _exit(); or it executed an untraced program, which is gone */
	READ_PROCESS_STATES
};

/* The process must be loaded (read_process_load()). */
enum read_process_state read_process_state(const struct read_process *process);

/*
 * The signal by which the process that `xaudit record` ran died, as the command saw it; 0 unless programs crash by that
 * signal and no event of the trace tells of the crash. The program may have a handler of its own, which lets the signal
 * end the process later.
 */
int read_process_killed(const struct read_process *process);

/* Is there a process of its number, in its PID namespace, that may still write (no zombie)? */
bool read_process_is_alive(const struct read_process *process);

#endif
