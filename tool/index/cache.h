/* SPDX-License-Identifier: MIT */
/*
 * Folders of indexes, as the command keeps them: indexes and the stamps that say whose they are (format/index.h).
 *
 * What comes into a folder is written under another name, which begins with a dot, and renamed; so readers see all of
 * it or nothing, and two writers do each other no harm. An index that goes while somebody is about to open it is one
 * that is missing: the command is asked for it again.
 *
 * An index that another user could influence is put only into the folder of one trace. A user who may change a file has
 * chosen its symbols, and so where functions begin, for all files with the same content.
 *
 * Used is an index when it was made, and when its time of access says so. File systems set that as a rule, when a
 * process maps the index, once a day (relatime); the command does it for those that it looks for (cache_used()), so
 * that it holds where they don't (noatime). A traced process does nothing for it.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_INDEX_CACHE_H
#define XAUDIT_TOOL_INDEX_CACHE_H

#include <limits.h>
#include <sys/types.h> /* mode_t */
#include <time.h>

#include "audit/index/index.h"
#include "tool/index/cache_lock.h"
#include "tool/index/write.h"

#define CACHE_DAY    86400l	    /* seconds */
#define CACHE_FOREIGN (-4000) /* made->foreign */
#define CACHE_CHANGED (-4001) /* made->changed */

/* Whom a folder of indexes is for. */
enum { INDEX_FOR_USER, INDEX_FOR_ALL, INDEX_FOR_TRACE };

/* The folders that the module looks into, in its order. */
struct cache_folders {
	char path[3][PATH_MAX];
	const char *folder[3];
	unsigned count;
};

void cache_folders(struct cache_folders *to);

/*
 * Where this user's indexes belong: $XAUDIT_INDEX, or as index_folder() has it. Returns 1, or 0 when there is no such
 * folder, or no room in `to`. *shared: as cache_put() takes it.
 */
int cache_own_folder(char *to, size_t room, int *shared);

/* As index_make(), but what is kept of a file with the same content is taken, if it is as good. */
int cache_take(struct index_made *made, int fd, const char *path);

/*
 * The same for one that is to be put into the lock's folder: of several processes the first one makes it, and the
 * others wait for that. lock: with its folder, and not held; NULL: nobody waits. The caller unlocks it when the index
 * is there.
 */
int cache_take_locked(struct index_made *made, int fd, const char *path, struct cache_lock *lock);

/* Is it whole, and good for a file that has symbols, or has none? One made of a stripped copy lacks names. */
bool cache_is_good(const struct index *index, bool symbols);

/* Notes that an index is used, in the folders that have it, unless that was today. */
void cache_used(const struct index *index);

/*
 * Puts it into a folder, and its stamp; of what was kept, the stamp alone. The folder is made, with those above it, if
 * it is missing. Modes are those of audit/index/index.h: for all users, or the user's own. Returns 0, or -errno;
 * -EPERM: the folder is somebody else's, or others may write to it, so nobody would believe what lies there; -ENOTDIR:
 * it is no folder, or a symbolic link; CACHE_FOREIGN, unless it is a trace's; CACHE_CHANGED.
 */
int cache_put(const struct index_made *made, const char *folder, int shared);

/* What it means that cache_put() returned r < 0: why the folder takes none. */
const char *cache_why_not(int r);

/* Could cache_put() put anything there? Makes the folder. Returns as cache_put(). */
int cache_may_put(const char *folder, int shared);

/*
 * Puts a file into an open folder, in one step: readers see all of it, or what was there before. Returns 0 or -errno.
 */
int cache_put_file(int at, const char *name, const void *bytes, size_t size, mode_t mode);

/* Opens a folder that is there. Returns a descriptor, or as cache_put(). */
int cache_open(const char *folder);

#endif
