/* SPDX-License-Identifier: MIT */
/* Makes the plan of a file (format/plan.h). Memory that runs out ends the command. One thread. */
#ifndef XAUDIT_TOOL_INDEX_PLAN_H
#define XAUDIT_TOOL_INDEX_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "format/plan.h"

/* A plan, which the caller frees. */
struct plan_made {
	void *bytes; /* struct plan_head */
	size_t size;
	bool wrong; /* something was wrong with the rules, which was said */
	bool said;  /* that, or something else was said */
};

/* fd: of the file; path: of it. Returns 0 or -errno, as index_make() of tool/index/. */
int plan_make(struct plan_made *made, int fd, const char *path, const char *rules);

#endif
