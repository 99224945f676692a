/* SPDX-License-Identifier: MIT */
/*
 * Chunks that a reader looks for by number while the thread goes on: t<n> has a flight recorder's 128 chunks, each
 * behind one that the thread filled after its mode had become stream.
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/trace.h"
#include "tool/read/events/chunk_words.h"
#include "tool/read/events/chunks.h"
#include "tool/read/family.h"
#include "tool/read/folder.h"

#define CHUNK  TRACE_CHUNK_MIN
#define PLACES 128u
#define FIRST  2u /* place of the first chunk */

static char path[] = "/tmp/xaudit-copies.XXXXXX", folder_path[64];

static int make_file(const char *name, uint64_t size)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/%s", folder_path, name);
	int fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		bail("a file can't be made");
	return fd;
}

static void put(int fd, const void *from, size_t size, uint64_t at)
{
	if (pwrite(fd, from, size, (off_t)at) != (ssize_t)size)
		bail("a file can't be written");
}

static struct trace_chunk chunk_of(uint64_t seq)
{
	return (struct trace_chunk){ .magic = TRACE_CHUNK_MAGIC, .version = TRACE_VERSION,
		.head_size = sizeof(struct trace_chunk), .seq = seq, .pid = 1, .tid = 1, .size = CHUNK,
		.used = sizeof(struct trace_chunk), .token = (seq + 1) << 32 | TRACE_TOKEN };
}

/* A process that lives, and places of which one has the newest chunk, the others nothing any more. */
static void make_meta(void)
{
	uint64_t word[FIRST + PLACES] = { TRACE_PLACE(TRACE_PLACE_HEAD, 0, 1),
		TRACE_PLACE(TRACE_PLACE_DIRECTORY, 0, 0) };
	struct trace_head head = { .version = TRACE_VERSION, .head_size = TRACE_HEAD_SIZE, .used = TRACE_HEAD_SIZE,
		.chunk_size = CHUNK, .pid = (uint32_t)getpid(), .clock = TRACE_CLOCK_MONOTONIC, .threads = 1,
		.recording = 1, .ring_chunk = CHUNK, .ring_size = PLACES * CHUNK, .place_size = 2 * CHUNK,
		.directory = 2 * CHUNK, .block = TRACE_PLACE_MAX, .places_max = 2 * CHUNK / 8,
		.places_end = FIRST + PLACES, .places = FIRST + PLACES };
	int fd = make_file("meta", (FIRST + PLACES) * 2ul * CHUNK);

	for (unsigned i = 0; i < PLACES; i++)
		word[FIRST + i] = TRACE_PLACE(TRACE_PLACE_CHUNK, 0, 0);
	memcpy(head.magic, TRACE_MAGIC, sizeof(head.magic));
	put(fd, &head, sizeof(head), 0);
	put(fd, word, sizeof(word), 2 * CHUNK);
	struct trace_chunk newest = chunk_of(2 * PLACES);
	put(fd, &newest, sizeof(newest), (2 * FIRST + 1) * CHUNK);
	close(fd);
}

static void make_copies(void)
{
	int fd = make_file("t0", 2ul * PLACES * CHUNK);

	for (uint64_t i = 0; i < 2 * PLACES; i++) {
		uint64_t seq = i % 2 ? i / 2 : PLACES + i / 2;
		struct trace_chunk head = chunk_of(seq);
		put(fd, &head, sizeof(head), i * CHUNK);
	}
	close(fd);
}

/* Behind so many others. */
static void put_copy(uint64_t seq, uint64_t behind)
{
	char file[128];
	struct trace_chunk head = chunk_of(seq);

	snprintf(file, sizeof(file), "%s/t0", folder_path);
	int fd = open(file, O_RDWR | O_CLOEXEC);
	put(fd, &head, sizeof(head), (2ul * PLACES + behind) * CHUNK);
	close(fd);
}

static void put_meta(const void *from, size_t size, uint64_t at)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/meta", folder_path);
	int fd = open(file, O_RDWR | O_CLOEXEC);
	put(fd, from, size, at);
	close(fd);
}

static void put_word(uint32_t place, uint64_t word)
{
	put_meta(&word, sizeof(word), 2 * CHUNK + 8 * place);
}

/* Has the process that place for chunks of its first record? */
static bool has(const struct read_family *family, uint32_t process, uint32_t place)
{
	uint32_t count;
	const struct read_family_place *places = read_family_of_record(family, process, TRACE_PLACE_CHUNK, 0, &count);

	for (uint32_t i = 0; i < count; i++)
		if (places[i].place == place)
			return true;
	return false;
}

/* A place is given back, and taken by another process, which has a chunk of the same number there. */
static void taken_again(struct read_family *family)
{
	const uint32_t place = FIRST + 1;
	const uint64_t at = (2ul * place + 1) * CHUNK, free = TRACE_PLACE(TRACE_PLACE_FREE, 0, 0), given = 1;
	struct trace_chunk head = chunk_of(7);
	struct read_chunk chunk = { .file = family->meta, .begin = at, .head = head };

	put_meta(&head, sizeof(head), at);
	ok(read_chunk_again(&chunk), "the chunk that was found is there");
	head.process = FIRST + PLACES - 1;
	put_meta(&head, sizeof(head), at);
	ok(!read_chunk_again(&chunk), "another process's chunk of the same number is another one");
	head.process = 0;
	head.thread = 1;
	put_meta(&head, sizeof(head), at);
	ok(!read_chunk_again(&chunk), "and another thread's");
	head.thread = 0;
	head.clock++;
	put_meta(&head, sizeof(head), at);
	ok(!read_chunk_again(&chunk), "and one that was begun later");
	read_family_look(family);
	ok(has(family, 0, place), "the place is the first process's");
	put_word(place, free);
	put_meta(&given, sizeof(given), offsetof(struct trace_head, given));
	read_family_look(family);
	ok(!has(family, 0, place), "then it is nobody's");
	put_word(place, TRACE_PLACE(TRACE_PLACE_CHUNK, FIRST, 0));
	read_family_look(family);
	ok(has(family, FIRST, place), "and when another one has taken it, that one's");
}

/* A chunk is begun beside the head: it is counted then; if it is just being begun anew, the reader looks again. */
static void begun_beside(struct read_family *family)
{
	const uint32_t count = 1;
	const uint64_t word = 7;
	struct trace_chunk head = chunk_of(8), none = head;

	ok(!has(family, 0, 0), "beside the head there is no chunk");
	none.magic = 0;
	put_meta(&none, sizeof(none), CHUNK);
	put_meta(&word, sizeof(word), CHUNK + sizeof(none));
	put_meta(&count, sizeof(count), offsetof(struct trace_head, beside));
	read_family_look(family);
	ok(!has(family, 0, 0), "nor where one is being begun anew");
	put_meta(&head, sizeof(head), CHUNK);
	read_family_look(family);
	ok(has(family, 0, 0), "once it is begun, the place is its thread's");
}

static struct read_file *chunks_file(struct read_family *family)
{
	const char *why;
	struct read_file *file = read_family_open_file(family, "t0", NULL, &why);

	if (!file)
		bail("t0 can't be read");
	return file;
}

int main(void)
{
	struct read_chunks chunks;
	struct read_error error;
	unsigned found = 0, right = 0;

	if (!mkdtemp(path))
		bail("no temporary folder");
	snprintf(folder_path, sizeof(folder_path), "%s/p1", path);
	if (mkdir(folder_path, 0700))
		bail("no temporary folder");
	make_meta();
	make_copies();
	int trace = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int family = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct read_folder *folder = read_folder_open_family(trace, family, folder_path, &error);
	read_error_free(&error);
	if (!folder || !read_chunks_open(&chunks, folder->family[0]->process[0], 0))
		bail("the trace can't be read");
	is_int(chunks.places, 2 * PLACES + 1, "all chunks are listed");
	for (uint64_t seq = 0; seq < 2 * PLACES; seq++) {
		struct read_chunk chunk = { .kind = 'm', .head = { .seq = seq } };
		if (!read_chunks_find_copy(&chunks, &chunk))
			continue;
		found++;
		right += chunk.begin == (seq < PLACES ? 2 * seq + 1 : 2 * (seq - PLACES)) * CHUNK;
	}
	is_int(found, 2 * PLACES, "each that was in a place is found in t0 when it is there no more");
	is_int(right, 2 * PLACES, "where it lies");
	read_chunks_close(&chunks);
	/* The thread was killed as it began the next one, and what it had handed over came into t0 in another order. */
	put_copy(2 * PLACES + 1, 0);
	if (!read_chunks_open(&chunks, folder->family[0]->process[0], 0))
		bail("the trace can't be read");
	is_int(chunks.places, 2 * PLACES + 2, "one in t0 that is newer than all in meta is listed, too");
	read_chunks_close(&chunks);
	/* Its thread took one back that was handed over long ago, and wrote it behind all others. */
	put_copy(0, 1);
	struct read_chunks live;
	read_chunks_follow(&live, folder->family[0]->process[0], 0);
	live.file = chunks_file(folder->family[0]);
	found = 0;
	for (uint64_t seq = 0; seq < 2 * PLACES; seq++) {
		struct read_chunk chunk = { .kind = 'm', .head = { .seq = seq } };
		found += read_chunks_find_copy(&live, &chunk);
	}
	is_int(found, 2 * PLACES, "each is found when an old one lies behind it");
	read_chunks_close(&live);
	/* As in a snapshot. */
	for (uint64_t i = 0; i < 200; i++)
		put_copy(i, 1 + i);
	if (!read_chunks_open(&chunks, folder->family[0]->process[0], 0))
		bail("the trace can't be read");
	is_int(chunks.places, 2 * PLACES + 2, "so is the newest one, whatever lies behind it");
	read_chunks_close(&chunks);
	taken_again(folder->family[0]);
	begun_beside(folder->family[0]);
	read_folder_close(folder);
	close(family);
	close(trace);
	char file[128];
	snprintf(file, sizeof(file), "%s/meta", folder_path);
	unlink(file);
	snprintf(file, sizeof(file), "%s/t0", folder_path);
	unlink(file);
	ok(rmdir(folder_path) == 0 && rmdir(path) == 0, "the test cleans up");
	return done_testing();
}
