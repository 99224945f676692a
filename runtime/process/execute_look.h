/* SPDX-License-Identifier: MIT */
/*
 * What a call that executes a program points to (execute.h): the program's memory, which may not be there, and the
 * file. Little stack is used, at most EXECUTE_LOOK_ROOM: handlers of signals execute, on stacks of a few kB.
 *
 * execute_look_init(): before the program runs. The others: any thread, async-signal-safe, no lock, no libc.
 */
#ifndef XAUDIT_RUNTIME_EXECUTE_LOOK_H
#define XAUDIT_RUNTIME_EXECUTE_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXECUTE_LOOK_ROOM 2560 /* bytes of stack, with those of tramp_slow_exec() */
#define EXECUTE_NAME	  48   /* bytes of a name that is kept, with its NUL */

void execute_look_init(void);

/* May the kernel not be asked to copy, as there was a filter of system calls at the start? */
bool execute_is_filtered(void);

/* Has the kernel copy so many bytes. Returns false if they are not there, or the kernel does not do that. */
bool execute_copy(void *to, uint64_t from, size_t size);

/* The text there, or its beginning: up to size - 1 bytes. Reads no page beyond its end. Returns whether it is there. */
bool execute_copy_text(char *to, uint64_t from, size_t size);

/* The file of a call. */
struct execute_file {
	long folder;		 /* a descriptor: what the path is relative to */
	uint64_t path;		 /* its address; the text may be ours */
	int flags;		 /* AT_SYMLINK_NOFOLLOW */
	char name[EXECUTE_NAME]; /* the path's last component, cut */
	bool has_slash, is_absolute, is_empty;
};

/* Fills in all that `path` tells. Returns false if it is not there, or too long for any file. */
bool execute_name(struct execute_file *file, uint64_t path);

/* The file is that of this descriptor, by its name in /proc, which is written to link. Returns false: it has none. */
bool execute_name_descriptor(struct execute_file *file, int fd, char link[32]);

/*
 * Why the module won't be loaded into this file, whatever the environment: enum trace_untraced.
 * TRACE_UNTRACED_NO_FILE: it can't be executed; 0: nothing speaks against it. It may be replaced before it is executed.
 */
uint32_t execute_look(const struct execute_file *file);

/* The same for the first file of that name in the folders of the text at `folders`, which PATH is; 0: the default. */
uint32_t execute_search(const struct execute_file *file, uint64_t folders);

#endif
