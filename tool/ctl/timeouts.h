/* SPDX-License-Identifier: MIT */
/*
 * The time that waiting system calls have left. A stop ends some of them (signal(7)); they are made again, and their
 * timeouts would begin anew, so that a tool that comes often would keep them from ever expiring. So they are made again
 * with the time that was left, by code of the module (remote_wait, x86_64/remote.h), after which all registers are as
 * the program expects.
 *
 * When a call began to wait the kernel does not say. But of a thread that sleeps it tells when it ran last
 * (se.exec_start in /proc/PID/task/TID/sched), by the clock of the processor where that was; this tool goes there to
 * compare that with a clock of its own. timeouts_look() does so right before the stop. If its counts of switches tell
 * that the thread neither slept anew until the stop, nor had to give way to another one, it waited in that call all the
 * time; else the call gets its whole time again. (A thread that is awakened between timeouts_look() and the stop, and
 * is stopped in the few us in which it has made the same call again and does not sleep yet, gets too little, by the
 * time that it waited before. On a busy machine, giving way is what makes that moment long.)
 *
 * Where the kernel has no such file, and for the timeouts of sockets (SO_RCVTIMEO), the time begins anew. One thread.
 */
#ifndef XAUDIT_TOOL_CTL_TIMEOUTS_H
#define XAUDIT_TOOL_CTL_TIMEOUTS_H

struct ctl_thread;
struct ctl_world;

/* A thread that runs, is seized, and will be stopped: notes in thread->waits what it waits for. */
void timeouts_look(struct ctl_thread *thread);

/*
 * A thread has stopped in a system call that the kernel will make again from its beginning: changes its registers,
 * which the caller sets, if its timeout is known to be shorter. What goes wrong leaves it as it is.
 */
void timeouts_take(const struct ctl_world *world, struct ctl_thread *thread);

#endif
