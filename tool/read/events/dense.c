/* SPDX-License-Identifier: MIT */
#include "tool/read/events/dense.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/dense.h"

#define BLOCK 8192 /* codes that are read at once */

/* As format/dense.h has them; of words the high halves. */
struct state {
	uint32_t low, newer, older;
	uint32_t pairs;	/* of a run, that follow */
	uint32_t half;	/* 1 + ticks to the second word of a pair whose first one was taken; 0: there is none */
	uint32_t plain;	/* words that follow as they are */
};

struct read_dense {
	/* Which chunk it is. */
	struct read_file *file;
	uint64_t begin, seq;

	uint64_t codes, words; /* that were read; codes is UINT64_MAX after damage */
	struct state state;
	uint32_t table[DENSE_PLACES];
};

void read_dense_free(struct read_dense *dense)
{
	free(dense);
}

static void begin(struct read_dense *dense, struct read_file *file, uint64_t at, const struct trace_chunk *head)
{
	memset(dense, 0, sizeof(*dense));
	dense->file = file;
	dense->begin = at;
	dense->seq = head->seq;
	dense->state.low = (uint32_t)head->clock;
}

static uint64_t word_of(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static uint64_t plain_word(const uint16_t *code)
{
	return code[0] | (uint64_t)code[1] << 16 | (uint64_t)code[2] << 32 | (uint64_t)code[3] << 48;
}

/* Words of a run: as many as there are codes and room for. Returns the end of the codes; moves *to. */
static inline const uint16_t *take_run(
	struct state *s, const uint16_t *code, const uint16_t *end, uint64_t **to, const uint64_t *limit)
{
	uint64_t *word = *to;

	if (s->half) {
		s->low += s->half - 1;
		s->half = 0;
		*word++ = word_of(s->newer, s->low);
	}
	for (; s->pairs && code < end && word < limit; s->pairs--, code++) {
		s->low += *code & 0xff;
		*word++ = word_of(s->older, s->low);
		if (word == limit) {
			s->half = 1 + (*code >> 8);
			continue;
		}
		s->low += *code >> 8;
		*word++ = word_of(s->newer, s->low);
	}
	*to = word;
	return code;
}

/* The first word of plain ones. */
static inline uint64_t take_plain(struct read_dense *dense, struct state *s, const uint16_t *code)
{
	uint64_t word = plain_word(code + 1);
	uint32_t high = (uint32_t)(word >> 32);

	s->plain = *code % DENSE_PLACES;
	s->low = (uint32_t)word;
	s->older = s->newer;
	s->newer = high;
	dense->table[dense_place(high)] = high;
	return word;
}

/*
 * Takes codes until there are no more, or what one belongs to is not whole, or there is no room. Returns their end, or
 * NULL: damage. Moves *to behind the words.
 */
static const uint16_t *take(
	struct read_dense *dense, const uint16_t *code, const uint16_t *end, uint64_t **to, const uint64_t *limit)
{
	struct state s = dense->state;
	uint64_t *word = *to;

	while (word < limit) {
		if (s.half || (s.pairs && code < end)) {
			code = take_run(&s, code, end, &word, limit);
			continue;
		}
		if (code == end)
			break;
		if (s.plain) {
			if (end - code < 4)
				break;
			*word++ = plain_word(code);
			code += 4;
			s.plain--;
			continue;
		}
		/* Nearly all: quick. */
		uint32_t low = s.low, newer = s.newer, older = s.older;
		while (code < end && word < limit && *code < DENSE_CODE(DENSE_FAR, 0)) {
			low += (uint32_t)*code >> DENSE_PLACE_BITS;
			older = newer;
			newer = dense->table[*code++ % DENSE_PLACES];
			*word++ = word_of(newer, low);
		}
		s.low = low;
		s.newer = newer;
		s.older = older;
		if (word == limit || code == end)
			break;
		uint32_t kind = *code >> DENSE_PLACE_BITS, codes = kind == DENSE_PLAIN ? 5 : 2;
		if (end - code < codes)
			break;
		if (kind < DENSE_END) {
			s.low += (kind - DENSE_FAR) << 16 | code[1];
			s.older = s.newer;
			s.newer = dense->table[*code % DENSE_PLACES];
			*word++ = word_of(s.newer, s.low);
		} else if (kind == DENSE_PLAIN) {
			*word++ = take_plain(dense, &s, code);
		} else if (kind == DENSE_RUN && !(*code % DENSE_PLACES)) {
			s.pairs = code[1];
		} else {
			code = NULL;
			break;
		}
		code += codes;
	}
	dense->state = s;
	*to = word;
	return code;
}

/* The next words, up to that many. */
static size_t next_words(struct read_dense *dense, const struct trace_chunk *head, uint64_t *to, size_t count,
	int *error)
{
	uint64_t room = head->size - head->head_size;
	uint64_t all = (head->dense < room ? head->dense : room) / sizeof(uint16_t);
	uint64_t *word = to, *limit = to + count;
	uint16_t block[BLOCK];

	while (word < limit && (dense->codes < all || dense->state.half)) {
		size_t want = all - dense->codes < BLOCK ? (size_t)(all - dense->codes) : BLOCK;
		/* A code makes two words at most, and few need many codes. */
		size_t enough = (size_t)(limit - word) * 2 + 8;
		want = want < enough ? want : enough;
		size_t have = read_file_read(dense->file, block, want * sizeof(*block),
				      dense->begin + head->head_size + dense->codes * sizeof(*block), error) /
			      sizeof(*block);
		uint64_t *before = word;
		const uint16_t *end = take(dense, block, block + have, &word, limit);
		if (!end)
			dense->codes = UINT64_MAX; /* no more of this chunk */
		if (!end || (end == block && word == before))
			break;
		dense->codes += (uint64_t)(end - block);
	}
	dense->words += (uint64_t)(word - to);
	return (size_t)(word - to);
}

size_t read_dense_words(struct read_dense **dense, struct read_file *file, uint64_t at,
	const struct trace_chunk *head, uint64_t first, uint64_t *to, size_t count, int *error)
{
	uint64_t passed[256];
	int ignored;

	error = error ? error : &ignored;
	*error = 0;
	if (!*dense) {
		*dense = malloc(sizeof(**dense));
		if (!*dense) {
			*error = ENOMEM;
			return 0;
		}
		begin(*dense, file, at, head);
	}
	struct read_dense *d = *dense;
	if (d->file != file || d->begin != at || d->seq != head->seq || d->words > first)
		begin(d, file, at, head);
	while (d->words < first) {
		uint64_t left = first - d->words;
		if (!next_words(d, head, passed, left < 256 ? (size_t)left : 256, error))
			return 0;
	}
	return next_words(d, head, to, count, error);
}

bool read_dense_all(const struct trace_chunk *head, const uint16_t *code, uint64_t *to, size_t count)
{
	struct read_dense dense;
	uint64_t *word = to;
	const uint16_t *end = code + head->dense / sizeof(*code);

	begin(&dense, NULL, 0, head);
	return take(&dense, code, end, &word, to + count) == end && word == to + count && !dense.state.half;
}
