/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/index/index.h"

#include <errno.h>
#include <sys/mman.h> /* PROT_READ */

#include "x86_64/sys.h"

/* Appends hexadecimal digits, at least `digits` of them; returns the end. */
static char *put_hex(char *to, uint64_t value, int digits)
{
	int n = 16;

	while (n > digits && !(value >> (4 * n - 4)))
		n--;
	while (n--)
		*to++ = "0123456789abcdef"[value >> (4 * n) & 15];
	return to;
}

void index_file_name(const struct index_identity *identity, char *to)
{
	if (identity->build_id_len) {
		for (uint32_t i = 0; i < identity->build_id_len && i < INDEX_BUILD_ID_MAX; i++)
			to = put_hex(to, identity->build_id[i], 2);
	} else {
		to = put_hex(to, identity->device, 1);
		*to++ = '-';
		to = put_hex(to, identity->inode, 1);
		*to++ = '-';
		to = put_hex(to, identity->size, 1);
		*to++ = '-';
		to = put_hex(to, identity->seconds, 1);
		*to++ = '.';
		to = put_hex(to, identity->nanoseconds, 1);
	}
	sys_copy(to, INDEX_SUFFIX, sizeof(INDEX_SUFFIX));
}

static int join(const char *first, const char *second, char *to, size_t room)
{
	size_t n = sys_length(first), m = sys_length(second) + 1;

	if (n > room || m > room - n)
		return 0;
	sys_copy(to, first, n);
	sys_copy(to + n, second, m);
	return 1;
}

int index_folder(unsigned number, const char *cache_home, const char *home, char *to, size_t room)
{
	if (number == 1)
		return join(INDEX_SYSTEM_FOLDER, "", to, room);
	if (number)
		return 0;
	if (cache_home && cache_home[0] == '/')
		return join(cache_home, "/xaudit", to, room);
	return home && home[0] == '/' && join(home, "/.cache/xaudit", to, room);
}

/* Ours or root's, and nobody else may write to it. */
static int is_believed(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == (uid_t)sys_call(__NR_geteuid, 0, 0, 0, 0, 0, 0)) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static size_t whole_pages(size_t size)
{
	return (size + 4095) & ~(size_t)4095;
}

/* The file, and behind it, of our own, what is known of its blocks. */
static int map(struct index *index, int fd, const struct index_identity *identity)
{
	struct stat st;
	int r = (int)sys_fstat(fd, &st);

	if (r)
		return r;
	if (!S_ISREG(st.st_mode) || !is_believed(&st))
		return -EPERM;
	if (st.st_size <= 0)
		return -EBADMSG;
	size_t size = (size_t)st.st_size, file = whole_pages(size), all = file + whole_pages(index_seen_size(size));
	uint8_t *p = sys_mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(p))
		return (int)(intptr_t)p;
	void *at = sys_mmap(p, file, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	r = sys_is_error(at) ? (int)(intptr_t)at : index_attach(index, p, size, (uint64_t *)(void *)(p + file));
	if (!r && !index_same_file(&index->head->identity, identity))
		r = -ESTALE;
	if (r) {
		sys_munmap(p, all);
		*index = (struct index){ 0 };
	} else {
		index->mapped = all;
	}
	return r;
}

int index_open(struct index *index, const char *folder, const struct index_identity *identity)
{
	char name[INDEX_NAME_MAX];
	struct stat st;
	int fd, r;

	*index = (struct index){ 0 };
	int at = (int)sys_open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	if (at < 0)
		return at == -ENOTDIR || at == -ELOOP ? -EPERM : at;
	r = (int)sys_fstat(at, &st);
	if (!r && !is_believed(&st))
		r = -EPERM;
	if (r)
		goto out;
	index_file_name(identity, name);
	/* Not blocking: a FIFO is no index, but opening one would wait for a writer. */
	fd = (int)sys_call(__NR_openat, at, (long)name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0, 0, 0);
	r = fd == -ELOOP ? -EPERM : fd;
	if (fd < 0)
		goto out;
	r = map(index, fd, identity);
	sys_close(fd);
out:
	sys_close(at);
	return r;
}

void index_close(struct index *index)
{
	if (index->mapped)
		sys_munmap((void *)(uintptr_t)index->head, index->mapped);
	*index = (struct index){ 0 };
}
