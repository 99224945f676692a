/* SPDX-License-Identifier: MIT */
/*
 * What an object file says of its code and data: functions by address and by name, variables by address, and file and
 * line, by debug information in it or in a file that belongs to it and has the same build-id, as symbols, too. The file
 * must have the build-id that is asked for: else it is another one today, and nothing is said. It is looked for on this
 * system alone, at its path; debug information, when it is asked for, also in .build-id/ of the folders of
 * $XAUDIT_DEBUG_PATH (by default /usr/lib/debug), and where the file's debug link says, in its folder, in .debug in it,
 * and below these folders.
 *
 * Memory that there is not: nothing is known. One thread per object file. For the reader's library, too: nothing of the
 * command is needed.
 */
#ifndef XAUDIT_TOOL_OBJECT_FILE_H
#define XAUDIT_TOOL_OBJECT_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct object_file;

/* build_id: in hex, as traces have it. NULL: there is no such file, or no memory. */
struct object_file *object_file_open(const char *path, const char *build_id);

/* NULL: nothing. */
void object_file_close(struct object_file *file);

/* The other file, with its debug information; NULL: there is none, or no need of it. As long valid as the file. */
Elf *object_file_debug(const struct object_file *file);

/* The line of the instruction at an address, as the file was linked. Returns false where it is not known. */
bool object_file_line(struct object_file *file, uint64_t address, const char **source, int *line);

/* The function around the address, and where it begins; NULL: symbols know none. As long valid as the file. */
const char *object_file_function(struct object_file *file, uint64_t address, uint64_t *start);

/* The variable around the address, of several the one that begins last, and where that is; NULL: as above. */
const char *object_file_variable(struct object_file *file, uint64_t address, uint64_t *start);

/* Address of the function with that name; 0: there is none, or there are several. */
uint64_t object_file_address(struct object_file *file, const char *name);

/* The file itself, for who looks at its sections. */
struct Elf;
struct Elf *object_file_elf(const struct object_file *file);

#endif
