/* SPDX-License-Identifier: MIT */
/* Names and words that people are shown for the numbers in a trace. */
#ifndef XAUDIT_TOOL_READ_SHOWN_NAMES_H
#define XAUDIT_TOOL_READ_SHOWN_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "tool/read/process.h"

/* Path of an object's file, for rows and JSON; "[unknown]" for NULL. */
const char *read_object_path(const struct read_object *object);

/*
 * A change in a few words, for people ("throttled"); value and text are shown beside it. "changed" for an unknown
 * number.
 */
const char *read_change_word(uint32_t what);

/* Last component of a path. */
const char *read_path_base(const char *path);

/*
 * Name of a function: its symbol, or "library+0xoffset", which is written to buf; "[unknown]" for NULL. Names are not
 * demangled.
 */
const char *read_function_name(
	const struct read_process *process, const struct read_function *function, char *buf, size_t size);

#endif
