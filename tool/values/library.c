/* SPDX-License-Identifier: MIT */
#include "tool/values/library.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/values/prototype.h"

static bool is_of(const struct prototype *function, const char *library)
{
	size_t n;

	for (const char *name = function->libraries; name && *name; name += n + 1) {
		n = strcspn(name, " ");
		if (!strncmp(name, library, n) && (library[n] == '.' || library[n] == '-'))
			return true;
	}
	return !function->libraries;
}

const struct prototype *library_prototype(const struct prototypes *of, const char *name, const char *library)
{
	const struct prototype *found = prototypes_find(of, name);
	size_t length = strlen(name);

	if (found)
		return is_of(found, library) ? found : NULL;
	if (*name == '_')
		return library_prototype(of, name + strspn(name, "_"), library);
	if (length > 2 && !strcmp(name + length - 2, "64")) {
		char *shorter = memory_text(name, length - 2);
		found = library_prototype(of, shorter, library);
		free(shorter);
	}
	return found;
}
