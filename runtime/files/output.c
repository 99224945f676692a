/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_PATH */
#include "runtime/files/output.h"

#include <errno.h>	 /* ESTALE */
#include <limits.h>	 /* NAME_MAX */
#include <linux/fs.h>	 /* FS_IOC_SETFLAGS */
#include <linux/magic.h> /* BTRFS_SUPER_MAGIC */
#include <sys/statfs.h>	 /* struct statfs */

#include "runtime/base/text.h"
#include "x86_64/sys.h"

#define FOLDER (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* The kernel's struct stat is glibc's on x86-64. */
long output_place(int fd, struct output_place *place)
{
	struct stat st;
	long r = sys_fstat(fd, &st);

	if (!r)
		*place = output_of(&st);
	return r;
}

long output_check(int fd, const struct output_place *place)
{
	struct stat st;

	return sys_fstat(fd, &st) || !output_is(&st, place) ? -EBADF : 0;
}

void output_close(int fd, const struct output_place *place)
{
	if (!output_check(fd, place))
		sys_close(fd);
}

static long open_folder(int at, const char *path, struct stat *st)
{
	long fd = sys_call(__NR_openat, at, (long)path, FOLDER | O_NOFOLLOW, 0, 0, 0);
	if (fd < 0)
		return fd;
	long r = sys_fstat(fd, st);
	if (r < 0) {
		sys_close((int)fd);
		return r;
	}
	return fd;
}

/*
 * Gives the descriptor back, with the place; or closes it and returns the error, if there is one. It may be the
 * program's by now, who has hardly a use for O_PATH.
 */
static long opened(long fd, long error, const struct stat *st, struct output_place *place)
{
	if (error) {
		long flags = sys_call(__NR_fcntl, fd, F_GETFL, 0, 0, 0, 0);
		if (flags >= 0 && flags & O_PATH)
			sys_close((int)fd);
		return error;
	}
	if (place)
		*place = output_of(st);
	return fd;
}

static int is_ours(const struct stat *st)
{
	return st->st_uid == (uid_t)sys_call(__NR_geteuid, 0, 0, 0, 0, 0, 0);
}

long output_open(int at, const char *path, struct output_place *place)
{
	struct stat st;
	long fd = open_folder(at, path, &st);

	if (fd < 0)
		return fd;
	return opened(fd, st.st_uid == 0 || is_ours(&st) ? 0 : OUTPUT_FOREIGN, &st, place);
}

long output_open_again(const char *path, const struct output_place *place)
{
	struct stat st;
	long fd = open_folder(AT_FDCWD, path, &st);

	if (fd < 0)
		return fd;
	return opened(fd, output_is(&st, place) ? 0 : -ESTALE, &st, NULL);
}

/* A umask can only have taken rights away. A descriptor of O_PATH knows no fchmod(), but its name in /proc leads to the
 * folder itself. */
static void restore_mode(long fd)
{
	char path[32];
	struct text text = {path, sizeof(path), 0};

	text_string(&text, "/proc/self/fd/");
	text_number(&text, (uint64_t)fd);
	sys_call(__NR_fchmodat, AT_FDCWD, (long)path, 0700, 0, 0, 0);
}

/*
 * Opens the folder that the last component of *path lies in, which *path becomes. Returns `at` if there is no other
 * component, else a descriptor to close, or -errno. Step by step: a copy of the path is too much for a small stack.
 */
static long open_parent(int at, const char **path)
{
	char name[NAME_MAX + 1];
	const char *p = *path;
	long fd = *p == '/' ? sys_call(__NR_openat, at, (long)"/", FOLDER, 0, 0, 0) : at, next;

	for (; fd == at || fd >= 0; fd = next) {
		size_t n = 0, rest;
		while (*p == '/')
			p++;
		while (p[n] && p[n] != '/')
			n++;
		for (rest = n; p[rest] == '/';)
			rest++;
		if (!p[rest]) {
			*path = fd != at && !n ? "." : p;
			return fd;
		}
		next = -ENAMETOOLONG;
		if (n < sizeof(name)) {
			sys_copy(name, p, n);
			name[n] = '\0';
			next = sys_call(__NR_openat, fd, (long)name, FOLDER, 0, 0, 0);
		}
		if (fd != at)
			sys_close((int)fd);
		p += n;
	}
	return fd;
}

/* path: one component. */
static long make(int at, const char *path, struct output_place *place)
{
	struct stat st;
	long r = sys_call(__NR_mkdirat, at, (long)path, 0700, 0, 0, 0);

	if (r < 0)
		return r;
	long fd = open_folder(at, path, &st);
	if (fd < 0)
		return fd;
	/* A user who may rename here may have put another folder in its place meanwhile. */
	if (!is_ours(&st))
		return opened(fd, OUTPUT_FOREIGN, &st, NULL);
	if ((st.st_mode & 0777) != 0700)
		restore_mode(fd);
	return opened(fd, 0, &st, place);
}

long output_make(int at, const char *path, struct output_place *place)
{
	/* It may be renamed, and a link put in its place, before what is made there is opened. */
	long parent = open_parent(at, &path);

	if (parent != at && parent < 0)
		return parent;
	long fd = make((int)parent, path, place);
	if (parent != at)
		sys_close((int)parent);
	return fd;
}

long output_make_file(int folder, const char *name)
{
	long fd = sys_call(
		__NR_openat, folder, (long)name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600, 0, 0);
	/* Whatever the umask took: it is opened again by name. */
	if (fd >= 0)
		sys_call(__NR_fchmod, fd, 0600, 0, 0, 0, 0);
	return fd;
}

/*
 * If each page that is written goes to a new place on the disk (btrfs), a store to a mapped page needs free room there,
 * although the file has its blocks, or raises SIGBUS. Such a file must be written in place; that can be set as long as
 * it is empty. (Linux before 6.18 asks for the room all the same.)
 */
static void write_in_place(int fd)
{
	struct statfs fs;
	int flags = 0;

	if (sys_call(__NR_fstatfs, fd, (long)&fs, 0, 0, 0, 0) || fs.f_type != BTRFS_SUPER_MAGIC ||
		sys_call(__NR_ioctl, fd, FS_IOC_GETFLAGS, (long)&flags, 0, 0, 0))
		return;
	flags |= FS_NOCOW_FL;
	sys_call(__NR_ioctl, fd, FS_IOC_SETFLAGS, (long)&flags, 0, 0, 0);
}

long output_make_mapped(int folder, const char *name)
{
	long fd = output_make_file(folder, name);

	if (fd >= 0)
		write_in_place((int)fd);
	return fd;
}

long output_open_file(int folder, const char *name, int flags)
{
	return sys_call(__NR_openat, folder, (long)name, flags | O_NOFOLLOW | O_CLOEXEC, 0, 0, 0);
}
