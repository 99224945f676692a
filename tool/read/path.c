/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_PATH */
#include "tool/read/path.h"

#include <ctype.h> /* isdigit */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/plain.h"
#include "tool/read/damage/memory.h"
#include "tool/read/pack/pack.h"

/* p<pid> or p<pid>.<n> */
bool read_path_is_process(const char *name, uint32_t pid)
{
	char *end;

	if (name[0] != 'p' || !isdigit((unsigned char)name[1]))
		return false;
	unsigned long number = strtoul(name + 1, &end, 10);
	if (*end == '.' && isdigit((unsigned char)end[1]))
		strtoul(end + 1, &end, 10);
	return !*end && (!pid || number == pid);
}

/*
 * The folder that a path lies in, and after a NUL its last name; the caller frees both as one. NULL: there is no
 * memory.
 */
char *read_path_apart(struct read_damage *damage, const char *path, const char **name)
{
	char *own = read_memory_text(damage, path, strlen(path)), *slash;

	if (!own)
		return NULL;
	for (size_t n = strlen(own); n > 1 && own[n - 1] == '/'; n--)
		own[n - 1] = '\0';
	slash = strrchr(own, '/');
	if (slash && slash != own) {
		*slash = '\0';
		*name = slash + 1;
		return own;
	}
	char *both = read_memory_format(damage, "%s%c%s", slash ? "/" : ".", 0, slash ? own + 1 : own);
	if (both)
		*name = both + strlen(both) + 1;
	free(own);
	return both;
}

bool read_path_is_folder(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool has_meta(struct read_damage *damage, const char *path)
{
	char *meta = read_memory_format(damage, "%s/meta", path);
	struct stat s;
	bool has = meta && stat(meta, &s) == 0;

	free(meta);
	return has;
}

/* DIR/p<pid>[.<n>], a folder. */
static void find_folder(struct read_wanted *wanted, struct read_damage *damage, const char *path)
{
	const char *name;
	char *parent = read_path_apart(damage, path, &name), *real;

	/* Perhaps ".", or a link. */
	if (parent && !read_path_is_process(name, 0)) {
		real = realpath(path, NULL);
		if (real) {
			free(parent);
			parent = read_path_apart(damage, real, &name);
			free(real);
		} else {
			damage->no_memory |= errno == ENOMEM;
		}
	}
	if (parent && read_path_is_process(name, 0)) {
		wanted->path = parent;
		wanted->folder = name;
	} else {
		free(parent);
	}
}

/* DIR/p<pid>[.<n>] where that is no folder, or DIR/p<pid>[.<n>]/<place>. */
static void find_name(struct read_wanted *wanted, struct read_damage *damage, const char *path)
{
	const char *name, *folder;
	char *parent = read_path_apart(damage, path, &name), *trace;

	if (parent && read_path_is_process(name, 0) && read_path_is_folder(parent)) {
		wanted->path = parent;
		wanted->name = name;
		return;
	}
	if (parent && *name && !name[strspn(name, "0123456789")] && has_meta(damage, parent) &&
		(trace = read_path_apart(damage, parent, &folder))) {
		wanted->buffer = read_memory_format(damage, "%s/%s", folder, name);
		wanted->name = wanted->buffer;
		wanted->path = trace;
	}
	free(parent);
}

/* Opens a packed trace of that name. -1: it is none. */
static int open_pack(const char *path)
{
	int fd = plain_open(AT_FDCWD, path);

	if (fd >= 0 && pack_is(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

#define PACKED_COMPONENTS 2 /* that may come after the name of a packed trace */

/* FILE, FILE/p<pid>[.<n>], FILE/p<pid>[.<n>]/<place>; or FILE without its suffix. */
static void find_pack(struct read_wanted *wanted, struct read_damage *damage, const char *path)
{
	struct stat s;
	char *own = read_memory_text(damage, path, strlen(path));
	size_t length = own ? strlen(own) : 0;

	for (int i = 0; own && i <= PACKED_COMPONENTS; i++) {
		wanted->pack = open_pack(own);
		char *slash = strrchr(own, '/');
		if (wanted->pack >= 0 || !slash || slash == own)
			break;
		*slash = '\0';
	}
	if (wanted->pack >= 0) {
		/* The slashes that were cut off stand again, but for the first. */
		size_t begin = strlen(own);
		for (size_t at = begin + 1; at < length; at++)
			if (!own[at])
				own[at] = '/';
		wanted->path = own;
		wanted->name = begin < length && own[begin + 1] ? own + begin + 1 : NULL;
		return;
	}
	free(own);
	if (stat(path, &s) && errno == ENOENT) {
		own = read_memory_format(damage, "%s%s", path, PACK_SUFFIX);
		wanted->pack = own ? open_pack(own) : -1;
		if (wanted->pack >= 0)
			wanted->path = own;
		else
			free(own);
	}
}

void read_path_find(struct read_wanted *wanted, struct read_damage *damage, const char *path)
{
	if (has_meta(damage, path)) {
		find_folder(wanted, damage, path);
	} else if (!read_path_is_folder(path)) {
		find_pack(wanted, damage, path);
		if (wanted->pack < 0)
			find_name(wanted, damage, path);
	}
}
