/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/index_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/index/index.h"
#include "tool/index/image.h"
#include "tool/index/own.h"

bool index_file_look(struct index_made *to, const struct index_identity *identity)
{
	char folder[PATH_MAX];
	struct index index;
	int shared, there = index_own_folder(folder, sizeof(folder), &shared);

	if ((!there || index_open(&index, folder, identity)) && index_open(&index, INDEX_SYSTEM_FOLDER, identity))
		return false;
	*to = (struct index_made){ .bytes = (void *)(uintptr_t)index.head, .size = index.size };
	return true;
}

/* Is it that file? Looking through it takes long, and a process may tell anything. */
static bool is_same(int fd, const struct index_identity *identity)
{
	struct image_name name;

	if (image_identify(fd, &name))
		return false;
	bool same = index_same_file(&name.identity, identity);
	free(name.soname);
	return same;
}

bool index_file_is_one(const char *a, const char *b)
{
	struct stat one, other;

	return !stat(a, &one) && !stat(b, &other) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

int index_file_make(struct index_made *to, const struct index_identity *identity, const char *path, bool own)
{
	char folder[PATH_MAX];
	int shared, fd = own_open(path);

	if (fd < 0)
		return fd;
	int r = is_same(fd, identity) ? index_make(to, fd, path) : -ESTALE;
	close(fd);
	/* A container's files have owners like ours, and its root is not ours. */
	if (r == 0 && own && index_own_folder(folder, sizeof(folder), &shared))
		index_put(to, folder, shared);
	return r;
}
