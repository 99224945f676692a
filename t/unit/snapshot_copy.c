/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of a flight recorder whose thread goes on writing: at each read of the copier in turn it finishes some
 * chunks, as many as fill the recorder once or less. The copier's source files are compiled in here, and their system
 * calls go through the hook.
 */
#define _GNU_SOURCE
#include "x86_64/sys.h"

static long hooked_call(long nr, long a, long b, long c, long d, long e, long f);
#define sys_call hooked_call
#include "runtime/snapshot_copy.c"
#include "runtime/snapshot_file.c"
#undef sys_call

#include <stdlib.h>
#include <unistd.h>

#include "t/lib/tap.h"

#define CHUNK  TRACE_CHUNK_MIN
#define PLACES 8u
#define FIRST  2u /* place of the first chunk: after the head and the directory */

static int ring = -1; /* meta, which holds the recorder's chunks */
static uint64_t next_seq; /* of the thread's next chunk */
static unsigned reads, strike_at, strike_with;

static off_t place_of(uint64_t seq)
{
	return (off_t)((2 * (FIRST + seq % PLACES) + 1) * CHUNK);
}

/* Begins a chunk with its head, as the recorder does; finishes the chunk before it first. */
static void begin_next(void)
{
	struct trace_chunk chunk = { .magic = TRACE_CHUNK_MAGIC, .version = TRACE_VERSION, .head_size = sizeof(chunk) };
	uint64_t used = CHUNK, word = TRACE_EVENT(TRACE_POINT, next_seq + 1, next_seq + 1);
	static const uint8_t nothing[CHUNK];

	if (next_seq)
		pwrite(ring, &used, 8, place_of(next_seq - 1) + (off_t)offsetof(struct trace_chunk, used));
	off_t at = place_of(next_seq);
	pwrite(ring, nothing, CHUNK, at);
	pwrite(ring, &word, 8, at + (off_t)sizeof(chunk));
	chunk.seq = next_seq++;
	chunk.size = CHUNK;
	pwrite(ring, &chunk, sizeof(chunk), at);
}

/* The copier has a descriptor of its own for meta; other files differ by inode. */
static int is_ring(int fd)
{
	struct stat one, other;

	return !fstat(fd, &one) && !fstat(ring, &other) && one.st_ino == other.st_ino;
}

static long hooked_call(long nr, long a, long b, long c, long d, long e, long f)
{
	if (nr == __NR_pread64 && is_ring((int)a) && reads++ == strike_at)
		for (unsigned i = 0; i < strike_with; i++)
			begin_next();
	return sys_call(nr, a, b, c, d, e, f);
}

static int open_in(int folder, const char *name)
{
	return openat(folder, name, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

/* What is wrong with the copy in file fd; NULL: nothing. */
static const char *judge(int fd, uint64_t newest_before)
{
	uint64_t least = UINT64_MAX, most = 0, chunks = 0;
	struct trace_chunk chunk;
	uint64_t word;

	for (off_t at = 0; pread(fd, &chunk, sizeof(chunk), at) == sizeof(chunk); at += CHUNK) {
		if (!chunk.magic)
			continue;
		if (pread(fd, &word, 8, at + (off_t)sizeof(chunk)) != 8 ||
			word != TRACE_EVENT(TRACE_POINT, chunk.seq + 1, chunk.seq + 1))
			return "a chunk has the event of another one";
		if (!chunk.used || chunk.copied)
			return "a chunk is not as chunks of files are";
		if (chunks && chunk.seq <= most)
			return "chunks are not in the order of their numbers";
		chunks++;
		least = chunk.seq < least ? chunk.seq : least;
		most = chunk.seq > most ? chunk.seq : most;
	}
	if (!chunks || most < newest_before)
		return "the newest chunk of the beginning is missing";
	return most - least + 1 == chunks ? NULL : "chunks are missing in the middle, or there twice";
}

/* A family of one process with one thread, and no records. */
static void write_meta(void)
{
	struct trace_head head = { .version = TRACE_VERSION, .head_size = TRACE_HEAD_SIZE, .threads = 1 };
	uint64_t word[FIRST + PLACES] = { TRACE_PLACE(TRACE_PLACE_HEAD, 0, 1),
		TRACE_PLACE(TRACE_PLACE_DIRECTORY, 0, 0) };

	for (unsigned i = 0; i < PLACES; i++)
		word[FIRST + i] = TRACE_PLACE(TRACE_PLACE_CHUNK, 0, 0);
	memcpy(head.magic, TRACE_MAGIC, sizeof(head.magic));
	head.used = TRACE_HEAD_SIZE;
	head.chunk_size = head.ring_chunk = CHUNK;
	head.mode = TRACE_MODE_RING;
	head.ring_size = PLACES * CHUNK;
	head.place_size = 2 * CHUNK;
	head.directory = 2 * CHUNK;
	head.places = head.places_end = FIRST + PLACES;
	head.places_max = 2 * CHUNK / 8;
	pwrite(ring, &head, sizeof(head), 0);
	pwrite(ring, word, sizeof(word), 2 * CHUNK);
}

/* One snapshot, with the strike set as it is. */
static const char *one(int from, int to)
{
	struct snapshot_copied copied;

	ring = open_in(from, "meta");
	write_meta();
	next_seq = 0;
	/* So that the newest chunk lies in the middle. */
	for (unsigned i = 0; i < 2 * PLACES + PLACES / 2; i++)
		begin_next();
	uint64_t newest = next_seq - 1;
	unlinkat(to, "meta", 0);
	unlinkat(to, "t0", 0);
	reads = 0;
	long r = snapshot_copy(from, to, 0, &copied);
	const char *wrong = r ? "it fails" : NULL;
	int fd = openat(to, "t0", O_RDONLY);
	if (!wrong)
		wrong = judge(fd, newest);
	close(fd);
	close(ring);
	return wrong;
}

int main(void)
{
	char path[] = "/tmp/xaudit-snapshot-XXXXXX", from_path[64], to_path[64];

	if (!mkdtemp(path))
		return 1;
	snprintf(from_path, sizeof(from_path), "%s/from", path);
	snprintf(to_path, sizeof(to_path), "%s/to", path);
	mkdir(from_path, 0700);
	mkdir(to_path, 0700);
	int from = open(from_path, O_PATH | O_DIRECTORY), to = open(to_path, O_PATH | O_DIRECTORY);

	strike_at = UINT32_MAX;
	ok(!one(from, to), "a recorder that stands still is copied whole");
	unsigned all = reads;
	ok(all > 2 * PLACES, "its file is read %u times", all);
	for (unsigned with = 1; with <= PLACES; with++) {
		unsigned bad = 0;
		const char *last = "";
		for (strike_at = 0, strike_with = with; strike_at < all; strike_at++) {
			const char *wrong = one(from, to);
			if (wrong) {
				bad++;
				last = wrong;
			}
		}
		is_int(bad, 0, "whole, whenever the thread finishes %u chunks at once %s", with, last);
	}
	unlinkat(from, "meta", 0);
	unlinkat(to, "meta", 0);
	unlinkat(to, "t0", 0);
	rmdir(from_path);
	rmdir(to_path);
	rmdir(path);
	return done_testing();
}
