/* SPDX-License-Identifier: MIT */
/* How what a trace holds is called. */
#include <inttypes.h>
#include <stdio.h>

#include "tool/read/folder.h"

const char *change_word(uint32_t what)
{
	static const char *const words[] = {
		[TRACE_CHANGE_ENABLED] = "enabled",
		[TRACE_CHANGE_DISABLED] = "disabled",
		[TRACE_CHANGE_STARTED] = "started",
		[TRACE_CHANGE_STOPPED] = "stopped",
		[TRACE_CHANGE_MODE] = "mode",
		[TRACE_CHANGE_THROTTLED] = "throttled",
		[TRACE_CHANGE_SNAPSHOT] = "snapshot",
		[TRACE_CHANGE_FULL] = "full",
	};

	return what < sizeof(words) / sizeof(*words) && words[what] ? words[what] : "changed";
}

const char *mode_word(uint64_t mode)
{
	static const char *const words[] = {
		[TRACE_MODE_STREAM] = "stream", [TRACE_MODE_RING] = "ring", [TRACE_MODE_COUNT] = "count"
	};

	return mode < sizeof(words) / sizeof(*words) ? words[mode] : "?";
}

const char *object_path(const struct object *object)
{
	if (!object)
		return "[unknown]";
	if (object->path && *object->path)
		return object->path;
	if (object->soname && *object->soname)
		return object->soname;
	return object->flags & TRACE_OBJECT_VDSO ? "[vdso]" : "[unknown]";
}

const char *function_name(const struct process *process, const struct function *function, char *buf, size_t size)
{
	if (!function)
		return "[unknown]";
	if (*function->name)
		return function->name;
	const struct object *object = process_object(process, function->object);
	snprintf(buf, size, "%s+0x%" PRIx64, path_base(object_path(object)), function->offset);
	return buf;
}
