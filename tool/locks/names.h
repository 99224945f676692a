/* SPDX-License-Identifier: MIT */
/*
 * Names of locks: of the variable that lies at the address, by the symbols of the object file, or of the one with its
 * debug information, if the file that is there now is the one that was traced, by its build-id. And what files tell of
 * locks that are not seen. One thread.
 */
#ifndef XAUDIT_TOOL_LOCKS_NAMES_H
#define XAUDIT_TOOL_LOCKS_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/locks/read.h"

struct locks_name {
	const char *symbol;   /* not demangled; NULL: none is known */
	const char *library;  /* path; NULL: it lies in no object */
	uint64_t offset;      /* in the variable; without a symbol in the object */
};

/* Valid until locks_names_free(). */
struct locks_name locks_name(const struct locks_reading *reading, const struct locks_lock *lock);

/* Bits: what was loaded that has locks of its own. */
enum locks_unseen {
	LOCKS_GO = 1,
	LOCKS_RUST = 2,
	LOCKS_OPENMP = 4,
	LOCKS_JAVA = 8,
	LOCKS_GLIBC = 16,
	LOCKS_GLIB = 32,
	LOCKS_QT = 64
};
unsigned locks_unseen(const struct locks_reading *reading);

void locks_names_free(void);

#endif
