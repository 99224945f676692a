/* SPDX-License-Identifier: MIT */
/*
 * For tests in C of traces that make_trace writes: a temporary folder, and traces in it. Include it in the one file
 * that holds main(), after _GNU_SOURCE. One thread.
 */
#ifndef XAUDIT_T_LIB_WRITTEN_H
#define XAUDIT_T_LIB_WRITTEN_H

#include <stdio.h>
#include <stdlib.h>

#include "t/lib/tap.h"

/* Makes a folder of the template, which ends in XXXXXX; and removes it with all that is in it. */
static void make_folder(char *folder)
{
	if (!mkdtemp(folder))
		bail("no temporary folder");
}

static void remove_folder(const char *folder)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command))
		diag("%s is left", folder);
}

/* Makes a trace; t/lib/make_trace.c tells what is in a script. */
static void make_trace(const char *folder, const char *script)
{
	char command[256];
	FILE *to;

	snprintf(command, sizeof(command), "t/lib/make_trace %s", folder);
	to = popen(command, "w");
	if (!to || fputs(script, to) < 0 || pclose(to))
		bail("make_trace fails");
}

#endif
