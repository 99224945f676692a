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

static int folder;

/* Makes file t0 of so many bytes, all of them holes. */
static int make(uint64_t size)
{
	int fd = openat(folder, "t0", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		bail("t0 can't be made");
	return fd;
}

static void put_chunk(int fd, uint64_t at, uint64_t used)
{
	struct trace_chunk head = { .magic = TRACE_CHUNK_MAGIC,
		.version = TRACE_VERSION,
		.head_size = sizeof(head),
		.size = CHUNK,
		.used = used };

	if (pwrite(fd, &head, sizeof(head), (off_t)at) != sizeof(head))
		bail("t0 can't be written");
}

static void put_event(int fd, uint64_t at)
{
	uint64_t event = TRACE_EVENT(TRACE_POINT, 1, 0);

	if (pwrite(fd, &event, sizeof(event), (off_t)at) != sizeof(event))
		bail("t0 can't be written");
}

/* Closes fd, cuts, and compares result and size. */
static void check(int fd, long long cut, long long size, const char *sentence)
{
	struct stat st;
	long long result;

	if (fd >= 0)
		close(fd);
	result = record_trim(folder, "t0", CHUNK);
	if (fstatat(folder, "t0", &st, 0))
		bail("t0 is gone");
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
	is_int(record_trim(folder, "t0", CHUNK), -1, "a file that is not there");

	fd = make(CHUNK);
	put_chunk(fd, 0, 0);
	put_event(fd, 128);
	put_event(fd, 136);
	check(fd, CHUNK - 144, 144, "two events at the start");
	check(-1, 0, 144, "the same once more");

	fd = make(CHUNK);
	put_chunk(fd, 0, 0);
	check(fd, CHUNK - 128, 128, "a chunk without an event");

	fd = make(CHUNK);
	put_chunk(fd, 0, 0);
	put_event(fd, CHUNK - 8);
	check(fd, 0, CHUNK, "an event at the very end, holes before it");

	fd = make(3 * CHUNK);
	put_chunk(fd, 0, CHUNK - 4096);
	put_event(fd, 128);
	put_chunk(fd, CHUNK, 0);
	put_event(fd, CHUNK + 128);
	put_event(fd, CHUNK + 40000);
	check(fd, 2 * CHUNK - 40008, CHUNK + 40008, "the second chunk begun, a third one only reserved");

	fd = make(2 * CHUNK);
	put_chunk(fd, 0, 0);
	put_chunk(fd, CHUNK, 1024);
	put_event(fd, CHUNK + 128);
	check(fd, CHUNK - 1024, CHUNK + 1024, "a finished last chunk ends where it says");

	/* The first chunk of a file is smaller, with a hole behind it, unless the others are small themselves. */
	fd = make(3 * TRACE_CHUNK_SIZE);
	put_chunk(fd, 0, TRACE_CHUNK_FIRST);
	put_chunk(fd, TRACE_CHUNK_SIZE, 0);
	put_event(fd, 2 * TRACE_CHUNK_SIZE - 4096);
	close(fd);
	is_int(record_trim(folder, "t0", TRACE_CHUNK_SIZE), TRACE_CHUNK_SIZE + 4088,
		"of 4 MiB chunks the second is kept to its last event, and the third, unused one goes");
	fd = make(TRACE_CHUNK_FIRST);
	put_chunk(fd, 0, 0);
	put_event(fd, TRACE_CHUNK_FIRST - 16);
	close(fd);
	is_int(record_trim(folder, "t0", TRACE_CHUNK_SIZE), 8, "and the first one ends there");

	fd = make(CHUNK);
	put_chunk(fd, 0, CHUNK + 8);
	check(fd, -1, CHUNK, "a chunk that ends behind itself is left alone");

	fd = make(CHUNK);
	put_event(fd, 4096);
	check(fd, -1, CHUNK, "a file without a chunk is left alone");

	check(make(0), -1, 0, "an empty file is left alone");

	fd = make(CHUNK);
	put_chunk(fd, 0, 0);
	put_event(fd, 128);
	map = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0 || errno == EAGAIN) {
		check(fd, -1, CHUNK, "a file that somebody has mapped is left alone");
		munmap(map, CHUNK);
		check(-1, CHUNK - 136, 136, "and cut once that is over");
	} else {
		skip(4, "this file system knows no leases");
		close(fd);
		munmap(map, CHUNK);
	}

	fd = make(CHUNK);
	put_chunk(fd, 0, 0);
	close(fd);
	is_int(record_trim(folder, "t0", CHUNK / 2), -1, "a chunk size below the limits is refused");
	is_int(record_trim(folder, "t0", 0), -1, "a chunk size of zero is refused");
	unlinkat(folder, "t0", 0);
	if (symlinkat("/dev/null", folder, "t0"))
		bail("no link can be made");
	is_int(record_trim(folder, "t0", CHUNK), -1, "a link is not followed");
	unlinkat(folder, "t0", 0);
	ok(rmdir(path) == 0, "the test cleans up");
	return done_testing();
}
