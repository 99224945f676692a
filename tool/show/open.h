/* SPDX-License-Identifier: MIT */
/*
 * What the commands say about a trace that can't be read as a whole, or at all: tool/read returns errors
 * (tool/read/error.h), and here they become lines on stderr.
 */
#ifndef XAUDIT_TOOL_SHOW_OPEN_H
#define XAUDIT_TOOL_SHOW_OPEN_H

#include <stdint.h>

#include "tool/read/api/xaudit-read.h"

struct read_damage;
struct read_folder;

/* As read_folder_open(). Returns NULL when there is nothing to read, after one line. */
struct read_folder *show_open(const char *path, uint32_t pid);

/*
 * As read_folder_open_process(). command: the name that the message has if there is no such process; NULL: no message.
 */
struct read_folder *show_open_process(const char *command, const char *path, uint32_t place);

/*
 * Says, in one line, what could not be read. Returns the exit status: 0, or 1 when there was damage. If memory ran out
 * it ends the command, as in tool/memory.h.
 */
int show_damage(const struct read_damage *damage);

/* Ends the command if memory ran out, as show_damage() does, and says nothing of other damage. */
void show_need_memory(const struct read_folder *folder);

/* Opens a trace. pid: 0: all of its processes. Returns NULL when there is nothing to read, after one line. */
struct xaudit_read_trace *show_trace(const char *path, uint32_t pid);

/*
 * Opens one process alone. command: the name that the message has if there is no such process; NULL: no message.
 */
struct xaudit_read_trace *show_trace_process(const char *command, const char *path, uint32_t place);

/*
 * Says, in one line, what could not be read. Returns the exit status: 0, or 1 when there was damage. If memory ran out
 * it ends the command, as in tool/memory.h.
 */
int show_trace_damage(const struct xaudit_read_trace *trace);

/* Ends the command if memory ran out, as show_trace_damage() does, and says nothing of other damage. */
void show_trace_need_memory(const struct xaudit_read_trace *trace);

#endif
