/* SPDX-License-Identifier: MIT */
/*
 * Thread files grow by whole chunks; what the last one did not use is given back once nobody can write there any more.
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

/* The end of the last word in from...to of the file that is not zero; from when all are. Both are multiples of 8. 0 on error. */
static uint64_t last_word(int fd, uint64_t from, uint64_t to)
{
	static uint64_t block[BLOCK / 8];

	while (to > from) {
		uint64_t size = to - from < BLOCK ? to - from : BLOCK;

		to -= size;
		if (pread(fd, block, size, (off_t)to) != (ssize_t)size)
			return 0;
		for (uint64_t i = size / 8; i-- > 0;)
			if (block[i])
				return to + (i + 1) * 8;
	}
	return from;
}

static long long trim(int fd, uint64_t chunk)
{
	struct trace_chunk head;
	struct stat st;
	uint64_t size, at, end, limit;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(head))
		return -1;
	/* Room for further chunks may be there already: the last one that was begun counts. */
	size = (uint64_t)st.st_size;
	for (at = (size - 1) / chunk * chunk;; at -= chunk) {
		if (size - at >= sizeof(head)) {
			if (pread(fd, &head, sizeof(head), (off_t)at) != sizeof(head))
				return -1;
			if (head.magic == TRACE_CHUNK_MAGIC)
				break;
		}
		if (at == 0)
			return -1;
	}
	limit = trace_chunk_bytes(chunk, at / chunk);
	if (size - at < limit)
		limit = size - at;
	if (head.head_size < sizeof(head) || head.head_size % 8 || head.head_size > limit || head.used > limit)
		return -1;
	if (head.used)
		end = at + (head.used + 7) / 8 * 8;
	else
		end = last_word(fd, at + head.head_size, at + limit / 8 * 8);
	if (end < at + head.head_size)
		return -1;
	if (end >= size)
		return 0;
	return ftruncate(fd, (off_t)end) < 0 ? -1 : (long long)(size - end);
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
