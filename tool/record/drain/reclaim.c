/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/drain/reclaim.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "format/stream.h"
#include "tool/base/now.h"
#include "tool/base/whole.h"
#include "tool/record/drain/drain.h"
#include "tool/record/drain/marks.h"

#define MS	   1000000ull
#define PAUSE	   (50 * MS)	/* at least, between two looks */
#define PAUSE_MOST (10000 * MS) /* while nothing can be given, */
#define PAUSE_FEW  (500 * MS)	/* and few are left */
#define TIMES	   10		/* the pause is so many times as long as the look */
#define STEP	   64		/* places after which it is worth a look; of few places an eighth */
#define UP	   8		/* of mode ring, so many are free at a time */
#define PLACES_MOST (1u << 22)	/* no family has more */
#define CANDIDATES 1024		/* of the first look */
#define PLACES	   2048		/* of processes that are gone, at a time */
#define WORDS	   4096
#define FREE	   TRACE_PLACE(TRACE_PLACE_FREE, 0, 0)

/* A used place, of a process that was marked. */
struct candidate {
	uint32_t place, process, thread;
	bool stays; /* its place is not given back */
	union {
		struct drain_marks_process mark; /* of the first look */
		struct trace_chunk chunk;
	};
};

static struct {
	struct candidate candidate[CANDIDATES + PLACES];
	unsigned count, gone; /* gone: the first ones, of which each stands for a process */
	bool cut;	      /* of the processes that are gone there are more */
	uint32_t named[TRACE_FREE]; /* head.free; 0: the word may be used */
	unsigned vacant, next;	    /* of these; where to look for the next one */
	unsigned chunks;	    /* that were read or written */
	uint64_t given, before;	    /* as head.given has it, and had it */
} reclaim;

static bool stops(const struct drain_reclaim_way *way)
{
	return way->stops && way->stops();
}

/* Is it enough for this time? */
static bool is_enough(const struct drain_reclaim_way *way)
{
	return !reclaim.vacant || reclaim.chunks >= DRAIN_CHUNKS ||
	       reclaim.chunks * (way->place_size / 2) >= DRAIN_BYTES || stops(way);
}

/* ---- words of the file ---- */

static bool read_word(const struct drain_reclaim_way *way, uint32_t place, uint64_t *word)
{
	return whole_read(way->meta, word, sizeof(*word), trace_word_at(&way->directory, place));
}

static bool put(const struct drain_reclaim_way *way, const void *from, size_t size, uint64_t at)
{
	return !whole_write(way->meta, from, size, at);
}

static uint64_t chunk_place(const struct drain_reclaim_way *way, uint32_t place)
{
	return place * way->place_size + way->place_size / 2;
}

static uint64_t handover_place(const struct drain_reclaim_way *way, uint32_t place)
{
	return trace_handover_at(&way->directory, place);
}

/* Which words of head.free may name another place. */
static bool look_at_named(const struct drain_reclaim_way *way, uint32_t places)
{
	uint64_t word;

	if (!whole_read(way->meta, reclaim.named, sizeof(reclaim.named), offsetof(struct trace_head, free)))
		return false;
	reclaim.vacant = reclaim.next = reclaim.chunks = 0;
	for (int i = 0; i < TRACE_FREE; i++) {
		if (!reclaim.named[i] || reclaim.named[i] >= places || !read_word(way, reclaim.named[i], &word) ||
			word != FREE)
			reclaim.named[i] = 0;
		reclaim.vacant += !reclaim.named[i];
	}
	return true;
}

static bool give_place(const struct drain_reclaim_way *way, uint32_t place)
{
	const struct trace_handover nothing = { 0 };
	const uint64_t word = FREE;

	while (reclaim.next < TRACE_FREE && reclaim.named[reclaim.next])
		reclaim.next++;
	if (reclaim.next == TRACE_FREE || !put(way, &nothing, sizeof(nothing), handover_place(way, place)) ||
		!put(way, &word, sizeof(word), trace_word_at(&way->directory, place)) ||
		!put(way, &place, sizeof(place), offsetof(struct trace_head, free) + reclaim.next * sizeof(place)))
		return false;
	reclaim.named[reclaim.next] = place;
	reclaim.vacant--;
	reclaim.given++;
	return put(way, &reclaim.given, sizeof(reclaim.given), offsetof(struct trace_head, given));
}

/* ---- candidates ---- */

static bool is_sane(const struct drain_reclaim_way *way, const struct candidate *candidate)
{
	const struct trace_chunk *chunk = &candidate->chunk;
	uint64_t size = way->place_size / 2;

	return chunk->magic == TRACE_CHUNK_MAGIC && chunk->version == TRACE_VERSION &&
	       chunk->head_size == sizeof(*chunk) && chunk->size == size && chunk->used <= size &&
	       chunk->used % 8 == 0 && (!chunk->used || chunk->used >= sizeof(*chunk)) &&
	       chunk->process == candidate->process && chunk->thread == candidate->thread;
}

static void add(const struct drain_reclaim_way *way, uint32_t place, uint64_t word)
{
	static struct trace_head head;
	struct candidate *candidate = &reclaim.candidate[reclaim.count];
	uint32_t process = (uint32_t)(word >> 32) & (TRACE_PLACE_MAX - 1);

	*candidate = (struct candidate){ .place = place, .process = process, .thread = (uint32_t)word };
	if (!whole_read(way->meta, &head, sizeof(head), process * way->place_size) ||
		memcmp(head.magic, TRACE_MAGIC, sizeof(head.magic)))
		return;
	reclaim.count += drain_marks_note(&candidate->mark, process, &head);
}

static int by_process(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->process < y->process ? -1 : x->process > y->process;
}

/* Calls `found` for the words of chunks and heads, all around from a place on, as long as it returns true. */
static void each_chunk(const struct drain_reclaim_way *way, uint32_t places, uint32_t from,
	bool (*found)(const struct drain_reclaim_way *way, uint32_t place, uint64_t word))
{
	static uint64_t word[WORDS];
	uint32_t at = from < places ? from : 0;

	for (uint32_t done = 0, n; done < places; done += n) {
		n = trace_words_together(&way->directory, at, places - at < WORDS ? places - at : WORDS);
		n = n < places - done ? n : places - done;
		if (stops(way) || !whole_read(way->meta, word, n * 8ul, trace_word_at(&way->directory, at)))
			return;
		for (uint32_t i = 0; i < n; i++)
			if ((word[i] >> 60 == TRACE_PLACE_CHUNK || word[i] >> 60 == TRACE_PLACE_HEAD) &&
				!found(way, at + i, word[i]))
				return;
		at = at + n < places ? at + n : 0;
	}
}

static bool is_head(uint64_t word)
{
	return word >> 60 == TRACE_PLACE_HEAD;
}

static bool add_marked(const struct drain_reclaim_way *way, uint32_t place, uint64_t word)
{
	if (is_head(word))
		return true;
	way->state->hand = place;
	if (reclaim.count == CANDIDATES)
		return false;
	add(way, place, word);
	return true;
}

/* Those of processes that are gone: one of each. */
static void keep_gone(void)
{
	unsigned kept = 0;

	qsort(reclaim.candidate, reclaim.count, sizeof(*reclaim.candidate), by_process);
	for (unsigned i = 0; i < reclaim.count; i++) {
		const struct candidate *c = &reclaim.candidate[i];
		if (!(kept && reclaim.candidate[kept - 1].process == c->process) &&
			drain_marks_is_gone(&c->mark))
			reclaim.candidate[kept++] = *c;
	}
	reclaim.count = reclaim.gone = kept;
}

static bool add_gone(const struct drain_reclaim_way *way, uint32_t place, uint64_t word)
{
	const struct candidate wanted = { .process = (uint32_t)(word >> 32) & (TRACE_PLACE_MAX - 1) };
	const struct candidate *of = bsearch(&wanted, reclaim.candidate, reclaim.gone, sizeof(wanted), by_process);

	if (!of)
		return true;
	if (reclaim.count == CANDIDATES + PLACES) {
		reclaim.cut = true;
		return false;
	}
	struct candidate *c = &reclaim.candidate[reclaim.count];
	*c = (struct candidate){ .place = place, .process = wanted.process, .thread = (uint32_t)word };
	if (!whole_read(way->meta, &c->chunk, sizeof(c->chunk), chunk_place(way, place)))
		return true;
	/* Beside a head it is for the number alone, which others must not get. */
	c->stays = is_head(word);
	c->thread = c->stays ? c->chunk.thread : c->thread;
	reclaim.count += !c->stays || (is_sane(way, c) && c->chunk.copied);
	return true;
}

/*
 * All places of the processes that are gone, with the heads of their chunks as they left them: they may have taken
 * some, and filled others anew, since they were found.
 */
static void find_gone(const struct drain_reclaim_way *way, uint32_t places)
{
	reclaim.cut = false;
	each_chunk(way, places, 0, add_gone);
	reclaim.count -= reclaim.gone;
	memmove(reclaim.candidate, reclaim.candidate + reclaim.gone, reclaim.count * sizeof(*reclaim.candidate));
}

/* ---- events ---- */

static uint64_t words[TRACE_CHUNK_MIN / 8];

/*
 * Goes through the words of a chunk up to `end`. *used: where the last event ends; of one with a payload, which may end
 * in zeros, the whole; 0: it can't be read. Returns how many events there are.
 */
static uint64_t look_at_words(
	const struct drain_reclaim_way *way, const struct candidate *c, uint64_t end, uint64_t *used)
{
	uint64_t events = 0, skip = 0, at = sizeof(c->chunk);

	*used = at;
	reclaim.chunks++;
	for (uint64_t size; at < end; at += size) {
		size = end - at < sizeof(words) ? end - at : sizeof(words);
		if (!whole_read(way->meta, words, size, chunk_place(way, c->place) + at))
			break;
		for (uint64_t i = 0; i < size / 8; i++) {
			uint64_t word = words[i];
			uint32_t type = TRACE_TYPE_OF(word), id = TRACE_ID_OF(word);
			if (skip) {
				skip--;
				continue;
			}
			skip = TRACE_PAYLOAD_OF(word);
			if (word && word != c->chunk.token)
				*used = at + 8 * (i + 1 + skip) < end ? at + 8 * (i + 1 + skip) : end;
			events += type == TRACE_CONTROL ? TRACE_CONTROL_SUBTYPE(id) == TRACE_CUSTOM
							: type != TRACE_HOLE && type != TRACE_STACK;
		}
	}
	*used = at < end ? 0 : *used;
	return events;
}

/* ---- mode stream ---- */

/*
 * The number for one more chunk of the record; 0: t<n> can't be opened. Some that have numbers may not be there yet,
 * where t<n> could not be written: it lies behind the room of each of them.
 */
static uint64_t next_number(const struct drain_reclaim_way *way, const struct candidate *of)
{
	uint64_t end = way->reach(way->family, of->process, of->thread);

	for (unsigned i = 0; i < reclaim.count && end != UINT64_MAX; i++) {
		const struct candidate *c = &reclaim.candidate[i];
		if (c->process != of->process || c->thread != of->thread || !is_sane(way, c) || !c->chunk.copied ||
			c->chunk.copied > UINT32_MAX)
			continue;
		uint64_t behind = stream_at(c->chunk.copied) + way->place_size / 2;
		end = behind > end ? behind : end;
	}
	return end == UINT64_MAX ? 0 : 1 + end / STREAM_UNIT;
}

/* Hands the chunk over in place of its thread, and writes it. Returns whether t<n> has it. */
static bool write_out(const struct drain_reclaim_way *way, struct candidate *c)
{
	uint64_t at = chunk_place(way, c->place), full = c->chunk.seq + 1, used;
	struct trace_handover handed;

	if (!c->chunk.used) {
		look_at_words(way, c, c->chunk.size, &used);
		if (used == sizeof(c->chunk))
			return true;
		if (!used || !put(way, &used, sizeof(used), at + offsetof(struct trace_chunk, used)))
			return false;
	}
	if (!c->chunk.copied) {
		uint64_t number = next_number(way, c);
		if (!number || !put(way, &number, sizeof(number), at + offsetof(struct trace_chunk, copied)))
			return false;
		c->chunk.copied = number;
	}
	if (!put(way, &full, sizeof(full), handover_place(way, c->place) + offsetof(struct trace_handover, full)))
		return false;
	reclaim.chunks++;
	return way->write(way->family, c->place, full) &&
	       whole_read(way->meta, &handed, sizeof(handed), handover_place(way, c->place)) && handed.drained == full;
}

/* Has t<n> the chunk, perhaps by now? */
static bool is_in_stream(const struct drain_reclaim_way *way, struct candidate *c)
{
	struct trace_handover handed;
	uint64_t full = c->chunk.seq + 1;

	if (!whole_read(way->meta, &handed, sizeof(handed), handover_place(way, c->place)))
		return false;
	if (c->chunk.used && handed.full == full && handed.drained == full)
		return true;
	if (c->chunk.used && c->chunk.copied && handed.full != full && way->has(way->family, &c->chunk))
		return true;
	return write_out(way, c);
}

/* Chunks that have numbers, or those that have none. Returns whether all were looked at. */
static bool give_stream(const struct drain_reclaim_way *way, bool numbered)
{
	for (unsigned i = 0; i < reclaim.count; i++) {
		struct candidate *c = &reclaim.candidate[i];
		if (is_enough(way))
			return false;
		/* Its thread was about to begin a chunk. */
		if (!c->chunk.magic && numbered && !c->stays)
			give_place(way, c->place);
		else if (is_sane(way, c) && c->chunk.mode == TRACE_MODE_STREAM && !c->chunk.copied != numbered &&
			 is_in_stream(way, c) && !c->stays)
			give_place(way, c->place);
	}
	return true;
}

/* ---- mode ring ---- */

static int by_clock(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->chunk.clock < y->chunk.clock ? -1 : x->chunk.clock > y->chunk.clock;
}

/* Nobody else writes that word. */
static bool count_lost(const struct drain_reclaim_way *way, uint32_t process, uint64_t events)
{
	const uint64_t at = process * way->place_size + offsetof(struct trace_head, lost_by) +
			    TRACE_LOST_GIVEN * sizeof(events);
	uint64_t before;

	if (!whole_read(way->meta, &before, sizeof(before), at))
		return false;
	events += before;
	return put(way, &events, sizeof(events), at);
}

static void give_ring(const struct drain_reclaim_way *way)
{
	uint64_t used;

	qsort(reclaim.candidate, reclaim.count, sizeof(*reclaim.candidate), by_clock);
	for (unsigned i = 0; i < reclaim.count && reclaim.vacant > TRACE_FREE - UP && !is_enough(way); i++) {
		struct candidate *c = &reclaim.candidate[i];
		if (!is_sane(way, c) || c->chunk.mode != TRACE_MODE_RING || c->stays)
			continue;
		/* Where the process was in mode stream, too, t<n> may have it. */
		if (!(c->chunk.used && c->chunk.copied && way->has(way->family, &c->chunk)) &&
			!count_lost(way, c->process,
				look_at_words(way, c, c->chunk.used ? c->chunk.used : c->chunk.size, &used)))
			continue;
		give_place(way, c->place);
	}
}

/* ---- looks ---- */

bool drain_reclaim_is_due(struct drain_reclaim *state, const struct trace_head *head, uint64_t now)
{
	uint64_t taken = head->places + head->taken_again, pause = state->pause;
	uint64_t step = (state->likely ? state->likely : head->places_end) / 8;
	bool few = head->short_of != state->short_of;

	/* Those of the directory, and what was taken before anybody looked. */
	if (!state->taken)
		state->taken = taken;
	step = step < STEP ? step : STEP;
	pause = few && pause > PAUSE_FEW ? PAUSE_FEW : pause;
	pause = pause > TIMES * state->took ? pause : TIMES * state->took;
	/* Few are left: for the first time. */
	if (few && !state->full)
		return true;
	return now >= state->looked + pause && (few || taken - state->taken >= step);
}

static void look(const struct drain_reclaim_way *way, const struct trace_head *head)
{
	struct drain_reclaim *state = way->state;
	uint32_t most = head->places_max < PLACES_MOST ? head->places_max : PLACES_MOST;
	uint32_t places = head->places < most ? head->places : most;

	if (!look_at_named(way, places) || !reclaim.vacant)
		return;
	reclaim.count = 0;
	each_chunk(way, places, state->hand, add_marked);
	if (!reclaim.count)
		return;
	state->pause = 2 * state->pause < PAUSE_MOST ? 2 * state->pause : PAUSE_MOST;
	if (!drain_marks_look(way->meta, way->place_size))
		return;
	keep_gone();
	/* The head may be older than what they took last. */
	if (stops(way) || !whole_read(way->meta, &places, sizeof(places), offsetof(struct trace_head, places)))
		return;
	find_gone(way, places < most ? places : most);
	bool all = !stops(way) && give_stream(way, true) && !reclaim.cut && give_stream(way, false);
	if (all && state->full)
		give_ring(way);
	if (reclaim.given == reclaim.before)
		return;
	state->pause = PAUSE;
	/* There is more. */
	if (!all)
		state->taken -= STEP;
}

void drain_reclaim(const struct drain_reclaim_way *way, const struct trace_head *head, uint64_t now)
{
	struct drain_reclaim *state = way->state;
	uint64_t begun = tool_now();

	state->full |= head->short_of != state->short_of;
	state->taken = head->places + head->taken_again;
	state->short_of = head->short_of;
	state->pause = state->pause > PAUSE ? state->pause : PAUSE;
	reclaim.given = reclaim.before = head->given;
	look(way, head);
	state->took = tool_now() - begun;
	state->looked = now + state->took;
}
