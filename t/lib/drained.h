/* SPDX-License-Identifier: MIT */
/*
 * For tests of tool/record/drain: a family whose traced processes the test plays, on a file, and what t<n> has.
 */
#ifndef XAUDIT_TEST_DRAINED_H
#define XAUDIT_TEST_DRAINED_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/places.h"
#include "format/stream.h"
#include "format/trace.h"
#include "t/lib/plain.h"
#include "t/lib/tap.h"
#include "tool/record/drain/drain.h"

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

static inline struct trace_head *head_of(struct family *family)
{
	return (struct trace_head *)(void *)family->meta;
}

static inline struct trace_handover *handover(struct family *family, uint32_t place)
{
	return (struct trace_handover *)(void *)(family->meta + HANDOVER) + place;
}

static inline struct trace_chunk *chunk_at(struct family *family, uint32_t place)
{
	return (struct trace_chunk *)(void *)(family->meta + place * PLACE + SIZE);
}

/* Makes a family with so many places and a head; *pid is its first process. */
static inline struct family make(const char *name, uint32_t places, uint32_t overflow, pid_t pid)
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
		.place_size = PLACE, .directory = DIRECTORY, .block = TRACE_PLACE_MAX, .handover = HANDOVER,
		.places = places, .places_max = places, .places_end = places, .overflow = overflow };
	memcpy(head_of(&family)->magic, TRACE_MAGIC, 8);
	*(uint64_t *)(void *)(family.meta + DIRECTORY) = TRACE_PLACE(TRACE_PLACE_HEAD, 0, pid);
	return family;
}

static inline void unmake(struct family *family, const char *name)
{
	DIR *dir = fdopendir(family->folder);

	for (struct dirent *e; (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
	munmap(family->meta, family->size);
	unlinkat(trace, name, AT_REMOVEDIR);
}

static inline uint64_t word_of(uint64_t seq, uint64_t i)
{
	/* Chunks differ in each word, dense or not. */
	return (seq + 1) << 32 | i * (1 + seq % 50);
}

/* Fills a place, as runtime/record/chunk.c does. copied: the number of a chunk's whole room, from 1; 0: none. */
static inline void fill(struct family *family, uint32_t place, uint64_t seq, uint64_t copied, uint64_t used)
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
	chunk->copied = copied ? 1 + (copied - 1) * SIZE / STREAM_UNIT : 0;
	/* Release; pairs with the drain's first look. */
	__atomic_store_n(&chunk->magic, TRACE_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

static inline void hand_over(struct family *family, uint32_t place)
{
	/* Release, both: the chunk first. */
	__atomic_store_n(&handover(family, place)->full, chunk_at(family, place)->seq + 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&head_of(family)->handed, 1, __ATOMIC_RELEASE);
}

static inline bool is_drained(struct family *family, uint32_t place)
{
	/* Acquire; the contents of the file are looked at only after this. */
	return __atomic_load_n(&handover(family, place)->drained, __ATOMIC_ACQUIRE) == handover(family, place)->full;
}

/* ---- contents of t<n> ---- */

/* Is the chunk that has the room of this number the one with `seq`? */
static inline bool is_there(const char *name, uint64_t number, uint64_t seq, uint64_t used)
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
			head->dense > (used - sizeof(*head)) / 4 * 3)
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

/* Makes the drain look so many times, each time when it is due. */
static inline void run(int times)
{
	while (times--)
		now = drain_run(now);
}

#endif
