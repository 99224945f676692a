/* SPDX-License-Identifier: MIT */
/*
 * The objects, functions and types that a process has loaded (tool/read/load.h), by their numbers; and names for these
 * and for other things in a trace. What a forked process has from its parent is found, too. Names belong to the
 * process: they are valid as long as it is loaded. One thread (tool/read/folder.h).
 */
#ifndef XAUDIT_TOOL_READ_NAMES_H
#define XAUDIT_TOOL_READ_NAMES_H

#include "tool/read/process.h"

struct read_meta;

/* Takes all records that follow in meta for the process. */
void read_names_take(struct read_process *process, struct read_meta *meta);

/* Frees what was taken. */
void read_names_free(struct read_process *process);

/* How many functions are known; their numbers begin at 0, and functions that become known later have higher ones. */
uint32_t read_process_functions(const struct read_process *process);
uint32_t read_process_function_index(const struct read_process *process, const struct read_function *function);
const struct read_function *read_process_function_at(const struct read_process *process, uint32_t index);

/* All numbers of objects are less than that. */
uint32_t read_process_objects(const struct read_process *process);

/* The function of an id; NULL: meta has no name for it. The pointer is valid until the next read_process_load(). */
const struct read_function *read_process_function(const struct read_process *process, uint32_t id);

/* The object of that number, or NULL. */
struct read_object *read_process_object(const struct read_process *process, uint32_t number);

/* Name of a type of custom events, from meta or a fixed one; NULL: it has no name. */
const char *read_process_type(const struct read_process *process, uint32_t type);

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
