/* SPDX-License-Identifier: MIT */
#include "tool/read/pack/cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/whole.h"
#include "tool/read/damage/memory.h"

struct pack_reader *pack_reader_open(int fd, uint64_t size)
{
	struct pack_reader *reader = calloc(1, sizeof(*reader));

	if (reader && pack_unpacker_begin(&reader->unpacker)) {
		reader->fd = fd;
		reader->size = size;
		return reader;
	}
	free(reader);
	return NULL;
}

static void take_out(struct pack_reader *reader, struct pack_cached *cached)
{
	*(cached->newer ? &cached->newer->older : &reader->newest) = cached->older;
	*(cached->older ? &cached->older->newer : &reader->oldest) = cached->newer;
}

static void put_newest(struct pack_reader *reader, struct pack_cached *cached)
{
	cached->newer = NULL;
	cached->older = reader->newest;
	*(reader->newest ? &reader->newest->newer : &reader->oldest) = cached;
	reader->newest = cached;
}

static void put_oldest(struct pack_reader *reader, struct pack_cached *cached)
{
	cached->older = NULL;
	cached->newer = reader->oldest;
	*(reader->oldest ? &reader->oldest->older : &reader->newest) = cached;
	reader->oldest = cached;
}

static void drop(struct pack_reader *reader, struct pack_cached *cached)
{
	take_out(reader, cached);
	if (cached->block)
		cached->block->cached = NULL;
	reader->cached -= cached->room;
	free(cached->data);
	free(cached);
}

void pack_reader_close(struct pack_reader *reader)
{
	while (reader->oldest)
		drop(reader, reader->oldest);
	pack_unpacker_end(&reader->unpacker);
	free(reader->bytes);
	close(reader->fd);
	free(reader);
}

bool pack_reader_get(const struct pack_reader *reader, void *to, size_t size, uint64_t at)
{
	return whole_read(reader->fd, to, size, at);
}

/* Bytes for a block that is not in memory: those of the one that gives way, or new ones. They belong to no block. */
static struct pack_cached *make_room(struct pack_reader *reader, size_t raw)
{
	struct pack_cached *cached = reader->oldest;
	bool full = reader->cached + raw > PACK_CACHE && reader->newest != reader->oldest;

	if (cached && (cached->done || full) && cached->room >= raw) {
		take_out(reader, cached);
		if (cached->block)
			cached->block->cached = NULL;
		cached->block = NULL;
		cached->done = false;
		put_newest(reader, cached);
		return cached;
	}
	while (reader->oldest && reader->oldest != reader->newest &&
		(reader->oldest->done || reader->cached + raw > PACK_CACHE))
		drop(reader, reader->oldest);
	cached = calloc(1, sizeof(*cached));
	if (!cached)
		return NULL;
	cached->data = malloc(raw);
	if (!cached->data) {
		free(cached);
		return NULL;
	}
	cached->room = raw;
	reader->cached += raw;
	put_newest(reader, cached);
	return cached;
}

void pack_done(struct pack_reader *reader, struct pack_cached *cached)
{
	if (cached->done)
		return;
	cached->done = true;
	take_out(reader, cached);
	put_oldest(reader, cached);
}

static void note(struct pack *pack, struct pack_block *block, const char *what)
{
	const char *name = pack->member[block->member].name;
	char *text = what == pack_no_memory ? NULL : read_memory_format(pack->damage, "a block of %s %s", name, what);

	if (text)
		read_damage_add(pack->damage, pack->path, NULL, block->at, text);
	else
		pack->damage->no_memory = true;
	block->bad = true;
	free(text);
}

/* Reads frame and the first `size` bytes of the block. Returns what is wrong, or NULL. */
static const char *get_block(struct pack_reader *reader, const struct pack_block *block, const struct pack_member *of,
	struct pack_frame *frame, bool all)
{
	if (!pack_reader_get(reader, frame, sizeof(*frame), block->at))
		return "can't be read";
	if (!pack_frame_is_good(frame) || frame->type != PACK_BLOCK || frame->member != of->number ||
		frame->offset != block->offset || frame->size != block->size || frame->raw != block->raw ||
		frame->pieces != block->pieces)
		return "is not where it should begin";
	size_t size = all ? frame->size : frame->piece_size;
	if (size > reader->room) {
		free(reader->bytes);
		reader->room = 0;
		reader->bytes = malloc(size);
		if (!reader->bytes)
			return pack_no_memory;
		reader->room = size;
	}
	return pack_reader_get(reader, reader->bytes, size, block->at + sizeof(*frame)) ? NULL
											: "can't be read";
}

struct pack_cached *pack_load(struct pack *pack, struct pack_block *block)
{
	struct pack_reader *reader = pack->reader;
	struct pack_cached *cached = block->cached;
	struct pack_frame frame;

	if (cached) {
		if (cached != reader->newest && !cached->done) {
			take_out(reader, cached);
			put_newest(reader, cached);
		}
		return cached;
	}
	if (block->bad)
		return NULL;
	const char *wrong = get_block(reader, block, &pack->member[block->member], &frame, true);
	if (!wrong && !(cached = make_room(reader, block->raw)))
		wrong = pack_no_memory;
	if (!wrong)
		wrong = pack_block_unpack(&reader->unpacker, &frame, reader->bytes, cached->data);
	if (wrong) {
		if (cached)
			drop(reader, cached);
		note(pack, block, wrong);
		return NULL;
	}
	cached->block = block;
	block->cached = cached;
	return cached;
}

bool pack_load_piece(struct pack *pack, const struct pack_block *block, void *to, size_t size, uint64_t offset)
{
	struct pack_reader *reader = pack->reader;
	struct pack_frame frame;

	if (!block->pieces || block->bad || size > PACK_PIECE)
		return false;
	if (reader->pieces_of != block) {
		reader->pieces_of = NULL;
		/* What is wrong will be told when the block is read. */
		if (get_block(reader, block, &pack->member[block->member], &frame, false) ||
			pack_pieces_unpack(&reader->unpacker, &frame, reader->bytes, &reader->pieces))
			return false;
		reader->pieces_of = block;
	}
	for (uint32_t i = 0; i < block->pieces; i++) {
		uint32_t at = reader->pieces.offset[i];
		if (offset >= at && offset - at <= PACK_PIECE - size) {
			memcpy(to, reader->pieces.data[i] + (offset - at), size);
			return true;
		}
	}
	return false;
}
