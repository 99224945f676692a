/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/api/follow_record.h"

#include <string.h>

#include "tool/base/now.h"
#include "tool/read/api/follow.h"
#include "tool/read/api/probes.h"
#include "tool/read/damage/memory.h"
#include "tool/read/events/chunk_words.h"
#include "tool/read/values/layout.h"
#include "x86_64/cpu.h"

#define LAPS 3 /* samples of a ring in one look */

static uint64_t now_ticks(const struct xaudit_read_follow *f)
{
	return f->read->head.clock == TRACE_CLOCK_TSC ? cpu_ticks() : tool_now();
}

/* ---- rows ---- */

static struct read_follow_row *row_of(struct xaudit_read_follow *f, uint32_t id, bool is_probe)
{
	const struct read_function *function = read_process_function_now(f->read, id);

	if (!function || read_api_is_probe(function) != is_probe)
		return NULL;
	uint32_t index = read_process_function_index(f->read, function);
	if (index >= f->rows) {
		uint32_t rows = read_process_functions(f->read);
		if (!read_memory_resize(f->damage, &f->row, rows, sizeof(*f->row)))
			return NULL;
		memset(f->row + f->rows, 0, (rows - f->rows) * sizeof(*f->row));
		f->rows = rows;
	}
	return &f->row[index];
}

struct read_follow_row *read_follow_row(struct xaudit_read_follow *f, uint32_t id)
{
	return row_of(f, id, false);
}

struct read_follow_row *read_follow_probe(struct xaudit_read_follow *f, uint32_t id)
{
	return row_of(f, id, true);
}

/* ---- events ---- */

struct taker {
	struct xaudit_read_follow *f;
	struct read_follow_thread *thread;
	struct read_call *innermost;
};

/* Adds the time up to `time` to `call`, the innermost one. */
static void run_to(
	struct xaudit_read_follow *f, struct read_follow_thread *t, const struct read_call *call, uint64_t time)
{
	if (time <= t->last)
		return;
	if (call != t->stack->calls.frame) {
		struct read_follow_row *row = read_follow_row(f, call->id);
		if (row)
			row->self += time - t->last;
	}
	t->last = time;
}

static void count_call(struct xaudit_read_follow *f, uint32_t id)
{
	struct read_follow_row *row = read_follow_row(f, id);

	f->look.events++;
	if (row)
		row->calls++;
}

static void enter(void *user, struct read_call *call, size_t at)
{
	struct taker *taker = user;

	(void)at;
	run_to(taker->f, taker->thread, call - 1, call->start);
	count_call(taker->f, call->id);
}

static void enter_deep(void *user, uint32_t id, size_t at)
{
	struct taker *taker = user;

	(void)at;
	if (taker->thread->stack->calls.no_memory)
		taker->f->damage->no_memory = true;
	count_call(taker->f, id);
}

static void end(void *user, struct read_call *call, enum read_call_end how, uint64_t now)
{
	struct taker *taker = user;

	run_to(taker->f, taker->thread, call, now);
	taker->f->look.events += how != READ_CALL_CUT;
}

static void point(void *user, uint32_t id, uint64_t now, size_t at)
{
	struct taker *taker = user;

	(void)at;
	run_to(taker->f, taker->thread, taker->thread->stack->calls.top, now);
	count_call(taker->f, id);
}

static void orphan(void *user, uint32_t id, uint64_t now)
{
	struct taker *taker = user;

	(void)id;
	run_to(taker->f, taker->thread, taker->thread->stack->calls.top, now);
	taker->f->look.events++;
}

static const struct read_calls_hooks hooks = {
	.enter = enter, .deep = enter_deep, .end = end, .point = point, .orphan = orphan,
};

static bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct taker *taker = user;

	(void)time;
	read_calls_event(&taker->thread->stack->calls, &taker->innermost, &hooks, taker, type, id, now, at);
	return false;
}

static void forget_stack(void *user, struct read_stack_calls *stack)
{
	(void)user;
	read_calls_drop(&stack->calls, &hooks, NULL);
}

static void forget_calls(struct read_follow_thread *t)
{
	read_stacks_each(t->stacks, t->record, forget_stack, NULL);
}

static void change_stack(struct xaudit_read_follow *f, struct read_follow_thread *t, uint32_t number)
{
	struct read_stack_calls *stack;

	t->decoder.stack = number;
	if (t->stack->number == number)
		return;
	stack = read_stacks_enter(t->stacks, number, t->record);
	f->damage->no_memory |= !stack;
	if (!stack)
		return;
	read_stacks_leave(t->stacks, t->stack);
	t->stack = stack;
}

static void part_stack(struct xaudit_read_follow *f, struct read_follow_thread *t)
{
	size_t kept = read_stacks_kept(t->stack, t->decoder.calls, t->decoder.outer);
	struct read_stack_calls *stack = read_stacks_part(t->stacks, t->stack, t->decoder.stack, kept, t->record);

	f->damage->no_memory |= !stack;
	t->stack = stack ? stack : t->stack;
}

static bool take_other(void *user, enum read_decoded what)
{
	struct taker *taker = user;
	struct read_follow_thread *t = taker->thread;

	if (what == READ_DECODED_PROBE) {
		struct read_follow_row *row = read_follow_probe(taker->f, t->decoder.probe.id);
		taker->f->look.events++;
		if (row)
			row->events++;
	}
	if (what != READ_DECODED_THREAD && what != READ_DECODED_STACK && what != READ_DECODED_PART)
		return false;
	run_to(taker->f, t, taker->innermost, t->decoder.now);
	t->stack->calls.top = taker->innermost;
	if (what == READ_DECODED_THREAD && !t->stack->number)
		forget_stack(NULL, t->stack);
	if (what == READ_DECODED_PART)
		part_stack(taker->f, t);
	else
		change_stack(taker->f, t, t->decoder.stack);
	taker->innermost = t->stack->calls.top;
	return false;
}

static uint32_t event_of(void *process, uint32_t number)
{
	const struct read_layout *layout = read_process_layout_now(process, number);

	return layout ? layout->event : READ_DECODE_UNKNOWN;
}

/*
 * Takes the words; returns how many, with their payloads: not a control word whose payload is not there.
 */
static size_t take_words(struct xaudit_read_follow *f, struct read_follow_thread *t, const uint64_t *words, size_t n)
{
	struct taker taker = { f, t, t->stack->calls.top };
	struct read_decoder *d = &t->decoder;

	d->words = words;
	d->at = 0;
	d->have = n;
	d->skip = 0;
	d->rest = UINT64_MAX; /* they may come */
	d->event_of = event_of;
	d->source = t->chunks.process;
	d->values.last = SIZE_MAX;
	read_decode_block(d, take_event, take_other, &taker);
	t->stack->calls.top = taker.innermost;
	return d->at + d->skip;
}

/* ---- chunks ---- */

static void begin(struct xaudit_read_follow *f, struct read_follow_thread *t, const struct read_chunk *chunk)
{
	/* What was open may have ended where events were lost. */
	if (t->begun && chunk->head.lost)
		forget_calls(t);
	t->begun = true;
	t->chunk = *chunk;
	t->pos = chunk->head.head_size;
	t->hole = (struct read_chunk_hole){ 0 };
	t->decoder.time = chunk->head.clock;
	t->decoder.token = chunk->token;
	t->decoder.now = 0; /* self time never goes back */
	change_stack(f, t, chunk->head.stack & TRACE_ID_MASK);
}

/* Goes to the chunk of number seq, or READ_CHUNKS_NEWEST, if there is one. */
static bool go_to(struct xaudit_read_follow *f, struct read_follow_thread *t, uint64_t seq)
{
	struct read_chunk chunk;

	if (!read_chunks_find(&t->chunks, seq, &chunk))
		return false;
	begin(f, t, &chunk);
	return true;
}

/* Bytes of the chunk at hand. */
static size_t read_words(struct read_follow_thread *t, uint64_t *words, size_t size, uint64_t pos)
{
	return read_chunks_look_at(&t->chunks, &t->chunk, words, size, t->chunk.begin + pos, NULL);
}

/* Where the words that are there end. */
static uint64_t end_of_words(struct read_follow_thread *t)
{
	uint64_t words[512], end = t->chunk.head.head_size;

	if (t->chunk.head.used)
		return t->chunk.head.used;
	for (uint64_t pos = end; pos < t->chunk.head.size; pos += sizeof(words)) {
		size_t last = read_words(t, words, sizeof(words), pos) / 8;
		while (last > 0 && read_chunk_is_unwritten(&t->chunk, words[last - 1]))
			last--;
		if (!last)
			break;
		end = pos + last * 8;
	}
	return end < t->chunk.head.size ? end : t->chunk.head.size;
}

static void count_skipped(struct xaudit_read_follow *f, const struct read_follow_thread *t, uint64_t from)
{
	uint64_t chunks = t->chunk.head.seq > from ? t->chunk.head.seq - from : 1;

	f->look.skipped += chunks;
	f->words_skipped += chunks * (t->chunk.head.size / 8);
}

/*
 * The chunk at hand was overwritten: goes on with the newer half of what the ring holds now, as a sample.
 * Returns false where that is nothing new.
 */
static bool resume_in_ring(struct xaudit_read_follow *f, struct read_follow_thread *t)
{
	uint64_t from = t->chunk.head.seq;
	struct read_chunk chunk;

	if (++t->laps > LAPS || !read_chunks_find_above(&t->chunks, from, &chunk))
		return false;
	begin(f, t, &chunk);
	forget_calls(t);
	t->last = t->chunk.head.clock;
	count_skipped(f, t, from);
	return true;
}

/* Goes to the end of the newest chunk. What lies before is not read. */
static void skip_to_end(struct xaudit_read_follow *f, struct read_follow_thread *t)
{
	uint64_t seq = t->begun ? t->chunk.head.seq : READ_CHUNKS_NEWEST;

	if (!go_to(f, t, READ_CHUNKS_NEWEST))
		return;
	t->pos = end_of_words(t);
	forget_calls(t);
	change_stack(f, t, 0); /* not known before it changes again */
	t->last = now_ticks(f);
	if (!f->live)
		t->last = t->chunk.head.clock;
	if (seq != READ_CHUNKS_NEWEST)
		count_skipped(f, t, seq);
	/*
	 * The whole clock is needed to go on from here: any time near is good enough, since the next event tells its
	 * low half.
	 */
	if (f->live)
		t->decoder.time = t->last;
}

/* Looks at the chunk at hand again; it may be at another place now. */
static bool is_there(struct read_follow_thread *t)
{
	return read_chunk_again(&t->chunk) ||
	       (read_chunks_find_copy(&t->chunks, &t->chunk) && read_chunk_again(&t->chunk));
}

/* Reads one block of the present chunk. Returns whether there may be more now. */
static bool read_block(struct xaudit_read_follow *f, struct read_follow_thread *t)
{
	uint64_t *words = f->block, seq = t->chunk.head.seq, end;
	struct read_chunk other;

	/*
	 * Is there a newer chunk already? Asked before the words are read: if so, words that are not there will not
	 * come.
	 */
	bool newer = !t->chunk.head.used && read_chunks_find(&t->chunks, seq + 1, &other);
	if (!is_there(t)) {
		if (resume_in_ring(f, t))
			return true;
		skip_to_end(f, t);
		return false;
	}
	end = t->chunk.head.used ? t->chunk.head.used : t->chunk.head.size;
	uint64_t want = end > t->pos ? end - t->pos : 0;
	bool wait = false;
	want = want < READ_FOLLOW_BLOCK ? want : READ_FOLLOW_BLOCK;
	size_t have = read_words(t, words, want, t->pos) / 8, good = 0, whole = have;
	if (t->chunk.reused && !read_chunk_again(&t->chunk)) {
		if (read_chunks_find_copy(&t->chunks, &t->chunk))
			return true;
		if (resume_in_ring(f, t))
			return true;
		skip_to_end(f, t);
		return false;
	}
	while (have && !t->chunk.head.used && read_chunk_is_unwritten(&t->chunk, words[have - 1]))
		have--;
	if (t->chunk.head.used || newer)
		good = have;
	if (good < have)
		good = read_chunk_settled(&t->chunk, words, have, whole, t->pos, &t->hole, &wait);
	/* Zeros at the end may be data of a custom event; if it is not here as a whole, take_words() leaves it. */
	good = good < whole ? good : whole;
	size_t taken = take_words(f, t, words, good);
	t->pos += taken * 8;
	f->words += taken;
	if (t->chunk.head.used || newer) {
		if (whole == READ_FOLLOW_BLOCK / 8 && taken) {
			t->pos += taken >= have && taken < whole ? (whole - taken) * 8 : 0;
			return true;
		}
		if (!go_to(f, t, seq + 1)) {
			/* The chunk is not begun yet; or it is overwritten already, and a later one is there. */
			if (!read_chunks_find(&t->chunks, READ_CHUNKS_NEWEST, &other) || other.head.seq <= seq + 1)
				return false;
			if (resume_in_ring(f, t))
				return true;
			skip_to_end(f, t);
			return false;
		}
		return true;
	}
	return !wait && taken && have == READ_FOLLOW_BLOCK / 8;
}

void read_follow_thread(struct xaudit_read_follow *f, struct read_follow_thread *t, uint64_t until)
{
	t->laps = 0;
	if (!t->begun) {
		/* A thread that began since the last look is read from its beginning, as far as that is there. */
		if (!go_to(f, t, 0))
			skip_to_end(f, t);
		t->last = t->begun ? t->chunk.head.clock : 0;
	}
	while (t->begun && read_block(f, t)) {
		if (tool_now() > until) {
			skip_to_end(f, t);
			break;
		}
	}
	if (t->begun && f->live) {
		if (t->laps) /* a sample ends with its last event: the words after it must not be multiplied */
			t->last = now_ticks(f);
		else
			run_to(f, t, t->stack->calls.top, now_ticks(f));
	}
}

bool read_follow_newest(struct xaudit_read_follow *f, struct read_follow_thread *t)
{
	if (!go_to(f, t, READ_CHUNKS_NEWEST))
		return false;
	t->last = t->chunk.head.clock;
	return true;
}

void read_follow_forget(struct xaudit_read_follow *f)
{
	read_stacks_each(&f->stacks, NULL, forget_stack, NULL);
}
