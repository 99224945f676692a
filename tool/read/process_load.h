/* SPDX-License-Identifier: MIT */
/*
 * Reads what the records of a process say, and new records while the process runs. What is read belongs to the process,
 * which may be unloaded and loaded again. One thread (tool/read/folder.h).
 */
#ifndef XAUDIT_TOOL_READ_PROCESS_LOAD_H
#define XAUDIT_TOOL_READ_PROCESS_LOAD_H

#include "tool/read/names.h"

/*
 * Reads the objects and functions of the process: at first all, later those that were added to meta since. Returns
 * whether there was anything new.
 */
bool read_process_load(struct read_process *process);

/* Frees what read_process_load() read. */
void read_process_unload(struct read_process *process);

/* Frees all of a process. */
void read_process_close(struct read_process *process);

/*
 * As read_process_function(), but if it finds no name it reads what was added to meta, so new names of a running
 * process are found.
 */
const struct read_function *read_process_function_now(struct read_process *process, uint32_t id);

/* As read_process_layout(), and reads what was added to meta if it must. */
const struct read_layout *read_process_layout_now(struct read_process *process, uint32_t number);

/* As read_process_type(), and reads what was added to meta if it must. Valid until the next read_process_load(). */
const char *read_process_type_now(struct read_process *process, uint32_t type);

#endif
