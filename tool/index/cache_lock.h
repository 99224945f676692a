/* SPDX-License-Identifier: MIT */
/*
 * One process at a time makes an index that is to be kept: who holds its lock. Others wait, and find it made. That
 * saves work, and nothing else depends on it. The lock is of a file beside the index, with a name such as writers
 * have (cache_trim.h removes what killed ones leave), that the last one removes; in a folder that cache_put()
 * would take, so nobody else can hold it.
 */
#ifndef XAUDIT_TOOL_INDEX_CACHE_LOCK_H
#define XAUDIT_TOOL_INDEX_CACHE_LOCK_H

struct cache_lock {
	const char *folder; /* of indexes, and for whom that is, as cache_put() takes it */
	int shared;
	int at, fd; /* folder, and the lock's file; -1: not held */
	char name[256];
};

/* Waits for the lock of an index of that name. Where there can't be one, none is held. */
void cache_lock(struct cache_lock *lock, const char *name);
void cache_unlock(struct cache_lock *lock);

#endif
