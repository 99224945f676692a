/* SPDX-License-Identifier: MIT */
#include "tool/read/events/copies.h"

#include <stdlib.h>
#include <string.h>

#include "format/stream.h"
#include "tool/read/damage/memory.h"
#include "tool/read/trace_file.h"

#define LATE 256 /* chunks: by so many places at most a number comes later than a higher one */

/* How a file is looked at. */
struct look {
	struct read_copies *copies;
	struct read_file *file;
	read_copies_head *head;
	void *user;
	struct read_damage *damage;
};

static void add(const struct look *look, uint64_t at, uint64_t bytes, uint64_t seq)
{
	struct read_copies *copies = look->copies;

	if (read_memory_grow(look->damage, &copies->copy, copies->count, sizeof(*copies->copy)))
		copies->copy[copies->count++] = (struct read_copy){ at, at + stream_whole(bytes), seq };
	copies->most = seq > copies->most ? seq : copies->most;
}

/* Adds what begins from `at` to `limit`. */
static void go(const struct look *look, uint64_t at, uint64_t limit)
{
	bool due = true;

	while (at < limit && !look->damage->no_memory) {
		uint64_t data = read_file_data(look->file, at), seq;
		if (data >= limit)
			return;
		data = data / STREAM_UNIT * STREAM_UNIT;
		due |= data > at;
		uint64_t bytes = look->head(look->user, data, due, &seq);
		if (bytes)
			add(look, data, bytes, seq);
		at = data + (bytes ? stream_whole(bytes) : STREAM_UNIT);
		due = bytes > READ_COPIES_UNKNOWN;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct read_copy *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

void read_copies_look(struct read_copies *copies, struct read_file *file, size_t between, read_copies_head *head,
	void *user, struct read_damage *damage)
{
	const struct look look = { copies, file, head, user, damage };
	const uint64_t size = read_file_size(file);
	const size_t known = copies->count, first = known > between ? known - between : 0;
	uint64_t at = first ? copies->copy[first - 1].end : copies->begin;
	size_t more;

	for (size_t i = first; i < known; i++) {
		if (at < copies->copy[i].at)
			go(&look, at, copies->copy[i].at < size ? copies->copy[i].at : size);
		at = copies->copy[i].end;
	}
	more = copies->count;
	go(&look, at, size);
	if (more > known)
		qsort(copies->copy, copies->count, sizeof(*copies->copy), by_place);
}

const struct read_copy *read_copies_find(struct read_copies *copies, uint64_t seq)
{
	/* Most are asked for in their order, in which most lie. */
	for (size_t n = 0; seq <= copies->most && n < copies->count; n++) {
		size_t i = copies->last + n < copies->count ? copies->last + n : copies->last + n - copies->count;
		if (copies->copy[i].seq == seq) {
			copies->last = i;
			return &copies->copy[i];
		}
	}
	return NULL;
}

const struct read_copy *read_copies_newest(const struct read_copies *copies)
{
	const struct read_copy *newest = NULL;

	for (size_t i = copies->count; i && !(newest && newest->seq == copies->most); i--)
		if (!newest || copies->copy[i - 1].seq > newest->seq)
			newest = &copies->copy[i - 1];
	return newest;
}

const struct read_copy *read_copies_above(const struct read_copies *copies, uint64_t seq)
{
	const struct read_copy *above = NULL;

	for (size_t i = 0; i < copies->count; i++)
		if (copies->copy[i].seq > seq && (!above || copies->copy[i].seq < above->seq))
			above = &copies->copy[i];
	return above;
}

uint64_t read_copies_from(const struct read_copies *copies, uint64_t seq)
{
	uint64_t from = 0;
	size_t older = 0;

	for (size_t i = copies->count; i && older < LATE; i--) {
		const struct read_copy *copy = &copies->copy[i - 1];
		older = copy->seq < seq ? older + 1 : 0;
		from = copy->seq < seq ? from : copy->at;
	}
	return from;
}

void read_copies_forget(struct read_copies *copies, uint64_t offset)
{
	size_t n = 0;

	while (n < copies->count && copies->copy[n].at < offset)
		n++;
	copies->count -= n;
	if (n)
		memmove(copies->copy, copies->copy + n, copies->count * sizeof(*copies->copy));
	copies->last = copies->last > n ? copies->last - n : 0;
	copies->begin = offset > copies->begin ? stream_whole(offset) : copies->begin;
}
