/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/discover.h"

#include <dlfcn.h>  /* dlopen */
#include <errno.h>  /* ENOENT */
#include <string.h> /* strrchr */

#include "runtime/process.h"

#define NAME "libxaudit-sites.so"

typedef int scan_function(struct site_set *, int, unsigned);

/* The function, or NULL. */
static scan_function *load(void)
{
	char path[4096];
	Dl_info us;
	void *library = NULL;

	if (dladdr((void *)load, &us) && us.dli_fname && strlen(us.dli_fname) + sizeof(NAME) < sizeof(path)) {
		strcpy(path, us.dli_fname);
		char *slash = strrchr(path, '/');
		strcpy(slash ? slash + 1 : path, NAME);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library ? (scan_function *)dlsym(library, "site_scan") : NULL;
}

int discover(struct site_set *set, int fd, unsigned kinds)
{
	static scan_function *scan;
	static int tried;
	struct process_held held;

	if (!tried) {
		tried = 1;
		scan = load();
		if (!scan) {
			process_lock(&held);
			process_say(NAME " can't be loaded from beside libxaudit.so; no compile-time sites are traced");
			process_unlock(&held);
		}
	}
	return scan ? scan(set, fd, kinds) : -ENOENT;
}
