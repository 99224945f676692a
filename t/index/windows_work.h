/* SPDX-License-Identifier: MIT */
/* What windows_run.c has libraries do: the same each time, with memory of its own. */
#ifndef XAUDIT_T_INDEX_WINDOWS_WORK_H
#define XAUDIT_T_INDEX_WINDOWS_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct work {
	const char *library; /* NULL: no more */
	bool alone;	     /* a copy of its own, in another namespace: the test needs the other one itself */
	uint64_t (*run)(void *handle); /* a sum of all results */
};

extern const struct work works[];

/* Of windows_odd.c. */
uint64_t work_odd(void *handle);

#endif
