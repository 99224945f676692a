/* SPDX-License-Identifier: MIT */
/*
 * Blocks of a packed trace: what is packed comes back as it was, whatever it is; events are as small as the format
 * says; and what is damaged is told, and writes nothing beyond the block.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/trace.h"
#include "t/lib/random.h"
#include "t/lib/tap.h"
#include "tool/pack/block.h"
#include "tool/read/pack/hash.h"

#define MOST (256u << 10)
#define GUARD 64

static uint64_t state = RANDOM_BEGIN;

static uint64_t number(void)
{
	return random_number(&state);
}

/* ---- the checksum ---- */

/* The last 4 bytes of a frame of zstd with a checksum are the low half of XXH64 of its content. */
static bool is_zstd_hash(ZSTD_CCtx *context, const uint8_t *data, size_t size)
{
	static uint8_t out[4096];
	size_t n = ZSTD_compress2(context, out, sizeof(out), data, size);
	uint32_t theirs;

	if (ZSTD_isError(n))
		return false;
	memcpy(&theirs, out + n - sizeof(theirs), sizeof(theirs));
	return theirs == (uint32_t)pack_hash(data, size);
}

static void check_hash(void)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	uint8_t data[300];
	bool same = true;

	ok(pack_hash("", 0) == 0xef46db3751d8e999u, "the checksum of nothing is that of XXH64");
	ok(pack_hash(NULL, 0) == 0xef46db3751d8e999u, "wherever nothing is");
	ok(pack_hash("abc", 3) == 0x44bc2cf5ad770999u, "and so is that of three bytes");
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)number();
	for (size_t size = 0; size <= sizeof(data); size++)
		same = same && is_zstd_hash(context, data, size);
	ok(same, "and of 0 to 300 bytes, as libzstd has it");
	ZSTD_freeCCtx(context);
}

/* ---- whole blocks ---- */

static struct pack_packer packer = { .level = 1 };
static struct pack_unpacker unpacker;
static uint8_t again[MOST + GUARD];

/* Packs what is in packer.content and unpacks it. Returns the bytes that it took; 0: it came back as something else. */
static size_t round_trip(uint64_t offset, size_t raw)
{
	size_t size = pack_block(&packer, 7, offset, raw);
	struct pack_frame frame;

	memcpy(&frame, packer.out, sizeof(frame));
	memset(again, 0xa5, sizeof(again));
	if (!pack_frame_is_good(&frame) || size != (sizeof(frame) + frame.size + 7) / 8 * 8 || frame.member != 7 ||
		frame.offset != offset || frame.raw != raw ||
		pack_block_unpack(&unpacker, &frame, packer.out + sizeof(frame), again) ||
		memcmp(again, packer.content, raw))
		return 0;
	for (size_t i = 0; i < GUARD; i++)
		if (again[raw + i] != 0xa5)
			return 0;
	return frame.size;
}

static uint32_t method(void)
{
	struct pack_frame frame;

	memcpy(&frame, packer.out, sizeof(frame));
	return frame.method;
}

static void put_word(size_t i, uint64_t word)
{
	memcpy(packer.content + 8 * i, &word, 8);
}

/* Any mixture of words: events, controls with payload, heads, small and large steps of time. */
static void put_mixture(size_t words)
{
	uint64_t clock = number();
	uint32_t depth = 0, open[64];

	for (size_t i = 0; i < words; i++) {
		uint64_t r = number();
		clock += r % 7 ? r >> 57 : r % 5 ? r >> 50 : r >> 30;
		uint32_t id = r >> 8 & 1 ? (uint32_t)(r >> 20 & 15) : (uint32_t)(r >> 20) & TRACE_ID_MASK;
		if (r % 11 == 0) {
			put_word(i, r * 3);
		} else if (r % 13 == 0) {
			put_word(i, TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(r >> 40 & 7, r >> 44 & 3), clock));
		} else if (r % 17 == 0) {
			put_word(i, TRACE_EVENT(TRACE_VALUED, TRACE_VALUED_ID(r >> 40 & 3, r >> 44 & 3), clock));
		} else if (depth && r % 3) {
			put_word(i, TRACE_EVENT(TRACE_EXIT + r % 3, open[--depth], clock));
		} else {
			open[depth] = id;
			depth += depth < 63;
			put_word(i, TRACE_EVENT(TRACE_ENTRY, id, clock));
		}
	}
}

static void check_contents(void)
{
	bool all = true, mixtures = true, bytes = true;

	for (unsigned i = 0; i < 300; i++) {
		size_t raw = 1 + number() % (i % 10 ? 4096 : MOST);
		put_mixture(raw / 8 + 1 < MOST / 8 ? raw / 8 + 1 : MOST / 8);
		mixtures = mixtures && round_trip(number() % 1000 * 8, raw);
		for (size_t at = 0; at < raw; at++)
			packer.content[at] = (uint8_t)(number() >> 20);
		all = all && round_trip(0, raw);
		memset(packer.content, (int)i, raw);
		bytes = bytes && round_trip(0, raw);
	}
	ok(mixtures, "mixtures of events and other words come back");
	ok(all, "so do random bytes");
	ok(bytes, "so do repeated bytes");
	/* Each type, each edge of what the streams can tell. */
	static const uint32_t step[] = { 0, 1, 223, 224, 255, 256, 8159, 8160, 1u << 31, UINT32_MAX };
	size_t words = 0;
	uint32_t clock = 0;
	for (uint32_t type = 0; type < 16; type++)
		for (size_t i = 0; i < sizeof(step) / sizeof(*step); i++)
			for (unsigned id = 0; id < 4; id++)
				put_word(words++, TRACE_EVENT(type, id == 3 ? TRACE_ID_MASK : id << 16 | id,
							  clock += step[i]));
	ok(round_trip(0, 8 * words), "so does each type with each edge of the clock's steps");
	ok(round_trip(0, 8 * words - 3), "and a part of a word at the end");
}

/* Calls of one function after the other, which are wholly foreseen but for the first times. */
static void check_size(void)
{
	size_t words = MOST / 8;

	for (size_t i = 0; i < words; i++)
		put_word(i, TRACE_EVENT(i % 2 ? TRACE_EXIT : TRACE_ENTRY, 1 + i / 2 % 50, 1000 + 30 * i));
	size_t size = round_trip(0, MOST);
	ok(method() == PACK_EVENTS && size && size < 1000, "32768 events in a pattern take less than 1000 bytes: %zu",
		size);
	/* 500 functions at random: 9 bits of each entry and 7 of each time can't be foreseen. */
	uint64_t clock = 0;
	uint32_t id = 0;
	for (size_t i = 0; i < words; i++) {
		uint64_t r = number();
		clock += 20 + (r & 127);
		id = i % 2 ? id : 1 + (uint32_t)(r >> 16) % 500;
		put_word(i, TRACE_EVENT(i % 2 ? TRACE_EXIT : TRACE_ENTRY, id, clock));
	}
	size = round_trip(0, MOST);
	ok(size && size < 2 * words, "events at random take less than 2 bytes each: %.2f", (double)size / words);
	for (size_t i = 0; i < MOST; i++)
		packer.content[i] = (uint8_t)('0' + number() % 64);
	size = round_trip(0, MOST);
	ok(method() == PACK_ZSTD && size && size < MOST / 8 * 6.1, "text is left to zstd: %zu bytes", size);
}

static void check_pieces(void)
{
	struct trace_chunk head = { .magic = TRACE_CHUNK_MAGIC, .version = 2, .head_size = sizeof(head), .seq = 41 };
	struct pack_pieces pieces;
	struct pack_frame frame;

	memset(packer.content, 0, MOST);
	/* The block begins 64 KiB before a multiple of 128 KiB. */
	memcpy(packer.content + (64u << 10), &head, sizeof(head));
	head.seq = 42;
	memcpy(packer.content + (192u << 10), &head, sizeof(head));
	ok(round_trip(64u << 10, MOST), "a block with two heads of chunks comes back");
	memcpy(&frame, packer.out, sizeof(frame));
	is_int(frame.pieces, 2, "it has two pieces");
	ok(!pack_pieces_unpack(&unpacker, &frame, packer.out + sizeof(frame), &pieces) &&
			pieces.offset[0] == 64u << 10 && pieces.offset[1] == 192u << 10 &&
			!memcmp(pieces.data[1], &head, sizeof(head)),
		"which are the heads");
}

/* ---- damage ---- */

static void check_damage(void)
{
	static uint8_t bytes[MOST + 16384];
	struct pack_frame frame, bad;
	unsigned told = 0, heads = 0;
	bool within = true;

	put_mixture(MOST / 8);
	size_t size = pack_block(&packer, 0, 0, MOST);
	memcpy(&frame, packer.out, sizeof(frame));
	memcpy(bytes, packer.out + sizeof(frame), size - sizeof(frame));
	for (unsigned i = 0; i < 400; i++) {
		size_t at = number() % frame.size;
		uint8_t bit = (uint8_t)(1u << (number() >> 13 & 7));
		/* Of the streams' sizes, every byte; else anywhere. */
		at = i < sizeof(struct pack_stream) * PACK_STREAMS ? frame.piece_size + i : at;
		bytes[at] ^= bit;
		memset(again, 0xa5, sizeof(again));
		told += pack_block_unpack(&unpacker, &frame, bytes, again) != NULL;
		for (size_t g = 0; g < GUARD; g++)
			within = within && again[MOST + g] == 0xa5;
		bytes[at] ^= bit;
	}
	/* A bit of zstd's own that has no meaning may be among them. */
	ok(told >= 390, "a flipped bit is told: %u of 400", told);
	ok(within, "and nothing is written beyond the block");
	for (size_t i = 0; i < 8 * sizeof(frame); i++) {
		bad = frame;
		((uint8_t *)&bad)[i / 8] ^= (uint8_t)(1u << i % 8);
		heads += !pack_frame_is_good(&bad);
	}
	is_int(heads, 8 * sizeof(frame), "each flipped bit of a frame is told");
	bad = frame;
	bad.size = bad.piece_size = 0;
	bad.check = pack_frame_check(&bad);
	ok(!pack_frame_is_good(&bad), "and so is a block without content");
	/* Streams that were made to deceive: any tokens, with sizes that fit. */
	struct pack_coder coder = { 0 };
	bool bounded = pack_coder_room(&coder, MOST);
	for (unsigned i = 0; i < 200; i++) {
		size_t length[PACK_STREAMS];
		for (int s = 0; s < PACK_STREAMS; s++) {
			length[s] = number() % pack_stream_room(s, MOST / 8);
			for (size_t at = 0; at < length[s]; at++)
				coder.stream[s][at] = (uint8_t)(i % 2 ? number() >> 30 : number() % 3 * 16);
		}
		memset(again, 0xa5, sizeof(again));
		pack_events_join(&coder, length, again, MOST);
		for (size_t g = 0; g < GUARD; g++)
			bounded = bounded && again[MOST + g] == 0xa5;
	}
	ok(bounded, "streams of any content end within the block");
	pack_coder_free(&coder);
}

int main(void)
{
	if (!pack_packer_begin(&packer, MOST) || !pack_unpacker_begin(&unpacker))
		bail("no memory");
	check_hash();
	check_contents();
	check_size();
	check_pieces();
	check_damage();
	pack_packer_end(&packer);
	pack_unpacker_end(&unpacker);
	return done_testing();
}
