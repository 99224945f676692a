/* SPDX-License-Identifier: MIT */
/* Cutting thread files: what is behind the last event goes, nothing else ever does. */
#define _GNU_SOURCE
#include "tool/record.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/trace.h"
#include "t/tap.h"

#define CHUNK TRACE_CHUNK_MIN
#define FIRST  CHUNK /* places */
#define SECOND (3 * CHUNK)

static int folder;

/* Makes file t0 of so many bytes, all of them holes. */
static int make(uint64_t size)
{
	int fd = openat(folder, "r0", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		bail("r0 can't be made");
	return fd;
}

static void put_head(int fd, uint64_t at, const struct trace_chunk *head)
{
	if (pwrite(fd, head, sizeof(*head), (off_t)at) != sizeof(*head))
		bail("r0 can't be written");
}

static void put_chunk(int fd, uint64_t at, uint64_t used, uint64_t token)
{
	put_head(fd, at, &(struct trace_chunk){ .magic = TRACE_CHUNK_MAGIC, .version = TRACE_VERSION,
		.head_size = sizeof(struct trace_chunk), .size = CHUNK, .used = used, .token = token });
}

/* One that t<n> has as well. */
static void put_copied(int fd, uint64_t at, uint64_t used, uint64_t lost)
{
	put_head(fd, at, &(struct trace_chunk){ .magic = TRACE_CHUNK_MAGIC, .version = TRACE_VERSION,
		.head_size = sizeof(struct trace_chunk), .size = CHUNK, .used = used, .lost = lost, .copied = 1 });
}

static void put_word(int fd, uint64_t at, uint64_t word)
{
	if (pwrite(fd, &word, sizeof(word), (off_t)at) != sizeof(word))
		bail("r0 can't be written");
}

static void put_event(int fd, uint64_t at)
{
	put_word(fd, at, TRACE_EVENT(TRACE_POINT, 1, 0));
}

static long long word_at(uint64_t at)
{
	uint64_t word = 0;
	int fd = openat(folder, "r0", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, &word, sizeof(word), (off_t)at) != sizeof(word))
		word = UINT64_MAX;
	close(fd);
	return (long long)word;
}

/* Closes fd, cuts, and compares result and size. */
static void check(int fd, long long cut, long long size, const char *sentence)
{
	struct stat st;
	long long result;

	if (fd >= 0)
		close(fd);
	result = record_trim(folder, "r0", CHUNK);
	if (fstatat(folder, "r0", &st, 0))
		bail("r0 is gone");
	is_int(result, cut, "%s: bytes cut off", sentence);
	is_int(st.st_size, size, "%s: the size", sentence);
}

int main(void)
{
	char path[] = "/tmp/xaudit-trim.XXXXXX";
	int fd;
	void *map;

	if (!mkdtemp(path) || (folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		bail("no temporary folder");
	is_int(record_trim(folder, "r0", CHUNK), -1, "a file that is not there");

	fd = make(2 * CHUNK);
	put_chunk(fd, FIRST, 0, 0);
	put_event(fd, FIRST + 128);
	put_event(fd, FIRST + 136);
	check(fd, CHUNK - 144, FIRST + 144, "two events at the start");
	check(-1, 0, FIRST + 144, "the same once more");

	fd = make(2 * CHUNK);
	put_chunk(fd, FIRST, 0, 0);
	check(fd, CHUNK - 128, FIRST + 128, "a chunk without an event");

	fd = make(2 * CHUNK);
	put_chunk(fd, FIRST, 0, 0);
	put_event(fd, 2 * CHUNK - 8);
	check(fd, 0, 2 * CHUNK, "an event at the very end, holes before it");

	/* Filled anew: what is no event is the token. */
	fd = make(2 * CHUNK);
	put_chunk(fd, FIRST, 0, 0x100000000 | TRACE_TOKEN);
	for (uint64_t at = FIRST + 128; at < 2 * CHUNK; at += 8)
		put_word(fd, at, 0x100000000 | TRACE_TOKEN);
	put_event(fd, FIRST + 128);
	put_word(fd, FIRST + 136, 0);
	check(fd, CHUNK - 144, FIRST + 144, "behind its words the token of its filling");

	/* Full disks know no holes smaller than this. */
	fd = make(4 * CHUNK);
	put_chunk(fd, FIRST, CHUNK - 16384, 0);
	put_event(fd, 2 * CHUNK - 8192);
	put_chunk(fd, SECOND, 0, 0);
	put_event(fd, SECOND + 128);
	put_event(fd, SECOND + 40000);
	check(fd, CHUNK - 40008, SECOND + 40008, "the second chunk is the last");
	is_int(word_at(FIRST + CHUNK - 8192), 0, "and behind the used part of the first there is a hole");

	fd = make(4 * CHUNK);
	put_chunk(fd, FIRST, 0, 0);
	put_event(fd, FIRST + 128);
	put_chunk(fd, SECOND, 1024, 0);
	put_event(fd, SECOND + 128);
	check(fd, CHUNK - 1024, SECOND + 1024, "a finished last chunk ends where it says");

	fd = make(4 * CHUNK);
	put_copied(fd, FIRST, CHUNK, 0);
	put_event(fd, FIRST + 128);
	put_chunk(fd, SECOND, 0, 0);
	put_event(fd, SECOND + 128);
	check(fd, CHUNK - 136, SECOND + 136, "a chunk that the other file has");
	is_int(word_at(FIRST + 128), 0, "goes");

	fd = make(4 * CHUNK);
	put_copied(fd, FIRST, CHUNK, 7);
	put_event(fd, FIRST + 128);
	check(fd, 2 * CHUNK, 2 * CHUNK, "one that knows of lost events behind it");
	is_int(word_at(FIRST + 128), (long long)TRACE_EVENT(TRACE_POINT, 1, 0), "stays");

	fd = make(2 * CHUNK);
	put_copied(fd, FIRST, CHUNK, 0);
	check(fd, 2 * CHUNK, 0, "all chunks are in the other file");

	fd = make(2 * CHUNK);
	put_chunk(fd, FIRST, CHUNK + 8, 0);
	check(fd, -1, 2 * CHUNK, "a chunk that ends behind itself is left alone");

	fd = make(2 * CHUNK);
	put_event(fd, 4096);
	check(fd, -1, 2 * CHUNK, "a file without a chunk is left alone");

	check(make(0), -1, 0, "an empty file is left alone");

	fd = make(2 * CHUNK);
	put_chunk(fd, FIRST, 0, 0);
	put_event(fd, FIRST + 128);
	map = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0 || errno == EAGAIN) {
		check(fd, -1, 2 * CHUNK, "a file that somebody has mapped is left alone");
		munmap(map, CHUNK);
		check(-1, CHUNK - 136, FIRST + 136, "and cut once that is over");
	} else {
		skip(4, "this file system knows no leases");
		close(fd);
		munmap(map, CHUNK);
	}

	fd = make(2 * CHUNK);
	put_chunk(fd, FIRST, 0, 0);
	close(fd);
	is_int(record_trim(folder, "r0", CHUNK / 2), -1, "a chunk size below the limits is refused");
	is_int(record_trim(folder, "r0", 0), -1, "a chunk size of zero is refused");
	unlinkat(folder, "r0", 0);
	if (symlinkat("/dev/null", folder, "r0"))
		bail("no link can be made");
	is_int(record_trim(folder, "r0", CHUNK), -1, "a link is not followed");
	unlinkat(folder, "r0", 0);
	ok(rmdir(path) == 0, "the test cleans up");
	return done_testing();
}
