/* SPDX-License-Identifier: MIT */
#include "tool/read/live/source.h"

#include <stdlib.h>

#include "tool/read/damage/memory.h"
#include "tool/read/process_load.h"
#include "tool/read/values/layout.h"

#define ROOM   (READ_SOURCE_BLOCK / sizeof(uint64_t))
#define KEPT	128 /* chunks: one lies at most so far before others with lower numbers */
#define MISSED	3   /* looks for a chunk that is not there, before later ones are looked for ... */
#define LATER	64  /* ... of which so many */
#define TRIES	8   /* to read a block of a chunk that is overwritten meanwhile, before the next look */
#define GLANCE	64  /* words */
#define HOLE_NS 500000000u /* ns: a handler that interrupted a writer, and calls functions itself, may take so long */
#define GLANCES 8   /* looks at a chunk that does not grow, before there is one at what is behind it */

static uint32_t event_of(void *process, uint32_t number)
{
	const struct read_layout *layout = read_process_layout_now(process, number);

	return layout ? layout->event : READ_DECODE_UNKNOWN;
}

static const struct read_layout *layout_of(void *process, uint32_t number)
{
	return read_process_layout(process, number);
}

bool read_source_open(struct read_source *s, struct read_process *process, unsigned number, bool newest)
{
	*s = (struct read_source){ .number = number, .first = newest ? READ_CHUNKS_NEWEST : 0 };
	read_chunks_follow(&s->chunks, process, number);
	read_chunks_look(&s->chunks);
	s->decoder.event_of = event_of;
	s->decoder.layout_of = layout_of;
	s->chains.damage = process->family->damage;
	s->decoder.source = process;
	return read_memory_resize(process->family->damage, &s->words, ROOM, sizeof(*s->words));
}

void read_source_close(struct read_source *s)
{
	read_chunks_close(&s->chunks);
	read_chains_free(&s->chains);
	free(s->words);
	free(s->run);
	s->words = NULL;
	s->run = NULL;
}

/* ---- chunks ---- */

static void be_due(struct read_source *s, enum read_source_what what)
{
	s->due |= 1u << what;
}

static void begin(struct read_source *s, const struct read_chunk *chunk)
{
	const struct trace_chunk *head = &chunk->head;
	uint32_t stack = head->stack & TRACE_ID_MASK;

	if (s->begun && head->seq > s->chunk.head.seq + 1) {
		s->gone += head->seq - s->chunk.head.seq - 1;
		be_due(s, READ_SOURCE_GONE);
	}
	s->lost += head->lost;
	if (head->lost)
		be_due(s, READ_SOURCE_LOST);
	if (!s->begun || head->tid != s->tid) {
		s->tid = s->decoder.tid = head->tid;
		s->decoder.stack = 0;
		be_due(s, READ_SOURCE_THREAD);
	}
	if (stack != s->decoder.stack)
		be_due(s, READ_SOURCE_STACK);
	s->decoder.stack = stack;
	s->decoder.time = head->clock;
	s->decoder.token = chunk->token;
	read_chains_clear(&s->chains);
	s->chunk = *chunk;
	s->runs = 0;
	s->begun = true;
	s->pos = head->head_size;
	s->hole = (struct read_chunk_hole){ .after = HOLE_NS };
	s->done = false;
	s->missed = 0;
}

/* The file that chunks are copied to may have been made since it was looked for. */
static bool open_copies(struct read_source *s)
{
	if (s->chunks.file)
		return false;
	s->chunks.process->files[s->number] |= READ_FILE_EVENTS;
	read_chunks_look(&s->chunks);
	return s->chunks.file != NULL;
}

static bool find(struct read_source *s, uint64_t seq, struct read_chunk *chunk)
{
	return read_chunks_find(&s->chunks, seq, chunk) ||
	       (open_copies(s) && read_chunks_find(&s->chunks, seq, chunk));
}

static bool go_to(struct read_source *s, uint64_t seq)
{
	struct read_chunk chunk;

	if (!find(s, seq, &chunk))
		return false;
	begin(s, &chunk);
	return true;
}

/*
 * The first chunk above that number, where mode ring is, or was: it gives up chunks. Those of mode stream, which may
 * have come since, are not: once they are overwritten in meta, t<n> has them.
 */
static bool find_in_ring(struct read_source *s, uint64_t seq, struct read_chunk *chunk)
{
	struct read_chunk copy;
	bool found = read_chunks_find_above(&s->chunks, seq, chunk);

	open_copies(s);
	if (!read_chunks_find_copy_above(&s->chunks, seq, &copy) || (found && chunk->head.seq <= copy.head.seq))
		return found;
	*chunk = copy;
	return true;
}

/* The first chunk above that number, whose next one is not there. */
static bool find_later(struct read_source *s, uint64_t seq, struct read_chunk *chunk)
{
	if (s->chunks.process->head.ring_size && find_in_ring(s, seq, chunk))
		return true;
	for (uint64_t later = seq + 2; later <= seq + 1 + LATER; later++)
		if (find(s, later, chunk))
			return true;
	return false;
}

/*
 * Goes behind the present chunk. Returns false if there is nothing yet. The next one may be about to be copied when it
 * is looked for, and seem not to be there; in a ring it may be overwritten, and after a full disk it was never there.
 */
static bool go_on(struct read_source *s)
{
	struct read_chunk chunk;
	uint64_t seq = s->chunk.head.seq;

	if (go_to(s, seq + 1))
		return true;
	if (++s->missed < MISSED || !find_later(s, seq, &chunk))
		return false;
	begin(s, &chunk);
	return true;
}

/* Words of the present chunk from that position on; returns how many. */
static size_t read_words(struct read_source *s, uint64_t *to, size_t room, uint64_t pos)
{
	uint64_t end = s->chunk.head.used ? s->chunk.head.used : s->chunk.head.size;
	uint64_t want = end > pos ? end - pos : 0;

	want = want < room * sizeof(*to) ? want : room * sizeof(*to);
	return read_chunks_look_at(&s->chunks, &s->chunk, to, want, s->chunk.begin + pos, NULL) / sizeof(*to);
}

static bool go_to_first(struct read_source *s)
{
	struct read_chunk chunk;

	if (go_to(s, s->first))
		return true;
	/* A ring may have lost its first chunks. */
	if (s->first || !find_in_ring(s, 0, &chunk))
		return false;
	begin(s, &chunk);
	return true;
}

/* ---- blocks ---- */

static bool is_copied(struct read_source *s)
{
	return read_chunks_find_copy(&s->chunks, &s->chunk) && read_chunk_again(&s->chunk);
}

/* Is the chunk still where it was, or where it was copied to? */
static bool is_there(struct read_source *s)
{
	return read_chunk_again(&s->chunk) || is_copied(s) || (open_copies(s) && is_copied(s));
}

/* What of the words may be taken. over: nothing will come behind them. */
static size_t look(struct read_source *s, bool over)
{
	size_t whole = read_words(s, s->words, ROOM, s->pos), have = whole, good;
	bool wait = false;

	if (over)
		return whole;
	while (have && read_chunk_is_unwritten(&s->chunk, s->words[have - 1]))
		have--;
	good = read_chunk_settled(&s->chunk, s->words, have, whole, s->pos, &s->hole, &wait);
	/* Zeros at the end may be data of a custom event; if it is not here as a whole, the decoder leaves it. */
	return good < whole ? good : whole;
}

/* Nothing was stored since the last look, as it seems at a glance. */
static bool is_idle(struct read_source *s)
{
	uint64_t words[GLANCE];
	size_t n = 0, have;

	if (s->done || s->chunk.head.used || !read_chunk_again(&s->chunk) || s->chunk.head.used)
		return false;
	have = read_words(s, words, GLANCE, s->pos);
	while (n < have && read_chunk_is_unwritten(&s->chunk, words[n]))
		n++;
	return n == have && n;
}

/* Takes note of how far the decoder has come. Returns how many words it could not take, if it took none. */
static size_t leave_block(struct read_source *s)
{
	struct read_decoder *d = &s->decoder;
	size_t left = d->at || d->skip ? 0 : d->have;

	s->pos += (d->at + d->skip) * sizeof(uint64_t);
	d->at = d->have = d->skip = 0;
	return left;
}

/* The chunk was overwritten, and has no copy, as it seems: if so again, what is left of it is gone. */
static bool lose_chunk(struct read_source *s)
{
	if (s->missed < MISSED)
		s->missed++;
	if (s->missed < MISSED)
		return false;
	if (!go_on(s))
		return false;
	s->gone++;
	be_due(s, READ_SOURCE_GONE);
	return true;
}

/* ---- entries that may be taken back ---- */

static void set_head(struct read_source *s, enum read_source_what what, uint64_t ticks)
{
	s->head = (struct read_source_event){ .what = what, .ticks = ticks };
	s->has = true;
}

/* Is it in its chunk no more, though the chunk is there? */
static bool is_gone(struct read_source *s, struct read_chunk *chunk, const struct read_source_entry *entry)
{
	uint64_t now;

	return read_chunks_look_at(&s->chunks, chunk, &now, sizeof(now), chunk->begin + entry->pos, NULL) ==
		       sizeof(now) && !read_decode_is_same_entry(entry->word, now) && read_chunk_again(chunk);
}

/* Was the last event taken back, since it was read? Then reading goes on in its place. */
static bool is_back(struct read_source *s)
{
	struct read_decoder *d = &s->decoder;

	if (!s->runs || !is_gone(s, &s->chunk, &s->run[s->runs - 1]))
		return false;
	s->pos = s->run[--s->runs].pos;
	d->at = d->have = d->skip = 0;
	set_head(s, READ_SOURCE_BACK, d->now);
	s->head.entry = s->run[s->runs];
	return true;
}

bool read_source_has(struct read_source *s, const struct read_source_entry *entry)
{
	struct read_chunk chunk = s->chunk;

	if (!s->begun || (chunk.head.seq != entry->seq && !find(s, entry->seq, &chunk)))
		return true;
	return !is_gone(s, &chunk, entry);
}

/* An event is the head; entry: where, if it is one. */
static void note_entry(struct read_source *s, const struct read_source_entry *entry)
{
	if (!entry) {
		s->runs = 0;
		return;
	}
	if (s->runs == s->run_room) {
		if (!read_memory_grow(s->chunks.process->family->damage, &s->run, s->runs, sizeof(*s->run)))
			return;
		s->run_room++;
	}
	s->run[s->runs++] = *entry;
}

/*
 * Reads the next block, or begins the next chunk. Returns false if there is nothing now. A block that ends within an
 * event is left there by the decoder, and the next one begins with it.
 */
static bool next_block(struct read_source *s)
{
	struct read_decoder *d = &s->decoder;
	struct read_chunk other;
	size_t left = leave_block(s), good;
	unsigned tries = 0;
	bool over;

	if (!s->begun)
		return go_to_first(s);
	if (s->done)
		return go_on(s);
	/* A thread that never finishes its chunk, though it has begun another one, is rare, and so is the question. */
	if (!left && !s->ended && is_idle(s) && ++s->idle % GLANCES)
		return false;
	do {
		/*
		 * Is there a newer chunk already? Asked before the words are read: if so, words that are not there will
		 * not come.
		 */
		over = !s->chunk.head.used && find(s, s->chunk.head.seq + 1, &other);
		if (!is_there(s))
			return lose_chunk(s);
		over |= s->chunk.head.used != 0 || s->ended;
		good = look(s, over);
		if (++tries == TRIES)
			return false;
	} while (s->chunk.reused && !read_chunk_again(&s->chunk));
	if (is_back(s))
		return true;
	d->words = s->words;
	d->chains = &s->chains; /* the struct may have been moved */
	d->rest = UINT64_MAX; /* they may come */
	d->values.last = SIZE_MAX;
	d->have = good;
	s->blocks++;
	if (good > left)
		return true;
	s->done = over;
	return over && go_on(s);
}

/* ---- events ---- */

static void set_values(struct read_source *s, const struct read_decode_values *values)
{
	if (!values)
		return;
	s->head.layout = read_process_layout(s->chunks.process, values->layout);
	s->head.bytes = (const uint8_t *)&s->words[values->first + 1];
	s->head.size = values->words * 8;
	s->head.flawed = values->flawed;
	s->head.chain = values->chain;
}

static bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct read_source *s = user;
	const struct read_decode_values *values = read_decode_values_at(&s->decoder, at);

	(void)time;
	set_head(s, READ_SOURCE_CALL, now);
	s->head.type = type;
	s->head.id = id;
	set_values(s, values);
	size_t first = values ? values->first : at;
	s->head.entry = (struct read_source_entry){ s->chunk.head.seq, s->pos + first * 8, s->words[first] };
	note_entry(s, type == TRACE_ENTRY ? &s->head.entry : NULL);
	return true;
}

static bool take_other(void *user, enum read_decoded what)
{
	struct read_source *s = user;

	note_entry(s, NULL);
	switch (what) {
	case READ_DECODED_THREAD:
		s->tid = s->decoder.tid;
		set_head(s, READ_SOURCE_THREAD, s->decoder.now);
		return true;
	case READ_DECODED_CRASH:
		set_head(s, READ_SOURCE_CRASH, s->decoder.now);
		s->head.count = (uint64_t)s->decoder.signal;
		return true;
	case READ_DECODED_PROBE:
		set_head(s, READ_SOURCE_PROBE, s->decoder.now);
		s->head.id = s->decoder.probe.id;
		set_values(s, read_decode_values_at(&s->decoder, s->decoder.probe.at));
		return true;
	case READ_DECODED_STACK:
		set_head(s, READ_SOURCE_STACK, s->decoder.now);
		return true;
	case READ_DECODED_PART:
		set_head(s, READ_SOURCE_PART, s->decoder.now);
		return true;
	default:
		return false;
	}
}

/* What a chunk's beginning tells. Returns false if there is nothing more of that. */
static bool tell_due(struct read_source *s)
{
	uint64_t now = s->chunk.head.clock > s->decoder.now ? s->chunk.head.clock : s->decoder.now;

	if (!s->due)
		return false;
	enum read_source_what what = (enum read_source_what)__builtin_ctz(s->due);
	s->due &= s->due - 1;
	set_head(s, what, now);
	s->head.count = what == READ_SOURCE_LOST ? s->lost : what == READ_SOURCE_GONE ? s->gone : 0;
	if (what == READ_SOURCE_LOST)
		s->lost = 0;
	if (what == READ_SOURCE_GONE)
		s->gone = 0;
	return true;
}

bool read_source_next(struct read_source *s)
{
	while (!s->has) {
		if (tell_due(s))
			return true;
		if (s->decoder.at < s->decoder.have && !s->decoder.skip) {
			read_decode_block(&s->decoder, take_event, take_other, s);
			if (s->has)
				return true;
		}
		if (!next_block(s))
			return false;
	}
	return true;
}

uint64_t read_source_behind(struct read_source *s)
{
	struct read_chunk newest;

	if (!s->begun || !read_chunks_find(&s->chunks, READ_CHUNKS_NEWEST, &newest))
		return 0;
	return newest.head.seq > s->chunk.head.seq
		       ? (newest.head.seq - s->chunk.head.seq) * s->chunk.head.size : 0;
}

uint64_t read_source_taken(const struct read_source *s)
{
	uint64_t seq = s->begun ? s->chunk.head.seq : 0;

	return seq > KEPT ? read_chunks_taken(&s->chunks, seq - KEPT) : 0;
}

void read_source_given(struct read_source *s, uint64_t taken)
{
	s->given = taken;
	read_chunks_forget(&s->chunks, taken);
}
