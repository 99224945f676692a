/* SPDX-License-Identifier: MIT */
#include "tool/read/events/stream.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"
#include "tool/read/events/chunk_words.h"

static void damage_at(const struct read_stream *stream, uint64_t offset, const char *what)
{
	read_chunks_damage(&stream->chunks, &stream->chunk, offset, what);
}

uint64_t read_stream_offset(const struct read_stream *stream, size_t at)
{
	return stream->pos - (stream->have - at) * sizeof(uint64_t);
}

void read_stream_damage(const struct read_stream *stream, size_t at, const char *what)
{
	damage_at(stream, read_stream_offset(stream, at), what);
}

static size_t read_at(struct read_stream *stream, void *to, size_t size, uint64_t offset)
{
	return read_chunks_read(&stream->chunks, &stream->chunk, to, size, offset);
}

bool read_stream_open(struct read_stream *stream, struct read_process *process, unsigned number, size_t block)
{
	*stream = (struct read_stream){ .room = block / sizeof(uint64_t) };
	if (!read_chunks_open(&stream->chunks, process, number))
		return false;
	if (read_memory_resize(process->family->damage, &stream->words, stream->room, sizeof(uint64_t)))
		return true;
	read_stream_close(stream);
	return false;
}

void read_stream_close(struct read_stream *stream)
{
	read_chunks_close(&stream->chunks);
	free(stream->words);
	stream->words = NULL;
}

/* ---- chunks ---- */

/* Where the words of the present chunk begin and end. */
static void measure(struct read_stream *stream)
{
	const struct trace_chunk *head = &stream->chunk.head;
	uint64_t size = head->size, begin = stream->chunk.begin, limit = stream->chunk.limit, room = stream->chunk.room;

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
#define SLACK ((1 + TRACE_CUSTOM_WORDS) * sizeof(uint64_t))

/*
 * Finds out how far the words of the present chunk are there now. Zeros after them may be the data of a custom event.
 */
static void look_ahead(struct read_stream *stream)
{
	/* There are no words in the block yet. */
	uint64_t *words = stream->words, there = stream->pos, size = stream->room * sizeof(*words);

	for (uint64_t pos = stream->pos; pos < stream->end;) {
		uint64_t data = read_file_data(stream->chunk.file, pos);
		if (data == UINT64_MAX)
			break;
		if (data > pos)
			pos = data & ~7ull;
		if (pos >= stream->end)
			break;
		uint64_t want = stream->end - pos;
		size_t n = read_at(stream, words, want < size ? want : size, pos) / sizeof(uint64_t);
		if (!n)
			break;
		for (size_t i = n; i > 0; i--) {
			if (!read_chunk_is_unwritten(&stream->chunk, words[i - 1])) {
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
 * The present chunk was not finished when its head was read. If there is a newer one its thread is about to finish it,
 * or never will. Otherwise it is the newest, and words that come later do not count.
 */
static void take_unfinished(struct read_stream *stream)
{
	bool newer = read_chunks_more(&stream->chunks), exited = stream->chunks.process->head.flags & TRACE_EXITED;

	for (int look = 0; newer && !exited && look < LOOKS; look++) {
		if (!read_chunk_again(&stream->chunk))
			return; /* overwritten */
		if (stream->chunk.head.used) {
			measure(stream);
			return;
		}
		sched_yield();
	}
	look_ahead(stream);
}

static bool next_chunk(struct read_stream *stream)
{
	if (!read_chunks_next(&stream->chunks, &stream->chunk))
		return false;
	stream->chunks.gap |= stream->torn;
	stream->torn = false;
	measure(stream);
	if (!stream->chunk.head.used)
		take_unfinished(stream);
	return true;
}

/*
 * n words were read to `at`, of a chunk that was not finished when its head was read. Returns how many of them count:
 * those before the first that is different now; there the chunk ends.
 */
static size_t settled(struct read_stream *stream, size_t at, size_t n)
{
	uint64_t again[512];

	for (size_t done = 0; done < n;) {
		size_t part = n - done < 512 ? n - done : 512;
		size_t have = read_at(stream, again, part * sizeof(*again), stream->pos + done * sizeof(*again)) /
			      sizeof(*again);
		for (size_t i = 0; i < have; i++)
			if (again[i] != stream->words[at + done + i])
				return done + i;
		done += have;
		if (have < part)
			return done;
	}
	return n;
}

/*
 * A chunk that is not finished is mostly a hole in the file, and one that was forged may be, whatever it says: jump
 * over it. There are no events in zeros; where words of an event wait for more, these are read.
 */
static void skip_hole(struct read_stream *stream)
{
	if (read_chunk_is_dense(&stream->chunk.head) || stream->at != stream->have)
		return;
	uint64_t data = read_file_data(stream->chunk.file, stream->pos);
	if (data > stream->pos)
		stream->pos = data < stream->end ? data & ~7ull : stream->end;
}

/* The present chunk was overwritten. Returns whether there is a copy; reading goes on in it, at the same word. */
static bool follow_chunk(struct read_stream *stream)
{
	uint64_t from = stream->chunk.begin;

	if (!read_chunks_find_copy(&stream->chunks, &stream->chunk))
		return false;
	stream->pos += stream->chunk.begin - from;
	stream->end += stream->chunk.begin - from;
	/* Words that were not there when its reading began do not count. */
	if (stream->there != UINT64_MAX) {
		stream->there += stream->chunk.begin - from;
		stream->end = stream->there < stream->end ? stream->there : stream->end;
		stream->changing = true;
	}
	uint64_t end = stream->chunk.begin + stream->chunk.head.used;
	stream->end = end < stream->end ? end : stream->end;
	stream->end = stream->end < stream->pos ? stream->pos : stream->end;
	return true;
}

enum read_stream_step read_stream_step(struct read_stream *stream)
{
	if (!stream->in_chunk) {
		if (!next_chunk(stream))
			return READ_STREAM_END;
		stream->in_chunk = true;
		return READ_STREAM_CHUNK;
	}
	skip_hole(stream);
	size_t left = stream->have - stream->at;
	uint64_t want = stream->end - stream->pos;

	memmove(stream->words, stream->words + stream->at, left * sizeof(uint64_t));
	stream->at = 0;
	stream->have = left;
	if (want > (stream->room - left) * sizeof(uint64_t))
		want = (stream->room - left) * sizeof(uint64_t);
	size_t n;
	for (;;) {
		want = want < stream->end - stream->pos ? want : stream->end - stream->pos;
		n = want ? read_at(stream, stream->words + left, want, stream->pos) : 0;
		struct read_chunk now = stream->chunk;
		if (!now.reused || !n || read_chunk_again(&now))
			break;
		/* These words may be another chunk's. */
		if (!follow_chunk(stream)) {
			read_chunks_gone(&stream->chunks);
			stream->end = stream->pos;
			stream->at = stream->have = 0;
			stream->in_chunk = false;
			return READ_STREAM_FINISH;
		}
	}
	if (n < want) { /* the file got shorter, or is unreadable here; or dense words are damaged */
		damage_at(stream, stream->pos + n,
			read_chunk_is_dense(&stream->chunk.head) ? "the chunk has too few words"
								 : "the file is cut off");
		stream->end = stream->pos + n / 8 * 8;
		stream->torn = true;
	}
	n /= 8;
	if (!stream->chunk.head.used && n) {
		size_t good = settled(stream, left, n);
		uint64_t at = stream->there > stream->pos ? (stream->there - stream->pos) / sizeof(uint64_t) : 0;
		for (; at < good; at++)
			if (!read_chunk_is_unwritten(&stream->chunk, stream->words[left + at]))
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
		return READ_STREAM_WORDS;
	if (left && !stream->changing) /* a control word wants more words than the chunk has */
		read_stream_damage(stream, 0, "the chunk ends within an event");
	stream->at = stream->have = 0;
	stream->in_chunk = false;
	return READ_STREAM_FINISH;
}

void read_stream_skip(struct read_stream *stream, uint64_t words)
{
	stream->pos += words * sizeof(uint64_t);
}
