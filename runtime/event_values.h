/* SPDX-License-Identifier: MIT */
/*
 * The values of the call of which a handler of the program is told (xaudit_event_values() of runtime/api/xaudit.h):
 * found in the handler, before the event is recorded, and from then on apart from what is recorded.
 *
 * On the thread itself, async-signal-safe, no lock, no libc, general registers only.
 */
#ifndef XAUDIT_RUNTIME_HANDLERS_EVENT_VALUES_H
#define XAUDIT_RUNTIME_HANDLERS_EVENT_VALUES_H

#include "runtime/handlers/handlers.h"

struct xaudit_values;

/* Answers for xaudit_event_values(). */
int handlers_values(const struct handlers_event *event, struct xaudit_values *to);

#endif
