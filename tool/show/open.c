/* SPDX-License-Identifier: MIT */
#include "tool/show/open.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tool/memory.h"
#include "tool/read/folder.h"
#include "tool/tool.h"

void show_need_memory(const struct read_folder *folder)
{
	if (folder->damage.no_memory)
		memory_failed();
}

int show_damage(const struct read_damage *damage)
{
	if (damage->no_memory)
		memory_failed();
	if (!damage->first)
		return TOOL_OK;
	if (damage->more)
		tool_error(
			NULL, "%s, and %" PRIu64 " more; the rest of the trace was read", damage->first, damage->more);
	else
		tool_error(NULL, "%s; the rest of the trace was read", damage->first);
	return TOOL_FAILED;
}

static void say(const char *command, const char *path, const struct read_error *error)
{
	switch (error->why) {
	case READ_NO_FOLDER:
		tool_error(NULL, "can't open the trace %s: %s; %s", path, strerror(error->number),
			error->number == EACCES ? "only the user who made it, and root, can read it"
						: "`xaudit record COMMAND` makes one");
		break;
	case READ_NO_TRACE:
		tool_error(NULL, "no traced process in %s; is it a folder that `xaudit record` made?", path);
		break;
	case READ_NO_PID:
		tool_error(NULL, "no process %" PRIu32 " in %s; `xaudit info` lists them", error->pid, path);
		break;
	case READ_NO_NAME:
		tool_error(NULL, "no process %s in %s; `xaudit info` lists them", error->name, error->folder);
		break;
	case READ_NO_PROCESS:
		if (command)
			tool_error(command, "%s: %s", path,
				error->damage.first ? error->damage.first : "there is no trace of a process");
		break;
	case READ_DAMAGED:
		show_damage(&error->damage);
		break;
	case READ_NO_MEMORY:
		memory_failed();
	case READ_NOTHING_WRONG:
		break;
	}
}

struct read_folder *show_open(const char *path, uint32_t pid)
{
	struct read_error error;
	struct read_folder *folder = read_folder_open(path, pid, &error);

	if (!folder)
		say(NULL, path, &error);
	read_error_free(&error);
	return folder;
}

struct read_folder *show_open_process(const char *command, const char *path, uint32_t place)
{
	struct read_error error;
	struct read_folder *folder = read_folder_open_process(path, place, &error);

	if (!folder)
		say(command, path, &error);
	read_error_free(&error);
	return folder;
}

/* ---- by xaudit-read.h ---- */

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

static void say_error(const char *command, const struct xaudit_read_error *error)
{
	if (error->why == XAUDIT_READ_DAMAGED || error->why == XAUDIT_READ_NO_MEMORY)
		damage(error);
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
