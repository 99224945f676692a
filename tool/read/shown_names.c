/* SPDX-License-Identifier: MIT */
#include "tool/read/shown_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool/read/names.h"

const char *read_change_word(uint32_t what)
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

const char *read_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *read_object_path(const struct read_object *object)
{
	if (!object)
		return "[unknown]";
	if (object->path && *object->path)
		return object->path;
	if (object->soname && *object->soname)
		return object->soname;
	return object->flags & TRACE_OBJECT_VDSO ? "[vdso]" : "[unknown]";
}

const char *read_function_name(
	const struct read_process *process, const struct read_function *function, char *buf, size_t size)
{
	if (!function)
		return "[unknown]";
	if (*function->name)
		return function->name;
	const struct read_object *object = read_process_object(process, function->object);
	snprintf(buf, size, "%s+0x%" PRIx64, read_path_base(read_object_path(object)), function->offset);
	return buf;
}
