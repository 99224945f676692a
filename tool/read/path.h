/* SPDX-License-Identifier: MIT */
/* What a path that people name stands for: a trace, in a folder or packed, or one process in it. Any thread. */
#ifndef XAUDIT_TOOL_READ_PATH_H
#define XAUDIT_TOOL_READ_PATH_H

#include <stdbool.h>
#include <stdint.h>

struct read_damage;

/* Which part of a trace shall be opened. */
struct read_wanted {
	const char *folder; /* only that family: by default its first process; NULL: all */
	const char *name;   /* the process that people call so; NULL: all */
	uint32_t pid;	    /* 0: all */
	char *path;	    /* of the trace; NULL: as it was named. Freed with `buffer` */
	char *buffer;
	int pack;	    /* a packed trace, open, which the caller closes; -1: it is a folder */
};

/*
 * Finds out what the path means. Begin with pack -1. In a packed trace, `name` is what the path has after the file, and
 * may be a `folder` as well. Where there is nothing of the name path, but a packed trace path.pack, that is meant.
 */
void read_path_find(struct read_wanted *wanted, struct read_damage *damage, const char *path);

/* p<pid> or p<pid>.<n> */
bool read_path_is_process(const char *name, uint32_t pid);

/*
 * The folder that a path lies in, and after a NUL its last name; the caller frees both as one. NULL: there is no
 * memory.
 */
char *read_path_apart(struct read_damage *damage, const char *path, const char **name);

bool read_path_is_folder(const char *path);

#endif
