/* SPDX-License-Identifier: MIT */
/*
 * What went wrong with reading a trace, as values: nothing in tool/read prints, or ends the process.
 *
 * Of a trace that can be read in part, what could not be read is damage, which is remembered beside the rest. Where
 * nothing can be read, whoever wanted it gets a struct read_error instead. What people are told is for the commands to
 * say (tool/show/open.h).
 *
 * Memory may run out in any function that reads. What it was to return is not there then, as at the end or where there
 * is none, and read_damage.no_memory says why: whoever has read all that he wanted looks there, once.
 */
#ifndef XAUDIT_TOOL_READ_ERROR_H
#define XAUDIT_TOOL_READ_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* What could not be read: the first place, as text, and how many places followed. */
struct read_damage {
	char *first;
	uint64_t more;
	bool no_memory; /* memory ran out: what was read is not all, and what seems to be damage since then is none */
};

#define DAMAGE_NOWHERE UINT64_MAX /* damage without an offset */

/* Remembers that `what` is wrong at `offset` of the file dir/name (name may be NULL). `what` is a phrase. */
void read_damage_add(struct read_damage *damage, const char *dir, const char *name, uint64_t offset, const char *what);

void read_damage_free(struct read_damage *damage);

enum read_why {
	READ_NOTHING_WRONG,
	READ_NO_FOLDER,	 /* it can't be opened: number */
	READ_NO_TRACE,	 /* it can, but nothing in it is the trace of a process */
	READ_NO_PID,	 /* it has processes, but none of that pid */
	READ_NO_NAME,	 /* it has processes, but none that is called so: name, in folder */
	READ_NO_PROCESS, /* what was to be the trace of one process is none; damage, if there is any, tells why */
	READ_DAMAGED,	 /* nothing can be read of what was asked for: damage */
	READ_NO_MEMORY,
};

/* Why there is nothing to read. To be freed. */
struct read_error {
	enum read_why why;
	int number; /* an errno */
	uint32_t pid;
	char *name, *folder;
	struct read_damage damage;
};

void read_error_free(struct read_error *error);

#endif
