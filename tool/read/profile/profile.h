/* SPDX-License-Identifier: MIT */
/* What is behind the profiles of xaudit-read.h: profile.c has the options and the results, jobs.c counts. */
#ifndef XAUDIT_TOOL_READ_PROFILE_PROFILE_H
#define XAUDIT_TOOL_READ_PROFILE_PROFILE_H

#include "tool/read/api/api.h"
#include "tool/read/profile/count.h"

struct xaudit_read_profile {
	struct read_count_setup setup;
	struct read_count count;   /* all, when counting is over */
	struct read_damage damage; /* for count, if no process is at hand: only whether memory ran out matters */
	struct xaudit_read_profile_info info;
	struct xaudit_read_row *row;
	struct xaudit_read_custom *custom;
	struct xaudit_read_probe_row *probe;

	/* Of the options; only until counting is over. */
	struct xaudit_read_trace *const *traces;
	size_t count_traces;
	uint32_t pid;
	void (*progress)(void *user, uint64_t done, uint64_t all);
	void *user;
};

#endif
