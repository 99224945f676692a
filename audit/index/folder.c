/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/index/folder.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h> /* PROT_READ */

#include "audit/index/index.h"
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

static char *put_bytes(char *to, const uint8_t *bytes, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		to = put_hex(to, bytes[i], 2);
	return to;
}

void index_file_name(const struct index_head *head, char *to)
{
	const struct index_identity *identity = &head->identity;
	uint32_t size = identity->build_id_len;

	to = put_bytes(to, identity->build_id, size < INDEX_BUILD_ID_MAX ? size : INDEX_BUILD_ID_MAX);
	if (size)
		*to++ = '-';
	to = put_bytes(to, head->content, INDEX_CONTENT);
	sys_copy(to, INDEX_SUFFIX, sizeof(INDEX_SUFFIX));
}

void index_stamp_name(const struct index_identity *identity, char *to)
{
	const uint64_t number[] = { identity->device, identity->inode, identity->size, identity->modified,
		identity->changed };

	for (unsigned i = 0; i < sizeof(number) / sizeof(*number); i++) {
		if (i)
			*to++ = '-';
		to = put_hex(to, number[i], 1);
	}
	sys_copy(to, INDEX_STAMP, sizeof(INDEX_STAMP));
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
static bool is_believed(const struct stat *st)
{
	return !(st->st_mode & (S_IWGRP | S_IWOTH)) &&
	       (st->st_uid == 0 || st->st_uid == (uid_t)sys_call(__NR_geteuid, 0, 0, 0, 0, 0, 0));
}

static size_t whole_pages(size_t size)
{
	return (size + 4095) & ~(size_t)4095;
}

/* Is it what its name says, and of the build-id that the file has? */
static bool is_of(const struct index *index, const struct index_identity *identity, const char *name)
{
	char own[INDEX_NAME_MAX];

	index_file_name(index->head, own);
	return sys_same_text(own, name) && index_same_build(&index->head->identity, identity);
}

/* The file, and behind it, of our own, what is known of its blocks. */
static int map(struct index *index, int fd, const struct index_identity *identity, const char *name)
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
	if (!r && !is_of(index, identity, name))
		r = -ESTALE;
	if (r) {
		sys_munmap(p, all);
		*index = (struct index){ 0 };
	} else {
		index->mapped = all;
	}
	return r;
}

/* Returns a descriptor that means the folder; or -errno. */
static int open_folder(const char *folder)
{
	struct stat st;
	int at = (int)sys_open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);

	if (at < 0)
		return at == -ENOTDIR || at == -ELOOP ? -EPERM : at;
	int r = (int)sys_fstat(at, &st);
	if (!r && !is_believed(&st))
		r = -EPERM;
	if (!r)
		return at;
	sys_close(at);
	return r;
}

static int open_entry(int at, const char *name)
{
	/* Not blocking: a FIFO is neither index nor stamp, but opening one would wait for a writer. */
	int fd = (int)sys_call(
		__NR_openat, at, (long)name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0, 0, 0);

	return fd == -ELOOP ? -EPERM : fd;
}

/*
 * What the file's stamp says. Returns 0 or -errno. Makes no other system calls than ld.so does for a library, but for
 * geteuid, where root does not own the stamp: a filter under which libraries can be opened does not kill for them.
 */
static int read_stamp(int at, const struct index_identity *identity, char *to)
{
	char name[INDEX_NAME_MAX];
	struct stat st;
	long n = 0;

	*to = '\0';
	index_stamp_name(identity, name);
	int fd = open_entry(at, name);
	if (fd < 0)
		return fd;
	int r = (int)sys_fstat(fd, &st);
	if (!r && (!S_ISREG(st.st_mode) || !is_believed(&st)))
		r = -EPERM;
	if (!r && (n = sys_read(fd, to, INDEX_NAME_MAX)) < 0)
		r = (int)n;
	sys_close(fd);
	/* One name, with the end of its line. */
	if (!r && (n < 2 || to[n - 1] != '\n'))
		r = -EBADMSG;
	for (long i = 0; !r && i < n - 1; i++)
		if (to[i] == '/' || to[i] == '\n' || !to[i])
			r = -EBADMSG;
	to[r ? 0 : n - 1] = '\0';
	return r;
}

static int open_in(struct index *index, int at, const struct index_identity *identity, const char *name)
{
	int fd = open_entry(at, name);

	if (fd < 0)
		return fd;
	int r = map(index, fd, identity, name);
	sys_close(fd);
	return r;
}

int index_open(struct index *index, const char *folder, const struct index_identity *identity, char *name)
{
	int at = open_folder(folder);

	*index = (struct index){ 0 };
	*name = '\0';
	if (at < 0)
		return at;
	int r = read_stamp(at, identity, name);
	if (!r)
		r = open_in(index, at, identity, name);
	sys_close(at);
	return r;
}

int index_open_named(struct index *index, const char *folder, const struct index_identity *identity, const char *name)
{
	int at = open_folder(folder);

	*index = (struct index){ 0 };
	if (at < 0)
		return at;
	int r = open_in(index, at, identity, name);
	sys_close(at);
	return r;
}

/* Is there an index, though one that is refused? Otherwise the folder is not there, or out of reach. */
static bool tells_of_one(int r)
{
	return r == -EPERM || r == -EBADMSG || r == -EPROTO || r == -ESTALE;
}

int index_look(struct index *index, const char *const *folder, unsigned folders,
	const struct index_identity *identity)
{
	char name[INDEX_NAME_MAX];
	int why = -ENOENT;

	for (unsigned i = 0; i < folders; i++) {
		int r = index_open(index, folder[i], identity, name);
		if (!r)
			return 0;
		for (unsigned k = 0; r == -ENOENT && *name && k < folders; k++)
			if (k != i && !index_open_named(index, folder[k], identity, name))
				return 0;
		if (why == -ENOENT && tells_of_one(r))
			why = r;
	}
	return why;
}

void index_close(struct index *index)
{
	if (index->mapped)
		sys_munmap((void *)(uintptr_t)index->head, index->mapped);
	*index = (struct index){ 0 };
}
