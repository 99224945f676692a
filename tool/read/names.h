/* SPDX-License-Identifier: MIT */
/*
 * The objects, functions, types and layouts of values that a process has loaded (tool/read/process_load.h), by their
 * numbers. What a forked process has from its parent is found, too. Names belong to the process: they are valid as long
 * as it is loaded. One thread (tool/read/folder.h).
 */
#ifndef XAUDIT_TOOL_READ_NAMES_H
#define XAUDIT_TOOL_READ_NAMES_H

#include "tool/read/process.h"

struct read_meta;

/* Takes all records that follow in meta for the process. */
void read_names_take(struct read_process *process, struct read_meta *meta);

/* Frees what was taken. */
void read_names_free(struct read_process *process);

/* A copy of a list of names, each with its NUL, then an empty one; NULL: no memory, which is noted. */
char *read_names_copy(struct read_damage *damage, const char *names);

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

/* The layout of values of that number, or NULL. Valid as long as the process is loaded. */
const struct read_layout *read_process_layout(const struct read_process *process, uint32_t number);

/* Name of a type of custom events, from meta or a fixed one; NULL: it has no name. */
const char *read_process_type(const struct read_process *process, uint32_t type);

#endif
