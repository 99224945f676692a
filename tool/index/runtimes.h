/* SPDX-License-Identifier: MIT */
/*
 * Runtimes of languages that do with code, stacks and return addresses what only a kernel or a debugger is expected to
 * do. What they hold is told by symbols that embedders need, or by sections that strip leaves.
 */
#ifndef XAUDIT_TOOL_INDEX_RUNTIMES_H
#define XAUDIT_TOOL_INDEX_RUNTIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/index/image.h"

/* What a symbol of the file says of the runtime that it holds; any name, any type. */
void image_runtime_symbol(struct image *image, const char *name, uint64_t address);

/* What its sections say; when all names are read. */
void image_runtime(struct image *image);

/* Does a runtime judge faults there, or stacks that overflow, by the instruction pointer? */
bool image_is_compiled(const struct image *image, uint64_t address);

#endif
