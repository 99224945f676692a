/* SPDX-License-Identifier: MIT */
#include "tool/read/events/events.h"

static void damage(void *source, size_t at, const char *what)
{
	read_stream_damage(source, at, what);
}

bool read_events_open(struct read_events *events, struct read_process *process, unsigned number, size_t block)
{
	*events = (struct read_events){.decoder = {.damage = damage}};
	return read_stream_open(&events->stream, process, number, block);
}

void read_events_close(struct read_events *events)
{
	read_stream_close(&events->stream);
}

void read_events_damage(const struct read_events *events, size_t at, const char *what)
{
	read_stream_damage(&events->stream, at, what);
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
	s->at = d->at;
	read_stream_skip(s, d->skip);
	d->skip = 0;
	enum read_stream_step step = read_stream_step(s);
	d->words = s->words;
	d->at = s->at;
	d->have = s->have;
	d->rest = read_events_chunk_words(events);
	d->changing = s->changing;
	if (step == READ_STREAM_CHUNK)
		begin_chunk(events);
	return step;
}
