/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/pack/sources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/pack/plain_words.h"
#include "tool/pack/write.h"
#include "tool/read/compact.h"
#include "tool/read/pack/pack.h"
#include "tool/read/path.h"

#define BLOCK	    (1u << 20)
#define BLOCK_LEAST (256u << 10)

static int by_number(const void *a, const void *b)
{
	return strverscmp(((const struct pack_source *)a)->name, ((const struct pack_source *)b)->name);
}

/* Returns NULL if there is no memory. */
static struct pack_source *add(struct pack_write *write, const char *folder, const char *name)
{
	struct pack_source *more = reallocarray(write->source, write->sources + 1, sizeof(*more));
	struct pack_source *source = more ? &more[write->sources] : NULL;

	write->source = more ? more : write->source;
	if (!more)
		return NULL;
	*source = (struct pack_source){ 0 };
	if (asprintf(&source->name, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
		return NULL;
	write->sources++;
	return source;
}

/* Adds [begin, end) to the extents. Returns 0, or -1 and the error. */
static int add_extent(struct pack_write *write, struct pack_source *source, uint64_t begin, uint64_t end)
{
	if (source->extents && source->extent[source->extents - 1].end == begin) {
		source->extent[source->extents - 1].end = end;
		return 0;
	}
	if (!(source->extents & (source->extents + 1))) {
		struct pack_extent *more = reallocarray(source->extent, 2 * source->extents + 2, sizeof(*more));
		if (!more)
			return pack_failed(write, ENOMEM, source->name);
		source->extent = more;
	}
	source->extent[source->extents++] = (struct pack_extent){ begin, end };
	return 0;
}

/* The chunks of t<n>, each in its slot. */
static int take_slots(struct pack_write *write, struct pack_source *source)
{
	const struct slots *slots = &source->slots;

	source->mode |= PACK_SLOTS;
	for (size_t i = 0; i < slots->count; i++) {
		source->size = i * slots->size + slots->slot[i].bytes;
		write->data += slots->slot[i].stored;
		if (add_extent(write, source, i * slots->size, source->size))
			return -1;
	}
	return 0;
}

/* Where the file's data lies; if holes can't be seen, everywhere. Sets the member's size, too. */
static int find_extents(struct pack_write *write, struct pack_source *source, const struct compact *file)
{
	if (plain_may_be(source->name) && slots_find(&source->slots, file))
		return pack_failed(write, ENOMEM, source->name);
	if (source->slots.count)
		return take_slots(write, source);
	source->size = source->file;
	for (uint64_t at = 0, end; at < source->file; at = end) {
		uint64_t begin = compact_data(file, at);
		if (begin == UINT64_MAX)
			break;
		end = compact_hole(file, begin);
		end = end < source->file ? end : source->file;
		if (end <= begin)
			break;
		write->data += end - begin;
		if (add_extent(write, source, begin, end))
			return -1;
	}
	return 0;
}

/*
 * Does somebody write to the file? Of a meta the kernel tells, if we own it and the file system can: it grants a lease
 * for reading only where nobody has the file open for writing, or mapped. DIR/record is locked by `xaudit record`.
 */
static bool is_written(const struct pack_write *write, const char *folder, const char *name, int fd)
{
	bool written = false;

	if (*folder && !strcmp(name, "meta")) {
		/* If a process opens it just now, the signal shall be one that does nothing. */
		fcntl(fd, F_SETSIG, SIGURG);
		written = fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;
		fcntl(fd, F_SETLEASE, F_UNLCK);
	} else if (!*folder && !strcmp(name, "record") && !write->ours) {
		written = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	}
	return written;
}

/* Notes an error about a file. Returns -1. */
static int failed_at(struct pack_write *write, int error, const char *folder, const char *name)
{
	char path[2 * NAME_MAX + 2];

	snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", name);
	return pack_failed(write, error, path);
}

/* Adds the file `name` in the folder that is open as `at`. */
static int add_file(struct pack_write *write, int at, const char *folder, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), result = 0;
	struct compact file = { .fd = -1 };
	struct pack_source *source;
	struct stat st;

	if (fd < 0 && (errno == ELOOP || errno == ENXIO || errno == ENOENT)) {
		write->left_out++;
		return 0;
	}
	if (fd < 0 || fstat(fd, &st)) {
		result = failed_at(write, errno, folder, name);
	} else if (!S_ISREG(st.st_mode)) {
		write->left_out++;
	} else if (is_written(write, folder, name, fd)) {
		write->changed = true;
		result = failed_at(write, EBUSY, folder, name);
	} else if (compact_open(&file, fd) || !(source = add(write, folder, name))) {
		result = failed_at(write, ENOMEM, folder, name);
	} else {
		source->file = compact_size(&file);
		source->mode = (st.st_mode & (S_IFMT | 0777)) | (file.is ? PACK_COMPACT : 0);
		write->files++;
		result = find_extents(write, source, &file);
	}
	compact_close(&file);
	if (fd >= 0)
		close(fd);
	return result;
}

/* The names in a folder, of which the caller frees each, and the list; NULL: none. */
static char **list_names(struct pack_write *write, int fd, size_t *count)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	char **name = NULL;

	*count = 0;
	if (!dir) {
		pack_failed(write, errno, NULL);
		if (own >= 0)
			close(own);
		return NULL;
	}
	for (struct dirent *entry; !write->error && (entry = readdir(dir));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		char **more = reallocarray(name, *count + 1, sizeof(*name));
		name = more ? more : name;
		if (!more || !(name[*count] = strdup(entry->d_name)))
			pack_failed(write, ENOMEM, NULL);
		else
			++*count;
	}
	closedir(dir);
	return name;
}

static void free_names(char **name, size_t count)
{
	while (count)
		free(name[--count]);
	free(name);
}

/* Adds a folder p<pid>[.<n>] and its files. */
static void add_process(struct pack_write *write, const char *name)
{
	int fd = openat(write->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct pack_source *source = fd < 0 ? NULL : add(write, "", name);
	struct stat st;
	size_t count = 0;
	char **file = NULL;

	if (fd < 0 || fstat(fd, &st)) {
		pack_failed(write, errno, name);
	} else if (!source) {
		pack_failed(write, ENOMEM, name);
	} else {
		source->mode = st.st_mode & (S_IFMT | 0777);
		file = list_names(write, fd, &count);
	}
	for (size_t i = 0; i < count && !write->error; i++)
		add_file(write, fd, name, file[i]);
	free_names(file, count);
	if (fd >= 0)
		close(fd);
}

static bool is_meta(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && !strcmp(slash, "/meta");
}

/* What is wanted to understand the rest comes first: so a packed file that was cut off says most. */
static unsigned rank(const struct pack_source *source)
{
	return S_ISDIR(source->mode) ? 0 : !strchr(source->name, '/') ? 1 : is_meta(source->name) ? 2 : 3;
}

static int by_rank(const void *a, const void *b)
{
	unsigned x = rank(a), y = rank(b);

	return x != y ? (x < y ? -1 : 1) : by_number(a, b);
}

/*
 * Smaller blocks where many files are read in turn, as dump and replay do: a block of each should be in the reader's
 * memory at once.
 */
static void choose_block(struct pack_write *write)
{
	uint64_t streams = 0;

	/* A meta in mode ring has the chunks of many threads, each of 8 MiB if nothing else was said. */
	for (size_t i = 0; i < write->sources; i++)
		streams += rank(&write->source[i]) == 3 ? 1 : write->source[i].size >> 23;
	write->block = BLOCK;
	while (write->block > BLOCK_LEAST && write->block * streams > PACK_CACHE / 2)
		write->block /= 2;
}

int pack_sources_find(struct pack_write *write)
{
	size_t count;
	char **name = list_names(write, write->folder, &count);
	struct stat st;

	for (size_t i = 0; i < count && !write->error; i++) {
		if (fstatat(write->folder, name[i], &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
			add_file(write, write->folder, "", name[i]);
		else if (read_path_is_process(name[i], 0))
			add_process(write, name[i]);
	}
	free_names(name, count);
	if (write->error)
		return -1;
	if (write->sources)
		qsort(write->source, write->sources, sizeof(*write->source), by_rank);
	choose_block(write);
	return 0;
}
