/* SPDX-License-Identifier: MIT */
#include "tool/base/late.h"

#include <dlfcn.h>
#include <string.h>

#include "tool/base/tool.h"

bool late_open(const struct late_library *library, const char *command, void *to)
{
	void *opened = NULL;

	for (unsigned i = 0; !opened && library->file[i]; i++)
		opened = dlopen(library->file[i], RTLD_NOW | RTLD_LOCAL);
	if (!opened) {
		tool_error(command, "%s needs %s (Debian: %s), which can't be opened: %s", library->wanted_by,
			library->name, library->package, dlerror());
		return false;
	}
	for (const struct late_function *function = library->function; function->name; function++) {
		void *found = dlsym(opened, function->name);

		if (!found) {
			tool_error(command, "the %s of this system has no %s()", library->name, function->name);
			return false;
		}
		memcpy((char *)to + function->at, &found, sizeof(found));
	}
	return true;
}
