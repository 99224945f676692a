/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/top_read.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/memory.h"
#include "tool/read/calls.h"
#include "tool/read/chunks.h"
#include "tool/read/counts.h"
#include "tool/read/stacks.h"
#include "tool/show/open.h"
#include "x86_64/cpu.h"

#define BLOCK	  (64u << 10) /* bytes */
#define FIRST_NS  1000000000u /* for the first look */
#define LAPS	  3 /* samples of a flight recorder in one look */

struct top_thread {
	struct read_chunks chunks;
	bool begun;
	struct read_chunk chunk; /* the present chunk */
	uint64_t pos;	    /* of the next word, from where it begins */
	uint64_t hole;	    /* position of a zero that words came after; 0: none */
	unsigned laps; /* in this look */
	uint64_t lost; /* of the chunks that were left */
	uint64_t last; /* up to where self time was given out */
	struct read_decoder decoder;
	const void *record;	   /* what it is called by `stacks`: it moves itself */
	struct read_stacks *stacks;	   /* of the process */
	struct read_stack_calls *stack; /* that its events are on */
	uint64_t *count, *now; /* counters at the last look and at this one, by id */
	uint32_t counts;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ticks(const struct top *top)
{
	return top->process->head.clock == TRACE_CLOCK_TSC ? cpu_ticks() : now_ns();
}

/* ---- rows ---- */

static struct top_row *row_of(struct top *top, uint32_t id)
{
	const struct read_function *function = read_process_function_now(top->process, id);

	if (!function)
		return NULL;
	uint32_t index = read_process_function_index(top->process, function);
	if (index >= top->rows) {
		uint32_t rows = read_process_functions(top->process);
		top->row = memory_resize(top->row, rows, sizeof(*top->row));
		memset(top->row + top->rows, 0, (rows - top->rows) * sizeof(*top->row));
		top->rows = rows;
	}
	return &top->row[index];
}

/* ---- events ---- */

struct taker {
	struct top *top;
	struct top_thread *thread;
	struct read_call *innermost;
};

/* Adds the time up to `time` to `call`, the innermost one. */
static void run_to(struct top *top, struct top_thread *t, const struct read_call *call, uint64_t time)
{
	if (time <= t->last)
		return;
	if (call != t->stack->calls.frame) {
		struct top_row *row = row_of(top, call->id);
		if (row)
			row->self += time - t->last;
	}
	t->last = time;
}

static void count_call(struct top *top, uint32_t id)
{
	struct top_row *row = row_of(top, id);

	top->events++;
	if (row)
		row->calls++;
}

static void enter(void *user, struct read_call *call, size_t at)
{
	struct taker *taker = user;

	(void)at;
	run_to(taker->top, taker->thread, call - 1, call->start);
	count_call(taker->top, call->id);
}

static void enter_deep(void *user, uint32_t id, size_t at)
{
	struct taker *taker = user;

	(void)at;
	if (taker->thread->stack->calls.no_memory)
		memory_failed();
	count_call(taker->top, id);
}

static void end(void *user, struct read_call *call, enum read_call_end how, uint64_t now)
{
	struct taker *taker = user;

	run_to(taker->top, taker->thread, call, now);
	taker->top->events += how != READ_CALL_CUT;
}

static void point(void *user, uint32_t id, uint64_t now, size_t at)
{
	struct taker *taker = user;

	(void)at;
	run_to(taker->top, taker->thread, taker->thread->stack->calls.top, now);
	count_call(taker->top, id);
}

static void orphan(void *user, uint32_t id, uint64_t now)
{
	struct taker *taker = user;

	(void)id;
	run_to(taker->top, taker->thread, taker->thread->stack->calls.top, now);
	taker->top->events++;
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

static void forget_calls(struct top_thread *t)
{
	read_stacks_each(t->stacks, t->record, forget_stack, NULL);
}

static void change_stack(struct top_thread *t, uint32_t number)
{
	t->decoder.stack = number;
	if (t->stack->number == number)
		return;
	read_stacks_leave(t->stacks, t->stack);
	t->stack = memory_need(read_stacks_enter(t->stacks, number, t->record));
}

static bool take_other(void *user, enum read_decoded what)
{
	struct taker *taker = user;
	struct top_thread *t = taker->thread;

	if (what != READ_DECODED_THREAD && what != READ_DECODED_STACK && what != READ_DECODED_PART)
		return false;
	run_to(taker->top, t, taker->innermost, t->decoder.now);
	t->stack->calls.top = taker->innermost;
	if (what == READ_DECODED_THREAD && !t->stack->number)
		forget_stack(NULL, t->stack);
	if (what == READ_DECODED_PART)
		t->stack = memory_need(
			read_stacks_part(t->stacks, t->stack, t->decoder.stack, t->decoder.kept, t->record));
	else
		change_stack(t, t->decoder.stack);
	taker->innermost = t->stack->calls.top;
	return false;
}

/*
 * Takes the words; returns how many, with their payloads: not a control word whose payload is not there.
 */
static size_t take_words(struct top *top, struct top_thread *t, const uint64_t *words, size_t n)
{
	struct taker taker = { top, t, t->stack->calls.top };
	struct read_decoder *d = &t->decoder;

	d->words = words;
	d->at = 0;
	d->have = n;
	d->skip = 0;
	d->rest = UINT64_MAX; /* they may come */
	read_decode_block(d, take_event, take_other, &taker);
	t->stack->calls.top = taker.innermost;
	return d->at + d->skip;
}

/* ---- chunks ---- */

static void begin(struct top_thread *t, const struct read_chunk *chunk)
{
	bool first_version = chunk->head.version == 1;

	if (t->begun && first_version)
		t->lost += t->chunk.head.lost;
	/* What was open may have ended where events were lost. */
	if (t->begun && (first_version ? t->chunk.head.lost : chunk->head.lost))
		forget_calls(t);
	t->begun = true;
	t->chunk = *chunk;
	t->pos = chunk->head.head_size;
	t->hole = 0;
	t->decoder.time = chunk->head.clock;
	t->decoder.now = 0; /* self time never goes back */
	change_stack(t, chunk->head.stack & TRACE_ID_MASK);
}

/* Goes to the chunk of number seq, or READ_CHUNKS_NEWEST, if there is one. */
static bool go_to(struct top_thread *t, uint64_t seq)
{
	struct read_chunk chunk;

	if (!read_chunks_find(&t->chunks, seq, &chunk))
		return false;
	begin(t, &chunk);
	return true;
}

/* Bytes of the chunk at hand. */
static size_t read_words(const struct top_thread *t, uint64_t *words, size_t size, uint64_t pos)
{
	return read_file_read(t->chunk.file, words, size, t->chunk.begin + pos, NULL);
}

/* Where the words that are there end. */
static uint64_t end_of_words(struct top_thread *t)
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

static void count_skipped(struct top *top, const struct top_thread *t, uint64_t from)
{
	uint64_t chunks = t->chunk.head.seq > from ? t->chunk.head.seq - from : 1;

	top->skipped += chunks;
	top->words_skipped += chunks * (t->chunk.head.size / 8);
}

/*
 * The chunk at hand was overwritten: goes on with the newer half of what the flight recorder holds now, as a sample.
 * Returns false where that is nothing new.
 */
static bool resume_in_ring(struct top *top, struct top_thread *t)
{
	uint64_t from = t->chunk.head.seq;
	struct read_chunk chunk;

	if (++t->laps > LAPS || !read_chunks_find_above(&t->chunks, from, &chunk))
		return false;
	begin(t, &chunk);
	forget_calls(t);
	t->last = t->chunk.head.clock;
	count_skipped(top, t, from);
	return true;
}

/* Goes to the end of the newest chunk. What lies before is not read. */
static void skip_to_end(struct top *top, struct top_thread *t)
{
	uint64_t seq = t->begun ? t->chunk.head.seq : READ_CHUNKS_NEWEST;

	if (!go_to(t, READ_CHUNKS_NEWEST))
		return;
	t->pos = end_of_words(t);
	forget_calls(t);
	change_stack(t, 0); /* not known before it changes again */
	t->last = now_ticks(top);
	if (!top->live)
		t->last = t->chunk.head.clock;
	if (seq != READ_CHUNKS_NEWEST)
		count_skipped(top, t, seq);
	/*
	 * The whole clock is needed to go on from here: any time near is good enough, since the next event tells its
	 * low half.
	 */
	if (top->live)
		t->decoder.time = t->last;
}

/* Looks at the chunk at hand again; it may be at another place now. */
static bool is_there(struct top_thread *t)
{
	return read_chunk_again(&t->chunk) ||
	       (read_chunks_find_copy(&t->chunks, &t->chunk) && read_chunk_again(&t->chunk));
}

/* Reads one block of the present chunk. Returns whether there may be more now. */
static bool read_block(struct top *top, struct top_thread *t)
{
	static uint64_t words[BLOCK / 8];
	uint64_t seq = t->chunk.head.seq, end;
	struct read_chunk other;

	/*
	 * Is there a newer chunk already? Asked before the words are read: if so, words that are not there will not
	 * come.
	 */
	bool newer = !t->chunk.head.used && read_chunks_find(&t->chunks, seq + 1, &other);
	if (!is_there(t)) {
		if (resume_in_ring(top, t))
			return true;
		skip_to_end(top, t);
		return false;
	}
	end = t->chunk.head.used ? t->chunk.head.used : t->chunk.head.size;
	uint64_t want = end > t->pos ? end - t->pos : 0;
	bool wait = false;
	size_t have = read_words(t, words, want < BLOCK ? want : BLOCK, t->pos) / 8, good = 0, whole = have;
	if (t->chunk.reused && !read_chunk_again(&t->chunk)) {
		if (read_chunks_find_copy(&t->chunks, &t->chunk))
			return true;
		if (resume_in_ring(top, t))
			return true;
		skip_to_end(top, t);
		return false;
	}
	while (have && read_chunk_is_unwritten(&t->chunk, words[have - 1]))
		have--;
	if (t->chunk.head.used || newer)
		good = have;
	while (good < have) {
		size_t payload = read_decode_payload(words[good]);
		/*
		 * A zero with words after it: a hole, if it still is zero at the next look. In a payload, only the
		 * first word tells.
		 */
		if ((read_decode_is_hole(words[good]) ||
			    (payload && good + 1 < whole && read_chunk_is_unwritten(&t->chunk, words[good + 1]))) &&
			t->hole != t->pos + good * 8) {
			t->hole = t->pos + good * 8;
			wait = true;
			break;
		}
		good += 1 + payload;
	}
	/* Zeros at the end may be data of a custom event; if it is not here as a whole, take_words() leaves it. */
	good = good < whole ? good : whole;
	size_t taken = take_words(top, t, words, good);
	t->pos += taken * 8;
	top->words += taken;
	if (t->chunk.head.used || newer) {
		if (whole == BLOCK / 8 && taken) {
			t->pos += taken >= have && taken < whole ? (whole - taken) * 8 : 0;
			return true;
		}
		if (!go_to(t, seq + 1)) {
			/* The chunk is not begun yet; or it is overwritten already, and a later one is there. */
			if (!read_chunks_find(&t->chunks, READ_CHUNKS_NEWEST, &other) || other.head.seq <= seq + 1)
				return false;
			if (resume_in_ring(top, t))
				return true;
			skip_to_end(top, t);
			return false;
		}
		return true;
	}
	return !wait && taken && have == BLOCK / 8;
}

static void read_thread(struct top *top, struct top_thread *t, uint64_t until)
{
	t->laps = 0;
	if (!t->begun) {
		/* A thread that began since the last look is read from its beginning, as far as that is there. */
		if (!go_to(t, 0))
			skip_to_end(top, t);
		t->last = t->begun ? t->chunk.head.clock : 0;
	}
	while (t->begun && read_block(top, t)) {
		if (now_ns() > until) {
			skip_to_end(top, t);
			break;
		}
	}
	if (t->begun && top->live) {
		if (t->laps) /* a sample ends with its last event: the words after it must not be multiplied */
			t->last = now_ticks(top);
		else
			run_to(top, t, t->stack->calls.top, now_ticks(top));
	}
}

/* ---- counters ---- */

static void want_counts(struct top_thread *t, uint32_t counts)
{
	if (counts <= t->counts)
		return;
	counts += counts / 2;
	t->count = memory_resize(t->count, counts, sizeof(*t->count));
	t->now = memory_resize(t->now, counts, sizeof(*t->now));
	memset(t->count + t->counts, 0, (counts - t->counts) * sizeof(*t->count));
	memset(t->now + t->counts, 0, (counts - t->counts) * sizeof(*t->now));
	t->counts = counts;
}

static void read_counts(struct top *top, unsigned number, bool first)
{
	static struct read_counts counts;
	struct top_thread *t = &top->thread[number];

	if (!(top->process->files[number] & READ_FILE_COUNTS) || !read_counts_open(&counts, top->process, number))
		return;
	while (read_counts_next(&counts)) {
		want_counts(t, counts.id + 1);
		t->now[counts.id] += counts.calls;
	}
	read_counts_close(&counts);
	for (uint32_t id = 0; id < t->counts; id++) {
		uint64_t now = t->now[id], before = t->count[id];

		t->now[id] = 0;
		if (now <= before)
			continue;
		t->count[id] = now;
		struct top_row *row = first ? NULL : row_of(top, id);
		if (row) {
			row->counted += now - before;
			top->counted += now - before;
		}
	}
}

/* ---- all ---- */

/* Opens the files that are there now. */
static void find_files(struct top *top)
{
	struct read_process *process = top->process;

	read_process_list_files(process);
	show_need_memory(top->folder);
	if (process->threads > top->threads) {
		top->thread = memory_resize(top->thread, process->threads, sizeof(*top->thread));
		memset(top->thread + top->threads, 0, (process->threads - top->threads) * sizeof(*top->thread));
	}
	for (; top->threads < process->threads; top->threads++) {
		struct top_thread *t = &top->thread[top->threads];
		t->record = (const char *)top->folder + top->threads; /* a name, no more */
		t->stacks = top->stacks;
		t->stack = memory_need(read_stacks_enter(t->stacks, 0, t->record));
		read_chunks_follow(&t->chunks, process, top->threads);
	}
	for (unsigned n = 0; n < top->threads; n++) {
		struct top_thread *t = &top->thread[n];

		read_chunks_look(&t->chunks);
	}
}

static void forget_open_calls(struct top *top)
{
	read_stacks_each(top->stacks, NULL, forget_stack, NULL);
}

/* Calls whose end is switched off would seem to run for ever. */
static void see_changes(struct top *top)
{
	read_process_load(top->process);
	for (; top->changes < top->process->changes; top->changes++) {
		switch (top->process->change[top->changes].what) {
		case TRACE_CHANGE_DISABLED:
		case TRACE_CHANGE_STOPPED:
		case TRACE_CHANGE_MODE:
		case TRACE_CHANGE_THROTTLED:
			forget_open_calls(top);
		}
	}
}

/* Events that its newest chunk knows of, and the process's head does not: version 1. */
static uint64_t lost_behind(const struct top_thread *t)
{
	return t->chunk.head.version == 1 ? t->chunk.head.lost : 0;
}

void top_open(struct top *top, struct read_folder *folder, bool live)
{
	*top = (struct top){ .folder = folder, .process = folder->process[0], .live = live };
	top->stacks = memory_zeroed(1, sizeof(*top->stacks));
	read_process_load(top->process);
	top->changes = top->process->changes;
	top->lost_before = top->process->head.lost;
	find_files(top);
	/* The newest chunk tells which calls are open: they may last for many screens. */
	uint64_t until = now_ns() + FIRST_NS;
	for (unsigned n = 0; n < top->threads; n++) {
		struct top_thread *t = &top->thread[n];
		if (go_to(t, READ_CHUNKS_NEWEST)) {
			top->lost_before += lost_behind(t);
			t->last = t->chunk.head.clock;
			read_thread(top, t, until);
		}
		read_counts(top, n, true);
	}
	top->skipped = top->words_skipped = 0;
}

void top_look(struct top *top, uint64_t ns)
{
	uint64_t until = now_ns() + ns;

	if (top->rows)
		memset(top->row, 0, top->rows * sizeof(*top->row));
	top->events = top->counted = top->skipped = top->words = top->words_skipped = 0;
	if (!read_process_read_head(top->process))
		return;
	see_changes(top);
	find_files(top);
	top->lost = top->process->head.lost;
	for (unsigned n = 0; n < top->threads; n++) {
		struct top_thread *t = &top->thread[n];
		read_thread(top, t, until);
		read_counts(top, n, false);
		top->lost += t->lost + lost_behind(t);
	}
	top->scale = top->words ? 1 + (double)top->words_skipped / (double)top->words : 1;
	top->lost = top->lost > top->lost_before ? top->lost - top->lost_before : 0;
}

void top_close(struct top *top)
{
	for (unsigned n = 0; n < top->threads; n++) {
		read_chunks_close(&top->thread[n].chunks);
		free(top->thread[n].count);
		free(top->thread[n].now);
	}
	read_stacks_close(top->stacks);
	free(top->stacks);
	free(top->thread);
	free(top->row);
}
