/* SPDX-License-Identifier: MIT */
/* The meta of a snapshot. */
#include "runtime/snapshot/meta.h"

#include <errno.h> /* EBADMSG */
#include <stdbool.h>

#include "runtime/files/output.h"
#include "runtime/snapshot/sparse_file.h"
#include "runtime/snapshot/state.h"
#include "x86_64/sys.h"

long snapshot_name(struct copy *c, uint32_t first, uint64_t places, enum trace_place what, uint32_t number)
{
	uint64_t at = c->directory + 8ul * first;
	long r = first > c->words || places > c->words - first ? -EBADMSG : 0;

	sys_fill_words(c->first, TRACE_PLACE(what, 0, number), PIECE / 8);
	for (uint64_t left = 8 * places, size; left && !r; left -= size, at += size) {
		size = left < PIECE ? left : PIECE;
		r = snapshot_write(c, c->out, c->first, size, at);
	}
	return r;
}

static bool is_size(uint64_t size, uint64_t least, uint64_t most)
{
	return size >= least && size <= most && !(size & (size - 1));
}

static bool is_head(const struct trace_head *head)
{
	return sys_same(head->magic, TRACE_MAGIC, sizeof(head->magic)) && head->version == TRACE_VERSION &&
	       is_size(head->place_size, 2 * TRACE_CHUNK_MIN, 2 * TRACE_CHUNK_MAX) &&
	       head->head_size >= sizeof(*head) && head->head_size <= head->place_size / 2 &&
	       !(head->head_size % 8) && head->extents <= TRACE_EXTENTS;
}

/*
 * Reads the head of the process, with a pair of times that did not change meanwhile: a writer that was killed in the
 * middle of it leaves no such pair.
 */
static long read_head(struct copy *c)
{
	uint64_t at = snapshot_place_at(c, c->process);

	for (int look = 0; look < LOOKS; look++) {
		long n = snapshot_read(c->meta, &c->head, sizeof(c->head), at);
		if (n < 0)
			return n;
		if (n != sizeof(c->head) || !is_head(&c->head) || c->head.process != c->process)
			return -EBADMSG;
		uint32_t seq = c->head.last_seq;
		n = snapshot_read(c->meta, c->second, sizeof(c->head), at);
		if (n == sizeof(c->head) && !(seq & 1) && ((struct trace_head *)(void *)c->second)->last_seq == seq)
			return 0;
	}
	sys_fill(&c->head.last, 0, sizeof(c->head.last));
	c->head.last_seq = 0;
	return 0;
}

/*
 * Where a position in the records of the process whose head is c->forefather lies. Returns how many bytes follow there;
 * 0: it lies nowhere.
 */
static uint64_t locate(const struct copy *c, uint64_t position, uint64_t *at)
{
	const struct trace_head *head = &c->forefather;
	uint64_t start = 0, room = c->family.place_size / 2;

	*at = snapshot_place_at(c, head->process);
	for (uint32_t i = 0; position - start >= room; i++) {
		if (i == head->extents)
			return 0;
		start += room;
		room = head->extent[i].places * c->family.place_size;
		*at = snapshot_place_at(c, head->extent[i].first);
	}
	*at += position - start;
	return room - (position - start);
}

/* Bytes of those records; fewer at the end. */
static long read_records(struct copy *c, void *to, uint64_t size, uint64_t position)
{
	uint64_t done = 0, room, at;

	while (done < size && (room = locate(c, position + done, &at))) {
		room = room < size - done ? room : size - done;
		long n = snapshot_read(c->meta, (uint8_t *)to + done, room, at);
		if (n < 0)
			return n;
		done += (uint64_t)n;
		if ((uint64_t)n < room)
			break;
	}
	return (long)done;
}

/* Where a position of the copy's records lies: after half of its first place come those that follow the counters. */
static uint64_t record_at(const struct copy *c, uint64_t position)
{
	uint64_t size = c->family.place_size;

	return position < size / 2 ? position : position - size / 2 + c->next * size;
}

static long write_records(struct copy *c, const uint8_t *from, uint64_t size, uint64_t position)
{
	uint64_t room = c->family.place_size / 2,
		 first = position < room && room - position < size ? room - position : size;
	long r = snapshot_write(c, c->out, from, first, record_at(c, position));

	return r || first == size
		       ? r
		       : snapshot_write(c, c->out, from + first, size - first, record_at(c, position + first));
}

/*
 * Copies a part of a record, up to size bytes; a hole stays one. Returns how much that was; 0: the file ends there; or
 * -errno.
 */
static long copy_piece(struct copy *c, uint64_t from, uint64_t size, uint64_t to)
{
	uint64_t at, room = locate(c, from, &at), data;

	size = room < size ? room : size;
	if (!size)
		return 0;
	data = snapshot_data(c->meta, at);
	if (data == UINT64_MAX)
		return 0;
	if (data - at >= size || data - at >= PIECE)
		return (long)(data - at < size ? data - at : size);
	size = size < PIECE ? size : PIECE;
	if (size > c->records)
		return -EBADMSG;
	c->records -= size;
	long n = snapshot_read(c->meta, c->first, size, at);
	if (n <= 0)
		return n;
	long r = write_records(c, c->first, (uint64_t)n, to);
	return r ? r : n;
}

/* Copies the records up to `end` to position *used; of a forefather's, not those that are for that process alone. */
static long copy_records(struct copy *c, uint64_t end, int own, uint64_t *used)
{
	struct trace_record record;
	uint32_t what = 0;

	for (uint64_t at = c->forefather.head_size; at + sizeof(record) <= end; at += record.size) {
		long n = read_records(c, &record, sizeof(record), at);
		if (n < 0)
			return n;
		if (n != sizeof(record) || record.size < sizeof(record) || record.size % 8 || record.size > end - at)
			return 0; /* cut off: readers say so */
		if (record.type == TRACE_REC_TEXT)
			read_records(c, &what, sizeof(what), at + offsetof(struct trace_text, what));
		if (!own && (record.type == TRACE_REC_CHANGE ||
				    (record.type == TRACE_REC_TEXT && what == TRACE_TEXT_NOTE)))
			continue;
		for (uint64_t done = 0; done < record.size; done += (uint64_t)n) {
			n = copy_piece(c, at + done, record.size - done, *used + done);
			if (n <= 0)
				return n; /* cut off */
		}
		*used += record.size;
	}
	return 0;
}

/* The head of the process at a place becomes the one whose records are read. */
static long read_forefather(struct copy *c, uint32_t process)
{
	long n = snapshot_read(c->meta, &c->forefather, sizeof(c->forefather), snapshot_place_at(c, process));

	if (n < 0)
		return n;
	return n == sizeof(c->forefather) && is_head(&c->forefather) && c->forefather.process == process ? 0 : -EBADMSG;
}

/* The records that its forefathers had when they forked, and its own. */
static long copy_all_records(struct copy *c, uint64_t *used)
{
	unsigned n = 0;
	long r = 0;

	c->line[0].process = c->process;
	c->line[0].used = c->head.used;
	c->forefather = c->head;
	while (c->forefather.parent_used && n + 1 < FOREFATHERS && !r) {
		n++;
		c->line[n].process = c->forefather.parent;
		c->line[n].used = c->forefather.parent_used;
		r = read_forefather(c, c->line[n].process);
	}
	for (unsigned i = n + 1; i-- > 0 && !r;) {
		r = read_forefather(c, c->line[i].process);
		if (!r)
			r = copy_records(c, c->line[i].used, i == 0, used);
	}
	return r;
}

long snapshot_meta(struct copy *c)
{
	uint64_t used = TRACE_HEAD_SIZE, size = c->family.place_size;
	long r = read_head(c);

	c->records = 2 * snapshot_amount(c->meta);
	if (!r)
		r = copy_all_records(c, &used);
	if (r)
		return r;
	struct trace_head *head = &c->head;
	uint64_t more = used > size / 2 ? (used - size / 2 + size - 1) / size : 0;
	if (more > c->words || c->next > c->words - more)
		return -EBADMSG;
	uint32_t places = (uint32_t)more;
	if (head->parent_used)
		head->flags |= TRACE_FORKED;
	head->process = head->parent = 0;
	head->parent_used = 0;
	head->used = used;
	head->extents = places != 0;
	head->extent[0] = (struct trace_extent){ places ? c->next : 0, places };
	head->head_size = TRACE_HEAD_SIZE;
	head->directory = c->directory;
	head->block = TRACE_PLACE_MAX;
	head->beside = 0; /* nothing comes any more */
	head->places = head->places_end = c->next + places;
	head->size = TRACE_SIZE_PLACES;
	head->places_max = c->words < TRACE_PLACE_MAX ? (uint32_t)c->words : TRACE_PLACE_MAX;
	head->handover = head->handed = head->drain_beat = 0;
	head->asked = 0;
	head->copy_beat = head->running = 0;
	/* The copy is mapped by nobody, and no place of it is given back. */
	head->flags &= ~(uint32_t)TRACE_MARKED;
	head->given = head->taken_again = head->short_of = head->places_likely = 0;
	sys_fill_words((void *)head->free, 0, sizeof(head->free) / 8);
	r = snapshot_name(c, c->next, places, TRACE_PLACE_RECORDS, 0);
	if (!r)
		r = snapshot_name(c, 1, c->next_first - 1, TRACE_PLACE_DIRECTORY, 0);
	if (!r)
		r = snapshot_name(c, 0, 1, TRACE_PLACE_HEAD, head->pid);
	if (!r)
		r = snapshot_write(c, c->out, head, sizeof(*head), 0);
	/* All places are in the file. */
	if (!r && head->places * size > c->size_most)
		r = -EFBIG;
	if (!r)
		r = sys_call(__NR_ftruncate, c->out, (long)(head->places * size), 0, 0, 0, 0);
	return r ? r : sys_call(__NR_renameat, c->to, (long)UNFINISHED, c->to, (long)"meta", 0, 0);
}

long snapshot_begin(struct copy *c)
{
	c->meta = (int)output_open_file(c->from, "meta", O_RDONLY | O_NONBLOCK);
	if (c->meta < 0)
		return c->meta;
	long n = snapshot_read(c->meta, &c->family, sizeof(c->family), 0);

	if (n < 0)
		return n;
	c->words_at = trace_directory_of(&c->family);
	if (n != sizeof(c->family) || !is_head(&c->family) || c->family.places_max > TRACE_PLACE_MAX ||
		!trace_directory_is_sane(&c->words_at))
		return -EBADMSG;
	c->chunk_size = c->family.place_size / 2;
	/*
	 * Twice the words of the family are enough: its counters, and its records, of which forefathers' may be there
	 * twice.
	 */
	uint64_t words = 2 * (uint64_t)c->family.places_max + FOREFATHERS, size = c->family.place_size;
	c->directory = size;
	c->next = c->next_first = 1 + (uint32_t)((8 * words + size - 1) / size);
	c->words = (c->next_first - 1) * (size / 8);
	c->out = (int)snapshot_make_file(c, UNFINISHED);
	return c->out < 0 ? c->out : read_head(c);
}
