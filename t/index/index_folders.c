/* SPDX-License-Identifier: MIT */
/*
 * Which folder's index the module takes: the first that it believes, by an environment that is asked once. What no
 * folder may hold is told by the reason of the first that holds something.
 */
#define _GNU_SOURCE
#include "audit/index/find.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/index/folder.h"
#include "t/lib/tap.h"

static char home[] = "/tmp/xaudit-find.XXXXXX";
static char cache_home[100], folder[120], below_home[120], named[100];
static char *value_cache_home, *value_home, *value_named;
static int asked;

static const struct index_identity identity = { .build_id_len = 20,
	.build_id = { 0x78, 0x61, 0x75, 0x64, 0x69, 0x74, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } };

static char *environment(const char *name)
{
	asked++;
	if (!strcmp(name, "XDG_CACHE_HOME"))
		return value_cache_home;
	if (!strcmp(name, "HOME"))
		return value_home;
	return strcmp(name, "XAUDIT_INDEX") ? NULL : value_named;
}

static void take_away(const char *where)
{
	const struct index_head head = { .identity = identity };
	char path[400], name[INDEX_NAME_MAX];

	index_file_name(&head, name);
	snprintf(path, sizeof(path), "%s/%s", where, name);
	unlink(path);
	index_stamp_name(&identity, name);
	snprintf(path, sizeof(path), "%s/%s", where, name);
	unlink(path);
}

/* An index that has no part; code_low tells which. And its stamp. */
static void put(const char *where, uint64_t number, int damaged)
{
	union {
		struct index_head head;
		uint8_t bytes[INDEX_BLOCK];
	} made = { .head = { .magic = INDEX_MAGIC,
			   .version = INDEX_VERSION,
			   .head_size = sizeof(made.head),
			   .file_size = sizeof(made),
			   .blocks = sizeof(made),
			   .sums = index_sum(NULL, 0),
			   .identity = identity,
			   .code_low = number,
			   .code_high = number,
			   .parts = INDEX_PART_COUNT } };
	char path[400], name[INDEX_NAME_MAX], stamp[INDEX_NAME_MAX];

	made.head.checksum = index_sum(&made.head, sizeof(made.head));
	made.head.code_high += (uint64_t)damaged;
	take_away(where);
	index_file_name(&made.head, name);
	index_stamp_name(&identity, stamp);
	snprintf(path, sizeof(path), "%s/%s", where, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || write(fd, &made, sizeof(made)) != sizeof(made) || close(fd))
		bail("%s can't be written", path);
	snprintf(path, sizeof(path), "%s/%s", where, stamp);
	if ((fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600)) < 0 || dprintf(fd, "%s\n", name) < 0 || close(fd))
		bail("%s can't be made", path);
}

static long long find(void)
{
	struct index index;
	int r = index_find_kept(&index, &identity);
	long long number = r;

	if (!r) {
		number = (long long)index.head->code_low;
		index_close(&index);
	}
	return number;
}

int main(void)
{
	if (!mkdtemp(home))
		bail("no temporary folder");
	snprintf(cache_home, sizeof(cache_home), "%s/cache", home);
	snprintf(folder, sizeof(folder), "%s/xaudit", cache_home);
	snprintf(below_home, sizeof(below_home), "%s/.cache/xaudit", home);
	snprintf(named, sizeof(named), "%s/named", home);
	char dot[120];
	snprintf(dot, sizeof(dot), "%s/.cache", home);
	if (mkdir(cache_home, 0700) || mkdir(folder, 0700) || mkdir(named, 0700) || mkdir(dot, 0700) ||
		mkdir(below_home, 0700))
		bail("no folders");

	value_cache_home = cache_home;
	value_home = home;
	value_named = named;
	index_find_init(environment);
	int before = asked;
	is_int(find(), -ENOENT, "no folder holds one");
	put(below_home, 3, 0);
	is_int(find(), -ENOENT, "$HOME does not count beside $XDG_CACHE_HOME");
	put(folder, 2, 0);
	is_int(find(), 2, "the user's folder holds one");
	put(named, 1, 0);
	is_int(find(), 1, "the folder that is named comes before it");
	put(named, 1, 1);
	is_int(find(), 2, "what is damaged is passed over");
	chmod(named, 0770);
	is_int(find(), 2, "and what others may write to");
	take_away(folder);
	is_int(find(), -EPERM, "the reason is told where there is no other");
	chmod(named, 0700);
	is_int(find(), -EBADMSG, "each its own");
	put(folder, 2, 0);
	chmod(folder, 0702);
	is_int(find(), -EBADMSG, "of two the first");
	take_away(named);
	is_int(find(), -EPERM, "the user's folder is judged as the one that is named");
	is_int(asked, before, "the environment is not asked again");
	char *kept = strdup(cache_home);
	memset(cache_home, 'x', strlen(cache_home));
	chmod(folder, 0700);
	is_int(find(), 2, "nor are its strings needed");

	value_cache_home = NULL;
	index_find_init(environment);
	is_int(find(), 3, "without $XDG_CACHE_HOME, $HOME/.cache");
	value_cache_home = (char *)"cache";
	index_find_init(environment);
	is_int(find(), 3, "or where that is no absolute path");
	value_home = NULL;
	put(named, 1, 0);
	index_find_init(environment);
	is_int(find(), 1, "without any of both, what is named");
	if (chdir(home))
		bail("chdir failed");
	value_named = (char *)"named";
	index_find_init(environment);
	is_int(find(), -ENOENT, "unless that is no absolute path");
	static char longest[PATH_MAX + 1];
	memset(longest, '/', PATH_MAX);
	value_named = value_home = longest;
	index_find_init(environment);
	is_int(find(), -ENOENT, "or is too long");

	take_away(folder);
	take_away(below_home);
	take_away(named);
	rmdir(below_home);
	rmdir(dot);
	rmdir(folder);
	rmdir(named);
	rmdir(kept);
	free(kept);
	rmdir(home);
	return done_testing();
}
