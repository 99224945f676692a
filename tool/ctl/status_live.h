/* SPDX-License-Identifier: MIT */
/*
 * The status of a running process, read from its memory while it runs. Objects and loads are never freed
 * (audit/model/object.h), but what is read may be torn, or an object's tables not yet there: every address is tried,
 * every count bounded, and what makes no sense is left out.
 */
#ifndef XAUDIT_TOOL_CTL_STATUS_LIVE_H
#define XAUDIT_TOOL_CTL_STATUS_LIVE_H

#include <stdbool.h>

struct ctl_process;
struct status;

/* Reads all but events from the process's memory. Returns whether that could be read; if not, has said why. */
bool status_live(struct status *status, const struct ctl_process *process);

#endif
