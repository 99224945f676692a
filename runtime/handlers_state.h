/* SPDX-License-Identifier: MIT */
/* What the files of handlers share; who may call what: handlers.h. */
#ifndef XAUDIT_HANDLERS_STATE_H
#define XAUDIT_HANDLERS_STATE_H

#include "runtime/calls.h"
#include "runtime/handlers.h"
#include "runtime/thread.h"

/* Is there a handler of that type? Any context. */
int handlers_is_set(enum handlers_type type);

/* Calls the handler of event->type, if there is one and the thread is in none. On the thread itself. Fills in size, clock and vectors. */
void handlers_deliver(struct thread *thread, struct handlers_event *event);

/* The number of the object that the function id belongs to; 0: not known. Any context. */
uint32_t handlers_object(uint32_t id);

/* Asks the processor what tramp_call_saved() has to save. Once, before the first handler is set: on a virtual machine each question costs. Lock held. */
void handlers_find_vectors(void);

#endif
