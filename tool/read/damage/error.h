/* SPDX-License-Identifier: MIT */
/*
 * What went wrong when a trace was read, as values: nothing in tool/read prints, or ends the process.
 *
 * If a trace can be read in part, the rest is damage, which is remembered beside what was read. If nothing can be read,
 * the caller gets a struct read_error instead. tool/read/api/trace.c makes the public errors of both.
 *
 * Memory may run out in any function that reads. The function then returns as at the end of the data, or as if there
 * were none, and sets read_damage.no_memory: a caller looks at that once, when it has read all that it wanted.
 */
#ifndef XAUDIT_TOOL_READ_ERROR_H
#define XAUDIT_TOOL_READ_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* What could not be read: the first place, as text, and how many places followed. */
struct read_damage {
	char *first;
	char *file;	 /* what the first place is in ... */
	uint64_t offset; /* ... and where; READ_DAMAGE_NOWHERE */
	uint64_t more;
	bool no_memory; /* memory ran out: not all was read, and what looks like damage since then is none */
};

#define READ_DAMAGE_NOWHERE UINT64_MAX /* damage without an offset */

/* Remembers that `what` is wrong at `offset` of the file dir/name (name may be NULL). `what` is a phrase. */
void read_damage_add(struct read_damage *damage, const char *dir, const char *name, uint64_t offset, const char *what);

/* Remembers what `from` does, after what is there already; `from` is empty then. */
void read_damage_move(struct read_damage *damage, struct read_damage *from);

void read_damage_free(struct read_damage *damage);

enum read_why {
	READ_NOTHING_WRONG,
	READ_NO_FOLDER,	 /* it can't be opened: number */
	READ_NO_TRACE,	 /* the folder can be opened, but nothing in it is the trace of a process */
	READ_NO_PID,	 /* the folder has processes, but none of that pid */
	READ_NO_NAME,	 /* the folder has processes, but none of that name: name, in folder */
	READ_NO_PROCESS, /* the path does not lead to the trace of a process; damage, if there is any, tells why */
	READ_DAMAGED,	 /* nothing of it can be read; damage tells why */
	READ_NO_MEMORY,
};

/* Why there is nothing to read. The caller frees it. */
struct read_error {
	enum read_why why;
	int number; /* an errno */
	uint32_t pid;
	char *name, *folder;
	struct read_damage damage;
};

void read_error_free(struct read_error *error);

#endif
