/* SPDX-License-Identifier: MIT */
/*
 * `xaudit record` writes chunks of a thread that waits for nobody: it takes them back at any moment, and hands them
 * over again where it can't write them. Each is in t<n> then, whole.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "t/lib/drained.h"

#define ROUNDS 4000
#define RACING 3 /* places */

static struct family racing;
static int done; /* release and acquire: all chunks have been written */

static uint64_t numbers; /* of t0 that were given */
static unsigned again;	 /* chunks that were handed over twice */

static uint64_t used_of(uint64_t seq)
{
	return 256 + seq % 15 * 4096;
}

/*
 * Takes a chunk back and writes it to a place of its own, as runtime/record/chunk.c does. Each second time the disk is
 * full: then it hands the chunk over again, and waits. Returns whether t0 has it.
 */
static bool takes_back(int fd, uint32_t place)
{
	static unsigned times;
	struct trace_chunk *chunk = chunk_at(&racing, place), head;

	/* Relaxed, and the fence; pair with the drain's look at `full` after the number. */
	__atomic_store_n(&handover(&racing, place)->full, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	chunk->copied = 1 + numbers++ * SIZE / STREAM_UNIT;
	if (times++ % 2) {
		hand_over(&racing, place);
		for (int i = 0; i < 100000 && !is_drained(&racing, place); i++)
			usleep(100);
		again++;
		return is_drained(&racing, place);
	}
	head = *chunk;
	head.copied = 0;
	off_t to = (off_t)((numbers - 1) * SIZE);
	return pwrite(fd, chunk + 1, head.used - sizeof(head), to + (off_t)sizeof(head)) >= 0 &&
	       pwrite(fd, &head, sizeof(head), to) >= 0;
}

/* Writes a chunk itself if it is not drained when the place is needed; then fills the place again. */
static void *race(void *unused)
{
	int fd = openat(racing.folder, "t0", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	for (uint64_t seq = 0; seq < ROUNDS + RACING; seq++) {
		uint32_t place = FIRST + (uint32_t)(seq % RACING);
		if (seq >= RACING && !is_drained(&racing, place) && !takes_back(fd, place))
			break;
		if (seq < ROUNDS) {
			fill(&racing, place, seq, ++numbers, used_of(seq));
			hand_over(&racing, place);
		}
	}
	close(fd);
	/* Release; pairs with the acquire in races(). */
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	return unused;
}

/* How many times each chunk is in t0, whole. Returns how many places have a head, but not its chunk. */
static unsigned count_chunks(uint8_t *times)
{
	struct trace_chunk head;
	unsigned wrong = 0;
	int fd = openat(at, "t0", O_RDONLY | O_CLOEXEC);

	for (uint64_t number = 1; pread(fd, &head, sizeof(head), (off_t)((number - 1) * SIZE)) > 0; number++) {
		if (!head.magic)
			continue;
		if (head.seq < ROUNDS && is_there("t0", number, head.seq, used_of(head.seq)))
			times[head.seq]++;
		else
			wrong++;
	}
	close(fd);
	return wrong;
}

static void races(void)
{
	pthread_t thread;
	static uint8_t times[ROUNDS];
	unsigned missing = 0, twice = 0;

	racing = make("p1", FIRST + RACING, TRACE_OVERFLOW_WAIT, getpid());
	drain_begin(trace);
	drain_add("p1", now);
	if (pthread_create(&thread, NULL, race, NULL))
		bail("no thread");
	/* Acquire; pairs with the release in race(). */
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		run(1);
	pthread_join(thread, NULL);
	run(9);
	is_int(count_chunks(times), 0, "a thread that waits for nobody: what is there is whole");
	for (uint64_t seq = 0; seq < ROUNDS; seq++)
		missing += !times[seq], twice += times[seq] > 1;
	diag("%llu of %d chunks were written by the other side, %u by both; %u were handed over twice",
		(unsigned long long)drain_chunks(), ROUNDS, twice, again);
	is_int(missing, 0, "and each chunk is");
	drain_end();
	unmake(&racing, "p1");
}

int main(void)
{
	char path[] = "/tmp/xaudit-race.XXXXXX";

	if (!mkdtemp(path) || (trace = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		bail("no temporary folder");
	races();
	ok(rmdir(path) == 0, "the test cleans up");
	return done_testing();
}
