/* SPDX-License-Identifier: MIT */
/*
 * One unload, in two stops. While the text is still there: is a thread in it? When it is gone: what still points to
 * where it was? That order leaves the library's own destructors, and those of the libraries that it needs, the time to
 * put things right.
 */
#ifndef XAUDIT_TOOL_CHECK_JUDGE_H
#define XAUDIT_TOOL_CHECK_JUDGE_H

struct check_message;
struct check_task;

/* The task must be stopped. */
void check_judge(struct check_task *task, const struct check_message *message);

#endif
