/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/start/children.h"

#include <string.h> /* strcspn */
#include <unistd.h> /* environ */

#include "audit/bind/symbol.h"
#include "runtime/process/execute.h"

static const char *base(const char *path, size_t length)
{
	for (size_t i = length; i; i--)
		if (path[i - 1] == '/')
			return path + i;
	return path;
}

/* Takes this module out of LD_AUDIT. */
static void leave_alone(const char *own)
{
	static const char variable[] = "LD_AUDIT=";

	/* Our environ and the program's both point to the strings that the kernel laid out. */
	for (char **e = environ; e && *e; e++) {
		if (strncmp(*e, variable, sizeof(variable) - 1))
			continue;
		char *to = *e + sizeof(variable) - 1;
		for (const char *from = to; *from;) {
			size_t length = strcspn(from, ":");
			const char *name = base(from, length);
			size_t whole = length + (from[length] == ':');
			if ((size_t)(from + length - name) != strlen(own) || strncmp(name, own, strlen(own))) {
				memmove(to, from, whole);
				to += whole;
			}
			from += whole;
		}
		*to = '\0';
	}
}

void children_follow(enum rules_follow follow)
{
	static char *const none[] = { NULL };
	const struct link_map *us;

	if (!symbol_owner((void *)children_follow, &us) || !us)
		return;
	if (follow == RULES_FOLLOW_NO)
		leave_alone(base(us->l_name, strlen(us->l_name)));
	else
		execute_init(us->l_name, environ ? environ : none, follow == RULES_FOLLOW_ALWAYS);
}
