/* SPDX-License-Identifier: MIT */
#include "audit/index/find.h"

#include <limits.h> /* PATH_MAX */

#include "x86_64/sys.h"

#define FOLDERS 3 /* one that `xaudit record` names, the user's, the system's */

/* Paths, one behind the other, as a rule in one page. */
static char paths[FOLDERS * PATH_MAX] SYS_LARGE;
static const char *folder[FOLDERS];
static unsigned folders;

void index_find_init(char *(*environment)(const char *name))
{
	const char *cache_home = environment("XDG_CACHE_HOME"), *home = environment("HOME");
	const char *named = environment(INDEX_FOLDER_VARIABLE);
	char *to = paths;

	folders = 0;
	if (named && named[0] == '/' && sys_length(named) < PATH_MAX) {
		sys_copy(to, named, sys_length(named) + 1);
		folder[folders++] = to;
		to += sys_length(to) + 1;
	}
	for (unsigned i = 0; i < 2; i++) {
		if (!index_folder(i, cache_home, home, to, PATH_MAX))
			continue;
		folder[folders++] = to;
		to += sys_length(to) + 1;
	}
}

/* Is there an index, though one that is refused? Otherwise the folder is not there, or out of reach. */
static int tells_of_one(int r)
{
	return r == -EPERM || r == -EBADMSG || r == -EPROTO || r == -ESTALE;
}

int index_find(struct index *to, const struct index_identity *identity, const char *path)
{
	int why = -ENOENT;

	(void)path;
	for (unsigned i = 0; i < folders; i++) {
		int r = index_open(to, folder[i], identity);
		if (!r)
			return 0;
		if (why == -ENOENT && tells_of_one(r))
			why = r;
	}
	return why;
}
