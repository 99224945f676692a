/* SPDX-License-Identifier: MIT */
/*
 * Does a thread wait for the task that asks? A child that shares our memory may be one for which the thread that made
 * it waits until it executes a program or ends: vfork, posix_spawn, clone(CLONE_VM | CLONE_VFORK). Until then it is as
 * good as that thread, whose thread-local data it has. That the thread waits for something proves nothing: a thread in
 * state D may wait for its memory, while a task forks, or for another child.
 *
 * So the kernel is asked about the task. From Linux 5.9 on, a task has no score as a victim for lack of memory
 * (oom_score) while the parent that shares its memory waits for it. Otherwise its score is that of all who share the
 * memory, and depends on oom_score_adj, which the task may not have lowered. The parent is our thread if the task is
 * among the thread's children. That is asked before the score, since a task whose parent is killed gets another parent,
 * and a score. A child that was made for the thread's process by a task (CLONE_PARENT), waits for it in vain: in that
 * one case the thread's own state must tell that it does not wait, which it does unless it waits for something else.
 *
 * Where /proc does not tell, the answer is no. Any context, async-signal-safe, no libc, no lock. Some twenty
 * system calls, six where the same task asks again.
 */
#ifndef XAUDIT_WAITS_H
#define XAUDIT_WAITS_H

#include <stdbool.h>
#include <stdint.h>

/* tid: of the thread, in the process that has the memory (runtime/base/identity.h). */
bool waits_for_caller(uint32_t tid);

/*
 * The stack pointer of a thread of the process that waits in a system call; 0: it runs, or /proc does not tell. Five
 * system calls.
 */
uint64_t waits_where(uint32_t tid);

#endif
