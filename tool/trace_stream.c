/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h> /* pread, lseek */

#include "tool/memory.h"

static void damage_at(const struct stream *stream, uint64_t offset, const char *what)
{
	char name[16];

	snprintf(name, sizeof(name), "t%u", stream->number);
	damage_add(&stream->process->folder->damage, stream->process->path, name, offset, what);
}

uint64_t stream_offset(const struct stream *stream, size_t at)
{
	return stream->pos - (stream->have - at) * sizeof(uint64_t);
}

void stream_damage(const struct stream *stream, size_t at, const char *what)
{
	damage_at(stream, stream_offset(stream, at), what);
}

bool stream_open(struct stream *stream, struct process *process, unsigned number, size_t block)
{
	struct stat st;
	char name[16];

	*stream = (struct stream){ .process = process, .number = number };
	snprintf(name, sizeof(name), "t%u", number);
	stream->fd = openat(process->fd, name, O_RDONLY | O_CLOEXEC);
	if (stream->fd < 0) {
		/* A record whose file was not begun yet when the process was killed, or now. */
		if (errno != ENOENT || process->head.flags & TRACE_EXITED)
			damage_at(stream, DAMAGE_NOWHERE, strerror(errno));
		return false;
	}
	if (fstat(stream->fd, &st)) {
		damage_at(stream, DAMAGE_NOWHERE, strerror(errno));
		close(stream->fd);
		return false;
	}
	posix_fadvise(stream->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	stream->size = (uint64_t)st.st_size;
	stream->disk = (uint64_t)st.st_blocks * 512;
	stream->room = block / sizeof(uint64_t);
	stream->words = memory_resize(NULL, stream->room, sizeof(uint64_t));
	return true;
}

void stream_close(struct stream *stream)
{
	close(stream->fd);
	free(stream->words);
	stream->words = NULL;
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

/* Goes to the next chunk that can be read. */
static bool next_chunk(struct stream *stream)
{
	uint64_t chunk_size = stream->process->head.chunk_size;
	struct trace_chunk *head = &stream->head;

	while (stream->next < stream->size) {
		static const struct trace_chunk nothing;
		uint64_t begin = stream->next, room = stream->size - begin;
		size_t n = read_at(stream, head, room < sizeof(*head) ? room : sizeof(*head), begin);
		const char *wrong;

		/* The file was made longer and its chunk not begun: that is the end. */
		if (!memcmp(head, &nothing, n))
			return false;
		stream->next = begin + chunk_size;
		if (n < sizeof(*head)) {
			damage_at(stream, begin, "the file ends within the head of a chunk");
			return false;
		}
		wrong = check_chunk(head, chunk_size);
		if (wrong) {
			damage_at(stream, begin, wrong);
			stream->chunks++;
			continue;
		}
		if (head->seq != stream->chunks++)
			damage_at(stream, begin, "the chunk has the number of another one");
		/* The first chunk of a file is shorter than its place. */
		uint64_t size = head->size;
		if (size < head->head_size || size > chunk_size || size % 8) {
			damage_at(stream, begin, "the chunk has an impossible size");
			size = chunk_size;
		}
		room = room < size ? room : size;
		stream->end = begin + room;
		if (head->used) {
			if (head->used < head->head_size || head->used > size || head->used % 8)
				damage_at(stream, begin, "the chunk's used size is impossible");
			else if (head->used > room)
				damage_at(stream, stream->size, "the file is cut off");
			else
				stream->end = begin + head->used;
		}
		stream->end -= (stream->end - begin) % 8;
		stream->pos = begin + head->head_size;
		if (stream->pos > stream->end)
			stream->end = stream->pos;
		stream->at = stream->have = 0;
		return true;
	}
	return false;
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
	stream->pos += n / 8 * 8;
	stream->have += n / 8;
	if (n / 8)
		return STREAM_WORDS;
	if (left) /* a control word wants more words than the chunk has */
		stream_damage(stream, 0, "the chunk ends within an event");
	stream->at = stream->have = 0;
	stream->in_chunk = false;
	return STREAM_FINISH;
}

void stream_skip(struct stream *stream, uint64_t words)
{
	uint64_t here = stream->have - stream->at;

	if (words <= here) {
		stream->at += words;
		return;
	}
	words -= here;
	if (words > (stream->end - stream->pos) / sizeof(uint64_t)) {
		stream_damage(stream, stream->at, "the chunk ends within an event");
		words = (stream->end - stream->pos) / sizeof(uint64_t);
	}
	stream->at = stream->have;
	stream->pos += words * sizeof(uint64_t);
}

enum stream_control stream_control(struct stream *stream, uint64_t *time, uint32_t *tid)
{
	uint32_t id = (uint32_t)(stream->words[stream->at] >> 32) & TRACE_ID_MASK, words = id >> 8;
	enum stream_control what = STREAM_CONTROL_NOTHING;
	uint64_t payload;

	switch (id & 0xff) {
	case TRACE_SYNC:
	case TRACE_THREAD:
		if (!words) {
			stream_damage(stream, stream->at, "a control word lacks its payload");
			break;
		}
		if (stream->have - stream->at < 2)
			return STREAM_CONTROL_MORE;
		/* 0: the writer was interrupted, or killed, before it wrote the payload. */
		payload = stream->words[stream->at + 1];
		if ((id & 0xff) == TRACE_SYNC && payload)
			*time = payload;
		if ((id & 0xff) == TRACE_THREAD) {
			*tid = payload ? (uint32_t)payload : *tid;
			what = STREAM_CONTROL_THREAD;
		}
		break;
	}
	stream_skip(stream, 1 + (uint64_t)words);
	return what;
}
