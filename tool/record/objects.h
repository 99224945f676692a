/* SPDX-License-Identifier: MIT */
/*
 * What the dynamic linker will load for the command. It is asked itself: nobody else knows all that it looks at
 * (RUNPATH, RPATH and their $ORIGIN, LD_LIBRARY_PATH, preloaded libraries, its cache, variants for the processor).
 * Nothing of the program runs.
 */
#ifndef XAUDIT_TOOL_RECORD_OBJECTS_H
#define XAUDIT_TOOL_RECORD_OBJECTS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "tool/base/tool.h"

struct record_objects {
	char *program;	/* what the kernel loads in the end: of a script, its interpreter; NULL: none is known */
	char **library; /* paths, as ld.so has them, itself among them; preloaded ones, too */
	size_t libraries;
	bool listed; /* ld.so told them all */
};

/*
 * Finds them for the command at path. The program's dynamic linker is asked in a child, with this process's
 * environment but for LD_AUDIT, LD_DEBUG and LD_WARN, for 2 s at most. Changes SIGCHLD's action while it waits.
 */
void record_objects_find(struct record_objects *objects, const char *path);
void record_objects_free(struct record_objects *objects);

/* Reads the head of a file; false: it is not for this machine, or can't be read. Reads program header i of it. */
bool record_elf(int fd, Elf64_Ehdr *head);
bool record_segment(int fd, const Elf64_Ehdr *head, unsigned i, Elf64_Phdr *segment);

/* Is that file, by its name, glibc's loader, the only one that takes audit modules for these programs? */
static inline bool record_is_loader(const char *path)
{
	return !strcmp(tool_base(path), "ld-linux-x86-64.so.2");
}

#define RECORD_SCRIPTS 4 /* levels of scripts whose interpreter is a script; the kernel's limit */

/*
 * Writes to path the interpreter of a script that begins with the text start: the word after "#!". Returns the bytes of
 * start up to the end of that word; 0 when it is no script, or the word does not fit.
 */
size_t record_interpreter(const char *start, char *path, size_t size);

#endif
