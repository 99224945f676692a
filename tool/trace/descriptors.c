/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace/descriptors.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/tool.h"

#define MOST 65536 /* descriptors of a process that are remembered */

struct descriptors {
	char **name; /* by number; NULL: not known */
	uint32_t count;
};

/* What the kernel says now, until the next call; NULL: nothing. */
static const char *ask(uint32_t pid, int64_t number)
{
	static char name[PATH_MAX];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd/%" PRId64, pid, number);
	ssize_t n = readlink(path, name, sizeof(name) - 1);
	if (n <= 0)
		return NULL;
	name[n] = '\0';
	return name;
}

const char *descriptors_name(void *user, int64_t number)
{
	const struct descriptors_of *of = user;
	const struct descriptors *known = of->process->user;

	if (number < 0)
		return NULL;
	if (known && (uint64_t)number < known->count && known->name[number])
		return known->name[number];
	return ask(of->process->pid, number);
}

static void set(struct read_live_process *process, int64_t number, const char *name)
{
	struct descriptors *known = process->user;

	if (number < 0 || number >= MOST)
		return;
	if (!known)
		process->user = known = calloc(1, sizeof(*known));
	if (known && (uint64_t)number >= known->count && name) {
		uint32_t count = (uint32_t)number + 16;
		char **list = reallocarray(known->name, count, sizeof(*list));
		if (!list)
			return;
		memset(list + known->count, 0, (count - known->count) * sizeof(*list));
		known->name = list;
		known->count = count;
	}
	if (!known || (uint64_t)number >= known->count)
		return;
	free(known->name[number]);
	known->name[number] = name ? strdup(name) : NULL;
}

/* The value of a call's that has the role, at that place if it is an argument. Returns whether it is there. */
static bool value_of(const struct xaudit_read_values *values, int role, uint32_t place, struct xaudit_read_value *to)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = xaudit_read_values(values, value, XAUDIT_READ_VALUES);

	for (uint32_t i = 0; i < count; i++)
		if (value[i].role == role && (role != XAUDIT_READ_VALUE_ARGUMENT || value[i].place == place)) {
			*to = value[i];
			return true;
		}
	return false;
}

/* The name of a function without what libc puts around it: open of __open64. */
static bool is_named(const struct xaudit_read_call *call, const char *name)
{
	const char *of = call->function->name;
	size_t length = strlen(name);

	of += strspn(of, "_");
	return !strncmp(of, name, length) && (!of[length] || !strcmp(of + length, "64") ||
						     !strcmp(of + length, "_nocancel"));
}

void descriptors_opened(struct read_live_process *process, const struct xaudit_read_call *call)
{
	bool at = is_named(call, "openat");
	struct xaudit_read_value result, path;
	char name[PATH_MAX];

	if (!at && !is_named(call, "open") && !is_named(call, "creat"))
		return;
	if (!value_of(call->ended, XAUDIT_READ_VALUE_RESULT, 0, &result) || result.integer < 0 ||
		!value_of(call->entered, XAUDIT_READ_VALUE_ARGUMENT, at, &path) ||
		path.type != XAUDIT_READ_VALUE_TEXT || path.state != XAUDIT_READ_VALUE_WHOLE)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)path.size, path.text);
	const char *kernel = ask(process->pid, result.integer);
	set(process, result.integer, kernel && !strcmp(tool_base(kernel), tool_base(name)) ? kernel : name);
}

void descriptors_closed(struct read_live_process *process, const struct xaudit_read_call *call)
{
	struct xaudit_read_value number;

	if (is_named(call, "close") && value_of(call->entered, XAUDIT_READ_VALUE_ARGUMENT, 0, &number))
		set(process, number.integer, NULL);
}

void descriptors_free(struct read_live_process *process)
{
	struct descriptors *known = process->user;

	for (uint32_t i = 0; known && i < known->count; i++)
		free(known->name[i]);
	if (known)
		free(known->name);
	free(known);
	process->user = NULL;
}
