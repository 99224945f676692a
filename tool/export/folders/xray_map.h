/* SPDX-License-Identifier: MIT */
/*
 * The file instr-map.elf of the format xray: an ELF file that has no code, but all that llvm-xray wants of a program
 * with XRay's sleds: the table xray_instr_map, in which the function with the id N is the Nth, and symbols. Each object
 * is a section, where its functions have their addresses (places.h), and the STT_FILE symbol before their symbols,
 * which llvm-xray shows as their source file.
 */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_XRAY_MAP_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_XRAY_MAP_H

#include <stdbool.h>

#include "tool/export/folders/places.h"

/* function: by id - 1. Returns false after elf_errno() or errno is set. */
bool xray_map_write(int fd, struct places *places, const struct xaudit_read_function *const *function, uint32_t count);

#endif
