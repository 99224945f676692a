/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/index/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/index/find.h"
#include "audit/index/folder.h"
#include "tool/base/memory.h"
#include "tool/base/whole.h"
#include "tool/index/image.h"
#include "tool/index/own_file.h"

/* ---- folders ---- */

/* Makes the folder, and those above it as mkdir -p does: what is above is as the umask has it. */
static int make_folder(const char *folder, mode_t mode)
{
	char *path = memory_text(folder, strlen(folder));
	int r = 0;

	for (char *p = path + 1; !r && (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0777) && errno != EEXIST && errno != EROFS)
			r = -errno;
		*p = '/';
	}
	free(path);
	if (r || !mkdir(folder, mode))
		return r;
	return errno == EEXIST ? 0 : -errno;
}

int cache_own_folder(char *to, size_t room, int *shared)
{
	const char *named = getenv(INDEX_FOLDER_VARIABLE);

	*shared = INDEX_FOR_USER;
	if (named && *named == '/')
		return snprintf(to, room, "%s", named) < (int)room;
	*shared = geteuid() ? INDEX_FOR_USER : INDEX_FOR_ALL;
	return index_folder((unsigned)*shared, getenv("XDG_CACHE_HOME"), getenv("HOME"), to, room);
}

void cache_folders(struct cache_folders *to)
{
	const char *named = getenv(INDEX_FOLDER_VARIABLE);

	to->count = 0;
	if (named && *named == '/' && strlen(named) < PATH_MAX) {
		strcpy(to->path[0], named);
		to->count = 1;
	}
	for (unsigned i = 0; i < 2; i++)
		if (index_folder(
			    i, getenv("XDG_CACHE_HOME"), getenv("HOME"), to->path[to->count], sizeof(to->path[0])))
			to->count++;
	for (unsigned i = 0; i < to->count; i++)
		to->folder[i] = to->path[i];
}

int cache_open(const char *folder)
{
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (at < 0)
		return errno == ELOOP ? -ENOTDIR : -errno;
	int r = fstat(at, &st) ? -errno : 0;
	if (!r && (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)))
		r = -EPERM;
	if (!r)
		return at;
	close(at);
	return r;
}

static int have_folder(const char *folder, int shared)
{
	int r = make_folder(folder, shared == INDEX_FOR_ALL ? 0755 : 0700);

	return r ? r : cache_open(folder);
}

const char *cache_why_not(int r)
{
	switch (r) {
	case CACHE_FOREIGN:
		return "another user may change the file, and what it says of its functions";
	case CACHE_CHANGED:
		return "the file changed while it was read";
	case -EPERM:
		return "it is not yours, or others may write to it";
	case -ENOTDIR:
		return "it is no folder, or a link to one";
	default:
		return strerror(-r);
	}
}

int cache_may_put(const char *folder, int shared)
{
	int at = have_folder(folder, shared), r = 0;

	if (at < 0)
		return at;
	if (faccessat(at, ".", W_OK | X_OK, AT_EACCESS))
		r = -errno;
	close(at);
	return r;
}

/* ---- what is kept ---- */

bool cache_is_good(const struct index *index, bool symbols)
{
	struct index copy;

	return !(symbols && index->head->flags & INDEX_NO_SYMBOLS) &&
	       !index_attach(&copy, index->head, index->size, NULL);
}

void cache_used(const struct index *index)
{
	const struct timespec now[] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } };
	struct cache_folders in;
	char name[INDEX_NAME_MAX];
	struct stat st;

	index_file_name(index->head, name);
	cache_folders(&in);
	for (unsigned i = 0; i < in.count; i++) {
		char *path = memory_format("%s/%s", in.folder[i], name);
		if (!lstat(path, &st) && S_ISREG(st.st_mode) && st.st_atime < time(NULL) - CACHE_DAY)
			utimensat(AT_FDCWD, path, now, AT_SYMLINK_NOFOLLOW);
		free(path);
	}
}

/*
 * One of a file with this content. It is a copy, and says that it is of this file. Where a folder before has one that
 * is no good, as of another version, the module would take that: so it counts as new, and is put in its place.
 */
static bool take_kept(struct index_made *made, const struct image_name *name)
{
	struct index_head like = { .identity = name->identity };
	struct cache_folders in;
	char file[INDEX_NAME_MAX];
	bool good = false, spoilt = false;

	memcpy(like.content, name->content, sizeof(like.content));
	index_file_name(&like, file);
	cache_folders(&in);
	for (unsigned i = 0; i < in.count && !good; i++) {
		struct index index;
		int r = index_open_named(&index, in.folder[i], &name->identity, file);
		spoilt |= r == -EPROTO || r == -EBADMSG;
		if (r)
			continue;
		good = cache_is_good(&index, name->symbols);
		spoilt |= !good;
		if (good) {
			cache_used(&index);
			*made = (struct index_made){ .bytes = memory_zeroed(index.size, 1), .size = index.size };
			memcpy(made->bytes, index.head, index.size);
			made->kept = !spoilt;
			index_made_for(made, &name->identity);
		}
		index_close(&index);
	}
	return good;
}

int cache_take(struct index_made *made, int fd, const char *path)
{
	return cache_take_locked(made, fd, path, NULL);
}

static void wait_for_others(struct cache_lock *lock, const struct image_name *name)
{
	struct index_head like = { .identity = name->identity };
	char file[INDEX_NAME_MAX];

	memcpy(like.content, name->content, sizeof(like.content));
	index_file_name(&like, file);
	cache_lock(lock, file);
}

int cache_take_locked(struct index_made *made, int fd, const char *path, struct cache_lock *lock)
{
	struct image_name name;
	int r = image_identify_content(fd, &name);

	if (r)
		return r;
	free(name.soname);
	bool kept = take_kept(made, &name);
	/* What is not put there at the end is nothing to wait for. */
	if (!kept && lock && own_is(fd)) {
		wait_for_others(lock, &name);
		kept = lock->fd >= 0 && take_kept(made, &name);
	}
	if (!kept)
		return index_make(made, fd, path, &name);
	made->foreign = !own_is(fd);
	made->changed = !image_is_still(fd, &name.identity);
	return 0;
}

/* ---- putting ---- */

/* A name for what is written, until it is renamed. */
static void next_name(const char *name, char *to, size_t room)
{
	snprintf(to, room, ".%s.%ld", name, (long)getpid());
}

int cache_put_file(int at, const char *name, const void *bytes, size_t size, mode_t mode)
{
	char next[INDEX_NAME_MAX + 32];

	next_name(name, next, sizeof(next));
	/* One that a killed process of our number left. */
	unlinkat(at, next, 0);
	int fd = openat(at, next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	int r = -whole_write(fd, bytes, size, 0);
	/* Whatever the umask is: what others can't read is no use to them. */
	if (!r && fchmod(fd, mode))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	if (!r && renameat(at, next, at, name))
		r = -errno;
	if (r)
		unlinkat(at, next, 0);
	return r;
}

static int put_stamp(int at, const struct index_identity *identity, const char *name, mode_t mode)
{
	char stamp[INDEX_NAME_MAX], text[INDEX_NAME_MAX + 1];

	index_stamp_name(identity, stamp);
	snprintf(text, sizeof(text), "%s\n", name);
	return cache_put_file(at, stamp, text, strlen(text), mode);
}

int cache_put(const struct index_made *made, const char *folder, int shared)
{
	const struct index_head *head = made->bytes;
	char name[INDEX_NAME_MAX];

	if (made->foreign && shared != INDEX_FOR_TRACE)
		return CACHE_FOREIGN;
	if (made->changed)
		return CACHE_CHANGED;
	int at = have_folder(folder, shared), r = 0;
	mode_t mode = shared == INDEX_FOR_ALL ? 0644 : 0600;
	if (at < 0)
		return at;
	index_file_name(head, name);
	/* Another one may go; a trace keeps its own. */
	if (!made->kept || shared == INDEX_FOR_TRACE)
		r = cache_put_file(at, name, made->bytes, made->size, mode);
	if (!r)
		r = put_stamp(at, &head->identity, name, mode);
	close(at);
	return r;
}
