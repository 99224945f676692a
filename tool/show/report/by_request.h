/* SPDX-License-Identifier: MIT */
/*
 * Answers --by-request: calls and times by the request that calls belong to (xaudit-read.h). A call in another one of
 * the same row adds nothing to its total.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_BY_REQUEST_H
#define XAUDIT_TOOL_SHOW_REPORT_BY_REQUEST_H

struct report;

/* Returns the exit status, without regard to damage. */
int report_by_request(struct report *report);

#endif
