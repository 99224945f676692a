/* SPDX-License-Identifier: MIT */
/* For programs whose threads wait for each other: when one of them does. */
#ifndef XAUDIT_T_LOCKS_SLEEPS_H
#define XAUDIT_T_LOCKS_SLEEPS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does the thread with this number, of this process, sleep in the kernel? */
static bool sleeps(int tid)
{
	char path[64], text[256] = "", *name_end;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	FILE *file = fopen(path, "r");
	if (!file || !fgets(text, sizeof(text), file))
		abort();
	fclose(file);
	name_end = strrchr(text, ')');
	return name_end && name_end[2] == 'S';
}

#endif
