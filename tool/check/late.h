/* SPDX-License-Identifier: MIT */
/* Faults in ranges that were unloaded. The program then gets its signal, as it would have without us. */
#ifndef XAUDIT_TOOL_CHECK_LATE_H
#define XAUDIT_TOOL_CHECK_LATE_H

#include <stdint.h>

struct check_task;

/* A fault at an address: is it a late call of, or access to, an unloaded library? The task must be stopped. */
void check_late(struct check_task *task, uint64_t address);

#endif
