/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/index_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/index/folder.h"
#include "audit/index/index.h"
#include "tool/base/memory.h"
#include "tool/index/cache_trim.h"
#include "tool/index/image.h"
#include "tool/index/own_file.h"

bool index_file_look(struct index_made *to, const struct index_identity *identity)
{
	struct cache_folders in;
	struct index index;

	cache_folders(&in);
	if (index_look(&index, in.folder, in.count, identity))
		return false;
	cache_used(&index);
	*to = (struct index_made){ .bytes = memory_zeroed(index.size, 1), .size = index.size };
	memcpy(to->bytes, index.head, index.size);
	index_close(&index);
	index_made_for(to, identity);
	return true;
}

/* Is it that file? Looking through it takes long, and a process may tell anything. */
static bool is_same(int fd, const struct index_identity *identity)
{
	struct image_name name;

	if (image_identify(fd, &name))
		return false;
	/* It may have been linked or renamed. Who writes to a file that is mapped changes what is mapped, too. */
	name.identity.changed = identity->changed;
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
	struct cache_lock lock = { .folder = folder, .at = -1, .fd = -1 };
	time_t begun = time(NULL);
	int fd = own_open(path);

	if (fd < 0)
		return fd;
	/* A container's files have owners like ours, and its root is not ours. */
	bool keep = own && cache_own_folder(folder, sizeof(folder), &lock.shared);
	int r = is_same(fd, identity) ? cache_take_locked(to, fd, path, keep ? &lock : NULL) : -ESTALE;
	close(fd);
	if (!r && to->changed) {
		free(to->bytes);
		r = -ESTALE;
	}
	bool put = !r && keep && !cache_put(to, folder, lock.shared);
	cache_unlock(&lock);
	if (put)
		cache_trim(folder, begun);
	if (!r)
		index_made_for(to, identity);
	return r;
}
