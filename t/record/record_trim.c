/* SPDX-License-Identifier: MIT */
/* Unused parts of a family's file are given back, and nothing else ever is. */
#define _GNU_SOURCE
#include "tool/record/trim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/trace.h"
#include "t/lib/tap.h"
#include "tool/read/family.h"
#include "tool/read/folder.h"

#define CHUNK	  TRACE_CHUNK_MIN
#define PLACE	  (2 * CHUNK)
#define PLACES	  8u
#define BESIDE	  CHUNK		      /* the chunk beside the head */
#define FIRST	  (2 * PLACE + CHUNK) /* the chunks of place 2 and 3 */
#define SECOND	  (3 * PLACE + CHUNK)
#define COUNTS	  (4 * PLACE)
#define RECORDS	  (5 * PLACE)
#define USED	  (CHUNK + 4096)      /* of the records: they end in place 5 */
#define NOBODY	  (6 * PLACE)

static char path[] = "/tmp/xaudit-trim.XXXXXX", folder_path[64];
static int trace_folder, folder;

static void put(int fd, const void *from, size_t size, uint64_t at)
{
	if (pwrite(fd, from, size, (off_t)at) != (ssize_t)size)
		bail("a file can't be written");
}

static void put_word(int fd, uint64_t at, uint64_t word)
{
	put(fd, &word, sizeof(word), at);
}

static int make_file(const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		bail("a file can't be made");
	return fd;
}

/* All places are full of bytes; two are for chunks, which are not begun yet; one place has no owner. */
static int make(void)
{
	static uint8_t bytes[PLACES * PLACE];
	int fd = make_file("meta");
	struct trace_head head = { .version = TRACE_VERSION, .head_size = TRACE_HEAD_SIZE, .used = USED, .pid = 1,
		.clock = TRACE_CLOCK_MONOTONIC, .place_size = PLACE, .directory = PLACE, .block = TRACE_PLACE_MAX,
		.places_max = PLACE / 8, .places = PLACES, .extents = 1, .extent = { { 5, 1 } } };
	const uint64_t words[PLACES] = { TRACE_PLACE(TRACE_PLACE_HEAD, 0, 1), TRACE_PLACE(TRACE_PLACE_DIRECTORY, 0, 0),
		TRACE_PLACE(TRACE_PLACE_CHUNK, 0, 0), TRACE_PLACE(TRACE_PLACE_CHUNK, 0, 0),
		TRACE_PLACE(TRACE_PLACE_COUNTS, 0, 0), TRACE_PLACE(TRACE_PLACE_RECORDS, 0, 0), 0, 0 };

	memset(bytes, 0x11, sizeof(bytes));
	put(fd, bytes, sizeof(bytes), 0);
	memcpy(head.magic, TRACE_MAGIC, sizeof(head.magic));
	put(fd, &head, sizeof(head), 0);
	put(fd, words, sizeof(words), PLACE);
	put_word(fd, BESIDE, 0);
	put_word(fd, FIRST, 0);
	put_word(fd, SECOND, 0);
	memset(bytes, 0, sizeof(bytes));
	put(fd, bytes, PLACE, COUNTS);
	put_word(fd, COUNTS, TRACE_COUNTS_MAGIC);
	put_word(fd, COUNTS + 8192, 7);
	return fd;
}

static struct trace_chunk chunk(uint64_t seq, uint64_t used)
{
	return (struct trace_chunk){ .magic = TRACE_CHUNK_MAGIC, .version = TRACE_VERSION,
		.head_size = sizeof(struct trace_chunk), .seq = seq, .size = CHUNK, .used = used,
		.token = (seq + 1) << 32 | TRACE_TOKEN };
}

/* A chunk of words up to 30000, then tokens. */
static void put_chunk(int fd, uint64_t at, struct trace_chunk head)
{
	put(fd, &head, sizeof(head), at);
	for (uint64_t pos = 30000; pos < CHUNK; pos += 8)
		put_word(fd, at + pos, head.token);
}

static bool is_hole(uint64_t at, uint64_t size)
{
	int fd = openat(folder, "meta", O_RDONLY | O_CLOEXEC);
	off_t data = lseek(fd, (off_t)at, SEEK_DATA);

	close(fd);
	return data < 0 || (uint64_t)data >= at + size;
}

static long long word_at(uint64_t at)
{
	uint64_t word = 0;
	int fd = openat(folder, "meta", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, &word, sizeof(word), (off_t)at) != sizeof(word))
		word = 0;
	close(fd);
	return (long long)word;
}

static long long size_now(void)
{
	struct stat st;

	return fstatat(folder, "meta", &st, 0) ? -1 : (long long)st.st_size;
}

/* Closes fd and trims. Returns whether that was done. */
static bool trim(int fd)
{
	struct read_folder *trace;
	struct read_error error;

	if (fd >= 0)
		close(fd);
	trace = read_folder_open_family(trace_folder, folder, folder_path, &error);
	read_error_free(&error);
	if (!trace)
		return false;
	bool done = record_trim(folder, trace->family[0]) >= 0;
	read_folder_close(trace);
	return done;
}

#define FULL 0x1111111111111111ll

static void check_layout(void)
{
	static uint8_t counts[CHUNK];
	int fd = make();

	put_chunk(fd, FIRST, chunk(0, 8192));
	put_chunk(fd, SECOND, chunk(1, 0));
	ok(trim(fd), "a family's file is trimmed");
	is_int(size_now(), RECORDS + USED - CHUNK, "it ends where the records do, the last that there is");
	ok(word_at(8192) == FULL && word_at(CHUNK - 8) == FULL, "half of the first place is full of records");
	ok(is_hole(CHUNK, CHUNK), "the other half, where there might be a chunk, goes");
	is_int(word_at(RECORDS + 4088), FULL, "and there are some behind it");
	is_int(word_at(PLACE), (long long)TRACE_PLACE(TRACE_PLACE_HEAD, 0, 1), "the directory stays");
	ok(is_hole(PLACE + 4096, PLACE - 4096), "its words that nobody has go");
	ok(word_at(FIRST + 8184) == FULL && is_hole(FIRST + 8192, CHUNK - 8192), "a finished chunk ends where it says");
	ok(word_at(SECOND + 29992) == FULL && is_hole(SECOND + 32768, CHUNK - 32768),
		"another one behind the last word that is no token");
	ok(is_hole(2 * PLACE, CHUNK) && is_hole(3 * PLACE, CHUNK), "below chunks there is nothing");
	ok(word_at(COUNTS + 8192) == 7 && is_hole(COUNTS + 12288, PLACE - 12288), "counters end behind the last one");
	ok(trim(-1), "once more");
	is_int(size_now(), RECORDS + USED - CHUNK, "changes nothing");
	fd = make();
	put_chunk(fd, BESIDE, chunk(0, 8192));
	ok(trim(fd) && word_at(BESIDE + 8184) == FULL && is_hole(BESIDE + 8192, CHUNK - 8192),
		"a chunk beside the head stays, up to its end");
	fd = make();
	memset(counts, 0, sizeof(counts));
	put(fd, counts, sizeof(counts), BESIDE);
	put(fd, &(struct trace_counts){ .magic = TRACE_COUNTS_MAGIC }, sizeof(struct trace_counts), BESIDE);
	put_word(fd, BESIDE + 8192, 7);
	ok(trim(fd) && word_at(BESIDE) == TRACE_COUNTS_MAGIC && word_at(BESIDE + 8192) == 7 &&
			is_hole(BESIDE + 12288, CHUNK - 12288),
		"so do counters, up to the last one");
}

/* Trims where the thread's own file holds `copy`. Returns whether the chunk in meta was kept. */
static bool kept(struct trace_chunk head, struct trace_chunk copy, const char *name)
{
	int fd = make(), file = make_file(name);

	put_chunk(fd, FIRST, head);
	put(file, &copy, sizeof(copy), 0);
	close(file);
	trim(fd);
	unlinkat(folder, name, 0);
	return word_at(FIRST + 8184) == FULL;
}

static void check_copies(void)
{
	struct trace_chunk head = chunk(3, 8192), copy = head;

	head.copied = 1;
	ok(!kept(head, copy, "t0"), "a chunk that the thread's own file has goes");
	ok(kept(head, copy, "t0.0"), "not one that nobody's file has");
	ok(kept(head, copy, "t1"), "or another thread's");
	copy.seq = 2;
	ok(kept(head, copy, "t0"), "or where another one lies there");
	copy.seq = 3;
	copy.magic = 0;
	ok(kept(head, copy, "t0"), "or one that was not finished");
	copy.magic = TRACE_CHUNK_MAGIC;
	copy.thread = 1;
	ok(kept(head, copy, "t0"), "or one of another thread");
	copy.thread = 0;
	head.copied = 0;
	ok(kept(head, copy, "t0"), "or one that was not to be there");
	head.copied = UINT64_MAX;
	ok(kept(head, copy, "t0"), "or at an impossible place");
}

static void refused(int fd, const char *sentence)
{
	ok(!trim(fd) && size_now() == PLACES * PLACE && word_at(NOBODY) == FULL, "%s is left alone", sentence);
}

static void check_refused(void)
{
	struct trace_chunk head = chunk(0, CHUNK + 8);
	int fd = make();

	put_chunk(fd, FIRST, head);
	refused(fd, "a chunk that ends behind itself");
	fd = make();
	head = chunk(0, 8192);
	head.thread = 4;
	put_chunk(fd, FIRST, head);
	refused(fd, "another thread's chunk");
	fd = make();
	put_word(fd, FIRST, FULL);
	refused(fd, "what is no chunk");
	fd = make();
	put_word(fd, BESIDE, FULL);
	refused(fd, "what is no chunk beside a head");
	fd = make();
	put_word(fd, PLACE + 48, TRACE_PLACE(TRACE_PLACE_HEAD, 6, 2));
	refused(fd, "a file with a place that should have a head");
	fd = make();
	put_word(fd, offsetof(struct trace_head, used), 3 * PLACE);
	refused(fd, "a file whose records should be longer");
}

static void check_users(void)
{
	int fd = make();
	void *map = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	put_chunk(fd, FIRST, chunk(0, 8192));
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0 || errno == EAGAIN) {
		refused(fd, "a file that somebody has mapped");
		munmap(map, CHUNK);
		ok(trim(-1) && size_now() == RECORDS + USED - CHUNK, "and trimmed once that is over");
	} else {
		skip(2, "this file system knows no leases");
		close(fd);
		munmap(map, CHUNK);
	}
	unlinkat(folder, "meta", 0);
	ok(!trim(-1), "a file that is not there");
	if (symlinkat("/dev/null", folder, "meta"))
		bail("no link can be made");
	ok(!trim(-1), "a link is not followed");
}

/*
 * Others may put another folder in the place of the one that is being looked at, and another file into it: what was
 * opened is read, and nothing else is cut.
 */
static void check_replaced(void)
{
	struct read_folder *trace;
	struct read_error error;
	char aside[80];
	int fd = make();

	put_chunk(fd, FIRST, chunk(0, 8192));
	close(fd);
	snprintf(aside, sizeof(aside), "%s.aside", folder_path);
	if (rename(folder_path, aside) || mkdir(folder_path, 0700))
		bail("the folder can't be replaced");
	trace = read_folder_open_family(trace_folder, folder, folder_path, &error);
	read_error_free(&error);
	ok(trace && trace->processes == 1 && trace->process[0]->head.used == USED,
		"what is read is the folder that was opened, not what lies at its path");
	if (!trace)
		bail("and nothing else can be tested");
	ok(!strcmp(trace->process[0]->name, "p1"), "it has the name that it had");
	/* A file of the same form, in the same folder. */
	if (renameat(folder, "meta", folder, "meta.old"))
		bail("the file can't be replaced");
	close(make());
	is_int(record_trim(folder, trace->family[0]), -1, "a file that was not read is not trimmed");
	is_int(size_now(), PLACES * PLACE, "and stays as it is");
	if (renameat(folder, "meta.old", folder, "meta"))
		bail("the file can't be brought back");
	ok(record_trim(folder, trace->family[0]) > 0, "the one that was read is");
	is_int(size_now(), RECORDS + USED - CHUNK, "by its descriptor");
	read_folder_close(trace);
	if (rmdir(folder_path) || rename(aside, folder_path))
		bail("the folder can't be brought back");
}

#define LOOKS 100000

/* Somebody opens the file again and again, as readers do: the kernel tells who has the lease just then, by a signal. */
static void check_opened(void)
{
	int status = -1, fd = make();

	close(fd);
	pid_t reader = fork();
	while (!reader) {
		fd = openat(folder, "meta", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0)
			close(fd);
	}
	pid_t trimmer = fork();
	if (!trimmer) {
		signal(SIGIO, SIG_DFL);
		alarm(60);
		for (int i = 0; i < LOOKS; i++)
			record_trim_is_over(folder);
		_exit(0);
	}
	waitpid(trimmer, &status, 0);
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	is_int(status, 0, "who looks for users of a file is not ended by one who opens it then");
}

int main(void)
{
	if (!mkdtemp(path))
		bail("no temporary folder");
	snprintf(folder_path, sizeof(folder_path), "%s/p1", path);
	trace_folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mkdir(folder_path, 0700) || (folder = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		bail("no temporary folder");
	check_layout();
	check_copies();
	check_refused();
	check_replaced();
	check_opened();
	check_users();
	unlinkat(folder, "meta", 0);
	ok(rmdir(folder_path) == 0 && rmdir(path) == 0, "the test cleans up");
	return done_testing();
}
