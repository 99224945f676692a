/* SPDX-License-Identifier: MIT */
#include "tool/read/events.h"

static void damage(void *source, size_t at, const char *what)
{
	stream_damage(source, at, what);
}

bool events_open(struct events *events, struct process *process, unsigned number, size_t block)
{
	*events = (struct events){.decoder = {.damage = damage}};
	return stream_open(&events->stream, process, number, block);
}

void events_close(struct events *events)
{
	stream_close(&events->stream);
}

void events_damage(const struct events *events, size_t at, const char *what)
{
	stream_damage(&events->stream, at, what);
}

uint64_t events_chunk_words(const struct events *events)
{
	return (events->stream.end - events->stream.pos) / sizeof(uint64_t);
}

void events_skip_chunk(struct events *events)
{
	stream_skip(&events->stream, events_chunk_words(events));
}

static void begin_chunk(struct events *events)
{
	struct stream *s = &events->stream;
	struct decoder *d = &events->decoder;

	d->time = s->chunk.head.clock;
	events->gap = s->chunks.gap;
	events->missing = s->chunks.overwritten - events->told;
	events->told = s->chunks.overwritten;
	if (!events->begun || (s->chunks.gap && d->time > d->now))
		d->now = d->time;
	events->lost = s->chunk.head.version != 1 && s->chunk.head.lost;
	events->thread = !events->begun || d->tid != s->chunk.head.tid;
	events->stack = events->chunk = true;
	events->begun = true;
}

enum stream_step events_step(struct events *events)
{
	struct stream *s = &events->stream;
	struct decoder *d = &events->decoder;

	d->source = s; /* the struct may have been copied */
	s->at = d->at;
	stream_skip(s, d->skip);
	d->skip = 0;
	enum stream_step step = stream_step(s);
	d->words = s->words;
	d->at = s->at;
	d->have = s->have;
	d->rest = events_chunk_words(events);
	d->changing = s->changing;
	if (step == STREAM_CHUNK)
		begin_chunk(events);
	return step;
}
