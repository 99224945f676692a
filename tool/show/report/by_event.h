/* SPDX-License-Identifier: MIT */
/*
 * report --by-event: calls and times by the value of a custom event. A value is in force in its thread from an event of
 * the type to the next one of that type, or to an event of the type that ends the value. A call belongs to the value
 * that was in force in its thread when it began, with all of its time, whatever comes while it lasts.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_BY_EVENT_H
#define XAUDIT_TOOL_SHOW_REPORT_BY_EVENT_H

#include "tool/show/report/report.h"

int report_by_event(struct report *report);

#endif
