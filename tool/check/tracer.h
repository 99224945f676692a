/* SPDX-License-Identifier: MIT */
/*
 * The ptrace loop: follows the command and all that it starts, passes every signal on, and hands over the modules'
 * messages and faults.
 */
#ifndef XAUDIT_TOOL_CHECK_TRACER_H
#define XAUDIT_TOOL_CHECK_TRACER_H

#include <sys/types.h>

int check_tracer_begin(pid_t pid);
void check_tracer_wait(pid_t pid, int *status);

#endif
