/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h> /* pread, lseek */

#include "tool/memory.h"

const char *stream_name(const struct stream *stream, char name[STREAM_NAME_SIZE])
{
	snprintf(name, STREAM_NAME_SIZE, "%c%u", stream->ring >= 0 && stream->fd == stream->ring ? 'r' : 't', stream->number);
	return name;
}

static void damage_at(const struct stream *stream, uint64_t offset, const char *what)
{
	char name[STREAM_NAME_SIZE];

	damage_add(&stream->process->folder->damage, stream->process->path, stream_name(stream, name), offset, what);
}

uint64_t stream_offset(const struct stream *stream, size_t at)
{
	return stream->pos - (stream->have - at) * sizeof(uint64_t);
}

void stream_damage(const struct stream *stream, size_t at, const char *what)
{
	damage_at(stream, stream_offset(stream, at), what);
}

/* As many bytes of the file as there are, up to size. */
static size_t read_at(struct stream *stream, void *to, size_t size, uint64_t offset)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = pread(stream->fd, (char *)to + have, size - have, (off_t)(offset + have));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			damage_at(stream, offset + have, strerror(errno));
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return have;
}

static const char *check_chunk(const struct trace_chunk *head, uint64_t chunk_size)
{
	if (head->magic != TRACE_CHUNK_MAGIC)
		return "there is no chunk where one should begin";
	if (head->version != TRACE_VERSION)
		return "the chunk has another version than this xaudit reads";
	if (head->head_size < sizeof(*head) || head->head_size % 8 || head->head_size > chunk_size)
		return "the chunk's head has an impossible size";
	return NULL;
}

/* ---- opening ---- */

static int by_seq(const void *a, const void *b)
{
	const struct ring_place *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Lists the chunks of the flight recorder, as far as its file reaches. */
static void list_ring(struct stream *stream, uint64_t size)
{
	static const struct trace_chunk nothing;
	uint64_t chunk = stream->process->head.ring_chunk;
	struct trace_chunk head;
	unsigned kept = 0;

	for (uint64_t at = 0; at < size; at += chunk) {
		/* Much of a file that was damaged may be a hole. */
		off_t data = lseek(stream->ring, (off_t)at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		if (data > 0 && (uint64_t)data >= at + chunk)
			at = (uint64_t)data / chunk * chunk;
		size_t n = read_at(stream, &head, size - at < sizeof(head) ? size - at : sizeof(head), at);
		/* A place that was not used yet; or its chunk is being begun, which then is one of those to come. */
		if (!memcmp(&head, &nothing, n) || (n == sizeof(head) && !head.magic))
			continue;
		const char *wrong = n < sizeof(head) ? "the file ends within the head of a chunk" : check_chunk(&head, chunk);
		if (wrong) {
			damage_at(stream, at, wrong);
			continue;
		}
		if (!(stream->places & (stream->places + 1)))
			stream->place = memory_resize(stream->place, (size_t)stream->places * 2 + 2, sizeof(*stream->place));
		stream->place[stream->places++] = (struct ring_place){ head.seq, at };
	}
	if (!stream->places)
		return;
	qsort(stream->place, stream->places, sizeof(*stream->place), by_seq);
	for (unsigned i = 0; i < stream->places; i++) {
		if (kept && stream->place[kept - 1].seq == stream->place[i].seq)
			damage_at(stream, stream->place[i].at, "the chunk has the number of another one");
		else
			stream->place[kept++] = stream->place[i];
	}
	stream->places = kept;
}

/* Returns -1, after noting damage unless it is merely not there. */
static int open_file(struct stream *stream, char kind, struct stat *st)
{
	char name[STREAM_NAME_SIZE];
	const char *why;
	int fd;

	snprintf(name, sizeof(name), "%c%u", kind, stream->number);
	fd = trace_open_file(stream->process->fd, name, &why);
	if (fd >= 0 && !fstat(fd, st))
		return fd;
	if (why)
		damage_add(&stream->process->folder->damage, stream->process->path, name, DAMAGE_NOWHERE, why);
	return -1;
}

bool stream_open(struct stream *stream, struct process *process, unsigned number, size_t block)
{
	struct stat st, ring;

	*stream = (struct stream){ .process = process, .number = number, .ring = -1 };
	stream->file = open_file(stream, 't', &st);
	if (process->head.ring_chunk)
		stream->ring = open_file(stream, 'r', &ring);
	if (stream->file < 0 && stream->ring < 0)
		return false;
	stream->room = block / sizeof(uint64_t);
	stream->words = memory_resize(NULL, stream->room, sizeof(uint64_t));
	if (stream->file >= 0) {
		posix_fadvise(stream->file, 0, 0, POSIX_FADV_SEQUENTIAL);
		stream->size = (uint64_t)st.st_size;
		stream->disk = (uint64_t)st.st_blocks * 512;
	}
	if (stream->ring >= 0) {
		stream->disk += (uint64_t)ring.st_blocks * 512;
		stream->fd = stream->ring;
		list_ring(stream, (uint64_t)ring.st_size);
	}
	stream->fd = stream->file >= 0 ? stream->file : stream->ring;
	return true;
}

void stream_close(struct stream *stream)
{
	if (stream->file >= 0)
		close(stream->file);
	if (stream->ring >= 0)
		close(stream->ring);
	free(stream->words);
	free(stream->place);
	stream->words = NULL;
	stream->place = NULL;
}

/* ---- chunks ---- */

/* Moves over what is no chunk of t<n>. Returns whether there is one at s->next, whose head, or what there is of it, was read. */
static bool find_in_file(struct stream *stream, size_t *have)
{
	uint64_t chunk_size = stream->process->head.chunk_size;

	for (; stream->file >= 0 && stream->next < stream->size; stream->next += chunk_size) {
		static const struct trace_chunk nothing;
		uint64_t room = stream->size - stream->next;
		off_t data;

		stream->fd = stream->file;
		*have = read_at(stream, &stream->head, room < sizeof(nothing) ? room : sizeof(nothing), stream->next);
		/* One without a mark is just being begun. */
		bool young = *have == sizeof(nothing) && !stream->head.magic && !(stream->process->head.flags & TRACE_EXITED);
		if (!young && memcmp(&stream->head, &nothing, *have))
			return true;
		/* Its chunk was not begun; or it is in the flight recorder, or was. */
		data = lseek(stream->file, (off_t)stream->next, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			stream->next = stream->size / chunk_size * chunk_size;
		else if (data > 0 && (uint64_t)data - stream->next > chunk_size)
			stream->next = (uint64_t)data / chunk_size * chunk_size - chunk_size;
	}
	return false;
}

/* Where the words of the chunk that begins at `begin` end. limit: of its place; room: of the file from there on. */
static void measure(struct stream *stream, uint64_t begin, uint64_t limit, uint64_t room)
{
	const struct trace_chunk *head = &stream->head;
	uint64_t size = head->size;

	stream->changing = false;
	stream->there = UINT64_MAX;

	if (size < head->head_size || size > limit || size % 8) {
		damage_at(stream, begin, "the chunk has an impossible size");
		size = limit;
	}
	room = room < size ? room : size;
	stream->end = begin + room;
	if (head->used) {
		if (head->used < head->head_size || head->used > size || head->used % 8)
			damage_at(stream, begin, "the chunk's used size is impossible");
		else if (head->used > room)
			damage_at(stream, begin + room, "the file is cut off");
		else
			stream->end = begin + head->used;
	}
	stream->end -= (stream->end - begin) % 8;
	stream->pos = begin + head->head_size;
	if (stream->pos > stream->end)
		stream->end = stream->pos;
	stream->at = stream->have = 0;
}

#define LOOKS 1000 /* at a chunk that is about to be finished */
#define SLACK ((2 + TRACE_CUSTOM_MAX / 8) * sizeof(uint64_t))

/* Finds out how far the words of the chunk at hand are there now. Zeros behind them may be the data of a custom event. */
static void look_ahead(struct stream *stream)
{
	static uint64_t words[8192];
	uint64_t there = stream->pos;

	for (uint64_t pos = stream->pos; pos < stream->end;) {
		off_t data = lseek(stream->fd, (off_t)pos, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		if (data > 0 && (uint64_t)data > pos)
			pos = (uint64_t)data & ~7ull;
		if (pos >= stream->end)
			break;
		uint64_t want = stream->end - pos;
		size_t n = read_at(stream, words, want < sizeof(words) ? want : sizeof(words), pos) / sizeof(uint64_t);
		if (!n)
			break;
		for (size_t i = n; i > 0; i--) {
			if (words[i - 1]) {
				there = pos + i * sizeof(uint64_t);
				break;
			}
		}
		pos += n * sizeof(uint64_t);
	}
	stream->there = there;
	if (stream->end - there > SLACK)
		stream->end = there + SLACK;
}

/*
 * The chunk at hand was not finished when its head was read. If there is a newer one its thread is about to finish it, or never will. Otherwise it is
 * the newest, and what comes later does not count.
 */
static void take_unfinished(struct stream *stream, uint64_t begin, uint64_t limit, uint64_t room)
{
	struct trace_chunk head = stream->head;
	int fd = stream->fd;
	size_t have;
	bool newer = find_in_file(stream, &have) || stream->next_place < stream->places;

	stream->head = head;
	stream->fd = fd;
	for (int look = 0; newer && !(stream->process->head.flags & TRACE_EXITED) && look < LOOKS; look++) {
		if (pread(fd, &head, sizeof(head), (off_t)begin) != sizeof(head) || head.magic != TRACE_CHUNK_MAGIC ||
			head.seq != stream->head.seq)
			return; /* overwritten */
		if (head.used) {
			stream->head = head;
			measure(stream, begin, limit, room);
			return;
		}
		sched_yield();
	}
	if (!newer)
		stream->next = stream->size;
	look_ahead(stream);
}

/* Takes the chunk at s->next in t<n>. Returns false if it can't be read. */
static bool take_from_file(struct stream *stream, size_t have)
{
	uint64_t begin = stream->next, chunk_size = stream->process->head.chunk_size, seq = begin / chunk_size;
	const char *wrong;

	stream->next += chunk_size;
	stream->in_ring = false;
	if (have < sizeof(stream->head)) {
		damage_at(stream, begin, "the file ends within the head of a chunk");
		stream->next = stream->size;
		return false;
	}
	if (seq > stream->seq && stream->ring < 0 && !stream->process->head.ring_chunk)
		damage_at(stream, trace_chunk_at(chunk_size, stream->seq), "there is no chunk where one should begin");
	wrong = check_chunk(&stream->head, chunk_size);
	if (wrong) {
		damage_at(stream, begin, wrong);
		/* The number is taken: what follows is no surprise. */
		stream->seq = seq == stream->seq ? seq + 1 : stream->seq;
		return false;
	}
	if (stream->head.seq != seq)
		damage_at(stream, begin, "the chunk has the number of another one");
	stream->gap = seq > stream->seq;
	stream->overwritten += stream->gap && stream->process->head.ring_chunk ? seq - stream->seq : 0;
	stream->seq = seq + 1;
	/* The first chunk of a file is shorter than its place. */
	measure(stream, begin, chunk_size, stream->size - begin);
	if (!stream->head.used)
		take_unfinished(stream, begin, chunk_size, stream->size - begin);
	return true;
}

/* Has the chunk at hand, of the flight recorder, been overwritten? */
static bool is_gone(struct stream *stream)
{
	struct trace_chunk now;

	return pread(stream->ring, &now, sizeof(now), (off_t)stream->begin) != sizeof(now) || now.magic != TRACE_CHUNK_MAGIC ||
		now.seq != stream->head.seq;
}

/* Takes the next chunk of r<n>. Returns false if it was overwritten meanwhile. */
static bool take_from_ring(struct stream *stream)
{
	uint64_t chunk = stream->process->head.ring_chunk;
	const struct ring_place *place = &stream->place[stream->next_place++];

	stream->fd = stream->ring;
	stream->in_ring = true;
	stream->begin = place->at;
	if (read_at(stream, &stream->head, sizeof(stream->head), place->at) < sizeof(stream->head) ||
		stream->head.seq != place->seq || check_chunk(&stream->head, chunk))
		return false;
	stream->gap = place->seq > stream->seq;
	stream->overwritten += stream->gap ? place->seq - stream->seq : 0;
	stream->seq = place->seq + 1;
	measure(stream, place->at, chunk, chunk);
	if (!stream->head.used)
		take_unfinished(stream, place->at, chunk, chunk);
	return true;
}

/* Goes to the next chunk that can be read. */
static bool next_chunk(struct stream *stream)
{
	for (;;) {
		size_t have = 0;
		bool in_file = find_in_file(stream, &have), in_ring = stream->next_place < stream->places;

		if (!in_file && !in_ring)
			return false;
		if (in_file && in_ring)
			in_file = stream->next / stream->process->head.chunk_size <= stream->place[stream->next_place].seq;
		if (in_file ? take_from_file(stream, have) : take_from_ring(stream))
			return true;
	}
}

/*
 * n words were read to `at`, of a chunk that was not finished when its head was read. How many of them to believe: up to the first that is
 * another one now; behind it the chunk ends.
 */
static size_t settled(struct stream *stream, size_t at, size_t n)
{
	uint64_t again[512];

	for (size_t done = 0; done < n;) {
		size_t part = n - done < 512 ? n - done : 512;
		size_t have = read_at(stream, again, part * sizeof(*again), stream->pos + done * sizeof(*again)) / sizeof(*again);
		for (size_t i = 0; i < have; i++)
			if (again[i] != stream->words[at + done + i])
				return done + i;
		done += have;
		if (have < part)
			return done;
	}
	return n;
}

/* A chunk that is not finished is mostly a hole in the file: jump over it. */
static void skip_hole(struct stream *stream)
{
	if (stream->head.used || stream->at != stream->have)
		return;
	off_t data = lseek(stream->fd, (off_t)stream->pos, SEEK_DATA);
	if (data >= 0 && (uint64_t)data > stream->pos)
		stream->pos = (uint64_t)data < stream->end ? (uint64_t)data & ~7ull : stream->end;
	else if (data < 0 && errno == ENXIO) /* nothing but hole up to the end of the file */
		stream->pos = stream->end;
}

enum stream_step stream_step(struct stream *stream)
{
	if (!stream->in_chunk) {
		if (!next_chunk(stream))
			return STREAM_END;
		stream->in_chunk = true;
		return STREAM_CHUNK;
	}
	skip_hole(stream);
	size_t left = stream->have - stream->at;
	uint64_t want = stream->end - stream->pos;

	memmove(stream->words, stream->words + stream->at, left * sizeof(uint64_t));
	stream->at = 0;
	stream->have = left;
	if (want > (stream->room - left) * sizeof(uint64_t))
		want = (stream->room - left) * sizeof(uint64_t);
	size_t n = want ? read_at(stream, stream->words + left, want, stream->pos) : 0;
	if (n < want) { /* the file got shorter, or is unreadable here */
		damage_at(stream, stream->pos + n, "the file is cut off");
		stream->end = stream->pos + n / 8 * 8;
	}
	if (stream->in_ring && n && is_gone(stream)) { /* these words may be another chunk's */
		stream->seq--; /* so the next one has a gap before it */
		stream->end = stream->pos;
		stream->at = stream->have = 0;
		stream->head.lost = 0;
		stream->in_chunk = false;
		return STREAM_FINISH;
	}
	n /= 8;
	if (!stream->head.used && n) {
		size_t good = settled(stream, left, n);
		uint64_t at = stream->there > stream->pos ? (stream->there - stream->pos) / sizeof(uint64_t) : 0;
		for (; at < good; at++)
			if (stream->words[left + at])
				good = at;
		if (good < n) {
			stream->end = stream->pos + good * 8;
			stream->changing = true;
		}
		n = good;
	}
	stream->pos += n * 8;
	stream->have += n;
	if (n)
		return STREAM_WORDS;
	if (left && !stream->changing) /* a control word wants more words than the chunk has */
		stream_damage(stream, 0, "the chunk ends within an event");
	stream->at = stream->have = 0;
	stream->in_chunk = false;
	return STREAM_FINISH;
}

void stream_skip(struct stream *stream, uint64_t words)
{
	stream->pos += words * sizeof(uint64_t);
}
