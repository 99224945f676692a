/* SPDX-License-Identifier: MIT */
/*
 * Writing chunks instead of the threads that filled them: t<n> holds exactly the chunks that were handed over, whatever
 * the traced process does meanwhile, or forges. The test plays the traced process, on a file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "t/lib/drained.h"
#include "tool/record/drain/heartbeat.h"

static bool exists(const char *name)
{
	return faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
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
	ok(!is_drained(&family, FIRST), "nor said to be: its thread may hand it over again");
	chunk_at(&family, FIRST)->seq = 10;
	hand_over(&family, FIRST);
	run(9);
	ok(is_drained(&family, FIRST) && is_there("t0", 4, 10, SIZE), "and then it is");
	run(50);
	is_int((long long)drain_chunks(), 4, "and nothing is twice");
	/* While it looked at nothing the thread wrote many chunks itself. */
	const uint64_t many = 70000;
	fill(&family, FIRST, 12, many + 1, SIZE);
	int fd = openat(at, "t0", O_RDWR | O_CLOEXEC);
	if (ftruncate(fd, (off_t)(many * SIZE)))
		bail("t0 can't grow");
	close(fd);
	hand_over(&family, FIRST);
	run(9);
	ok(is_there("t0", many + 1, 12, SIZE) && is_drained(&family, FIRST), "many chunks later there is one more");
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
	X(copied = 1 << 24)                                                                                            \
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
	drain_heartbeat_all(now + 5 * S);
	is_int((long long)head_of(&family)->drain_beat, (long long)(now + 5 * S), "also while it waits for a disk");
	getrlimit(RLIMIT_FSIZE, &before);
	limit = (struct rlimit){ 12 * PLACE, before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &limit);
	fill(&family, FIRST, 0, 1 + 12 * PLACE / SIZE, SIZE);
	hand_over(&family, FIRST);
	run(9);
	ok(!is_drained(&family, FIRST), "a file that can't grow");
	drain_heartbeat_all(now);
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
	drain_heartbeat_all(now);
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
	drain_heartbeat_all(now + 5 * S);
	ok(head_of(&family)->drain_beat <= now, "who would wait is not told while the disk is waited for");
	head_of(&family)->overflow = TRACE_OVERFLOW_DROP;
	run(9);
	drain_heartbeat_all(now + 5 * S);
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

static bool asked;

static bool stops(void)
{
	return asked;
}

/* Chunks that would cost more than their writers have spent. */
static void is_bounded(void)
{
	struct family family = make("p1", 9, TRACE_OVERFLOW_WAIT, getpid());

	drain_begin(trace);
	drain_bound(SIZE / 2, NULL);
	drain_add("p1", now);
	fill(&family, FIRST, 1, 1, SIZE);
	hand_over(&family, FIRST);
	run(9);
	is_int((long long)drain_chunks(), 0, "no chunk is written that is larger than chunks may be");
	drain_begin(trace);
	drain_bound(SIZE, stops);
	drain_add("p1", now);
	asked = true;
	run(9);
	is_int((long long)drain_chunks(), 0, "none when the end was asked for");
	asked = false;
	run(9);
	is_int((long long)drain_chunks(), 1, "else it is");
	/* A head, nothing behind it, and all is said to be used. */
	int meta = openat(family.folder, "meta", O_RDWR | O_CLOEXEC);
	fill(&family, FIRST + 1, 2, 2, SIZE);
	if (fallocate(meta, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (FIRST + 1) * PLACE + SIZE + 4096,
		    SIZE - 4096)) {
		skip(1, "this file system makes no holes");
	} else {
		hand_over(&family, FIRST + 1);
		run(9);
		is_int((long long)drain_chunks(), 1, "and no chunk with a hole in it");
	}
	close(meta);
	drain_end();
	unmake(&family, "p1");
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
	is_bounded();
	ends();
	ok(rmdir(path) == 0, "the test cleans up");
	return done_testing();
}
