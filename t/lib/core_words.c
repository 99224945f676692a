/* SPDX-License-Identifier: MIT */
#include "t/lib/core_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void add_event(struct reading *reading, const struct event *event)
{
	/* Room doubles at each power of two. */
	if (!(reading->count & (reading->count - 1))) {
		size_t room = reading->count ? 2 * reading->count : 1;
		reading->event = realloc(reading->event, room * sizeof(*event));
		if (!reading->event) {
			puts("Bail out! no memory");
			fflush(stdout);
			_exit(255);
		}
	}
	reading->event[reading->count++] = *event;
}

uint32_t core_layouts[64];

/* Adds an event with values. Returns the last word of its payload. */
static const uint64_t *read_values(
	struct reading *reading, struct event event, const uint64_t *word, const uint64_t *end)
{
	uint32_t id = event.id;

	event.layout = TRACE_VALUED_LAYOUT(id);
	event.words = TRACE_VALUED_WORDS(id);
	event.flawed = (id & TRACE_VALUED_FLAWED) != 0;
	if (event.layout >= 64 || !core_layouts[event.layout] || !event.words || event.words >= (size_t)(end - word)) {
		reading->damage = "an event with values without its payload";
		return end;
	}
	event.type = core_layouts[event.layout] >> TRACE_ID_BITS;
	event.id = core_layouts[event.layout] & TRACE_ID_MASK;
	for (uint32_t i = 0; i < event.words && i < CORE_VALUES; i++)
		event.value[i] = word[1 + i];
	add_event(reading, &event);
	return word + event.words;
}

/* Does the payload lack that is written late? */
static int is_token(const uint64_t *word, const struct trace_chunk *chunk)
{
	return TRACE_IS_LATE(*word) && word[1] == chunk->token;
}

/* An event that is none. A handler came amid one, which was written once more: it is given up when the chunk ends. */
static int is_none(const uint64_t *word, const struct trace_chunk *chunk)
{
	uint32_t what = TRACE_CONTROL_SUBTYPE(TRACE_ID_OF(*word));

	if (TRACE_TYPE_OF(*word) != TRACE_CONTROL)
		return !chunk->used && is_token(word, chunk);
	return what == TRACE_GIVEN_UP || (what == TRACE_RESERVED && !chunk->used);
}

void core_read_words(struct reading *reading, const struct trace_chunk *chunk)
{
	const uint64_t *word = (const uint64_t *)((const char *)chunk + chunk->head_size);
	const uint64_t *end = (const uint64_t *)((const char *)chunk + (chunk->used ? chunk->used : chunk->size));
	uint64_t clock = chunk->clock;
	uint32_t tid = chunk->tid, stack = chunk->stack;

	for (; word < end; word++) {
		uint32_t type = (uint32_t)(*word >> 60), id = (uint32_t)(*word >> 32) & TRACE_ID_MASK;
		if (type == TRACE_HOLE) {
			reading->holes += chunk->used != 0;
			continue;
		}
		clock += (uint64_t)(int64_t)(int32_t)((uint32_t)*word - (uint32_t)clock);
		if (is_none(word, chunk)) {
			reading->given_up++;
			word += TRACE_PAYLOAD_OF(*word);
			continue;
		}
		if (type == TRACE_CONTROL) {
			if (id >> 8 != 1 || word + 1 >= end) {
				reading->damage = "a control event without its payload";
				return;
			}
			word++;
			if ((id & 0xff) == TRACE_SYNC) {
				reading->syncs++;
				clock = *word;
			} else if ((id & 0xff) == TRACE_THREAD) {
				reading->threads++;
				tid = (uint32_t)*word;
				stack = 0;
			} else if ((id & 0xff) == TRACE_PART && (uint32_t)*word && *word >> 32) {
				stack = (uint32_t)*word;
			} else {
				reading->damage = "an unknown control event";
			}
		} else if (type == TRACE_STACK) {
			stack = id;
		} else if (type == TRACE_VALUED) {
			struct event event = { .id = id, .tid = tid, .clock = clock, .stack = stack };
			if (is_token(word, chunk))
				reading->damage = "an event whose late payload is not there";
			word = read_values(reading, event, word, end);
		} else if ((type < TRACE_ENTRY || type > TRACE_POINT) && type != TRACE_ENTRY_KEPT &&
			   type != TRACE_PROBE) {
			reading->damage = "an unknown type of event";
		} else {
			const struct event event = { .type = type == TRACE_ENTRY_KEPT ? TRACE_ENTRY : type, .id = id,
				.tid = tid, .clock = clock, .stack = stack };
			add_event(reading, &event);
		}
	}
}
