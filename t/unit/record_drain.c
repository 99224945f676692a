/* SPDX-License-Identifier: MIT */
/*
 * Writing chunks instead of the threads that filled them: t<n> holds exactly the chunks that were handed over, whatever
 * the traced process does meanwhile, or forges. The test plays the traced process, on a file.
 */
#define _GNU_SOURCE
#include "tool/record/drain/drain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/trace.h"
#include "t/lib/plain.h"
#include "t/lib/tap.h"
#include "tool/record/drain/beat.h"

#define SIZE	  TRACE_CHUNK_MIN
#define PLACE	  (2 * SIZE)
#define DIRECTORY PLACE
#define HANDOVER  (2 * PLACE)
#define FIRST	  3u /* first place that may be a chunk's */
#define S	  1000000000ull

static int trace, at; /* descriptors of the trace, and of the family at hand */
static uint64_t now = 100 * S;

/* ---- the traced side ---- */

struct family {
	int folder;
	uint8_t *meta; /* mapped */
	uint64_t size;
};

static struct trace_head *head_of(struct family *family)
{
	return (struct trace_head *)(void *)family->meta;
}

static struct trace_handover *handover(struct family *family, uint32_t place)
{
	return (struct trace_handover *)(void *)(family->meta + HANDOVER) + place;
}

static struct trace_chunk *chunk_at(struct family *family, uint32_t place)
{
	return (struct trace_chunk *)(void *)(family->meta + place * PLACE + SIZE);
}

/* Makes a family with so many places and a head; *pid is its first process. */
static struct family make(const char *name, uint32_t places, uint32_t overflow, pid_t pid)
{
	struct family family = { .size = places * PLACE };

	if (mkdirat(trace, name, 0700))
		bail("no folder");
	at = family.folder = openat(trace, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(at, "meta", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)family.size))
		bail("no meta");
	family.meta = mmap(NULL, family.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (family.meta == MAP_FAILED)
		bail("no memory");
	*head_of(&family) = (struct trace_head){ .version = TRACE_VERSION, .head_size = TRACE_HEAD_SIZE,
		.place_size = PLACE, .directory = DIRECTORY, .handover = HANDOVER, .places = places,
		.places_max = places, .places_end = places, .overflow = overflow };
	memcpy(head_of(&family)->magic, TRACE_MAGIC, 8);
	*(uint64_t *)(void *)(family.meta + DIRECTORY) = TRACE_PLACE(TRACE_PLACE_HEAD, 0, pid);
	return family;
}

static void unmake(struct family *family, const char *name)
{
	DIR *dir = fdopendir(family->folder);

	for (struct dirent *e; (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
	munmap(family->meta, family->size);
	unlinkat(trace, name, AT_REMOVEDIR);
}

static uint64_t word_of(uint64_t seq, uint64_t i)
{
	/* Chunks differ in each word, dense or not. */
	return (seq + 1) << 32 | i * (1 + seq % 50);
}

/* Fills a place, as runtime/chunk.c does. */
static void fill(struct family *family, uint32_t place, uint64_t seq, uint64_t copied, uint64_t used)
{
	struct trace_chunk *chunk = chunk_at(family, place);
	uint64_t *word = (uint64_t *)(void *)(chunk + 1);

	/* Release and fence; pair with the second look of the drain at the head. */
	__atomic_store_n(&chunk->magic, 0, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*chunk = (struct trace_chunk){ .version = TRACE_VERSION, .head_size = sizeof(*chunk), .seq = seq, .size = SIZE,
		.mode = TRACE_MODE_STREAM };
	for (uint64_t i = 0; i < (used - sizeof(*chunk)) / 8; i++)
		word[i] = word_of(seq, i);
	chunk->used = used;
	chunk->copied = copied;
	/* Release; pairs with the drain's first look. */
	__atomic_store_n(&chunk->magic, TRACE_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

static void hand_over(struct family *family, uint32_t place)
{
	/* Release, both: the chunk first. */
	__atomic_store_n(&handover(family, place)->full, chunk_at(family, place)->seq + 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&head_of(family)->handed, 1, __ATOMIC_RELEASE);
}

static bool is_drained(struct family *family, uint32_t place)
{
	/* Acquire; the contents of the file are looked at only after this. */
	return __atomic_load_n(&handover(family, place)->drained, __ATOMIC_ACQUIRE) == handover(family, place)->full;
}

/* ---- contents of t<n> ---- */

/* Is the chunk of this number the one with `seq`? */
static bool is_there(const char *name, uint64_t number, uint64_t seq, uint64_t used)
{
	static uint64_t words[SIZE / 8], codes[SIZE / 8];
	struct trace_chunk *head = (struct trace_chunk *)(void *)words;
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, words, used, (off_t)((number - 1) * SIZE));

	close(fd);
	if (n < (ssize_t)sizeof(*head) || head->magic != TRACE_CHUNK_MAGIC || head->seq != seq || head->used != used ||
		head->copied)
		return false;
	if (head->version == TRACE_CHUNK_DENSE) {
		const uint8_t *from = (const uint8_t *)memcpy(codes, words, sizeof(words)) + sizeof(*head);
		if (!head->dense || head->dense > (uint64_t)n - sizeof(*head) ||
			head->dense > (used - sizeof(*head)) / 2)
			return false;
		memset(head + 1, 0, SIZE - sizeof(*head));
		plain_words(head, (const uint16_t *)(const void *)from,
			(const uint16_t *)(const void *)(from + head->dense));
	} else if (n != (ssize_t)used || head->version != TRACE_VERSION)
		return false;
	for (uint64_t i = sizeof(*head) / 8; i < used / 8; i++)
		if (words[i] != word_of(seq, i - sizeof(*head) / 8))
			return false;
	return head->used == used;
}

static bool exists(const char *name)
{
	return faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Makes the drain look so many times, each time when it is due. */
static void run(int times)
{
	while (times--)
		now = drain_run(now);
}

/* ---- the tests ---- */

static void hands_over(void)
{
	struct family family = make("p1", 12, TRACE_OVERFLOW_WAIT, getpid());

	drain_begin(trace);
	drain_add("p1", now);
	run(2);
	is_int((long long)drain_chunks(), 0, "nothing is handed over, nothing is written");
	fill(&family, FIRST, 5, 1, SIZE);
	chunk_at(&family, FIRST)->thread = 2;
	run(9);
	ok(!exists("t2"), "nor what is full, but was not handed over");
	hand_over(&family, FIRST);
	run(9);
	is_int((long long)drain_chunks(), 1, "a chunk is written, once");
	ok(is_there("t2", 1, 5, SIZE), "to t2, as its first one");
	ok(is_drained(&family, FIRST), "and that is said");
	fill(&family, FIRST, 6, 3, 1024);
	fill(&family, FIRST + 4, 7, 2, sizeof(struct trace_chunk));
	chunk_at(&family, FIRST)->thread = chunk_at(&family, FIRST + 4)->thread = 9;
	chunk_at(&family, FIRST)->process = chunk_at(&family, FIRST + 4)->process = 8;
	hand_over(&family, FIRST);
	hand_over(&family, FIRST + 4);
	run(9);
	ok(is_there("t9.8", 3, 6, 1024) && is_there("t9.8", 2, 7, sizeof(struct trace_chunk)),
		"those of a forked child go to a file with its place, where their numbers say");
	/* Its thread has written it and goes on. */
	fill(&family, FIRST, 10, 4, SIZE);
	hand_over(&family, FIRST);
	chunk_at(&family, FIRST)->seq = 11;
	run(9);
	is_int((long long)drain_chunks(), 3, "one that is not there any more is not written");
	run(50);
	is_int((long long)drain_chunks(), 3, "and nothing is twice");
	drain_end();
	unmake(&family, "p1");
}

/* If a head is forged, nothing is written. */
#define FORGED(X)                                                                                                      \
	X(used = SIZE + 8)                                                                                             \
	X(used = SIZE - 4)                                                                                             \
	X(used = 8)                                                                                                    \
	X(used = 0)                                                                                                    \
	X(size = 2 * SIZE)                                                                                             \
	X(version = 1)                                                                                                 \
	X(head_size = 64)                                                                                              \
	X(copied = 0)                                                                                                  \
	X(copied = 1 << 20)                                                                                            \
	X(copied = UINT64_MAX)                                                                                         \
	X(thread = UINT32_MAX)                                                                                         \
	X(process = UINT32_MAX)

static void refuses(void)
{
	struct family family = make("p1", 300, TRACE_OVERFLOW_WAIT, getpid());
	uint64_t chunks = 0;

	drain_begin(trace);
	drain_add("p1", now);
	run(3);
#define X(change)                                                                                                      \
	fill(&family, FIRST, ++chunks, 1, 4096);                                                                       \
	chunk_at(&family, FIRST)->change;                                                                              \
	hand_over(&family, FIRST);                                                                                     \
	run(9);                                                                                                        \
	ok(!is_drained(&family, FIRST), "forged: " #change);
	FORGED(X)
#undef X
	is_int((long long)drain_chunks(), 0, "none of these is written");
	/* After the file's end, which is the end of 300 places. */
	head_of(&family)->places = UINT32_MAX;
	*handover(&family, 301) = (struct trace_handover){ 7, 0 };
	head_of(&family)->handed++;
	fill(&family, FIRST, 50, 1, 4096);
	hand_over(&family, FIRST);
	for (int i = 0; i < 5000 && !is_drained(&family, FIRST); i++)
		run(1);
	ok(is_there("t0", 1, 50, 4096),
		"a place that the file does not have, and more of them than can be: others are written");
	head_of(&family)->places = 300;
	/* Its file is cut, and comes back. */
	int fd = openat(at, "meta", O_RDWR | O_CLOEXEC);
	if (ftruncate(fd, 0))
		bail("meta can't be cut");
	run(20);
	ok(drain_chunks() == 1, "the file shrinks: nothing happens");
	close(fd);
	drain_end();
	unmake(&family, "p1");
}

static void trusts_nobody(void)
{
	struct family family = make("p1", 12, TRACE_OVERFLOW_DROP, getpid());
	struct stat st;

	int victim = openat(trace, "victim", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (victim < 0 || symlinkat("../victim", at, "t0") || linkat(trace, "victim", at, "t1", 0) ||
		mkfifoat(at, "t2", 0600) || mkdirat(at, "t3", 0700))
		bail("no links");
	drain_begin(trace);
	drain_add("p1", now);
	for (unsigned i = 0; i < 4; i++) {
		fill(&family, FIRST, i, 1, 4096);
		chunk_at(&family, FIRST)->thread = i;
		hand_over(&family, FIRST);
		now += 2 * S;
		run(9);
		ok(!is_drained(&family, FIRST), "t%u is %s: it stays as it is", i,
			(const char *[]){ "a link", "a file with two names", "a FIFO", "a folder" }[i]);
		is_int((long long)head_of(&family)->drain_beat, 0, "and nobody is to wait for it");
	}
	ok(!fstat(victim, &st) && !st.st_size, "no other file has changed");
	unlinkat(at, "t3", AT_REMOVEDIR);
	now += 2 * S;
	run(9);
	ok(is_there("t3", 1, 3, 4096), "it is tried again");
	drain_end();

	/* The family's folder is another user's, or a link to one. */
	if (!geteuid()) {
		fchown(at, 1, 1);
		drain_begin(trace);
		drain_add("p1", now);
		fill(&family, FIRST, 9, 2, 4096);
		hand_over(&family, FIRST);
		run(9);
		ok(!is_drained(&family, FIRST), "another user's folder is left alone");
		drain_end();
		fchown(at, 0, 0);
	} else {
		skip(1, "only root can give a folder away");
	}
	symlinkat("p1", trace, "p2");
	drain_begin(trace);
	drain_add("p2", now);
	hand_over(&family, FIRST);
	run(9);
	ok(!is_drained(&family, FIRST), "a link to a folder is not followed");
	for (int i = 0; i < 1000 && drain_families(); i++) {
		now += S;
		run(1);
	}
	is_int(drain_families(), 0, "and is given up");
	drain_end();
	unlinkat(trace, "p2", 0);
	unlinkat(trace, "victim", 0);
	close(victim);
	unmake(&family, "p1");
}

static void fails(void)
{
	struct family family = make("p1", 12, TRACE_OVERFLOW_DROP, getpid());
	struct rlimit limit, before;

	drain_begin(trace);
	drain_add("p1", now);
	uint64_t began = now;
	run(2);
	is_int((long long)head_of(&family)->drain_beat, (long long)began,
		"who would lose events is told that somebody is there");
	while (now < began + S / 2)
		run(1);
	ok(now - head_of(&family)->drain_beat <= S / 5, "again and again");
	drain_beat_all(now + 5 * S);
	is_int((long long)head_of(&family)->drain_beat, (long long)(now + 5 * S), "also while it waits for a disk");
	getrlimit(RLIMIT_FSIZE, &before);
	limit = (struct rlimit){ 12 * PLACE, before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &limit);
	fill(&family, FIRST, 0, 1 + 12 * PLACE / SIZE, SIZE);
	hand_over(&family, FIRST);
	run(9);
	ok(!is_drained(&family, FIRST), "a file that can't grow");
	drain_beat_all(now);
	is_int((long long)head_of(&family)->drain_beat, 0, "ends that");
	setrlimit(RLIMIT_FSIZE, &before);
	uint64_t soon = now + S / 2;
	while (now < soon)
		run(1);
	ok(!is_drained(&family, FIRST), "it is not tried again at once");
	while (now < soon + S)
		run(1);
	ok(is_drained(&family, FIRST), "but later");
	ok(head_of(&family)->drain_beat >= soon, "and then it goes on");
	drain_end();
	drain_beat_all(now);
	is_int((long long)head_of(&family)->drain_beat, 0, "at the end nobody is there");
	unmake(&family, "p1");
}

/* A process has a head before it says what overflow is. */
static void is_told_late(void)
{
	struct family family = make("p1", 12, TRACE_OVERFLOW_WAIT, getpid());

	drain_begin(trace);
	drain_add("p1", now);
	run(2);
	drain_beat_all(now + 5 * S);
	ok(head_of(&family)->drain_beat <= now, "who would wait is not told while the disk is waited for");
	head_of(&family)->overflow = TRACE_OVERFLOW_DROP;
	run(9);
	drain_beat_all(now + 5 * S);
	is_int((long long)head_of(&family)->drain_beat, (long long)(now + 5 * S),
		"who says late that it would lose events is");
	drain_end();
	unmake(&family, "p1");
}

#define MANY 140 /* more than the number of files that it keeps open */

static void many(void)
{
	static struct family family[MANY];
	char name[32];
	struct rlimit limit, before;
	int there = 0;

	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "p%u", i + 1);
		family[i] = make(name, 5, TRACE_OVERFLOW_WAIT, getpid());
		close(family[i].folder);
	}
	getrlimit(RLIMIT_NOFILE, &before);
	limit = (struct rlimit){ (rlim_t)trace + 6, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &limit);
	drain_begin(trace);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "p%u", i + 1);
		drain_add(name, now);
	}
	for (uint64_t round = 0; round < 3; round++) {
		for (unsigned i = 0; i < MANY; i++) {
			fill(&family[i], FIRST, round, 1 + round, 4096);
			hand_over(&family[i], FIRST);
		}
		run(400);
	}
	setrlimit(RLIMIT_NOFILE, &before);
	is_int((long long)drain_chunks(), 3 * MANY, "chunks of many families, with few descriptors");
	drain_end();
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "p%u", i + 1);
		at = family[i].folder = openat(trace, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		there += is_there("t0", 1, 0, 4096) && is_there("t0", 2, 1, 4096) && is_there("t0", 3, 2, 4096);
		unmake(&family[i], name);
	}
	is_int(there, MANY, "all are there");
}

static void takes_turns(void)
{
	struct family family = make("p1", 203, TRACE_OVERFLOW_WAIT, getpid()),
		      other = make("p2", 5, TRACE_OVERFLOW_WAIT, getpid());

	drain_begin(trace);
	drain_add("p1", now);
	drain_add("p2", now);
	run(2);
	at = family.folder;
	for (uint32_t i = 0; i < 200; i++) {
		fill(&family, FIRST + i, i, 1 + i, 256);
		hand_over(&family, FIRST + i);
	}
	fill(&other, FIRST, 0, 1, 256);
	hand_over(&other, FIRST);
	for (int i = 0; i < 100 && !is_drained(&other, FIRST); i++)
		run(1);
	ok(is_drained(&other, FIRST) && !is_drained(&family, FIRST + 199), "who has much lets others have their turn");
	run(20);
	is_int((long long)drain_chunks(), 201, "and has all written in the end");
	ok(is_there("t0", 1, 0, 256) && is_there("t0", 200, 199, 256), "where it belongs");
	drain_end();
	unmake(&family, "p1");
	unmake(&other, "p2");
}

static void ends(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	struct family gone = make("p1", 5, TRACE_OVERFLOW_WAIT, pid),
		      alive = make("p2", 5, TRACE_OVERFLOW_WAIT, getpid());
	drain_begin(trace);
	drain_add("p1", now);
	drain_add("p1", now);
	drain_add("p2", now);
	is_int(drain_families(), 2, "a folder counts once");
	uint64_t end = now + 30 * S;
	while (now < end)
		run(1);
	is_int(drain_families(), 1, "a family whose processes have ended is looked after no more");
	is_int((long long)head_of(&gone)->drain_beat, 0, "and is told so");
	/* In another namespace of processes these may still live. */
	fill(&gone, 3, 0, 1, SIZE);
	hand_over(&gone, 3);
	end = now + 30 * S;
	while (now < end && !is_drained(&gone, 3))
		run(1);
	at = gone.folder;
	ok(is_there("t0", 1, 0, SIZE) && drain_families() == 2, "but what it hands over all the same is taken");
	drain_end();
	unmake(&gone, "p1");
	unmake(&alive, "p2");
}

/* ---- a thread that does not wait ---- */

#define ROUNDS 4000
#define RACING 3 /* places */

static struct family racing;
static int done; /* release and acquire: all chunks have been written */

static uint64_t numbers; /* of t0 that were given */

static uint64_t used_of(uint64_t seq)
{
	return 256 + seq % 15 * 4096;
}

/* Takes a chunk back and writes it to a place of its own, as runtime/chunk.c does. Returns whether it could. */
static bool takes_back(int fd, uint32_t place)
{
	struct trace_chunk *chunk = chunk_at(&racing, place), head;

	/* Relaxed, and the fence; pair with the drain's look at `full` after the number. */
	__atomic_store_n(&handover(&racing, place)->full, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	chunk->copied = ++numbers;
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
	diag("%llu of %d chunks were written by the other side, %u by both", (unsigned long long)drain_chunks(), ROUNDS,
		twice);
	is_int(missing, 0, "and each chunk is");
	drain_end();
	unmake(&racing, "p1");
}

int main(void)
{
	char path[] = "/tmp/xaudit-drain.XXXXXX";

	signal(SIGXFSZ, SIG_IGN);
	if (!mkdtemp(path) || (trace = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		bail("no temporary folder");
	hands_over();
	refuses();
	trusts_nobody();
	fails();
	is_told_late();
	many();
	takes_turns();
	ends();
	races();
	ok(rmdir(path) == 0, "the test cleans up");
	return done_testing();
}
