/* SPDX-License-Identifier: MIT */
/* For tests that read rules: an environment of the test's own, and the messages. Needs memfd_create: _GNU_SOURCE. */
#ifndef XAUDIT_T_LIB_RULES_SAID_H
#define XAUDIT_T_LIB_RULES_SAID_H

#include <sys/mman.h> /* memfd_create */
#include <unistd.h>   /* dup2 */

#include "audit/rules/rules.h"
#include "t/lib/tap.h"

static const char *env_rules, *env_config, *env_xdg, *env_home;
static char said[8192];

static char *environment(const char *name)
{
	const char *value = !strcmp(name, "XAUDIT_RULES")      ? env_rules
			    : !strcmp(name, "XAUDIT_CONFIG")   ? env_config
			    : !strcmp(name, "XDG_CONFIG_HOME") ? env_xdg
			    : !strcmp(name, "HOME")	       ? env_home
							       : NULL;
	return (char *)value;
}

/* Runs rules_read(), with XAUDIT_CONFIG when path is given, and keeps its messages on fd 2. */
static int read_rules(struct rules *rules, const char *path)
{
	int keep = dup(2), fd = memfd_create("said", 0), result;
	ssize_t n;

	if (keep < 0 || fd < 0 || dup2(fd, 2) < 0)
		bail("standard error can't be caught");
	env_config = path ? path : env_config;
	result = rules_read(rules, environment);
	env_config = path ? NULL : env_config;
	dup2(keep, 2);
	n = pread(fd, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(fd);
	close(keep);
	return result;
}

static inline void no_environment(void)
{
	env_rules = env_config = env_xdg = env_home = NULL;
}

#endif
