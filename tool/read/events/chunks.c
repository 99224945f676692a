/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/events/chunks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/stream.h"
#include "tool/read/damage/memory.h"
#include "tool/read/events/dense.h"
#include "tool/read/family.h"

static const struct trace_chunk nothing;

/* ---- files ---- */

static void damage_at(const struct read_chunks *chunks, char kind, uint64_t offset, const char *what)
{
	char name[READ_FAMILY_NAME_SIZE];

	read_family_file_name(name, kind, chunks->number, chunks->process->place);
	read_process_damage(chunks->process, kind == 'm' ? NULL : name, offset, what);
}

/* Where the chunk begins in the file, which may be packed. */
static uint64_t begin_of(
	const struct read_chunks *chunks, char kind, const struct trace_chunk *head, uint64_t begin)
{
	return kind == 't' && head->copied && read_file_has_slots(chunks->file) ? stream_at(head->copied) : begin;
}

void read_chunks_damage(
	const struct read_chunks *chunks, const struct read_chunk *chunk, uint64_t offset, const char *what)
{
	/* Where a dense word is, nobody knows. */
	if (read_chunk_is_dense(&chunk->head))
		offset = chunk->begin;
	damage_at(chunks, chunk->kind, begin_of(chunks, chunk->kind, &chunk->head, chunk->begin) +
		(offset - chunk->begin), what);
}

/* As many bytes of the file as there are, up to size. */
static size_t read_at(const struct read_chunks *chunks, char kind, void *to, size_t size, uint64_t offset)
{
	int error;
	size_t have = read_file_read(kind == 'm' ? chunks->meta : chunks->file, to, size, offset, &error);

	if (error)
		damage_at(chunks, kind, offset + have, strerror(error));
	return have;
}

/* Returns NULL if it can't be opened; *why is NULL if it just does not exist. */
static struct read_file *open_file(const struct read_chunks *chunks, char kind, struct stat *st, const char **why)
{
	char name[READ_FAMILY_NAME_SIZE];

	read_family_file_name(name, kind, chunks->number, chunks->process->place);
	return read_family_open_file(chunks->process->family, name, st, why);
}

/* Bytes that each chunk has room for, in either file. */
static uint64_t room_of_chunk(const struct read_chunks *chunks)
{
	return chunks->process->head.ring_chunk;
}

/* What is wrong with the head of a chunk that was found in a place of that kind, or NULL. */
static const char *check_chunk(const struct read_chunks *chunks, char kind, const struct trace_chunk *head)
{
	if (head->magic != TRACE_CHUNK_MAGIC)
		return "there is no chunk where one should begin";
	if (head->version != TRACE_VERSION && !(read_chunk_is_dense(head) && kind == 't'))
		return "the chunk has another version than this xaudit reads";
	if (head->head_size < sizeof(*head) || head->head_size % 8 || head->head_size > room_of_chunk(chunks))
		return "the chunk's head has an impossible size";
	if (read_chunk_is_dense(head) && !head->used)
		return "the chunk's used size is impossible";
	if (head->process != chunks->process->place || head->thread != chunks->number)
		return "the chunk is another thread's";
	return NULL;
}

/* The record's places in meta, and their number. */
static const struct read_family_place *places_of(const struct read_chunks *chunks, uint32_t *count)
{
	return read_family_of_record(
		chunks->process->family, chunks->process->place, TRACE_PLACE_CHUNK, chunks->number, count);
}

/* Where the chunk of a place is. */
static uint64_t chunk_in(const struct read_chunks *chunks, const struct read_family_place *place)
{
	return place->place * chunks->process->family->place_size + room_of_chunk(chunks);
}

static struct read_chunk chunk_at(
	const struct read_chunks *chunks, char kind, const struct trace_chunk *head, uint64_t begin)
{
	uint64_t limit = room_of_chunk(chunks);

	return (struct read_chunk){
		.head = *head,
		.file = kind == 'm' ? chunks->meta : chunks->file,
		.kind = kind,
		.reused = kind == 'm',
		.begin = begin,
		.limit = limit,
		.room = limit,
		.token = head->token,
	};
}

/* Sets *chunk from a whole head that is right. */
static bool read_head(const struct read_chunks *chunks, char kind, uint64_t at, struct trace_chunk *head)
{
	struct read_file *file = kind == 'm' ? chunks->meta : chunks->file;
	uint64_t limit = room_of_chunk(chunks);

	return file && limit && read_file_read(file, head, sizeof(*head), at, NULL) == sizeof(*head) &&
	       !check_chunk(chunks, kind, head) && head->head_size <= head->size && head->size <= limit &&
	       head->used <= head->size;
}

/* ---- t<n> ---- */

/* Is it a head where nobody knows whether there is one? */
static bool is_head(const struct read_chunks *chunks, const struct trace_chunk *head)
{
	return stream_is_chunk(head, room_of_chunk(chunks)) && !check_chunk(chunks, 't', head) &&
	       !head->copied == !read_file_has_slots(chunks->file);
}

/* For read_copies_look(). */
static uint64_t find_head(void *user, uint64_t at, bool due, uint64_t *seq)
{
	struct read_chunks *chunks = user;
	struct trace_chunk head;

	(void)due;
	if (read_file_read(chunks->file, &head, sizeof(head), at, NULL) < sizeof(head) || !is_head(chunks, &head))
		return 0;
	*seq = head.seq;
	return stream_bytes(&head);
}

static void look_at_copies(struct read_chunks *chunks, size_t between)
{
	if (chunks->file)
		read_copies_look(&chunks->copies, chunks->file, between, find_head, chunks,
			chunks->process->family->damage);
}

uint64_t read_chunks_taken(const struct read_chunks *chunks, uint64_t seq)
{
	return read_copies_from(&chunks->copies, seq);
}

void read_chunks_forget(struct read_chunks *chunks, uint64_t offset)
{
	read_copies_forget(&chunks->copies, offset);
}

/* ---- all of a record, in order ---- */

static int by_seq(const void *a, const void *b)
{
	const struct read_chunk_place *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->copy < y->copy ? -1 : x->copy > y->copy;
}

static void add_place(struct read_chunks *chunks, uint64_t seq, uint64_t at, uint64_t copy)
{
	if (read_memory_grow(chunks->process->family->damage, &chunks->place, chunks->places, sizeof(*chunks->place)))
		chunks->place[chunks->places++] = (struct read_chunk_place){ seq, at, copy };
}

/*
 * Reads the head of a chunk. Returns false if there is no chunk: the place was not used yet; or its chunk is being
 * begun or copied, and counts as one that comes later. Or the head is damaged, which is noted.
 */
static bool list_head(const struct read_chunks *chunks, char kind, uint64_t at, uint64_t size, struct trace_chunk *head)
{
	size_t n = read_at(chunks, kind, head, size - at < sizeof(*head) ? size - at : sizeof(*head), at);

	if (!memcmp(head, &nothing, n) || (n == sizeof(*head) && !head->magic))
		return false;
	const char *wrong = n < sizeof(*head) ? "the file ends within the head of a chunk"
					      : check_chunk(chunks, kind, head);
	/* The place may have been given to another thread since the directory was read. */
	if (wrong && kind == 'm' && !read_process_has(chunks->process, chunks->number, at))
		return false;
	if (wrong)
		damage_at(chunks, kind, at, wrong);
	return !wrong;
}

/* Is it the same chunk at both places of t<n>? Its thread may have written it to another one than `xaudit record`. */
static bool is_twice(const struct read_chunks *chunks, uint64_t one, uint64_t other)
{
	struct trace_chunk a, b;

	return read_head(chunks, 't', one, &a) && read_head(chunks, 't', other, &b) && a.clock == b.clock &&
	       a.tid == b.tid && a.used == b.used && a.lost == b.lost;
}

/* Of the same number, chunks of t<n> come after those of meta. Makes one entry of both. */
static void sort_places(struct read_chunks *chunks)
{
	unsigned kept = 0;

	if (chunks->places)
		qsort(chunks->place, chunks->places, sizeof(*chunks->place), by_seq);
	for (unsigned i = 0; i < chunks->places; i++) {
		const struct read_chunk_place *place = &chunks->place[i];
		struct read_chunk_place *before = kept ? &chunks->place[kept - 1] : NULL;
		if (!before || before->seq != place->seq)
			chunks->place[kept++] = *place;
		else if (before->copy == READ_CHUNKS_NOWHERE && place->copy != READ_CHUNKS_NOWHERE)
			before->copy = place->copy;
		else if (place->copy == READ_CHUNKS_NOWHERE || !is_twice(chunks, before->copy, place->copy))
			damage_at(chunks, place->at == READ_CHUNKS_NOWHERE ? 't' : 'm',
				place->at == READ_CHUNKS_NOWHERE ? place->copy : place->at,
				"the chunk has the number of another one");
	}
	chunks->places = kept;
}

/* Lists the chunks of meta up to that number, as far as the file reaches. */
static void list_places(struct read_chunks *chunks, uint64_t newest)
{
	uint64_t size = read_file_size(chunks->meta);
	uint32_t count;
	const struct read_family_place *place = places_of(chunks, &count);
	struct trace_chunk head;

	for (uint32_t n = 0; n < count; n++) {
		uint64_t at = chunk_in(chunks, &place[n]);
		if (at < size && list_head(chunks, 'm', at, size, &head) && head.seq <= newest)
			add_place(chunks, head.seq, at, READ_CHUNKS_NOWHERE);
	}
}

/* Bytes of whole blocks of a file system. */
static uint64_t blocks_of(uint64_t bytes)
{
	return (bytes + READ_FILE_BLOCK - 1) & -READ_FILE_BLOCK;
}

/* A packed trace has plain words; unpacked, they are dense again, where they were: of fewer bytes on disk. */
static void take_off_dense(struct read_chunks *chunks, const struct trace_chunk *head)
{
	if (read_chunk_is_dense(head) || !head->dense || head->used < sizeof(*head))
		return;
	uint64_t plain = blocks_of(head->used), dense = blocks_of(sizeof(*head) + head->dense);
	uint64_t less = plain > dense ? plain - dense : 0;
	chunks->disk -= less < chunks->disk ? less : chunks->disk;
}

/* As find_head(), but where a chunk may begin damage is noted, and a head is one whatever its sizes are. */
static uint64_t list_copy(void *user, uint64_t at, bool due, uint64_t *seq)
{
	struct read_chunks *chunks = user;
	const uint64_t room = room_of_chunk(chunks);
	struct trace_chunk head;

	if (!due)
		return find_head(user, at, due, seq);
	if (!list_head(chunks, 't', at, read_file_size(chunks->file), &head))
		return 0;
	*seq = head.seq;
	uint64_t bytes = stream_bytes(&head);
	return bytes <= room ? bytes : READ_COPIES_UNKNOWN;
}

static void list_copies(struct read_chunks *chunks, uint64_t newest)
{
	struct trace_chunk head;

	read_copies_look(&chunks->copies, chunks->file, SIZE_MAX, list_copy, chunks, chunks->process->family->damage);
	for (size_t i = 0; i < chunks->copies.count; i++) {
		const struct read_copy *copy = &chunks->copies.copy[i];
		if (copy->seq > newest)
			continue;
		add_place(chunks, copy->seq, READ_CHUNKS_NOWHERE, copy->at);
		if (read_file_has_slots(chunks->file) && read_head(chunks, 't', copy->at, &head))
			take_off_dense(chunks, &head);
	}
}

/* Bytes of the record's places in meta that are no holes. */
static uint64_t disk_of_places(const struct read_chunks *chunks)
{
	uint64_t disk = 0;
	uint32_t count;
	const struct read_family_place *place = places_of(chunks, &count);

	for (uint32_t n = 0; n < count; n++) {
		uint64_t begin = chunk_in(chunks, &place[n]);
		disk += read_file_disk(chunks->meta, begin, begin + room_of_chunk(chunks));
	}
	return disk;
}

/*
 * The list shall show one moment, while the thread goes on: first the newest chunk is found, then all up to that
 * number, also in places that the thread has got meanwhile. Chunks that are overwritten meanwhile have been copied to
 * t<n> before, so t<n> comes last.
 */
static void list(struct read_chunks *chunks)
{
	bool ended = chunks->process->head.flags & TRACE_EXITED;
	uint64_t newest = READ_CHUNKS_NEWEST;
	const char *why;

	if (!ended) {
		struct read_chunk chunk;
		read_family_look(chunks->process->family);
		if (read_chunks_find(chunks, READ_CHUNKS_NEWEST, &chunk))
			newest = chunk.head.seq;
		read_family_look(chunks->process->family);
	}
	list_places(chunks, newest);
	/* The thread, or `xaudit record`, may have made it by now. */
	if (!chunks->file)
		chunks->file = open_file(chunks, 't', NULL, &why);
	if (chunks->file)
		list_copies(chunks, newest);
	chunks->disk += disk_of_places(chunks);
}

bool read_chunks_open(struct read_chunks *chunks, struct read_process *process, unsigned number)
{
	const char *why;
	struct stat st;
	uint32_t count;

	*chunks = (struct read_chunks){.process = process, .number = number, .meta = process->family->meta};
	chunks->file = open_file(chunks, 't', &st, &why);
	if (why)
		damage_at(chunks, 't', READ_DAMAGE_NOWHERE, why);
	places_of(chunks, &count);
	if (!chunks->file && !count)
		return false;
	if (chunks->file)
		chunks->disk = (uint64_t)st.st_blocks * 512;
	list(chunks);
	sort_places(chunks);
	if (!process->family->damage->no_memory)
		return true;
	read_chunks_close(chunks);
	return false;
}

void read_chunks_close(struct read_chunks *chunks)
{
	read_file_close(chunks->file);
	free(chunks->place);
	free(chunks->copies.copy);
	chunks->copies = (struct read_copies){ 0 };
	read_dense_free(chunks->dense);
	chunks->file = chunks->meta = NULL;
	chunks->place = NULL;
	chunks->dense = NULL;
}

/* Takes the next chunk of the list. Returns false if it was overwritten meanwhile, and has no copy. */
static bool take(struct read_chunks *chunks, struct read_chunk *chunk)
{
	const struct read_chunk_place *place = &chunks->place[chunks->next_place++];
	bool in_meta = place->copy == READ_CHUNKS_NOWHERE;
	struct trace_chunk head;

	*chunk = chunk_at(chunks, 'm', &nothing, place->at);
	chunk->head.seq = place->seq;
	if (in_meta && (!read_head(chunks, 'm', place->at, &head) || head.seq != place->seq)) {
		in_meta = false;
		if (!read_chunks_find_copy(chunks, chunk))
			return false;
	} else if (!in_meta) {
		chunk->begin = place->copy;
	}
	char kind = in_meta ? 'm' : 't';
	uint64_t begin = chunk->begin;
	if (read_at(chunks, kind, &head, sizeof(head), begin) < sizeof(head) || head.seq != place->seq ||
		check_chunk(chunks, kind, &head))
		return false;
	chunks->gap = place->seq > chunks->seq;
	if (chunks->gap && chunks->process->head.ring_size)
		chunks->overwritten += place->seq - chunks->seq;
	else if (chunks->gap)
		damage_at(chunks, kind, begin_of(chunks, kind, &head, begin), "chunks before this one are missing");
	chunks->seq = place->seq + 1;
	*chunk = chunk_at(chunks, kind, &head, begin);
	/* A file whose process has ended is cut after its last event. */
	uint64_t size = read_file_size(chunk->file);
	if (!read_chunk_is_dense(&head))
		chunk->room = size > begin ? size - begin : 0;
	return true;
}

bool read_chunks_next(struct read_chunks *chunks, struct read_chunk *chunk)
{
	while (chunks->next_place < chunks->places)
		if (take(chunks, chunk))
			return true;
	return false;
}

bool read_chunks_more(struct read_chunks *chunks)
{
	return chunks->next_place < chunks->places;
}

void read_chunks_gone(struct read_chunks *chunks)
{
	chunks->seq--;
}

/* ---- a record that grows ---- */

void read_chunks_follow(struct read_chunks *chunks, struct read_process *process, unsigned number)
{
	*chunks = (struct read_chunks){
		.process = process, .number = number, .grows = true, .meta = process->family->meta
	};
}

void read_chunks_look(struct read_chunks *chunks)
{
	const char *why;

	if (!chunks->file && chunks->process->files[chunks->number] & READ_FILE_EVENTS)
		chunks->file = open_file(chunks, 't', NULL, &why);
}

/* Looks in meta for the chunk of that number, or for the newest one. */
static void find_in_places(const struct read_chunks *chunks, uint64_t seq, struct read_chunk *best)
{
	uint32_t count;
	const struct read_family_place *place = places_of(chunks, &count);
	struct trace_chunk head;

	for (uint32_t n = 0; n < count; n++)
		if (read_head(chunks, 'm', chunk_in(chunks, &place[n]), &head) &&
			(seq == READ_CHUNKS_NEWEST || head.seq == seq) && (!best->file || head.seq > best->head.seq))
			*best = chunk_at(chunks, 'm', &head, chunk_in(chunks, &place[n]));
}

/* Where the record grows, a chunk may come before those that are there, as many as the thread has places. */
static void look_again(struct read_chunks *chunks)
{
	uint32_t places;

	places_of(chunks, &places);
	look_at_copies(chunks, chunks->grows ? places + 64 : SIZE_MAX);
}

/* Looks in t<n>. Of a killed thread that may have newer ones than meta, too. */
static void find_in_copies(struct read_chunks *chunks, uint64_t seq, struct read_chunk *best)
{
	const bool newest = seq == READ_CHUNKS_NEWEST;
	const struct read_copy *copy = newest ? NULL : read_copies_find(&chunks->copies, seq);
	struct trace_chunk head;

	if (!copy) {
		look_again(chunks);
		copy = newest ? read_copies_newest(&chunks->copies) : read_copies_find(&chunks->copies, seq);
	}
	if (copy && (!best->file || copy->seq > best->head.seq) && read_head(chunks, 't', copy->at, &head) &&
		head.seq == copy->seq)
		*best = chunk_at(chunks, 't', &head, copy->at);
}

bool read_chunks_find(struct read_chunks *chunks, uint64_t seq, struct read_chunk *chunk)
{
	struct read_chunk best = {0};

	find_in_places(chunks, seq, &best);
	if (!best.file || seq == READ_CHUNKS_NEWEST)
		find_in_copies(chunks, seq, &best);
	if (best.file)
		*chunk = best;
	return best.file != NULL;
}

bool read_chunks_find_copy(struct read_chunks *chunks, struct read_chunk *chunk)
{
	struct read_chunk copy = {0};

	find_in_copies(chunks, chunk->head.seq, &copy);
	if (!copy.file)
		return false;
	chunk->head.used = copy.head.used;
	chunk->head.version = copy.head.version;
	chunk->head.dense = copy.head.dense;
	copy.head = chunk->head;
	copy.token = chunk->token;
	*chunk = copy;
	return true;
}

bool read_chunks_find_copy_above(struct read_chunks *chunks, uint64_t seq, struct read_chunk *chunk)
{
	struct trace_chunk head;

	look_again(chunks);
	const struct read_copy *copy = read_copies_above(&chunks->copies, seq);
	if (!copy || !read_head(chunks, 't', copy->at, &head) || head.seq != copy->seq)
		return false;
	*chunk = chunk_at(chunks, 't', &head, copy->at);
	return true;
}

bool read_chunks_find_above(struct read_chunks *chunks, uint64_t seq, struct read_chunk *chunk)
{
	struct trace_chunk head;
	struct read_chunk newest, best = {0};

	if (!read_chunks_find(chunks, READ_CHUNKS_NEWEST, &newest) || !newest.reused)
		return false;
	/* In mode stream none is overwritten that t<n> has not. */
	bool all = newest.head.mode == TRACE_MODE_STREAM;
	uint32_t count;
	const struct read_family_place *place = places_of(chunks, &count);
	for (uint32_t n = 0; n < count; n++)
		if (read_head(chunks, 'm', chunk_in(chunks, &place[n]), &head) && head.seq > seq &&
			(all || head.seq + count / 2 >= newest.head.seq) && (!best.file || head.seq < best.head.seq))
			best = chunk_at(chunks, 'm', &head, chunk_in(chunks, &place[n]));
	if (best.file)
		*chunk = best;
	return best.file != NULL;
}
