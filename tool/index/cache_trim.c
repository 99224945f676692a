/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/index/cache_trim.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/plan.h"
#include "tool/base/memory.h"
#include "tool/base/whole.h"
#include "tool/index/cache.h"

struct entry {
	char *name;
	ino_t inode;
	time_t used, made;
	uint64_t size;
};

struct entries {
	struct entry *entry;
	size_t count;
};

static bool ends(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n > m && !strcmp(name + n - m, suffix);
}

/* Is it the name of an index or of a plan? */
static bool is_content(const char *name)
{
	return ends(name, INDEX_SUFFIX) || ends(name, PLAN_SUFFIX);
}

static time_t last_use(const struct stat *st)
{
	return st->st_atime > st->st_mtime ? st->st_atime : st->st_mtime;
}

static bool look(int at, const char *name, struct stat *st)
{
	return !fstatat(at, name, st, AT_SYMLINK_NOFOLLOW) && st->st_uid == geteuid();
}

/* Does it begin as an index or a plan does, of whatever version? To ask is no use of it. */
static bool is_index(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_NOATIME | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint64_t magic = 0;

	if (fd < 0)
		return false;
	bool is = whole_read(fd, &magic, sizeof(magic), 0) &&
		  (magic == INDEX_MAGIC || !memcmp(&magic, PLAN_MAGIC, sizeof(magic)));
	close(fd);
	return is;
}

/* What a writer calls it while it writes: .NAME.PID */
static bool is_next(const char *name)
{
	const char *last = strrchr(name, '.');

	if (*name != '.' || !last || last == name || !last[1] || last[1 + strspn(last + 1, "0123456789")])
		return false;
	char *front = memory_text(name, (size_t)(last - name));
	bool is = is_content(front) || ends(front, INDEX_STAMP);
	free(front);
	return is;
}

bool cache_is_name(const char *name)
{
	return is_next(name) || (*name != '.' && (is_content(name) || ends(name, INDEX_STAMP)));
}

static void add(struct entries *entries, const char *name, const struct stat *st)
{
	if (!(entries->count & (entries->count - 1)))
		entries->entry = memory_resize(
			entries->entry, entries->count ? 2 * entries->count : 1, sizeof(*entries->entry));
	entries->entry[entries->count++] = (struct entry){ .name = memory_text(name, strlen(name)),
		.inode = st->st_ino, .used = last_use(st), .made = st->st_mtime, .size = (uint64_t)st->st_size };
}

static void read_folder(DIR *dir, struct entries *indexes, struct entries *stamps, time_t now)
{
	int at = dirfd(dir);

	for (struct dirent *d; (d = readdir(dir));) {
		struct stat st;
		bool hidden = *d->d_name == '.';
		if (!hidden && is_content(d->d_name)) {
			if (look(at, d->d_name, &st) && S_ISREG(st.st_mode) && is_index(at, d->d_name))
				add(indexes, d->d_name, &st);
		} else if (!hidden && ends(d->d_name, INDEX_STAMP)) {
			if (look(at, d->d_name, &st) && S_ISREG(st.st_mode))
				add(stamps, d->d_name, &st);
		} else if (is_next(d->d_name) && look(at, d->d_name, &st) && st.st_mtime < now - CACHE_DAY &&
			   S_ISREG(st.st_mode)) {
			unlinkat(at, d->d_name, 0);
		}
	}
}

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->used != y->used)
		return x->used < y->used ? -1 : 1;
	return x->made != y->made ? (x->made < y->made ? -1 : 1) : strcmp(x->name, y->name);
}

/* Unless another one took its place, or it was used since it was looked at. */
static bool remove_entry(int at, const struct entry *entry)
{
	struct stat st;

	return look(at, entry->name, &st) && st.st_ino == entry->inode && last_use(&st) == entry->used &&
	       !unlinkat(at, entry->name, 0);
}

static void trim_indexes(int at, struct entries *indexes, time_t now, time_t since)
{
	uint64_t sum = 0;

	if (indexes->count)
		qsort(indexes->entry, indexes->count, sizeof(*indexes->entry), by_use);
	for (size_t i = 0; i < indexes->count; i++)
		sum += indexes->entry[i].size;
	for (size_t i = 0; i < indexes->count; i++) {
		const struct entry *entry = &indexes->entry[i];
		if ((entry->used < now - CACHE_UNUSED || (sum > CACHE_MOST && entry->made < since)) &&
			remove_entry(at, entry))
			sum -= entry->size;
	}
}

static void trim_stamps(int at, const struct entries *stamps, time_t now)
{
	for (size_t i = 0; i < stamps->count; i++)
		if (stamps->entry[i].used < now - CACHE_UNUSED)
			remove_entry(at, &stamps->entry[i]);
}

static void forget(struct entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		free(entries->entry[i].name);
	free(entries->entry);
}

void cache_trim(const char *folder, time_t since)
{
	struct entries indexes = { 0 }, stamps = { 0 };
	int at = cache_open(folder);
	DIR *dir = at < 0 ? NULL : fdopendir(at);
	time_t now = time(NULL);

	if (!dir) {
		if (at >= 0)
			close(at);
		return;
	}
	read_folder(dir, &indexes, &stamps, now);
	trim_indexes(at, &indexes, now, since);
	trim_stamps(at, &stamps, now);
	forget(&indexes);
	forget(&stamps);
	closedir(dir);
}
