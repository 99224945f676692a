/* SPDX-License-Identifier: MIT */
/*
 * One search for pointers into a library that was unloaded: in libc's lists (libc_lists.h), and in the memory
 * (pointers.h). The process is stopped meanwhile.
 */
#ifndef XAUDIT_TOOL_CHECK_SCAN_H
#define XAUDIT_TOOL_CHECK_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tool/check/finding.h"

struct check_message;
struct check_task;

/* glibc's enum of struct exit_function */
enum { EF_FREE, EF_US, EF_ON, EF_AT, EF_CXA };

struct check_scan {
	struct check_task *task; /* the one that sent the message */
	const struct check_unload *unload;
	const struct check_message *message;
	struct check_names *made_names; /* see check_scan_names() */
	uint64_t guard;			/* of mangled pointers */
	/* Places in memory that findings have named. */
	uint64_t *told;
	size_t tolds;
	uint64_t fork_start, fork_end; /* libc's list of functions for fork; 0: not found */
};

/* Begins and ends a search. Returns false when the thread that sent the message is gone: then there is no search. */
bool check_scan_begin(struct check_scan *scan, struct check_task *task, const struct check_unload *unload,
	const struct check_message *message);
void check_scan_end(struct check_scan *scan);

/* The names, made when the first is needed: as a rule nothing is found. */
struct check_names *check_scan_names(struct check_scan *scan);

/* Is it an address of the text that was unloaded? */
bool check_scan_hit(const struct check_scan *scan, uint64_t address);

/* libc keeps some pointers mangled with the guard. */
uint64_t check_scan_demangle(const struct check_scan *scan, uint64_t word);

/* Was check_scan_found() called for this place? */
bool check_scan_told(const struct check_scan *scan, uint64_t at);

/* Reports "WHAT is FUNCTION of LIBRARY, which is unloaded", for the word at this place, of that thread. detail: NULL,
 * or taken.
 */
void check_scan_found(struct check_scan *scan, enum check_kind kind, pid_t tid, const char *what, uint64_t at,
	uint64_t address, char *detail);

/* Is this file, by its last part, the C library? Before glibc 2.34 it was two files. */
bool check_is_libc(const char *file);

#endif
