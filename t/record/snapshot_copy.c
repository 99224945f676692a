/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of a flight recorder whose thread goes on writing: at each read of the copier in turn it finishes some
 * chunks, as many as fill the recorder once or less. And of a stream: whose thread writes its chunks itself, from
 * one place, since nobody takes those in the others; and whose every other chunk stays in a new place. The copier's
 * source files are compiled in here, and their system calls go through the hook. And of a family that says of more
 * threads than it can have: that ends, after fewer looks than the limit is elsewhere. A copy that is to rest does so
 * after each piece that it writes.
 */
#define _GNU_SOURCE
#include "x86_64/sys.h"

static long hooked_call(long nr, long a, long b, long c, long d, long e, long f);
#define sys_call hooked_call
#include "runtime/snapshot/state.h"
#undef PIECES_MOST
#define PIECES_MOST 100000u
#include "runtime/snapshot/copy.c"
#include "runtime/snapshot/sparse_file.c"
#undef sys_call

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "t/lib/tap.h"

#define CHUNK  TRACE_CHUNK_MIN
#define PLACES 8u
#define MOST   64u
#define FIRST  2u /* place of the first chunk: after the head and the directory */

static int ring = -1; /* meta, which holds the recorder's chunks */
static int written = -1; /* t0 */
static enum trace_mode mode;
static int spreads, twice; /* twice: each chunk of t0 lies there at two places */
static uint64_t next_seq; /* of the thread's next chunk */
static int stop_between;
static int between; /* the chunk at hand is ended, and the next one not begun */
static unsigned reads, strike_at, strike_with;
static struct snapshot_copied copied_now;
static uint64_t rests, rested_at, longest; /* bytes: when it rested last; between two rests, most */

/* Which place the chunk goes to. */
static uint64_t number_of(uint64_t seq)
{
	if (mode == TRACE_MODE_RING)
		return seq % PLACES;
	if (spreads)
		return seq % 2 ? 1 + seq / 2 : 0;
	return seq < PLACES ? seq : PLACES - 1;
}

static off_t place_of(uint64_t seq)
{
	return (off_t)((2 * (FIRST + number_of(seq)) + 1) * CHUNK);
}

/* Is it written to t0 as soon as it is full? */
static bool is_written(uint64_t seq)
{
	return spreads ? seq % 2 == 0 : seq >= PLACES - 1;
}

static void name_place(uint64_t number)
{
	uint64_t word = TRACE_PLACE(TRACE_PLACE_CHUNK, 0, 0);

	pwrite(ring, &word, 8, (off_t)(2 * CHUNK + 8 * (FIRST + number)));
}

/* Begins a chunk with its head, and names its place, as the recorder does. */
static void begin(void)
{
	off_t at = place_of(next_seq);
	struct trace_chunk chunk = { .magic = TRACE_CHUNK_MAGIC, .version = TRACE_VERSION, .head_size = sizeof(chunk) };
	uint64_t word = TRACE_EVENT(TRACE_POINT, next_seq + 1, next_seq + 1);
	static const uint8_t nothing[CHUNK];

	pwrite(ring, nothing, CHUNK, at);
	pwrite(ring, &word, 8, at + (off_t)sizeof(chunk));
	chunk.seq = next_seq++;
	chunk.size = CHUNK;
	chunk.mode = mode;
	pwrite(ring, &chunk, sizeof(chunk), at);
	name_place(number_of(chunk.seq));
}

static void begin_next(void)
{
	uint64_t used = CHUNK;

	if (next_seq)
		pwrite(ring, &used, 8, place_of(next_seq - 1) + (off_t)offsetof(struct trace_chunk, used));
	begin();
}

/* Ends the chunk at hand, and hands it over, or writes it and makes room for the next. */
static void end_in_stream(void)
{
	static uint8_t whole[CHUNK];
	struct trace_chunk *chunk = (struct trace_chunk *)(void *)whole;
	uint64_t used = CHUNK, to = CHUNK * (twice ? 2 * next_seq - 2 : next_seq - 1), copied = 1 + to / STREAM_UNIT;
	uint64_t nothing = 0;
	off_t at = place_of(next_seq - 1);

	pwrite(ring, &copied, 8, at + (off_t)offsetof(struct trace_chunk, copied));
	pwrite(ring, &used, 8, at + (off_t)offsetof(struct trace_chunk, used));
	if (!is_written(next_seq - 1))
		return;
	pread(ring, whole, CHUNK, at);
	chunk->copied = 0;
	pwrite(written, whole, CHUNK, (off_t)to);
	if (twice)
		pwrite(written, whole, CHUNK, (off_t)(to + CHUNK));
	pwrite(ring, &nothing, 8, at + (off_t)offsetof(struct trace_chunk, magic));
}

/* Half of what it takes to go from one chunk to the next. */
static void step_in_stream(void)
{
	int ends = next_seq && !between;

	ends ? end_in_stream() : begin();
	between = ends;
}

/* The copier has a descriptor of its own for meta; other files differ by inode. */
static int is_same(int fd, int as)
{
	struct stat one, other;

	return !fstat(fd, &one) && !fstat(as, &other) && one.st_ino == other.st_ino;
}

static long hooked_call(long nr, long a, long b, long c, long d, long e, long f)
{
	if (nr == __NR_pread64 && (is_same((int)a, ring) || is_same((int)a, written)) && reads++ == strike_at)
		for (unsigned i = 0; i < strike_with; i++)
			mode == TRACE_MODE_RING ? begin_next() : step_in_stream();
	return sys_call(nr, a, b, c, d, e, f);
}

static void note_rest(void)
{
	longest = copied_now.bytes - rested_at > longest ? copied_now.bytes - rested_at : longest;
	rested_at = copied_now.bytes;
	rests++;
}

static int open_in(int folder, const char *name)
{
	return openat(folder, name, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

/* What is wrong with the copy in file fd; NULL: nothing. */
static const char *judge(int fd, uint64_t newest_before)
{
	uint64_t least = UINT64_MAX, most = 0, chunks = 0;
	uint8_t seen[1024] = { 0 };
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
		if (mode == TRACE_MODE_RING && chunks && chunk.seq <= most)
			return "chunks are not in the order of their numbers";
		if (chunk.seq >= sizeof(seen))
			return "a chunk has an impossible number";
		chunks += !(twice && seen[chunk.seq]);
		seen[chunk.seq] = 1;
		least = chunk.seq < least ? chunk.seq : least;
		most = chunk.seq > most ? chunk.seq : most;
	}
	if (!chunks || most < newest_before)
		return "the newest chunk of the beginning is missing";
	if (mode == TRACE_MODE_STREAM && least)
		return "the first chunks are missing";
	return most - least + 1 == chunks ? NULL : "chunks are missing in the middle, or there twice";
}

/* A family of one process with one thread, and no records. */
static void write_meta(void)
{
	struct trace_head head = { .version = TRACE_VERSION, .head_size = TRACE_HEAD_SIZE, .threads = 1 };
	uint64_t word[FIRST + MOST] = { TRACE_PLACE(TRACE_PLACE_HEAD, 0, 1),
		TRACE_PLACE(TRACE_PLACE_DIRECTORY, 0, 0) };

	memcpy(head.magic, TRACE_MAGIC, sizeof(head.magic));
	head.used = TRACE_HEAD_SIZE;
	head.chunk_size = head.ring_chunk = CHUNK;
	head.mode = mode;
	head.ring_size = mode == TRACE_MODE_RING ? PLACES * CHUNK : 0;
	head.place_size = 2 * CHUNK;
	head.directory = 2 * CHUNK;
	head.block = TRACE_PLACE_MAX;
	head.places = head.places_end = FIRST + MOST;
	head.places_max = 2 * CHUNK / 8;
	pwrite(ring, &head, sizeof(head), 0);
	pwrite(ring, word, sizeof(word), 2 * CHUNK);
}

/* One snapshot, with the strike set as it is. */
static const char *one(int from, int to, void (*rest)(void))
{
	ring = open_in(from, "meta");
	written = open_in(from, "t0");
	write_meta();
	next_seq = 0;
	between = 0;
	if (mode == TRACE_MODE_RING)
		/* So that the newest chunk lies in the middle. */
		for (unsigned i = 0; i < 2 * PLACES + PLACES / 2; i++)
			begin_next();
	else
		while (next_seq < PLACES + 4 || between != stop_between)
			step_in_stream();
	uint64_t newest = next_seq - 1;
	unlinkat(to, "meta", 0);
	unlinkat(to, "t0", 0);
	reads = 0;
	long r = snapshot_copy(from, to, 0, UINT32_MAX, rest, &copied_now);
	const char *wrong = r ? "it fails" : NULL;
	int fd = openat(to, "t0", O_RDONLY);
	if (!wrong)
		wrong = judge(fd, newest);
	close(fd);
	close(ring);
	close(written);
	return wrong;
}

/* A snapshot for each read: there the thread goes so many steps on. Returns how many were wrong. */
static unsigned strike_each(int from, int to, unsigned all, unsigned with, const char **last)
{
	unsigned bad = 0;

	*last = "";
	for (strike_at = 0, strike_with = with; strike_at < all; strike_at++) {
		const char *wrong = one(from, to, NULL);
		if (wrong) {
			bad++;
			*last = wrong;
		}
	}
	return bad;
}

static void test_ring(int from, int to)
{
	const char *last;

	mode = TRACE_MODE_RING;
	strike_at = UINT32_MAX;
	ok(!one(from, to, NULL), "a recorder that stands still is copied whole");
	unsigned all = reads;
	ok(all > 2 * PLACES, "its file is read %u times", all);
	for (unsigned with = 1; with <= PLACES; with++) {
		unsigned bad = strike_each(from, to, all, with, &last);
		is_int(bad, 0, "whole, whenever the thread finishes %u chunks at once %s", with, last);
	}
}

static void test_stream(int from, int to)
{
	const char *last;

	mode = TRACE_MODE_STREAM;
	for (unsigned i = 0; i < 8; i++) {
		static const char *const which[] = { "in a chunk", "between two chunks", "in a chunk, with more places",
			"between two chunks, with more places", "in a chunk, that it took back",
			"between two chunks, that it took back", "in a chunk, that it took back, with more places",
			"between two chunks, that it took back, with more places" };
		const char *where = which[i];
		stop_between = i % 2;
		spreads = i / 2 % 2;
		twice = i / 4;
		strike_at = UINT32_MAX;
		const char *wrong = one(from, to, NULL);
		ok(!wrong, "a stream that stands still %s is copied whole %s", where, wrong ? wrong : "");
		unsigned all = reads;
		ok(all > 2 * PLACES, "its files are read %u times", all);
		for (unsigned with = 1; with <= 2 * PLACES; with += with < 5 ? 1 : 11) {
			unsigned bad = strike_each(from, to, all, with, &last);
			is_int(bad, 0, "whole, whenever its thread, %s, goes %u half chunks on %s", where, with, last);
		}
	}
	twice = 0;
}

/* A head that a hostile process has written: to copy all that it says would take days. */
static void test_rests(int from, int to)
{
	mode = TRACE_MODE_RING;
	strike_at = UINT32_MAX;
	rests = rested_at = longest = 0;
	ok(!one(from, to, note_rest), "a copy that rests is as another");
	ok(longest && longest <= PIECE && rested_at == copied_now.bytes, "each piece of %" PRIu64 " bytes has its rest",
		longest);
	ok(rests >= copied_now.chunks + 2, "and each file: %" PRIu64 " rests", rests);
}

static void test_endless(int from, int to)
{
	const uint32_t none = 0, many = UINT32_MAX;

	mode = TRACE_MODE_RING;
	strike_at = UINT32_MAX;
	ok(!one(from, to, NULL), "a family of one thread is copied");
	ring = openat(from, "meta", O_RDWR);
	pwrite(ring, &many, sizeof(many), offsetof(struct trace_head, threads));
	unlinkat(to, "meta", 0);
	unlinkat(to, "t0", 0);
	reads = 0;
	is_int(snapshot_copy(from, to, 0, UINT32_MAX, NULL, &copied_now), -EBADMSG,
		"one of four thousand millions is given up");
	ok(reads < 10 * PIECES_MOST, "after %u reads", reads);
	is_int(faccessat(to, "meta", F_OK, 0), -1, "and what was copied is no trace");
	pwrite(ring, &none, sizeof(none), offsetof(struct trace_head, threads));
	unlinkat(to, UNFINISHED, 0);
	unlinkat(to, "t0", 0);
	is_int(snapshot_copy(from, to, 0, UINT32_MAX, NULL, &copied_now), 0, "it does not count for the next copy");
	close(ring);
}

int main(void)
{
	char shm[] = "/dev/shm/xaudit-snapshot-XXXXXX", tmp[] = "/tmp/xaudit-snapshot-XXXXXX";
	char *path = mkdtemp(shm), from_path[64], to_path[64]; /* where it is quick, if there is such a place */

	if (!path && !(path = mkdtemp(tmp)))
		return 1;
	snprintf(from_path, sizeof(from_path), "%s/from", path);
	snprintf(to_path, sizeof(to_path), "%s/to", path);
	mkdir(from_path, 0700);
	mkdir(to_path, 0700);
	int from = open(from_path, O_PATH | O_DIRECTORY), to = open(to_path, O_PATH | O_DIRECTORY);

	test_ring(from, to);
	test_stream(from, to);
	test_rests(from, to);
	test_endless(from, to);
	unlinkat(from, "meta", 0);
	unlinkat(from, "t0", 0);
	unlinkat(to, "meta", 0);
	unlinkat(to, "t0", 0);
	rmdir(from_path);
	rmdir(to_path);
	rmdir(path);
	return done_testing();
}
