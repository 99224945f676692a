/* SPDX-License-Identifier: MIT */
#include "tool/pack/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/stream.h"
#include "tool/base/whole.h"
#include "tool/pack/plain_words.h"
#include "tool/read/compact.h"

/* Has the file nothing but zeros there? */
static bool is_zero(const struct compact *file, uint64_t begin, uint64_t end)
{
	static const uint8_t zeros[STREAM_UNIT];
	uint8_t unit[STREAM_UNIT];
	uint64_t size = compact_size(file);

	end = end < size ? end : size;
	return begin >= end || (compact_read(file, unit, end - begin, begin) && !memcmp(unit, zeros, end - begin));
}

static bool is_size(uint64_t size)
{
	return size >= TRACE_CHUNK_MIN && size <= TRACE_CHUNK_MAX && !(size & (size - 1));
}

/* Returns false: no memory. */
static bool add(struct slots *slots, const struct trace_chunk *head, uint64_t at)
{
	if (!(slots->count & (slots->count + 1))) {
		struct slot *more = reallocarray(slots->slot, 2 * slots->count + 2, sizeof(*more));
		if (!more)
			return false;
		slots->slot = more;
	}
	slots->size = head->size;
	slots->slot[slots->count++] = (struct slot){ .at = at,
		.bytes = plain_may_become(head) ? head->used : stream_bytes(head), .stored = stream_bytes(head) };
	return true;
}

/* Returns how many bytes of the file were seen to be chunks; 0: there is something else. *error: an errno, or 0. */
static uint64_t find(struct slots *slots, const struct compact *file, int *error)
{
	uint64_t size = compact_size(file), end = 0;
	struct trace_chunk head;

	for (uint64_t at = 0; (at = compact_data(file, at)) < size;) {
		at = at / STREAM_UNIT * STREAM_UNIT;
		if (!compact_read(file, &head, sizeof(head), at))
			return 0;
		if (!is_size(head.size) || !stream_is_chunk(&head, slots->count ? slots->size : head.size) ||
			head.copied) {
			if (!is_zero(file, at, at + STREAM_UNIT))
				return 0;
			at += STREAM_UNIT;
			continue;
		}
		end = at + stream_bytes(&head);
		if (end > size || !is_zero(file, end, at + stream_whole(end - at)))
			return 0;
		if (!add(slots, &head, at)) {
			*error = ENOMEM;
			return 0;
		}
		at += stream_whole(end - at);
	}
	return end;
}

int slots_find(struct slots *slots, const struct compact *file)
{
	int error = 0;

	if (find(slots, file, &error) != compact_size(file) || !slots->count) {
		free(slots->slot);
		*slots = (struct slots){ 0 };
	}
	return error;
}

/* All of a slot whose words are dense in the file. Damaged ones stay as they are. */
static bool read_dense(const struct slots *slots, const struct compact *file, const struct slot *slot, uint8_t *to)
{
	struct trace_chunk head;

	if (!compact_read(file, &head, sizeof(head), slot->at) || stream_bytes(&head) != slot->stored ||
		!plain_may_become(&head) || head.used != slot->bytes || head.size != slots->size)
		return false;
	if (plain_read(file, slot->at, &head, to))
		return true;
	memset(to, 0, slot->bytes);
	return compact_read(file, to, slot->stored, slot->at);
}

bool slots_read(const struct slots *slots, const struct compact *file, uint64_t begin, uint64_t end, uint8_t *to)
{
	uint8_t *whole = slots->size <= PLAIN_MOST ? malloc(slots->size) : NULL;
	bool good = whole || slots->size > PLAIN_MOST;

	memset(to, 0, end - begin);
	for (uint64_t i = begin / slots->size; good && i < slots->count && i * slots->size < end; i++) {
		const struct slot *slot = &slots->slot[i];
		const uint64_t base = i * slots->size, number = slot->at / STREAM_UNIT + 1;
		const uint64_t from = base > begin ? base : begin, last = base + slot->bytes;
		const uint64_t limit = last < end ? last : end;
		if (from >= limit)
			continue;
		if (slot->bytes == slot->stored) {
			good = compact_read(file, to + (from - begin), limit - from, slot->at + (from - base));
		} else {
			good = read_dense(slots, file, slot, whole);
			if (good)
				memcpy(to + (from - begin), whole + (from - base), limit - from);
		}
		if (good && from == base)
			memcpy(to + (from - begin) + offsetof(struct trace_chunk, copied), &number, sizeof(number));
	}
	free(whole);
	return good;
}

/* ---- back ---- */

static int put(struct slots_back *back, const uint8_t *data, uint64_t size, uint64_t at)
{
	back->size = at + size > back->size ? at + size : back->size;
	return whole_write(back->fd, data, size, at);
}

/* Is it a head, of a chunk that can be put back? */
static bool is_head(const struct trace_chunk *head)
{
	return is_size(head->size) && stream_is_chunk(head, head->size) && head->copied &&
	       head->copied <= INT64_MAX / STREAM_UNIT / 2;
}

/* A slot begins there. Returns 0 or an errno. */
static int begin_slot(struct slots_back *back, struct trace_chunk *chunk, uint64_t at, uint64_t have)
{
	back->slot = at;
	back->next = at + chunk->size;
	back->at = stream_at(chunk->copied);
	chunk->copied = 0;
	back->bytes = stream_bytes(chunk);
	if (chunk->version == TRACE_CHUNK_DENSE || !chunk->dense)
		return 0;
	if (plain_was_dense(chunk, have)) {
		uint64_t bytes = plain_unmake(chunk);
		if (chunk->version == TRACE_CHUNK_DENSE) {
			back->bytes = 0;
			return put(back, (uint8_t *)chunk, bytes, back->at);
		}
	}
	/* The rest is lost, or there is no memory. As plain words they have no room there. */
	chunk->dense = 0;
	back->at = back->spare;
	back->spare += chunk->size;
	return 0;
}

int slots_put_back(struct slots_back *back, uint8_t *data, uint64_t at, uint64_t end)
{
	int error = 0;

	for (uint64_t next; at < end && !error; data += next - at, at = next) {
		struct trace_chunk *head = (struct trace_chunk *)(void *)data;
		if (at >= back->next && at % TRACE_CHUNK_MIN == 0 && end - at >= sizeof(*head) &&
			(uintptr_t)data % _Alignof(uint64_t) == 0 && is_head(head))
			error = begin_slot(back, head, at, end - at);
		next = at < back->next ? back->next : at / TRACE_CHUNK_MIN * TRACE_CHUNK_MIN + TRACE_CHUNK_MIN;
		next = next < end ? next : end;
		const uint64_t limit = back->slot + back->bytes;
		if (!error && at < back->next && at < limit)
			error = put(back, data, (limit < next ? limit : next) - at, back->at + (at - back->slot));
	}
	return error;
}
