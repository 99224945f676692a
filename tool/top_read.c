/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/top_read.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h> /* __rdtsc */

#include "tool/memory.h"
#include "tool/trace_calls.h"

#define BLOCK	  (64u << 10) /* bytes */
#define NO_SEQ	  UINT64_MAX
#define FIRST_NS  1000000000u /* for the first look */
#define LAPS	  3 /* samples of a flight recorder in one look */

struct top_thread {
	int fd[3]; /* t, r, c; -1: not there, or not yet */
	bool begun;
	bool in_ring;
	uint64_t at;   /* where the chunk at hand begins in its file */
	uint64_t pos;  /* of the next word, from there */
	uint64_t hole; /* position of a zero that words came behind; 0: none */
	struct trace_chunk head;
	unsigned laps; /* in this look */
	uint64_t lost; /* of the chunks that were left */
	uint64_t last; /* up to where self time was given out */
	struct decoder decoder;
	struct calls calls;
	uint64_t *count; /* counters at the last look, by id */
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
	return top->process->head.clock == TRACE_CLOCK_TSC ? __rdtsc() : now_ns();
}

/* ---- rows ---- */

static struct top_row *row_of(struct top *top, uint32_t id)
{
	const struct function *function = process_function_now(top->process, id);

	if (!function)
		return NULL;
	uint32_t index = (uint32_t)(function - top->process->function);
	if (index >= top->rows) {
		uint32_t rows = top->process->functions;
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
	struct call *innermost;
};

/* The time up to `time` is that of `call`, the innermost one. */
static void run_to(struct top *top, struct top_thread *t, const struct call *call, uint64_t time)
{
	if (time <= t->last)
		return;
	if (call != t->calls.frame) {
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

static void enter(void *user, struct call *call, size_t at)
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
	count_call(taker->top, id);
}

static void end(void *user, struct call *call, enum call_end how, uint64_t now)
{
	struct taker *taker = user;

	run_to(taker->top, taker->thread, call, now);
	taker->top->events += how != CALL_CUT;
}

static void point(void *user, uint32_t id, uint64_t now, size_t at)
{
	struct taker *taker = user;

	(void)at;
	run_to(taker->top, taker->thread, taker->thread->calls.top, now);
	count_call(taker->top, id);
}

static void orphan(void *user, uint32_t id, uint64_t now)
{
	struct taker *taker = user;

	(void)id;
	run_to(taker->top, taker->thread, taker->thread->calls.top, now);
	taker->top->events++;
}

static const struct calls_hooks hooks = {
	.enter = enter, .deep = enter_deep, .end = end, .point = point, .orphan = orphan,
};

static bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct taker *taker = user;

	(void)time;
	calls_event(&taker->thread->calls, &taker->innermost, &hooks, taker, type, id, now, at);
	return false;
}

static void forget_calls(struct top_thread *t)
{
	calls_drop(&t->calls, &hooks, NULL);
}

static bool take_other(void *user, enum decoded what)
{
	struct taker *taker = user;

	if (what == DECODED_THREAD) {
		taker->thread->calls.top = taker->innermost;
		forget_calls(taker->thread);
		taker->innermost = taker->thread->calls.top;
	}
	return false;
}

/* Takes the words; returns how many, with payloads behind them: not those of a control word whose payload is not there. */
static size_t take_words(struct top *top, struct top_thread *t, const uint64_t *words, size_t n)
{
	struct taker taker = { top, t, t->calls.top };
	struct decoder *d = &t->decoder;

	d->words = words;
	d->at = 0;
	d->have = n;
	d->skip = 0;
	d->rest = UINT64_MAX; /* they may come */
	decode_block(d, take_event, take_other, &taker);
	t->calls.top = taker.innermost;
	return d->at + d->skip;
}

/* ---- chunks ---- */

static bool read_head(int fd, uint64_t at, uint64_t limit, struct trace_chunk *head)
{
	return fd >= 0 && pread(fd, head, sizeof(*head), (off_t)at) == sizeof(*head) && head->magic == TRACE_CHUNK_MAGIC &&
		head->version == TRACE_VERSION && head->head_size >= sizeof(*head) && head->head_size % 8 == 0 &&
		head->head_size <= head->size && head->size <= limit && head->used <= head->size;
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) ? (uint64_t)st.st_size : 0;
}

static void begin(struct top_thread *t, bool in_ring, uint64_t at, const struct trace_chunk *head)
{
	if (t->begun)
		t->lost += t->head.lost;
	/* What was open may have ended where events were lost. */
	if (t->begun && t->head.lost)
		forget_calls(t);
	t->begun = true;
	t->in_ring = in_ring;
	t->at = at;
	t->head = *head;
	t->pos = head->head_size;
	t->hole = 0;
	t->decoder.time = head->clock;
	t->decoder.now = 0; /* self time never goes back */
}

/* Looks for the chunk of number seq; NO_SEQ: the newest. Returns whether there is one, which then is the one at hand. */
static bool find_chunk(struct top *top, struct top_thread *t, uint64_t seq)
{
	uint64_t chunk = top->process->head.chunk_size, ring = top->process->head.ring_chunk, best_at = 0;
	struct trace_chunk head, best = { 0 };
	bool found = false, in_ring = false;

	if (seq != NO_SEQ && seq < UINT64_MAX / chunk && read_head(t->fd[0], seq * chunk, chunk, &head) && head.seq == seq) {
		begin(t, false, seq * chunk, &head);
		return true;
	}
	for (uint64_t n = seq == NO_SEQ ? (size_of(t->fd[0]) + chunk - 1) / chunk : 0; n-- > 0 && !found;) {
		found = read_head(t->fd[0], n * chunk, chunk, &head);
		best = head;
		best_at = n * chunk;
	}
	for (uint64_t at = 0, size = ring ? size_of(t->fd[1]) : 0; at < size; at += ring) {
		if (!read_head(t->fd[1], at, ring, &head) || (seq != NO_SEQ && head.seq != seq) || (found && head.seq <= best.seq))
			continue;
		found = in_ring = true;
		best = head;
		best_at = at;
	}
	if (found)
		begin(t, in_ring, best_at, &best);
	return found;
}

/* Is the chunk at hand what it was? Reads its head again. */
static bool same_chunk(struct top *top, struct top_thread *t)
{
	struct trace_chunk head;
	uint64_t limit = t->in_ring ? top->process->head.ring_chunk : top->process->head.chunk_size;

	if (!read_head(t->fd[t->in_ring], t->at, limit, &head) || head.seq != t->head.seq)
		return false;
	t->head = head;
	return true;
}

/* Where the words that are there end. */
static uint64_t end_of_words(struct top_thread *t)
{
	uint64_t words[512], end = t->head.head_size;

	if (t->head.used)
		return t->head.used;
	for (uint64_t pos = end; pos < t->head.size; pos += sizeof(words)) {
		ssize_t n = pread(t->fd[t->in_ring], words, sizeof(words), (off_t)(t->at + pos));
		ssize_t last = n / 8;
		while (last > 0 && !words[last - 1])
			last--;
		if (last <= 0)
			break;
		end = pos + (uint64_t)last * 8;
	}
	return end < t->head.size ? end : t->head.size;
}

static void count_skipped(struct top *top, const struct top_thread *t, uint64_t from)
{
	uint64_t chunks = t->head.seq > from ? t->head.seq - from : 1;

	top->skipped += chunks;
	top->words_skipped += chunks * (t->head.size / 8);
}

/*
 * The chunk at hand was overwritten: goes on with the newer half of what the flight recorder holds now, as a sample. Returns false where that is nothing new.
 */
static bool resume_in_ring(struct top *top, struct top_thread *t)
{
	uint64_t from = t->head.seq, newest, best = NO_SEQ, ring = top->process->head.ring_chunk, size = size_of(t->fd[1]);
	struct top_thread last = *t;
	struct trace_chunk head;

	if (++t->laps > LAPS || !ring || !find_chunk(top, &last, NO_SEQ) || !last.in_ring)
		return false;
	newest = last.head.seq;
	for (uint64_t at = 0; at < size; at += ring)
		if (read_head(t->fd[1], at, ring, &head) && head.seq > from && head.seq + size / ring / 2 >= newest && head.seq < best)
			best = head.seq;
	if (best == NO_SEQ || !find_chunk(top, t, best))
		return false;
	forget_calls(t);
	t->last = t->head.clock;
	count_skipped(top, t, from);
	return true;
}

/* Goes to the end of the newest chunk. What lies before is not read. */
static void skip_to_end(struct top *top, struct top_thread *t)
{
	uint64_t seq = t->begun ? t->head.seq : NO_SEQ;

	if (!find_chunk(top, t, NO_SEQ))
		return;
	t->pos = end_of_words(t);
	forget_calls(t);
	t->last = now_ticks(top);
	if (!top->live)
		t->last = t->head.clock;
	if (seq != NO_SEQ)
		count_skipped(top, t, seq);
	/* The whole clock is needed to go on from here: any time near is good enough, since the next event tells its low half. */
	if (top->live)
		t->decoder.time = t->last;
}

/* Reads one block of the chunk at hand. Returns whether there may be more now. */
static bool read_block(struct top *top, struct top_thread *t)
{
	static uint64_t words[BLOCK / 8];
	uint64_t seq = t->head.seq, end;
	struct top_thread next = *t;

	/* Is there a newer one already? To be asked before the words are read: then what is not there will not come. */
	bool newer = !t->head.used && (next.begun = false, find_chunk(top, &next, seq + 1));
	if (!same_chunk(top, t)) {
		if (resume_in_ring(top, t))
			return true;
		skip_to_end(top, t);
		return false;
	}
	end = t->head.used ? t->head.used : t->head.size;
	uint64_t want = end > t->pos ? end - t->pos : 0;
	bool wait = false;
	ssize_t n = want ? pread(t->fd[t->in_ring], words, want < BLOCK ? want : BLOCK, (off_t)(t->at + t->pos)) : 0;
	if (t->in_ring && !same_chunk(top, t)) {
		if (resume_in_ring(top, t))
			return true;
		skip_to_end(top, t);
		return false;
	}
	size_t have = n > 0 ? (size_t)n / 8 : 0, good = 0, whole = have;
	while (have && !words[have - 1]) /* not yet written */
		have--;
	if (t->head.used || newer)
		good = have;
	while (good < have) {
		size_t payload = decode_payload(words[good]);
		/* A zero with words behind it: a hole, if it still is one at the next look. In a payload, only the first word tells. */
		if ((!words[good] || (payload && good + 1 < whole && !words[good + 1])) && t->hole != t->pos + good * 8) {
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
	if (t->head.used || newer) {
		if (whole == BLOCK / 8 && taken) {
			t->pos += taken >= have && taken < whole ? (whole - taken) * 8 : 0;
			return true;
		}
		if (!find_chunk(top, t, seq + 1)) {
			/* Not begun yet; or overwritten already, then a later one is there. */
			struct top_thread newest = *t;
			if (!find_chunk(top, &newest, NO_SEQ) || newest.head.seq <= seq + 1)
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
		if (!find_chunk(top, t, 0))
			skip_to_end(top, t);
		t->last = t->begun ? t->head.clock : 0;
	}
	while (t->begun && read_block(top, t)) {
		if (now_ns() > until) {
			skip_to_end(top, t);
			break;
		}
	}
	if (t->begun && top->live) {
		if (t->laps) /* a sample ends with its last event: what is behind it must not be multiplied */
			t->last = now_ticks(top);
		else
			run_to(top, t, t->calls.top, now_ticks(top));
	}
}

/* ---- counters ---- */

static void read_counts(struct top *top, struct top_thread *t, bool first)
{
	struct trace_counts head;
	uint64_t size = size_of(t->fd[2]);

	if (size < sizeof(head) || pread(t->fd[2], &head, sizeof(head), 0) != sizeof(head) || head.magic != TRACE_COUNTS_MAGIC ||
		head.head_size < sizeof(head) || head.head_size > size)
		return;
	uint64_t most = (size - head.head_size) / 8;
	uint32_t counts = most < TRACE_ID_MASK ? (uint32_t)most : TRACE_ID_MASK;
	if (counts > t->counts) {
		t->count = memory_resize(t->count, counts, sizeof(*t->count));
		memset(t->count + t->counts, 0, (counts - t->counts) * sizeof(*t->count));
		t->counts = counts;
	}
	for (uint32_t id = 0; id < t->counts;) {
		uint64_t now[512];
		uint32_t want = t->counts - id < 512 ? t->counts - id : 512;
		ssize_t n = pread(t->fd[2], now, want * 8ul, (off_t)(head.head_size + id * 8ull));
		if (n < 8)
			break;
		for (uint32_t i = 0; i < (uint32_t)n / 8; i++, id++) {
			if (now[i] <= t->count[id])
				continue;
			struct top_row *row = first ? NULL : row_of(top, id);
			if (row) {
				row->counted += now[i] - t->count[id];
				top->counted += now[i] - t->count[id];
			}
			t->count[id] = now[i];
		}
	}
}

/* ---- all ---- */

/* Opens the files that are there now. */
static void find_files(struct top *top)
{
	static const char kinds[] = "trc";
	int fd = openat(top->process->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *kind = strchr(kinds, entry->d_name[0]);
		char *end;
		unsigned long n = strtoul(entry->d_name + 1, &end, 10);

		if (!kind || !*kind || end == entry->d_name + 1 || *end || n >= 1u << 20)
			continue;
		if (n >= top->threads) {
			top->thread = memory_resize(top->thread, n + 1, sizeof(*top->thread));
			memset(top->thread + top->threads, 0, (n + 1 - top->threads) * sizeof(*top->thread));
			for (; top->threads <= n; top->threads++) {
				calls_open(&top->thread[top->threads].calls);
				for (int i = 0; i < 3; i++)
					top->thread[top->threads].fd[i] = -1;
			}
		}
		int *to = &top->thread[n].fd[kind - kinds];
		if (*to < 0)
			*to = trace_open_file(top->process->fd, entry->d_name, &(const char *){ NULL });
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static void forget_open_calls(struct top *top)
{
	for (unsigned n = 0; n < top->threads; n++)
		forget_calls(&top->thread[n]);
}

/* Calls whose end is switched off would seem to run for ever. */
static void see_changes(struct top *top)
{
	process_load(top->process);
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

void top_open(struct top *top, struct folder *folder, bool live)
{
	*top = (struct top){ .folder = folder, .process = folder->process[0], .live = live };
	process_load(top->process);
	top->changes = top->process->changes;
	top->lost_before = top->process->head.lost;
	find_files(top);
	/* The newest chunk tells which calls are open: they may last for many screens. */
	uint64_t until = now_ns() + FIRST_NS;
	for (unsigned n = 0; n < top->threads; n++) {
		struct top_thread *t = &top->thread[n];
		if (find_chunk(top, t, NO_SEQ)) {
			top->lost_before += t->head.lost;
			t->last = t->head.clock;
			read_thread(top, t, until);
		}
		read_counts(top, t, true);
	}
	top->skipped = top->words_skipped = 0;
}

void top_look(struct top *top, uint64_t ns)
{
	uint64_t until = now_ns() + ns;

	if (top->rows)
		memset(top->row, 0, top->rows * sizeof(*top->row));
	top->events = top->counted = top->skipped = top->words = top->words_skipped = 0;
	if (!process_read_head(top->process))
		return;
	see_changes(top);
	find_files(top);
	top->lost = top->process->head.lost;
	for (unsigned n = 0; n < top->threads; n++) {
		struct top_thread *t = &top->thread[n];
		read_thread(top, t, until);
		read_counts(top, t, false);
		top->lost += t->lost + t->head.lost;
	}
	top->scale = top->words ? 1 + (double)top->words_skipped / (double)top->words : 1;
	top->lost = top->lost > top->lost_before ? top->lost - top->lost_before : 0;
}

void top_close(struct top *top)
{
	for (unsigned n = 0; n < top->threads; n++) {
		for (int i = 0; i < 3; i++)
			if (top->thread[n].fd[i] >= 0)
				close(top->thread[n].fd[i]);
		calls_close(&top->thread[n].calls);
		free(top->thread[n].count);
	}
	free(top->thread);
	free(top->row);
}
