/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/index/cache_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/index/cache.h"

/* Is the file, which is locked, still the one of that name? Who held the lock before has removed it, as a rule. */
static bool is_there(const struct cache_lock *lock)
{
	struct stat own, there;

	return !fstat(lock->fd, &own) && !fstatat(lock->at, lock->name, &there, AT_SYMLINK_NOFOLLOW) &&
	       own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

static bool try_lock(struct cache_lock *lock)
{
	struct stat st;
	int r;

	lock->fd = openat(lock->at, lock->name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (lock->fd < 0)
		return false;
	if (fstat(lock->fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return false;
	do
		r = flock(lock->fd, LOCK_EX);
	while (r && errno == EINTR);
	return !r;
}

void cache_lock(struct cache_lock *lock, const char *name)
{
	lock->fd = -1;
	lock->at = cache_may_put(lock->folder, lock->shared) ? -1 : cache_open(lock->folder);
	/* No process has the number 0: no writer has this name. */
	if (lock->at < 0 || snprintf(lock->name, sizeof(lock->name), ".%s.0", name) >= (int)sizeof(lock->name))
		return;
	while (try_lock(lock)) {
		if (is_there(lock))
			return;
		close(lock->fd);
	}
	if (lock->fd >= 0)
		close(lock->fd);
	lock->fd = -1;
}

void cache_unlock(struct cache_lock *lock)
{
	if (lock->fd >= 0) {
		unlinkat(lock->at, lock->name, 0);
		close(lock->fd);
	}
	if (lock->at >= 0)
		close(lock->at);
	lock->at = lock->fd = -1;
}
