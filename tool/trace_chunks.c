/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace_chunks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/memory.h"

static const struct trace_chunk nothing;

/* ---- files ---- */

void chunks_name(const struct chunks *chunks, char kind, char name[CHUNKS_NAME_SIZE])
{
	snprintf(name, CHUNKS_NAME_SIZE, "%c%u", kind, chunks->number);
}

static void damage_at(const struct chunks *chunks, char kind, uint64_t offset, const char *what)
{
	char name[CHUNKS_NAME_SIZE];

	chunks_name(chunks, kind, name);
	damage_add(&chunks->process->folder->damage, chunks->process->path, name, offset, what);
}

void chunks_damage(const struct chunks *chunks, const struct chunk *chunk, uint64_t offset, const char *what)
{
	damage_at(chunks, chunk->kind, offset, what);
}

/* As many bytes of the file as there are, up to size. */
static size_t read_at(const struct chunks *chunks, char kind, void *to, size_t size, uint64_t offset)
{
	int error;
	size_t have = file_read(kind == 'r' ? chunks->ring : chunks->file, to, size, offset, &error);

	if (error)
		damage_at(chunks, kind, offset + have, strerror(error));
	return have;
}

size_t chunks_read(const struct chunks *chunks, const struct chunk *chunk, void *to, size_t size, uint64_t offset)
{
	return read_at(chunks, chunk->kind, to, size, offset);
}

/* Returns NULL, with *why NULL if it is merely not there. */
static struct trace_file *open_file(const struct chunks *chunks, char kind, struct stat *st, const char **why)
{
	char name[CHUNKS_NAME_SIZE];

	chunks_name(chunks, kind, name);
	return file_open(chunks->process->folder->fd, chunks->process->name, name, st, why);
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

static struct chunk chunk_at(const struct chunks *chunks, char kind, const struct trace_chunk *head, uint64_t begin)
{
	const struct trace_head *process = &chunks->process->head;
	uint64_t limit = kind == 'r' ? process->ring_chunk : process->chunk_size;

	return (struct chunk){
		.head = *head,
		.file = kind == 'r' ? chunks->ring : chunks->file,
		.kind = kind,
		.reused = kind == 'r',
		.begin = begin,
		.limit = limit,
		.room = limit,
	};
}

/* ---- all of a record, in order ---- */

static int by_seq(const void *a, const void *b)
{
	const struct ring_place *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Lists the chunks of the flight recorder, as far as its file reaches. */
static void list_ring(struct chunks *chunks, uint64_t size)
{
	uint64_t chunk = chunks->process->head.ring_chunk;
	struct trace_chunk head;
	unsigned kept = 0;

	for (uint64_t at = 0; at < size; at += chunk) {
		/* Much of a file that was damaged may be a hole. */
		uint64_t data = file_data(chunks->ring, at);
		if (data == UINT64_MAX)
			break;
		if (data >= at + chunk)
			at = data / chunk * chunk;
		size_t n = read_at(chunks, 'r', &head, size - at < sizeof(head) ? size - at : sizeof(head), at);
		/* A place that was not used yet; or its chunk is being begun, which then is one of those to come. */
		if (!memcmp(&head, &nothing, n) || (n == sizeof(head) && !head.magic))
			continue;
		const char *wrong =
			n < sizeof(head) ? "the file ends within the head of a chunk" : check_chunk(&head, chunk);
		if (wrong) {
			damage_at(chunks, 'r', at, wrong);
			continue;
		}
		if (!(chunks->places & (chunks->places + 1)))
			chunks->place =
				memory_resize(chunks->place, (size_t)chunks->places * 2 + 2, sizeof(*chunks->place));
		chunks->place[chunks->places++] = (struct ring_place){head.seq, at};
	}
	if (!chunks->places)
		return;
	qsort(chunks->place, chunks->places, sizeof(*chunks->place), by_seq);
	for (unsigned i = 0; i < chunks->places; i++) {
		if (kept && chunks->place[kept - 1].seq == chunks->place[i].seq)
			damage_at(chunks, 'r', chunks->place[i].at, "the chunk has the number of another one");
		else
			chunks->place[kept++] = chunks->place[i];
	}
	chunks->places = kept;
}

bool chunks_open(struct chunks *chunks, struct process *process, unsigned number)
{
	const char *why, *why_ring = NULL;
	struct stat st, ring;

	*chunks = (struct chunks){.process = process, .number = number};
	chunks->file = open_file(chunks, 't', &st, &why);
	if (why)
		damage_at(chunks, 't', DAMAGE_NOWHERE, why);
	if (process->head.ring_chunk)
		chunks->ring = open_file(chunks, 'r', &ring, &why_ring);
	if (why_ring)
		damage_at(chunks, 'r', DAMAGE_NOWHERE, why_ring);
	if (!chunks->file && !chunks->ring)
		return false;
	if (chunks->file) {
		chunks->size = (uint64_t)st.st_size;
		chunks->disk = (uint64_t)st.st_blocks * 512;
	}
	if (chunks->ring) {
		chunks->disk += (uint64_t)ring.st_blocks * 512;
		list_ring(chunks, (uint64_t)ring.st_size);
	}
	return true;
}

void chunks_close(struct chunks *chunks)
{
	file_close(chunks->file);
	file_close(chunks->ring);
	free(chunks->place);
	chunks->file = chunks->ring = NULL;
	chunks->place = NULL;
}

/*
 * Moves over what is no chunk of t<n>. Returns whether there is one at chunks->next, whose head, or what there is of
 * it, was read.
 */
static bool find_in_file(struct chunks *chunks, struct trace_chunk *head, size_t *have)
{
	uint64_t chunk_size = chunks->process->head.chunk_size;

	for (; chunks->file && chunks->next < chunks->size; chunks->next += chunk_size) {
		uint64_t room = chunks->size - chunks->next;

		*have = read_at(chunks, 't', head, room < sizeof(*head) ? room : sizeof(*head), chunks->next);
		/* One without a mark is just being begun. */
		bool young = *have == sizeof(*head) && !head->magic && !(chunks->process->head.flags & TRACE_EXITED);
		if (!young && memcmp(head, &nothing, *have))
			return true;
		/* Its chunk was not begun; or it is in the flight recorder, or was. */
		uint64_t data = file_data(chunks->file, chunks->next);
		if (data == UINT64_MAX)
			chunks->next = chunks->size / chunk_size * chunk_size;
		else if (data - chunks->next > chunk_size)
			chunks->next = data / chunk_size * chunk_size - chunk_size;
	}
	return false;
}

/* Takes the chunk at chunks->next in t<n>. Returns false if it can't be read. */
static bool take_from_file(struct chunks *chunks, struct chunk *chunk, const struct trace_chunk *head, size_t have)
{
	uint64_t begin = chunks->next, chunk_size = chunks->process->head.chunk_size, seq = begin / chunk_size;
	const char *wrong;

	chunks->next += chunk_size;
	if (have < sizeof(*head)) {
		damage_at(chunks, 't', begin, "the file ends within the head of a chunk");
		chunks->next = chunks->size;
		return false;
	}
	if (seq > chunks->seq && !chunks->ring && !chunks->process->head.ring_chunk)
		damage_at(chunks, 't', trace_chunk_at(chunk_size, chunks->seq),
			"there is no chunk where one should begin");
	wrong = check_chunk(head, chunk_size);
	if (wrong) {
		damage_at(chunks, 't', begin, wrong);
		/* The number is taken: what follows is no surprise. */
		chunks->seq = seq == chunks->seq ? seq + 1 : chunks->seq;
		return false;
	}
	if (head->seq != seq)
		damage_at(chunks, 't', begin, "the chunk has the number of another one");
	chunks->gap = seq > chunks->seq;
	chunks->overwritten += chunks->gap && chunks->process->head.ring_chunk ? seq - chunks->seq : 0;
	chunks->seq = seq + 1;
	*chunk = chunk_at(chunks, 't', head, begin);
	chunk->room = chunks->size - begin;
	return true;
}

/* Takes the next chunk of r<n>. Returns false if it was overwritten meanwhile. */
static bool take_from_ring(struct chunks *chunks, struct chunk *chunk)
{
	const struct ring_place *place = &chunks->place[chunks->next_place++];
	struct trace_chunk head;

	if (read_at(chunks, 'r', &head, sizeof(head), place->at) < sizeof(head) || head.seq != place->seq ||
		check_chunk(&head, chunks->process->head.ring_chunk))
		return false;
	chunks->gap = place->seq > chunks->seq;
	chunks->overwritten += chunks->gap ? place->seq - chunks->seq : 0;
	chunks->seq = place->seq + 1;
	*chunk = chunk_at(chunks, 'r', &head, place->at);
	return true;
}

bool chunks_next(struct chunks *chunks, struct chunk *chunk)
{
	for (;;) {
		struct trace_chunk head;
		size_t have = 0;
		bool in_file = find_in_file(chunks, &head, &have), in_ring = chunks->next_place < chunks->places;

		if (!in_file && !in_ring)
			return false;
		if (in_file && in_ring)
			in_file = chunks->next / chunks->process->head.chunk_size <=
				  chunks->place[chunks->next_place].seq;
		if (in_file ? take_from_file(chunks, chunk, &head, have) : take_from_ring(chunks, chunk))
			return true;
	}
}

bool chunks_more(struct chunks *chunks)
{
	struct trace_chunk head;
	size_t have;

	return find_in_file(chunks, &head, &have) || chunks->next_place < chunks->places;
}

void chunks_end(struct chunks *chunks)
{
	chunks->next = chunks->size;
}

void chunks_gone(struct chunks *chunks)
{
	chunks->seq--;
}

/* ---- one that grows ---- */

void chunks_follow(struct chunks *chunks, struct process *process, unsigned number)
{
	*chunks = (struct chunks){.process = process, .number = number};
}

void chunks_look(struct chunks *chunks)
{
	uint8_t files = chunks->process->files[chunks->number];
	const char *why;

	if (!chunks->file && files & FILE_EVENTS)
		chunks->file = open_file(chunks, 't', NULL, &why);
	if (!chunks->ring && files & FILE_RING)
		chunks->ring = open_file(chunks, 'r', NULL, &why);
}

/* The whole head of a chunk that is right. */
static bool read_head(const struct chunks *chunks, char kind, uint64_t at, struct trace_chunk *head)
{
	struct trace_file *file = kind == 'r' ? chunks->ring : chunks->file;
	uint64_t limit = kind == 'r' ? chunks->process->head.ring_chunk : chunks->process->head.chunk_size;

	return file && file_read(file, head, sizeof(*head), at, NULL) == sizeof(*head) && !check_chunk(head, limit) &&
	       head->head_size <= head->size && head->size <= limit && head->used <= head->size;
}

bool chunks_find(struct chunks *chunks, uint64_t seq, struct chunk *chunk)
{
	uint64_t size = chunks->process->head.chunk_size, ring = chunks->process->head.ring_chunk;
	struct trace_chunk head;
	struct chunk best = {0};

	if (seq != CHUNKS_NEWEST && seq < UINT64_MAX / size && read_head(chunks, 't', seq * size, &head) &&
		head.seq == seq) {
		*chunk = chunk_at(chunks, 't', &head, seq * size);
		return true;
	}
	uint64_t n = seq == CHUNKS_NEWEST && chunks->file ? (file_size(chunks->file) + size - 1) / size : 0;
	while (n-- > 0 && !best.file)
		if (read_head(chunks, 't', n * size, &head))
			best = chunk_at(chunks, 't', &head, n * size);
	for (uint64_t at = 0, end = ring && chunks->ring ? file_size(chunks->ring) : 0; at < end; at += ring)
		if (read_head(chunks, 'r', at, &head) && (seq == CHUNKS_NEWEST || head.seq == seq) &&
			(!best.file || head.seq > best.head.seq))
			best = chunk_at(chunks, 'r', &head, at);
	if (best.file)
		*chunk = best;
	return best.file != NULL;
}

bool chunks_find_above(struct chunks *chunks, uint64_t seq, struct chunk *chunk)
{
	uint64_t ring = chunks->process->head.ring_chunk, best = UINT64_MAX;
	struct trace_chunk head;
	struct chunk newest;

	if (!ring || !chunks_find(chunks, CHUNKS_NEWEST, &newest) || !newest.reused)
		return false;
	uint64_t size = file_size(chunks->ring);
	for (uint64_t at = 0; at < size; at += ring)
		if (read_head(chunks, 'r', at, &head) && head.seq > seq &&
			head.seq + size / ring / 2 >= newest.head.seq && head.seq < best)
			best = head.seq;
	return best != UINT64_MAX && chunks_find(chunks, best, chunk);
}

bool chunk_again(struct chunk *chunk)
{
	struct trace_chunk head;

	if (file_read(chunk->file, &head, sizeof(head), chunk->begin, NULL) != sizeof(head) ||
		head.magic != TRACE_CHUNK_MAGIC || head.seq != chunk->head.seq)
		return false;
	chunk->head = head;
	return true;
}
