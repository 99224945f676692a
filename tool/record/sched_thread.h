/* SPDX-License-Identifier: MIT */
/*
 * Context switches of all threads of the command, seen from outside (format/sched.h): `xaudit record --sched`. A thread
 * runs what is in tool/record/sched/ and writes DIR/sched; it says what can't be had. Its signals are blocked; SIGXFSZ
 * too, so that a file that may not grow is an error. It ends when told so; where the kernel gives no switches it looks
 * at the command's threads now and then.
 *
 *	sched/rings.c		the kernel's events: one per processor, inherited by all that the command starts
 *	sched/totals.c		what threads have run, from /proc, where the kernel gives no such events
 *	sched/sched_file.c	DIR/sched
 *
 * All of it is used by one thread at a time: the main thread until that thread begins, and after it has ended. It ends
 * nothing if memory runs out: the command runs.
 */
#ifndef XAUDIT_TOOL_RECORD_SCHED_THREAD_H
#define XAUDIT_TOOL_RECORD_SCHED_THREAD_H

#include <sys/types.h>

struct record_folder;
struct rules;

/* Makes DIR/sched, if the rules ask for it. To be called before record_file_begin(). */
void record_sched_make(const struct record_folder *folder, const struct rules *rules);

/*
 * Starts a thread that writes it, until record_sched_stop(), of the process pid, which has not executed the command
 * yet, and all that it will start. If the kernel gives no switches that is said in one line.
 */
void record_sched_start(pid_t pid);

/* The process has ended, but its number is still its own. */
void record_sched_ended(pid_t pid);
void record_sched_stop(void);

#endif
