/* SPDX-License-Identifier: MIT */
/*
 * The program's own events: the part of xaudit.h that records. Called by the program's threads through the library's
 * table; meaning and errors of the first five are in xaudit.h. Any thread, async-signal-safe, no libc.
 *
 * Types are known by name. They lie in memory that fork keeps, and process_options.describe writes them again into
 * each new meta.
 */
#ifndef XAUDIT_CUSTOM_H
#define XAUDIT_CUSTOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int custom_event(const void *data, size_t size);
int custom_typed_event(int type, const void *data, size_t size);
int custom_register_type(const char *name);
int custom_mark(const char *text);
int custom_request(const char *text);
int custom_request_number(uint64_t number);
int custom_request_end(void);

/*
 * Events of custom_event(), custom_typed_event(), custom_mark() and of event sleds have backtraces from now on, of at
 * most so many callers, up to CHAIN_MOST; 0: they have none. Before there are threads.
 */
void custom_backtraces(uint32_t callers);
bool custom_has_backtraces(void);

/* How many types are registered. Any context. */
uint32_t custom_types(void);

/* Writes the names of all types into meta. Lock held. */
void custom_describe(void);

#endif
