/* SPDX-License-Identifier: MIT */
/*
 * How often objects were called while they were somewhere: xaudit_read_stays(). One pass over the words of each thread
 * record, in no order between them: which call an end ends is of no matter here.
 */
#include <stdlib.h>

#include "runtime/base/search.h"
#include "tool/read/api/functions.h"
#include "tool/read/api/trace.h"
#include "tool/read/damage/memory.h"
#include "tool/read/events/events.h"
#include "tool/read/process_load.h"

#define PAGE_BITS 10
#define PAGES	  (1u << (TRACE_ID_BITS - PAGE_BITS))
#define PAGE_MASK ((1u << PAGE_BITS) - 1)

/* An object, and its stays in the process at hand. */
struct place {
	const struct xaudit_read_object *object;
	struct span *span;
	uint32_t spans;
	uint32_t next; /* the first one that began after the last call; a guess */
	uint64_t other; /* calls in none of them */
};

struct span {
	uint64_t low, high; /* ticks; low <= moment <= high */
	struct xaudit_read_stay *stay;
};

struct stays {
	struct xaudit_read_stay *stay;
	size_t count;
	uint32_t tid;
	uint64_t low, high; /* ticks, of the moments that count */
	struct read_damage *damage;
	/* The process at hand. */
	struct xaudit_read_process *process;
	struct read_events *source;
	struct place *place;
	uint32_t places;
	uint32_t **page; /* of an id: its place, plus one */
	uint64_t done, all;
	void (*progress)(void *user, uint64_t done, uint64_t all);
	void *user;
};

/* The first moment in ticks that is not before `time`, ns. */
static uint64_t ticks_of(const struct read_clock *clock, uint64_t time)
{
	return time == XAUDIT_READ_UNKNOWN ? UINT64_MAX : SEARCH(i, 0, UINT64_MAX, read_clock_time(clock, i) < time);
}

/* The last one that is before it. */
static uint64_t ticks_before(const struct read_clock *clock, uint64_t time)
{
	uint64_t ticks = ticks_of(clock, time);

	return ticks && ticks != UINT64_MAX ? ticks - 1 : ticks;
}

static void add_spans(struct stays *s, struct place *place)
{
	const struct read_clock *clock = &s->process->read->clock;

	for (size_t i = 0; i < s->count; i++) {
		struct xaudit_read_stay *stay = &s->stay[i];
		if (stay->process != s->process || stay->object != place->object)
			continue;
		if (!read_memory_grow(s->damage, &place->span, place->spans, sizeof(*place->span)))
			return;
		place->span[place->spans++] = (struct span){ ticks_of(clock, stay->from),
			ticks_before(clock, stay->to), stay };
	}
}

/* First event of a function in this process. Returns its place, plus one; 0: no memory. */
static __attribute__((noinline)) uint32_t place_of_new_id(struct stays *s, size_t at, uint32_t id)
{
	struct read_process *process = s->process->read;
	const struct read_function *of = read_process_function_now(process, id);
	const struct xaudit_read_function *function = read_api_function(s->process, of);
	uint32_t place = 0, **page = &s->page[id >> PAGE_BITS];

	if (!of && !process->head.meta_lost)
		read_events_damage(s->source, at, "an event of a function that meta does not name");
	if (!function)
		return 0;
	while (place < s->places && s->place[place].object != function->object)
		place++;
	if (place == s->places) {
		if (!read_memory_grow(s->damage, &s->place, s->places, sizeof(*s->place)))
			return 0;
		s->place[s->places++] = (struct place){ .object = function->object };
		add_spans(s, &s->place[place]);
	}
	if (of && !*page)
		*page = read_memory_zeroed(s->damage, 1u << PAGE_BITS, sizeof(**page));
	if (of && *page)
		(*page)[id & PAGE_MASK] = place + 1;
	return place + 1;
}

READ_INLINE bool is_in(const struct span *span, uint64_t now)
{
	return now >= span->low && now <= span->high;
}

/* Of several at once the last one has the call. Spans begin one after another. */
static __attribute__((noinline)) void count_rare(struct place *place, uint64_t now)
{
	uint32_t next = place->next;

	if (!next || place->span[next - 1].low > now || (next < place->spans && place->span[next].low <= now))
		place->next = next = (uint32_t)SEARCH(i, 0, place->spans, place->span[i].low <= now);
	while (next && !is_in(&place->span[next - 1], now))
		next--;
	if (next)
		place->span[next - 1].stay->calls++;
	else
		place->other++;
}

READ_INLINE bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct stays *s = user;

	(void)time;
	if (type != TRACE_ENTRY && type != TRACE_POINT)
		return false;
	if (read_unlikely(now < s->low || now > s->high || (s->tid && s->tid != s->source->decoder.tid)))
		return false;
	const uint32_t *page = s->page[id >> PAGE_BITS];
	uint32_t number = page ? page[id & PAGE_MASK] : 0;
	if (read_unlikely(!number) && !(number = place_of_new_id(s, at, id)))
		return true;
	struct place *place = &s->place[number - 1];
	/* Mostly there is one. */
	if (read_likely(place->spans == 1 && is_in(place->span, now)))
		place->span->stay->calls++;
	else
		count_rare(place, now);
	return false;
}

static bool take_other(void *user, enum read_decoded what)
{
	struct stays *s = user;

	if (what == READ_DECODED_CHUNK) {
		s->done += read_events_chunk_words(s->source) * sizeof(uint64_t);
		if (s->progress)
			s->progress(s->user, s->done < s->all ? s->done : s->all, s->all);
	}
	return s->damage->no_memory;
}

static void count_process(struct stays *s, const struct xaudit_read_stays_options *options)
{
	struct read_process *process = s->process->read;
	uint64_t from = READ_API_OPTION(options, from), to = READ_API_OPTION(options, to);
	void (*other)(void *, struct xaudit_read_process *, const struct xaudit_read_object *, uint64_t) =
		READ_API_OPTION(options, other);

	s->low = from ? ticks_of(&process->clock, from) : 0;
	s->high = to ? ticks_before(&process->clock, to) : UINT64_MAX;
	read_api_take(s->process);
	for (unsigned i = 0; i < process->threads && !s->damage->no_memory; i++) {
		struct read_events source;
		if (!read_events_open(&source, process, i, READ_STREAM_BLOCK))
			continue;
		s->source = &source;
		read_events_all(&source, take_event, take_other, s);
		read_events_close(&source);
	}
	read_api_leave(s->process);
	for (uint32_t i = 0; i < s->places; i++) {
		if (s->place[i].other && other && !s->damage->no_memory)
			other(s->user, s->process, s->place[i].object, s->place[i].other);
		free(s->place[i].span);
	}
	for (uint32_t i = 0; i < PAGES; i++) {
		free(s->page[i]);
		s->page[i] = NULL;
	}
	free(s->place);
	s->place = NULL;
	s->places = 0;
}

int xaudit_read_stays(struct xaudit_read_trace *trace, struct xaudit_read_stay *stays, size_t count,
	const struct xaudit_read_stays_options *options)
{
	struct stays s = {
		.stay = stays,
		.count = count,
		.tid = READ_API_OPTION(options, tid),
		.damage = &trace->folder->damage,
		.progress = READ_API_OPTION(options, progress),
		.user = READ_API_OPTION(options, user),
	};

	if (READ_API_NO_SIZE(options))
		return 0;
	s.page = read_memory_zeroed(s.damage, PAGES, sizeof(*s.page));
	for (uint32_t i = 0; i < trace->info.processes; i++)
		s.all += read_process_event_bytes(trace->process[i].read);
	for (uint32_t i = 0; s.page && i < trace->info.processes && !s.damage->no_memory; i++) {
		s.process = &trace->process[i];
		count_process(&s, options);
	}
	free(s.page);
	return !s.damage->no_memory;
}
