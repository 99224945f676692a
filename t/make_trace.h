/* SPDX-License-Identifier: MIT */
/* What the two files of make_trace share; see make_trace.c. */
#ifndef XAUDIT_T_MAKE_TRACE_H
#define XAUDIT_T_MAKE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/trace.h"

/* The process folder that is being written. */
extern struct trace_head head;
extern int process_fd, meta_fd;
extern uint64_t meta_used;
extern uint32_t thread_count;
extern uint64_t step; /* of the loop */

/* Ends the program: the line of the script is wrong. */
void fail(const char *what);

uint64_t number(const char *text);
void write_at(int fd, const void *from, size_t size, uint64_t offset);

/* The value of KEY=VALUE, or NULL if it is another key. */
const char *value_of(const char *word, const char *key);

/* Takes a command that makes a record, or counters. Returns false if it is another one. rest: what stands behind the first word, or the second of `text`. */
bool meta_command(char **word, int words, const char *rest);

#endif
