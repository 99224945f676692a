/* SPDX-License-Identifier: MIT */
/* Building fixtures of t/fixtures/site_functions.c at test time. Include it once, after t/lib/tap.h. */
#ifndef XAUDIT_T_LIB_SITE_FIXTURE_H
#define XAUDIT_T_LIB_SITE_FIXTURE_H

#include <limits.h> /* PATH_MAX */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char fixture_folder[] = "/tmp/xaudit-site.XXXXXX";

static void fixture_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", fixture_folder);
	if (system(command))
		diag("can't remove %s", fixture_folder);
}

static void fixture_start(void)
{
	const char *source = getenv("top_srcdir"), *clang = getenv("CLANG");

	if (!mkdtemp(fixture_folder))
		bail("no temporary folder");
	atexit(fixture_remove);
	/* Variables for the commands below. */
	setenv("out", fixture_folder, 1);
	setenv("top_srcdir", source ? source : ".", 1);
	setenv("CLANG", clang ? clang : "clang", 1);
}

/*
 * Runs a shell command that makes $out/NAME. In it, $gcc and $clang are compilers with their common options and the
 * source. Returns the file's path (to be used before the next call), or NULL when the command fails: a compiler or an
 * option is missing.
 */
static const char *fixture_make(const char *name, const char *command)
{
	static char path[PATH_MAX];
	char text[2048];

	snprintf(path, sizeof(path), "%s/%s", fixture_folder, name);
	snprintf(text, sizeof(text),
		"exec 2>$out/error; fixture=$out/%s; source=\"$top_srcdir/t/fixtures/site_functions.c\"; "
		"gcc() { timeout 60 gcc -w -O2 -o $fixture \"$source\" \"$@\"; }; "
		"clang() { test \"$CLANG\" && timeout 60 $CLANG -w -O2 -o $fixture \"$source\" \"$@\"; }; %s",
		name, command);
	if (system(text) || access(path, R_OK)) {
		snprintf(text, sizeof(text), "sed 's/^/# /' %s/error", fixture_folder);
		fflush(stdout);
		if (system(text))
			diag("no error message");
		return NULL;
	}
	return path;
}

#endif
