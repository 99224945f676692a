/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/trace_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h> /* lseek */

#include "tool/base/plain.h"
#include "tool/read/compact.h"
#include "tool/read/pack/pack.h"

#define LEASE_TRIES 100

struct read_file {
	struct read_files *files;
	const struct pack_member *member; /* NULL: it is a file of its own */
	char *name; /* relative to the folder */
	int fd;	    /* -1: not open now */
	struct compact as; /* what it stands for */
	dev_t dev;
	ino_t ino;
	struct read_file *newer, *older; /* in the order of use of open files */
};

static void unlink_open(struct read_file *file)
{
	*(file->newer ? &file->newer->older : &file->files->newest) = file->older;
	*(file->older ? &file->older->newer : &file->files->oldest) = file->newer;
}

static void link_newest(struct read_file *file)
{
	struct read_files *files = file->files;

	file->newer = NULL;
	file->older = files->newest;
	*(files->newest ? &files->newest->newer : &files->oldest) = file;
	files->newest = file;
}

static void close_now(struct read_file *file)
{
	if (file->fd < 0)
		return;
	unlink_open(file);
	close(file->fd);
	file->fd = -1;
	file->files->open--;
}

static int open_list(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/*
 * If no descriptor is free, one of our own files is closed. If a process has a lease on the file (tool/record/trim.c)
 * it gives that up at once; until then the file can't be opened.
 */
static int open_at(struct read_files *files, const char *name, int (*open_it)(int at, const char *name))
{
	int fd, leased = 0;

	while ((fd = open_it(files->at, name)) < 0) {
		if (errno == EAGAIN && leased++ < LEASE_TRIES)
			usleep(1000);
		else if ((errno == EMFILE || errno == ENFILE) && files->oldest)
			close_now(files->oldest);
		else
			break;
	}
	return fd;
}

/* Returns -1 if it can't be opened; then *why is a phrase, NULL if there is no such file. */
static int open_regular(struct read_files *files, const char *name, const char **why)
{
	int fd = open_at(files, name, plain_open);

	*why = fd >= 0 || errno == ENOENT ? NULL : errno == EINVAL ? "this is not a file" : strerror(errno);
	return fd;
}

/* Opens the file, for the first time or again. */
static bool open_now(struct read_file *file, struct stat *st, const char **why)
{
	if (file->files->open >= READ_FILES_OPEN)
		close_now(file->files->oldest);
	file->fd = open_regular(file->files, file->name, why);
	if (file->fd < 0)
		return false;
	if (fstat(file->fd, st)) {
		int error = errno;
		*why = strerror(error);
		close(file->fd);
		file->fd = -1;
		errno = error;
		return false;
	}
	posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	file->files->open++;
	link_newest(file);
	return true;
}

/* For the first time: looks whether it is compact. */
static bool open_first(struct read_file *file, struct stat *st, const char **why)
{
	if (!open_now(file, st, why))
		return false;
	if (compact_open(&file->as, file->fd)) {
		*why = strerror(ENOMEM);
		close_now(file);
		errno = ENOMEM;
		return false;
	}
	st->st_size = file->as.is ? (off_t)file->as.size : st->st_size;
	return true;
}

/* What stat() would say of the file if it was not packed, as far as our callers ask. */
static struct stat member_stat(const struct pack_member *member)
{
	uint64_t blocks = 0;

	for (uint64_t i = 0; i < member->extents; i++)
		blocks += (member->extent[i].end + READ_FILE_BLOCK - 1) / READ_FILE_BLOCK -
			  member->extent[i].begin / READ_FILE_BLOCK;
	return (struct stat){ .st_mode = member->mode,
		.st_size = (off_t)member->size,
		.st_blocks = (blkcnt_t)(blocks * (READ_FILE_BLOCK / 512)),
		.st_ino = member->number + 1ul };
}

/* Returns false, *why and errno if there is no such file. */
static bool open_member(struct read_file *file, struct stat *st, const char **why)
{
	const char *name = !strncmp(file->name, "./", 2) ? file->name + 2 : file->name;

	file->member = pack_find(file->files->pack, name);
	if (!file->member || !S_ISREG(file->member->mode)) {
		*why = file->member ? "this is not a file" : NULL;
		errno = file->member ? EINVAL : ENOENT;
		return false;
	}
	*why = NULL;
	*st = member_stat(file->member);
	return true;
}

struct read_file *read_file_open(
	struct read_files *files, const char *folder, const char *name, struct stat *st, const char **why)
{
	struct read_file *file = calloc(1, sizeof(*file));
	struct stat own;
	int error = ENOMEM;

	*why = strerror(ENOMEM);
	st = st ? st : &own;
	if (file && asprintf(&file->name, "%s/%s", folder, name) < 0)
		file->name = NULL;
	if (file && file->name) {
		file->files = files;
		file->fd = -1;
		if (files->pack ? open_member(file, st, why) : open_first(file, st, why))
			goto opened;
		error = errno;
		free(file->name);
	}
	free(file);
	errno = error;
	return NULL;
opened:
	file->dev = st->st_dev;
	file->ino = st->st_ino;
	return file;
}

void read_file_rest(struct read_file *file)
{
	close_now(file);
}

void read_file_close(struct read_file *file)
{
	if (!file)
		return;
	close_now(file);
	compact_close(&file->as);
	free(file->name);
	free(file);
}

bool read_file_is(const struct read_file *file, const struct stat *st)
{
	return st->st_dev == file->dev && st->st_ino == file->ino;
}

bool read_file_same(const struct read_file *file, const struct read_file *other)
{
	const struct read_files *files = file->files;

	if (!files->pack != !other->files->pack || (files->pack && !read_files_same(files, other->files)))
		return false;
	return file->dev == other->dev && file->ino == other->ino;
}

/* The file, to be used before the next call of a function here. NULL, and errno: it can't be opened again. */
static const struct compact *opened(struct read_file *file)
{
	struct stat st;
	const char *why;

	if (file->fd >= 0) {
		if (file != file->files->newest) {
			unlink_open(file);
			link_newest(file);
		}
		return &file->as;
	}
	if (!open_now(file, &st, &why))
		return NULL;
	file->as.fd = file->fd;
	if (read_file_is(file, &st))
		return &file->as;
	close_now(file);
	errno = ESTALE;
	return NULL;
}

size_t read_file_read(struct read_file *file, void *to, size_t size, uint64_t offset, int *error)
{
	if (file->member)
		return pack_read(file->files->pack, file->member, to, size, offset, error);

	const struct compact *as = opened(file);
	int wrong = as ? 0 : errno;
	size_t have = as ? compact_read_most(as, to, size, offset, &wrong) : 0;

	if (error)
		*error = wrong;
	return have;
}

uint64_t read_file_size(struct read_file *file)
{
	if (file->member)
		return file->member->size;
	const struct compact *as = opened(file);
	return as ? compact_size(as) : 0;
}

uint64_t read_file_data(struct read_file *file, uint64_t offset)
{
	if (file->member)
		return pack_data(file->member, offset);
	const struct compact *as = opened(file);
	return as ? compact_data(as, offset) : offset;
}

bool read_file_has_slots(const struct read_file *file)
{
	return file->member && file->member->mode & PACK_SLOTS;
}

uint64_t read_file_disk(struct read_file *file, uint64_t begin, uint64_t end)
{
	uint64_t disk = 0, size = read_file_size(file);

	if (file->member)
		return pack_disk(file->member, begin, end);
	end = end < size ? end : size;
	for (uint64_t data = read_file_data(file, begin); data < end; data = read_file_data(file, begin)) {
		const struct compact *as = opened(file);
		uint64_t hole = as ? compact_hole(as, data) : end;

		begin = hole < end ? hole : end;
		disk += begin - data;
	}
	return disk;
}

/* ---- streams and lists ---- */

/* A member as a stream. */
struct member {
	struct pack *pack;
	const struct pack_member *member;
	uint64_t at;
};

static ssize_t read_member(void *cookie, char *to, size_t size)
{
	struct member *member = cookie;
	size_t n = pack_read(member->pack, member->member, to, size, member->at, NULL);

	member->at += n;
	return (ssize_t)n;
}

static int close_member(void *cookie)
{
	free(cookie);
	return 0;
}

static FILE *member_stream(struct pack *pack, const char *name)
{
	const struct pack_member *of = pack_find(pack, name);

	if (!of || !S_ISREG(of->mode)) {
		errno = of ? EINVAL : ENOENT;
		return NULL;
	}
	struct member *member = malloc(sizeof(*member));
	FILE *stream = NULL;
	if (member) {
		*member = (struct member){ .pack = pack, .member = of };
		stream = fopencookie(member, "r",
			(cookie_io_functions_t){ .read = read_member, .close = close_member });
	}
	if (!stream) {
		free(member);
		errno = ENOMEM;
	}
	return stream;
}

FILE *read_files_stream(struct read_files *files, const char *name)
{
	const char *why;

	if (files->pack)
		return member_stream(files->pack, name);
	int fd = open_regular(files, name, &why);
	FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (fd >= 0 && !stream) {
		int error = errno;
		close(fd);
		errno = error;
	}
	return stream;
}

bool read_files_same(const struct read_files *files, const struct read_files *other)
{
	struct stat s, t;

	if (!files->pack != !other->pack)
		return false;
	return !fstat(files->pack ? pack_descriptor(files->pack) : files->at, &s) &&
	       !fstat(other->pack ? pack_descriptor(other->pack) : other->at, &t) && s.st_dev == t.st_dev &&
	       s.st_ino == t.st_ino;
}

bool read_files_has(const struct read_files *files, const char *name)
{
	struct stat st;

	return files->pack ? pack_find(files->pack, name) != NULL
			   : !fstatat(files->at, name, &st, AT_SYMLINK_NOFOLLOW);
}

struct read_list {
	DIR *dir; /* NULL: of a pack */
	const struct pack *pack;
	size_t next; /* member */
	char *folder; /* "": the trace folder */
};

/* The next name in a packed folder. */
static const char *next_member(struct read_list *list)
{
	const struct pack *pack = list->pack;
	size_t length = strlen(list->folder);

	while (list->next < pack->members && pack_is_in(&pack->member[list->next], list->folder)) {
		const char *name = pack->member[list->next++].name;
		if (length)
			return name + length + 1;
		/* Each folder is a member itself. */
		if (!strchr(name, '/'))
			return name;
	}
	return NULL;
}

struct read_list *read_files_list(struct read_files *files, const char *folder)
{
	struct read_list *list = calloc(1, sizeof(*list));
	int fd = -1, error = ENOMEM;

	if (list && files->pack) {
		list->pack = files->pack;
		list->folder = strdup(strcmp(folder, ".") ? folder : "");
		list->next = list->folder ? pack_first_in(list->pack, list->folder) : 0;
	} else if (list) {
		fd = open_at(files, folder, open_list);
		list->dir = fd >= 0 ? fdopendir(fd) : NULL;
		error = errno;
	}
	if (list && (list->dir || list->folder))
		return list;
	if (fd >= 0)
		close(fd);
	free(list);
	errno = error;
	return NULL;
}

const char *read_list_next(struct read_list *list)
{
	struct dirent *entry = list->dir ? readdir(list->dir) : NULL;

	return list->dir ? (entry ? entry->d_name : NULL) : next_member(list);
}

void read_list_close(struct read_list *list)
{
	if (list->dir)
		closedir(list->dir);
	free(list->folder);
	free(list);
}
