/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>  /* asprintf */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h> /* pread, lseek */

#define LEASE_TRIES 100

struct read_file {
	struct read_files *files;
	char *name; /* relative to the folder */
	int fd;	    /* -1: not open now */
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

/*
 * If no descriptor is free, one of our own files is closed. If a process has a lease on the file (tool/record/trim.c)
 * it gives that up at once; until then the file can't be opened.
 */
static int open_at(struct read_files *files, const char *name, int flags)
{
	int fd, leased = 0;

	while ((fd = openat(files->at, name, O_RDONLY | O_CLOEXEC | flags)) < 0) {
		if (errno == EAGAIN && leased++ < LEASE_TRIES)
			usleep(1000);
		else if ((errno == EMFILE || errno == ENFILE) && files->oldest)
			close_now(files->oldest);
		else
			break;
	}
	return fd;
}

int read_files_open(struct read_files *files, const char *name, const char **why)
{
	struct stat st;
	/* Not blocking: to open a FIFO would wait for a writer. */
	int fd = open_at(files, name, O_NONBLOCK | O_NOCTTY);

	*why = fd >= 0 || errno == ENOENT ? NULL : strerror(errno);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	*why = "this is not a file";
	close(fd);
	errno = EINVAL;
	return -1;
}

DIR *read_files_list(struct read_files *files, const char *folder)
{
	int fd = open_at(files, folder, O_DIRECTORY);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !dir) {
		int error = errno;
		close(fd);
		errno = error;
	}
	return dir;
}

/* Opens the file, for the first time or again. */
static bool open_now(struct read_file *file, struct stat *st, const char **why)
{
	if (file->files->open >= READ_FILES_OPEN)
		close_now(file->files->oldest);
	file->fd = read_files_open(file->files, file->name, why);
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
		if (open_now(file, st, why))
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
	free(file->name);
	free(file);
}

bool read_file_is(const struct read_file *file, const struct stat *st)
{
	return st->st_dev == file->dev && st->st_ino == file->ino;
}

int read_file_descriptor(struct read_file *file)
{
	struct stat st;
	const char *why;

	if (file->fd >= 0) {
		if (file != file->files->newest) {
			unlink_open(file);
			link_newest(file);
		}
		return file->fd;
	}
	if (!open_now(file, &st, &why))
		return -1;
	if (read_file_is(file, &st))
		return file->fd;
	close_now(file);
	errno = ESTALE;
	return -1;
}

size_t read_file_read(struct read_file *file, void *to, size_t size, uint64_t offset, int *error)
{
	int fd = read_file_descriptor(file);
	size_t have = 0;
	ssize_t n = fd < 0 ? -1 : 1;

	while (have < size && n > 0) {
		do
			n = pread(fd, (char *)to + have, size - have, (off_t)(offset + have));
		while (n < 0 && errno == EINTR);
		have += n > 0 ? (size_t)n : 0;
	}
	if (error)
		*error = n < 0 ? errno : 0;
	return have;
}

uint64_t read_file_size(struct read_file *file)
{
	struct stat st;
	int fd = read_file_descriptor(file);

	return fd >= 0 && !fstat(fd, &st) ? (uint64_t)st.st_size : 0;
}

uint64_t read_file_data(struct read_file *file, uint64_t offset)
{
	int fd = read_file_descriptor(file);
	off_t data = fd < 0 ? (off_t)offset : lseek(fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? UINT64_MAX : offset;
	return (uint64_t)data;
}

uint64_t read_file_disk(struct read_file *file, uint64_t begin, uint64_t end)
{
	uint64_t disk = 0, size = read_file_size(file);

	end = end < size ? end : size;
	for (uint64_t data = read_file_data(file, begin); data < end; data = read_file_data(file, begin)) {
		int fd = read_file_descriptor(file);
		off_t hole = fd < 0 ? -1 : lseek(fd, (off_t)data, SEEK_HOLE);

		begin = hole > (off_t)data && (uint64_t)hole < end ? (uint64_t)hole : end;
		disk += begin - data;
	}
	return disk;
}
