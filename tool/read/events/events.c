/* SPDX-License-Identifier: MIT */
#include "tool/read/events/events.h"

#include "tool/read/process_load.h"
#include "tool/read/values/layout.h"

static void damage(void *source, size_t at, const char *what)
{
	read_stream_damage(source, at, what);
}

static uint32_t event_of(void *source, uint32_t number)
{
	struct read_process *process = ((struct read_stream *)source)->chunks.process;
	const struct read_layout *layout = read_process_layout_now(process, number);

	return layout ? layout->event : process->head.meta_lost ? READ_DECODE_LOST : READ_DECODE_UNKNOWN;
}

static const struct read_layout *layout_of(void *source, uint32_t number)
{
	return read_process_layout(((struct read_stream *)source)->chunks.process, number);
}

bool read_events_open(struct read_events *events, struct read_process *process, unsigned number, size_t block)
{
	*events = (struct read_events){
		.decoder = { .damage = damage, .event_of = event_of, .layout_of = layout_of, .values.last = SIZE_MAX },
		.chains.damage = process->family->damage,
	};
	return read_stream_open(&events->stream, process, number, block);
}

void read_events_close(struct read_events *events)
{
	read_stream_close(&events->stream);
	read_chains_free(&events->chains);
}

void read_events_damage(const struct read_events *events, size_t at, const char *what)
{
	const struct read_decode_values *values = read_decode_values_at(&events->decoder, at);

	read_stream_damage(&events->stream, values ? values->first : at, what);
}

uint64_t read_events_chunk_words(const struct read_events *events)
{
	return (events->stream.end - events->stream.pos) / sizeof(uint64_t);
}

void read_events_skip_chunk(struct read_events *events)
{
	read_stream_skip(&events->stream, read_events_chunk_words(events));
}

static void begin_chunk(struct read_events *events)
{
	struct read_stream *s = &events->stream;
	struct read_decoder *d = &events->decoder;

	d->time = s->chunk.head.clock;
	d->token = s->chunk.token;
	read_chains_clear(&events->chains);
	events->gap = s->chunks.gap;
	events->missing = s->chunks.overwritten - events->told;
	events->told = s->chunks.overwritten;
	if (!events->begun || (s->chunks.gap && d->time > d->now))
		d->now = d->time;
	events->lost = s->chunk.head.lost;
	events->thread = !events->begun || d->tid != s->chunk.head.tid;
	events->stack = events->chunk = true;
	events->begun = true;
}

enum read_stream_step read_events_step(struct read_events *events)
{
	struct read_stream *s = &events->stream;
	struct read_decoder *d = &events->decoder;

	d->source = s; /* the struct may have been copied */
	d->chains = &events->chains;
	s->at = d->at;
	read_stream_skip(s, d->skip);
	d->skip = 0;
	enum read_stream_step step = read_stream_step(s);
	d->words = s->words;
	d->at = s->at;
	d->have = s->have;
	d->rest = read_events_chunk_words(events);
	d->changing = s->changing;
	d->values.last = SIZE_MAX;
	if (step == READ_STREAM_CHUNK)
		begin_chunk(events);
	return step;
}
