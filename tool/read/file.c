/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h> /* pread, lseek */

#include "tool/memory.h"

#define LEASE_TRIES 100

struct trace_file {
	int at;
	char *name; /* relative to it */
	int fd;	    /* -1: not open now */
	dev_t dev;
	ino_t ino;
	struct trace_file *newer, *older; /* of those that are open, in the order of their last use */
};

static struct trace_file *newest, *oldest;
static unsigned open_files;

static void unlink_open(struct trace_file *file)
{
	*(file->newer ? &file->newer->older : &newest) = file->older;
	*(file->older ? &file->older->newer : &oldest) = file->newer;
}

static void link_newest(struct trace_file *file)
{
	file->newer = NULL;
	file->older = newest;
	*(newest ? &newest->newer : &oldest) = file;
	newest = file;
}

static void close_now(struct trace_file *file)
{
	if (file->fd < 0)
		return;
	unlink_open(file);
	close(file->fd);
	file->fd = -1;
	open_files--;
}

/*
 * Our own open files make room where there is none. Who has a lease (record_trim.c) gives it up at once: until then the
 * file can't be opened.
 */
static int open_at(int at, const char *name, int flags)
{
	int fd, leased = 0;

	while ((fd = openat(at, name, O_RDONLY | O_CLOEXEC | flags)) < 0) {
		if (errno == EAGAIN && leased++ < LEASE_TRIES)
			usleep(1000);
		else if ((errno == EMFILE || errno == ENFILE) && oldest)
			close_now(oldest);
		else
			break;
	}
	return fd;
}

int read_trace_open_file(int at, const char *name, const char **why)
{
	struct stat st;
	/* Not blocking: to open a FIFO would wait for a writer. */
	int fd = open_at(at, name, O_NONBLOCK | O_NOCTTY);

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

DIR *read_file_list(int at, const char *folder)
{
	int fd = open_at(at, folder, O_DIRECTORY);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

/* Opens it again, or at first. */
static bool open_now(struct trace_file *file, struct stat *st, const char **why)
{
	if (open_files >= FILES_OPEN)
		close_now(oldest);
	file->fd = read_trace_open_file(file->at, file->name, why);
	if (file->fd < 0)
		return false;
	if (fstat(file->fd, st)) {
		*why = strerror(errno);
		close(file->fd);
		file->fd = -1;
		return false;
	}
	posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	open_files++;
	link_newest(file);
	return true;
}

struct trace_file *read_file_open(int at, const char *folder, const char *name, struct stat *st, const char **why)
{
	struct trace_file *file = memory_zeroed(1, sizeof(*file));
	struct stat own;

	st = st ? st : &own;
	file->at = at;
	file->name = memory_format("%s/%s", folder, name);
	if (!open_now(file, st, why)) {
		free(file->name);
		free(file);
		return NULL;
	}
	file->dev = st->st_dev;
	file->ino = st->st_ino;
	return file;
}

void read_file_rest(struct trace_file *file)
{
	close_now(file);
}

void read_file_close(struct trace_file *file)
{
	if (!file)
		return;
	close_now(file);
	free(file->name);
	free(file);
}

int read_file_descriptor(struct trace_file *file)
{
	struct stat st;
	const char *why;

	if (file->fd >= 0) {
		if (file != newest) {
			unlink_open(file);
			link_newest(file);
		}
		return file->fd;
	}
	if (!open_now(file, &st, &why))
		return -1;
	if (st.st_dev == file->dev && st.st_ino == file->ino)
		return file->fd;
	close_now(file);
	errno = ESTALE;
	return -1;
}

size_t read_file_read(struct trace_file *file, void *to, size_t size, uint64_t offset, int *error)
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

uint64_t read_file_size(struct trace_file *file)
{
	struct stat st;
	int fd = read_file_descriptor(file);

	return fd >= 0 && !fstat(fd, &st) ? (uint64_t)st.st_size : 0;
}

uint64_t read_file_data(struct trace_file *file, uint64_t offset)
{
	int fd = read_file_descriptor(file);
	off_t data = fd < 0 ? (off_t)offset : lseek(fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? UINT64_MAX : offset;
	return (uint64_t)data;
}

uint64_t read_file_disk(struct trace_file *file, uint64_t begin, uint64_t end)
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
