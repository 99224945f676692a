/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/pack/compact_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h> /* renameat */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/whole.h"
#include "tool/read/compact.h"

#define BLOCK (256u << 10)
#define PAGE  4096u

/* What lies where in a file. */
struct layout {
	struct compact_extent *extent;
	uint64_t extents;
};

/* Returns false: no memory. */
static bool add_extent(struct layout *layout, uint64_t begin, uint64_t end)
{
	if (layout->extents && layout->extent[layout->extents - 1].end == begin) {
		layout->extent[layout->extents - 1].end = end;
		return true;
	}
	if (!(layout->extents & (layout->extents + 1))) {
		struct compact_extent *more =
			reallocarray(layout->extent, 2 * layout->extents + 2, sizeof(*layout->extent));
		if (!more)
			return false;
		layout->extent = more;
	}
	layout->extent[layout->extents++] = (struct compact_extent){ begin, end };
	return true;
}

static bool is_zero(const uint8_t *p, size_t size)
{
	return !*p && !memcmp(p, p + 1, size - 1);
}

/* Adds what is not zero, page by page: so that equal files become equal ones, wherever the system makes holes. */
static bool add_data(int fd, uint64_t begin, uint64_t end, struct layout *to)
{
	static uint8_t block[BLOCK];

	for (uint64_t at = begin, next; at < end; at = next) {
		next = at / BLOCK * BLOCK + BLOCK < end ? at / BLOCK * BLOCK + BLOCK : end;
		if (!whole_read(fd, block, next - at, at))
			return false;
		for (uint64_t page = at, behind; page < next; page = behind) {
			behind = page / PAGE * PAGE + PAGE < next ? page / PAGE * PAGE + PAGE : next;
			if (!is_zero(block + (page - at), behind - page) && !add_extent(to, page, behind))
				return false;
		}
	}
	return true;
}

/* Returns false: no memory, or it can't be read. */
static bool find_layout(int fd, uint64_t size, struct layout *to)
{
	const struct compact file = { .fd = fd };

	for (uint64_t at = 0; (at = compact_data(&file, at)) < size;) {
		uint64_t end = compact_hole(&file, at);
		end = end < size ? end : size;
		if (!add_data(fd, at, end, to))
			return false;
		at = end;
	}
	return true;
}

/* Returns whether all was copied. */
static bool copy(int from, int to, uint64_t begin, uint64_t end)
{
	static uint8_t block[BLOCK];

	for (; begin < end;) {
		size_t size = end - begin < BLOCK ? end - begin : BLOCK;
		if (!whole_read(from, block, size, begin) || whole_write(to, block, size, WHOLE_NEXT))
			return false;
		begin += size;
	}
	return true;
}

static bool write_compact(int from, int to, uint64_t size, const struct layout *layout)
{
	const struct compact_head head = { .magic = COMPACT_MAGIC, .version = COMPACT_VERSION,
		.head_size = sizeof(head), .size = size, .extents = layout->extents };

	if (whole_write(to, &head, sizeof(head), WHOLE_NEXT) ||
		whole_write(to, layout->extent, layout->extents * sizeof(*layout->extent), WHOLE_NEXT))
		return false;
	for (uint64_t i = 0; i < layout->extents; i++)
		if (!copy(from, to, layout->extent[i].begin, layout->extent[i].end))
			return false;
	return true;
}

/* Is it worth the while? */
static bool is_sparse(const struct stat *st)
{
	long long disk = st->st_blocks * 512ll;

	return st->st_size > disk + disk / 2 && disk <= COMPACT_MOST;
}

static void make(int fd, const char *name, bool always)
{
	int from = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), to = -1;
	struct layout layout = { 0 };
	struct stat st;

	if (from < 0)
		return;
	if (!fstat(from, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1 &&
		(always || is_sparse(&st)) && find_layout(from, (uint64_t)st.st_size, &layout)) {
		to = openat(fd, COMPACT_NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		bool made = to >= 0 && write_compact(from, to, (uint64_t)st.st_size, &layout) &&
			    !fchmod(to, st.st_mode & 0777) && !renameat(fd, COMPACT_NEW, fd, name);
		if (to >= 0 && !made)
			unlinkat(fd, COMPACT_NEW, 0);
	}
	free(layout.extent);
	if (to >= 0)
		close(to);
	close(from);
}

void compact_file(int fd, const char *name)
{
	make(fd, name, true);
}

static DIR *open_list(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);

	if (!dir && own >= 0)
		close(own);
	return dir;
}

/* The next name of a file that may be compact; NULL: there are no more. */
static const char *next_name(DIR *dir)
{
	for (struct dirent *e; (e = readdir(dir));)
		if (!strcmp(e->d_name, "meta") || (e->d_name[0] == 't' && isdigit((unsigned char)e->d_name[1])))
			return e->d_name;
	return NULL;
}

void compact_folder(int fd)
{
	DIR *dir = open_list(fd);

	/* The folder changes meanwhile, and a name may come twice: what is compact is left alone. */
	for (const char *name; dir && (name = next_name(dir));)
		make(fd, name, false);
	if (dir)
		closedir(dir);
}

/* ---- sparse again ---- */

static bool put_parts(const struct compact *file, int to)
{
	static uint8_t block[BLOCK];
	uint64_t size = compact_size(file);

	for (uint64_t at = 0; (at = compact_data(file, at)) < size;) {
		uint64_t end = compact_hole(file, at), most = at + sizeof(block);
		end = end < size ? end : size;
		end = end < most ? end : most;
		if (!compact_read(file, block, end - at, at) || whole_write(to, block, end - at, at))
			return false;
		at = end;
	}
	return !ftruncate(to, (off_t)size);
}

static int expand_file(int fd, const char *name, int to)
{
	int from = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int copy = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct compact file = { .fd = from };
	int error = from < 0 || copy < 0 ? errno : compact_open(&file, from);

	errno = EIO; /* if it ends before */
	if (!error && !put_parts(&file, copy))
		error = errno;
	compact_close(&file);
	if (from >= 0)
		close(from);
	if (copy >= 0)
		close(copy);
	return -error;
}

/* 1, 0, or -errno. */
static int is_compact(int fd, const char *name)
{
	int from = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct compact file = { .fd = from };
	int error = from < 0 ? 0 : compact_open(&file, from), is = file.is;

	compact_close(&file);
	if (from >= 0)
		close(from);
	return error ? -error : is;
}

int compact_expand(int fd, int to)
{
	DIR *dir = open_list(fd);
	const char *name;
	int r = 0;

	if (!dir)
		return -errno;
	while (!r && (name = next_name(dir)))
		r = is_compact(fd, name);
	bool is = r > 0;
	rewinddir(dir);
	for (r = r < 0 ? r : 0; is && !r && (name = next_name(dir));)
		r = expand_file(fd, name, to);
	closedir(dir);
	return r ? r : is;
}
