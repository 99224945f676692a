/* SPDX-License-Identifier: MIT */
/*
 * A thread's ring has whole chunks; what they did not use is given back once nobody can write there any more, and so
 * are those that the thread has written to its other file.
 */
#define _GNU_SOURCE
#include "tool/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/trace.h"

#define BLOCK (64u << 10)
#define PAGE  4096ull

/*
 * Does anybody have the file open or mapped? A store behind the end of a truncated mapping is a SIGBUS, so this must not err
 * that way: the kernel grants a write lease only to the file's sole user. Where a file system knows no leases, the caller's
 * own test (is there such a process?) has to do; so it has on overlayfs, whose mappings a lease does not see.
 */
static int in_use(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0) {
		fcntl(fd, F_SETLEASE, F_UNLCK);
		return 0;
	}
	return errno == EAGAIN;
}

/* The end of the last word in from...to that is not `token`; from when all are. Multiples of 8. 0 on error. */
static uint64_t last_word(int fd, uint64_t from, uint64_t to, uint64_t token)
{
	static uint64_t block[BLOCK / 8];

	while (to > from) {
		uint64_t size = to - from < BLOCK ? to - from : BLOCK;

		to -= size;
		if (pread(fd, block, size, (off_t)to) != (ssize_t)size)
			return 0;
		for (uint64_t i = size / 8; i-- > 0;)
			if (block[i] != token)
				return to + (i + 1) * 8;
	}
	return from;
}

/*
 * Where what is to be kept of the chunk at `at` ends: at itself where nothing is. limit: of its place. Counts chunks.
 * Returns 0 where it can't tell.
 */
static uint64_t end_of(int fd, uint64_t at, uint64_t limit, uint64_t *chunks)
{
	struct trace_chunk head;

	if (limit < sizeof(head) || pread(fd, &head, sizeof(head), (off_t)at) != sizeof(head))
		return 0;
	if (head.magic != TRACE_CHUNK_MAGIC)
		return at;
	if (head.version != TRACE_VERSION || head.head_size < sizeof(head) || head.head_size % 8 ||
		head.head_size > limit || head.used > limit || head.used % 8)
		return 0;
	++*chunks;
	/* t<n> has it, too, and knows all. */
	if (head.used && head.copied && !head.lost)
		return at;
	return head.used ? at + head.used : last_word(fd, at + head.head_size, at + limit / 8 * 8, head.token);
}

static long long trim(int fd, uint64_t chunk)
{
	uint64_t kept = 0, chunks = 0;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	for (uint64_t at = chunk, size = (uint64_t)st.st_size; at < size; at += 2 * chunk) {
		uint64_t limit = size - at < chunk ? size - at : chunk, end = end_of(fd, at, limit, &chunks);
		if (!end)
			return -1;
		if (end > at)
			kept = end;
		uint64_t hole = (end + PAGE - 1) & ~(PAGE - 1);
		/* Where holes can't be made it stays as it is. */
		if (hole < at + limit)
			fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)hole,
				(off_t)(at + limit - hole));
	}
	if (!chunks)
		return -1;
	return ftruncate(fd, (off_t)kept) < 0 ? -1 : (long long)((uint64_t)st.st_size - kept);
}

long long record_trim(int folder, const char *name, unsigned long long chunk)
{
	int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	long long cut;

	if (fd < 0)
		return -1;
	cut = chunk < TRACE_CHUNK_MIN || chunk > TRACE_CHUNK_MAX || in_use(fd) ? -1 : trim(fd, chunk);
	close(fd);
	return cut;
}
