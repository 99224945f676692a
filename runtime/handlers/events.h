/* SPDX-License-Identifier: MIT */
/*
 * Events that are told to handlers of the program: what trampolines call (x86_64/contract.h), and what a handler may
 * ask about its event.
 */
#ifndef XAUDIT_RUNTIME_HANDLERS_EVENTS_H
#define XAUDIT_RUNTIME_HANDLERS_EVENTS_H

#include <stdint.h>

#include "runtime/handlers/handlers.h"

/*
 * Vector register n (0 ... 31) as the program had it, into 64 bytes; what the processor does not have is 0. Only inside
 * the handler. Returns its width in bytes: 16, 32, 64; 0: not saved, or no such register.
 */
int handlers_vector(const struct handlers_event *event, unsigned n, uint8_t value[64]);

#endif
