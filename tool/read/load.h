/* SPDX-License-Identifier: MIT */
/* Loading of what the records of a process say, and more of it while the process runs. */
#ifndef XAUDIT_TOOL_READ_LOAD_H
#define XAUDIT_TOOL_READ_LOAD_H

#include "tool/read/names.h"

/*
 * Reads the objects and functions of the process: at first all, later what was added to meta meanwhile. Returns whether
 * there was anything new.
 */
bool read_process_load(struct read_process *process);

/* Frees what read_process_load() read. */
void read_process_unload(struct read_process *process);

/* Frees all of a process. */
void read_process_close(struct read_process *process);

/*
 * As read_process_function(); reads what was added to meta meanwhile if it must, so a running process's new names are
 * found.
 */
const struct read_function *read_process_function_now(struct read_process *process, uint32_t id);

/* As read_process_type(), in the same way. Valid until the next read_process_load(). */
const char *read_process_type_now(struct read_process *process, uint32_t type);

#endif
