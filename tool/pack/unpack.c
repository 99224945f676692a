/* SPDX-License-Identifier: MIT */
/*
 * The folder is always a new one, and this user's alone while it is filled. Nothing is written outside of it: names
 * have at most two components (pack_name_is_good()), files are made, never opened, and no link is followed.
 */
#define _GNU_SOURCE
#include "tool/pack/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/stream.h"
#include "runtime/files/output.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/base/whole.h"
#include "tool/pack/compact_file.h"
#include "tool/pack/plain_words.h"
#include "tool/pack/slots.h"
#include "tool/read/damage/error.h"
#include "tool/read/pack/pack.h"
#include "tool/show/term/progress.h"

#define PIECE (1u << 20)
_Static_assert(PIECE >= PLAIN_MOST, "a chunk is never cut");

struct options {
	const char *output; /* NULL: the file's name without its suffix */
	bool test;
};

static const struct options_row rows[] = {
	{ 'o', "output", "DIR", "the new folder (FILE without .pack)", .take = options_text,
		.at = offsetof(struct options, output) },
	{ 't', "test", NULL, "make nothing: only find out whether all of it can be read", .take = options_flag,
		.at = offsetof(struct options, test) },
	OPTIONS_HELP,
	{ 0 },
};

static const struct options_syntax syntax = {
	.command = "unpack",
	.rows = rows,
	.column = 20,
	.head = "Usage: xaudit unpack [OPTION]... FILE\n"
		"Makes the trace folder again that `xaudit pack` made FILE of.\n"
		"\n"
		"Options:\n",
};

/* A trace that is being unpacked. */
struct unpacking {
	const char *command;
	struct pack *pack;
	struct read_damage damage;
	const char *dir; /* NULL: it is only read */
	uint64_t done, all; /* bytes of the members, holes too */
	int root, folder; /* descriptors: of dir, and of the folder in it that was last */
	char *name;	  /* of that folder; NULL: none yet */
	_Alignas(uint64_t) uint8_t piece[PIECE];
};

/* Returns false after one line on stderr. */
static bool open_packed(struct unpacking *unpacking, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why = NULL;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		unpacking->pack = pack_open(fd, path, &unpacking->damage, &why);
	else
		why = fd < 0 ? strerror(errno) : "this is not a file";
	if (unpacking->pack)
		return true;
	if (fd >= 0)
		close(fd);
	tool_error(unpacking->command, "can't open the packed trace %s: %s", path, why ? why : "out of memory");
	return false;
}

static void say_unwritten(const struct unpacking *unpacking, const char *name)
{
	int error = errno;

	progress_end();
	tool_error(unpacking->command, "%s/%s can't be written: %s; what %s holds is not all of the trace",
		unpacking->dir, name, strerror(error), unpacking->dir);
}

/* ---- writing ---- */

/* Returns false after one line on stderr. */
static bool make_root(struct unpacking *unpacking)
{
	long root = output_make(AT_FDCWD, unpacking->dir, NULL);

	if (root < 0)
		tool_error(unpacking->command, "the folder %s can't be made: %s; -o names another one", unpacking->dir,
			root == OUTPUT_FOREIGN ? "another user put one in its place" : strerror((int)-root));
	unpacking->root = root < 0 ? -1 : (int)root;
	return root >= 0;
}

/* Makes the folder that a member lies in, or is. Returns its descriptor, -1 and errno. */
static int enter(struct unpacking *unpacking, const struct pack_member *member)
{
	const char *slash = strchr(member->name, '/');
	size_t length = slash ? (size_t)(slash - member->name) : strlen(member->name);
	/* A folder that is not told of has files all the same. */
	mode_t mode = S_ISDIR(member->mode) ? (member->mode & 0777) | 0700 : 0700;

	if (!slash && !S_ISDIR(member->mode))
		return unpacking->root;
	if (unpacking->name && !strncmp(unpacking->name, member->name, length) && !unpacking->name[length])
		return unpacking->folder;
	free(unpacking->name);
	if (unpacking->folder >= 0)
		close(unpacking->folder);
	unpacking->name = memory_text(member->name, length);
	unpacking->folder = -1;
	if (mkdirat(unpacking->root, unpacking->name, mode) && errno != EEXIST)
		return -1;
	unpacking->folder =
		openat(unpacking->root, unpacking->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return unpacking->folder;
}

/* Makes the file, or the folder. Returns false after one line on stderr; *fd: -1 if it has no content. */
static bool make(struct unpacking *unpacking, const struct pack_member *member, int *fd)
{
	int folder = enter(unpacking, member);
	const char *slash = strchr(member->name, '/');

	*fd = -1;
	if (folder >= 0 && S_ISREG(member->mode))
		*fd = openat(folder, slash ? slash + 1 : member->name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, member->mode & 0777);
	if (folder >= 0 && (*fd >= 0 || S_ISDIR(member->mode)))
		return true;
	say_unwritten(unpacking, member->name);
	return false;
}

/* Copies the member's data; what is lost becomes a hole. fd -1: only reads. Returns false and errno. */
static bool copy(struct unpacking *unpacking, const struct pack_member *member, int fd)
{
	/* A place in t<n> may have been left for each chunk, and one more. */
	struct slots_back back = { .fd = fd, .spare = 2 * (member->size / STREAM_UNIT + 1) * STREAM_UNIT };
	const bool slots = member->mode & PACK_SLOTS;
	int error;

	for (uint64_t at = 0, next; (at = pack_data(member, at)) != UINT64_MAX; at = next) {
		uint64_t window = at / PIECE * PIECE + PIECE, end = window < member->size ? window : member->size;
		size_t have = pack_read(unpacking->pack, member, unpacking->piece, end - at, at, &error);

		progress(unpacking->done + at, unpacking->all);
		next = error ? pack_after_lost(unpacking->pack, member, at + have) : at + have;
		/* Holes stay holes. */
		for (uint64_t from = at; fd >= 0 && (from = pack_data(member, from)) < at + have;) {
			uint64_t to = pack_hole(member, from);
			to = to < at + have ? to : at + have;
			uint8_t *data = unpacking->piece + (from - at);
			errno = slots ? slots_put_back(&back, data, from, to) : whole_write(fd, data, to - from, from);
			if (errno)
				return false;
			from = to;
		}
		if (next <= at)
			break;
	}
	return fd < 0 || !ftruncate(fd, (off_t)(slots ? back.size : member->size));
}

/* Returns false after one line on stderr. */
static bool unpack_all(struct unpacking *unpacking)
{
	bool good = true;

	for (size_t i = 0; i < unpacking->pack->members; i++)
		unpacking->all += unpacking->pack->member[i].size;
	for (size_t i = 0; i < unpacking->pack->members && good && !unpacking->damage.no_memory; i++) {
		const struct pack_member *member = &unpacking->pack->member[i];
		int fd = -1;

		good = !unpacking->dir || make(unpacking, member, &fd);
		if (good && !copy(unpacking, member, fd)) {
			say_unwritten(unpacking, member->name);
			good = false;
		}
		unpacking->done += member->size;
		if (fd >= 0)
			close(fd);
		if (fd >= 0 && good && member->mode & PACK_COMPACT && strchr(member->name, '/'))
			compact_file(unpacking->folder, strchr(member->name, '/') + 1);
	}
	progress_end();
	return good;
}

/* ---- the command ---- */

/* Returns the exit status. */
static int tell_damage(const struct unpacking *unpacking)
{
	const struct read_damage *damage = &unpacking->damage;

	if (damage->no_memory)
		tool_error(unpacking->command, "out of memory");
	else if (damage->first && damage->more)
		tool_error(unpacking->command, "%s, and %" PRIu64 " more; the rest was read", damage->first,
			damage->more);
	else if (damage->first)
		tool_error(unpacking->command, "%s; the rest was read", damage->first);
	return damage->first || damage->no_memory ? TOOL_FAILED : TOOL_OK;
}

/* dir NULL: only reads, if that is wanted; else a name is missing. Returns the exit status. */
static int unpack(const char *command, const char *path, const char *dir, bool read_only)
{
	struct unpacking *unpacking = calloc(1, sizeof(*unpacking));
	int status = TOOL_FAILED;

	if (!unpacking) {
		tool_error(command, "out of memory");
		return status;
	}
	unpacking->command = command;
	unpacking->dir = dir;
	unpacking->root = unpacking->folder = -1;
	if (!open_packed(unpacking, path))
		goto out;
	/* What is no packed trace has no use for another name. */
	if (!dir && !read_only) {
		tool_error(command, "the name of %s does not end with %s: name the new folder with -o DIR", path,
			PACK_SUFFIX);
		status = TOOL_USAGE;
	} else if ((!dir || make_root(unpacking)) && unpack_all(unpacking)) {
		status = tell_damage(unpacking);
	}
out:
	pack_close(unpacking->pack);
	read_damage_free(&unpacking->damage);
	if (unpacking->folder >= 0)
		close(unpacking->folder);
	if (unpacking->root >= 0)
		close(unpacking->root);
	free(unpacking->name);
	free(unpacking);
	return status;
}

int unpack_check(const char *command, const char *path)
{
	return unpack(command, path, NULL, true) == TOOL_OK ? 0 : -1;
}

int unpack_main(int argc, char **argv)
{
	struct options options = { 0 };
	int first = options_take(&syntax, &options, argc, argv), status;
	size_t suffix = strlen(PACK_SUFFIX);

	if (first <= 0)
		return first ? TOOL_USAGE : TOOL_OK;
	if (argc - first != 1) {
		tool_error("unpack", argc == first ? "no packed trace is named; usage: xaudit unpack FILE"
						   : "one packed trace at a time; usage: xaudit unpack FILE");
		return TOOL_USAGE;
	}
	/* A file that would become too large (ulimit -f) is an error like others. */
	signal(SIGXFSZ, SIG_IGN);
	const char *path = argv[first];
	size_t length = strlen(path);
	char *dir = NULL;
	if (!options.test && options.output)
		dir = memory_format("%s", options.output);
	else if (!options.test && length > suffix && !strcmp(path + length - suffix, PACK_SUFFIX))
		dir = memory_text(path, length - suffix);
	status = unpack("unpack", path, dir, options.test);
	free(dir);
	return status;
}
