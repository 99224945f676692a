/* SPDX-License-Identifier: MIT */
/*
 * Why is a library still there after its last dlclose has returned? If another open library needs it, that is in order,
 * as long as both go together; so this is only told if the library was still there when the process ended.
 *
 * A library that is marked NODELETE, or opened with that flag, is meant to stay. A library that another one is bound
 * to, or needs, is held by the other one: dlclose has done what it should. These are notes. A reason that no author
 * asked for is an error: unique symbols, destructors that wait for a thread's end, an unknown reason.
 */
#ifndef XAUDIT_TOOL_CHECK_STAYED_H
#define XAUDIT_TOOL_CHECK_STAYED_H

#include <stdint.h>

struct check_message;
struct check_process;
struct check_task;

/* The task must be stopped. */
void check_stayed(struct check_task *task, const struct check_message *message);

/* A library that another one needed was unmapped after all; or the process has ended. */
void check_stayed_gone(const struct check_process *process, uint64_t load);
void check_stayed_end(const struct check_process *process);

#endif
