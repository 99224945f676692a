/* SPDX-License-Identifier: MIT */
#include "tool/show/show_trace.h"

#include <inttypes.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"

static int damage(const struct xaudit_read_error *error)
{
	if (error->why == XAUDIT_READ_NO_MEMORY)
		memory_failed();
	if (error->why == XAUDIT_READ_OK)
		return TOOL_OK;
	if (error->more)
		tool_error(NULL, "%s, and %" PRIu64 " more; the rest of the trace was read", error->text, error->more);
	else
		tool_error(NULL, "%s; the rest of the trace was read", error->text);
	return TOOL_FAILED;
}

/* Why there is no trace: nothing of it was read, then. */
static void say_error(const char *command, const struct xaudit_read_error *error)
{
	if (error->why == XAUDIT_READ_NO_MEMORY)
		memory_failed();
	else if (error->why == XAUDIT_READ_DAMAGED)
		tool_error(NULL, "%s; nothing of the trace can be read", error->text);
	else
		tool_error(command, "%s", error->text);
}

struct xaudit_read_trace *show_trace(const char *path, uint32_t pid)
{
	struct xaudit_read_options options = { .size = sizeof(options), .pid = pid };
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = xaudit_read_open(path, &options, &error);

	if (!trace)
		say_error(NULL, &error);
	return trace;
}

struct xaudit_read_trace *show_trace_process(const char *command, const char *path, uint32_t place)
{
	struct xaudit_read_options options = { .size = sizeof(options), .alone = 1, .place = place };
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = xaudit_read_open(path, &options, &error);

	if (!trace && error.why != XAUDIT_READ_NO_TRACE)
		say_error(NULL, &error);
	else if (!trace && command)
		say_error(command, &error);
	return trace;
}

int show_trace_damage(const struct xaudit_read_trace *trace)
{
	struct xaudit_read_error error;

	xaudit_read_damage(trace, &error);
	return damage(&error);
}

void show_trace_need_memory(const struct xaudit_read_trace *trace)
{
	struct xaudit_read_error error;

	xaudit_read_damage(trace, &error);
	if (error.why == XAUDIT_READ_NO_MEMORY)
		memory_failed();
}
