/* SPDX-License-Identifier: MIT */
#include "tool/pack/bare_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tool/base/whole.h"
#include "tool/read/events/decode.h"
#include "tool/read/events/dense.h"
#include "tool/read/trace_file.h"

#define BLOCK 8192 /* words */

struct words {
	uint64_t in[BLOCK], out[BLOCK + 1]; /* of a block remain no more words than it had, and `custom` */
	uint64_t keep, leave;		/* payload words that follow */
	uint64_t custom; /* the word of a custom event, which waits for the one behind it; or 0 */
	uint64_t held; /* what remains of an event if its late payload has come; or 0 */
	bool over;			/* a word that is not known */
};

static bool is_sane(const struct trace_chunk *head, uint64_t room)
{
	return (head->version == TRACE_VERSION || (head->version == TRACE_CHUNK_DENSE && head->used)) &&
	       head->head_size >= sizeof(*head) && head->head_size % 8 == 0 && head->head_size <= head->size &&
	       head->size <= room && head->used <= head->size;
}

/* Does a control word say what readers know, and is its payload as long as that takes? */
static bool is_known(uint32_t id)
{
	uint32_t words = TRACE_CONTROL_WORDS(id);

	switch TRACE_CONTROL_SUBTYPE(id) {
	case TRACE_SYNC:
	case TRACE_THREAD:
	case TRACE_CRASH:
	case TRACE_PART:
		return words == 1;
	case TRACE_CUSTOM:
		return words && words <= TRACE_CUSTOM_WORDS;
	}
	return false;
}

/*
 * A custom event whose first word is `first` begins: its data stays, its backtrace does not. Of one that was not
 * finished it is not known which words are data. Returns how many words remain at `to`.
 */
static size_t bare_custom(const struct bare_chunk *chunk, struct words *words, uint64_t first, uint64_t *to)
{
	uint32_t all = TRACE_CONTROL_WORDS(TRACE_ID_OF(words->custom)), data = ((uint32_t)first + 7) / 8;
	const bool written = first && first != chunk->head.token && (uint32_t)first <= TRACE_CUSTOM_MAX;

	data = written && data < all ? data : 0;
	words->keep = data;
	words->leave = all - 1 - data;
	to[0] = TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_CUSTOM, 1 + data), words->custom);
	to[1] = first;
	words->custom = 0;
	return 2;
}

/* What remains of the first word of an event. Returns false: nothing. */
static bool bare_word(const struct bare_chunk *chunk, struct words *words, uint64_t word, uint64_t *to)
{
	uint32_t type = TRACE_TYPE_OF(word), id = TRACE_ID_OF(word), event;

	*to = word;
	switch (type) {
	case TRACE_VALUED:
		words->leave = TRACE_VALUED_WORDS(id);
		event = chunk->event_of(chunk->source, TRACE_VALUED_LAYOUT(id));
		*to = (uint64_t)event << 32 | (uint32_t)word;
		if (event && TRACE_IS_LATE(word))
			words->held = *to;
		return event && !words->held;
	case TRACE_CONTROL:
		if (is_known(id) && TRACE_CONTROL_SUBTYPE(id) == TRACE_CUSTOM) {
			words->custom = word;
			return false;
		}
		*(is_known(id) ? &words->keep : &words->leave) = TRACE_CONTROL_WORDS(id);
		return is_known(id);
	case TRACE_STACK:
	case TRACE_ENTRY_KEPT:
	case TRACE_PROBE:
		return true;
	}
	words->over = !read_decode_is_event(type) && !read_decode_is_hole(word);
	return read_decode_is_event(type);
}

/* Takes a block of words. Returns how many of `out` remain. */
static size_t take(const struct bare_chunk *chunk, struct words *words, size_t have)
{
	size_t n = 0;

	for (size_t i = 0; i < have && !words->over; i++) {
		if (words->custom) {
			n += bare_custom(chunk, words, words->in[i], &words->out[n]);
		} else if (words->keep) {
			words->keep--;
			words->out[n++] = words->in[i];
		} else if (words->leave) {
			words->leave--;
			if (words->held && words->in[i] != chunk->head.token)
				words->out[n++] = words->held;
			words->held = 0;
		} else {
			n += bare_word(chunk, words, words->in[i], &words->out[n]);
		}
	}
	return n;
}

int bare_chunk_copy(struct bare_chunk *chunk)
{
	struct trace_chunk *head = &chunk->head;

	if (!is_sane(head, chunk->room))
		return 0;
	const uint64_t all = ((head->used ? head->used : head->size) - head->head_size) / 8;
	const struct trace_chunk was = *head;
	uint64_t to = chunk->to_begin + head->head_size;
	struct read_dense *dense = NULL;
	struct words *words = calloc(1, sizeof(*words));
	int error = words ? 0 : ENOMEM;

	for (uint64_t at = 0; !error && at < all && !words->over;) {
		size_t want = all - at < BLOCK ? all - at : BLOCK, have;
		if (was.version == TRACE_CHUNK_DENSE)
			have = read_dense_words(&dense, chunk->from, chunk->begin, &was, at, words->in, want, &error);
		else
			have = read_file_read(chunk->from, words->in, want * 8,
				       chunk->begin + was.head_size + at * 8, &error) / 8;
		size_t n = take(chunk, words, have);
		if (!error)
			error = whole_write(chunk->to, words->out, n * 8, to);
		to += n * 8;
		at += have;
		if (have < want)
			break;
	}
	head->version = TRACE_VERSION;
	head->dense = 0;
	head->used = head->used ? to - chunk->to_begin : 0;
	/* The whole head: its reserved bytes are zeros, as those between it and the words. */
	if (!error)
		error = whole_write(chunk->to, head, sizeof(*head), chunk->to_begin);
	read_dense_free(dense);
	free(words);
	return error;
}
