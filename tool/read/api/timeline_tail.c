/* SPDX-License-Identifier: MIT */
#include "tool/read/api/timeline_tail.h"

#include <stdlib.h>

#include "tool/read/damage/memory.h"
#include "tool/read/events/events.h"

/* The calls of the last chunks. */
struct tail {
	struct read_events source;
	unsigned chunks; /* that are read */
	bool all;	 /* there are no others */
	bool shared;	 /* by several threads */
	uint32_t tid;	 /* of the last chunk's head so far; 0: there was none */
	uint64_t *begun; /* when the last ones began: number n at n % calls */
	uint64_t calls, count;
};

static bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct tail *tail = user;

	(void)id;
	(void)time;
	(void)at;
	if (type == TRACE_ENTRY || type == TRACE_POINT)
		tail->begun[tail->count++ % tail->calls] = now;
	return false;
}

static bool take_other(void *user, enum read_decoded what)
{
	struct tail *tail = user;
	const struct read_chunks *chunks = &tail->source.stream.chunks;

	if (what == READ_DECODED_THREAD) {
		tail->shared |= tail->tid && tail->tid != tail->source.decoder.tid;
		tail->tid = tail->source.decoder.tid;
	} else if (what == READ_DECODED_CHUNK && chunks->places - chunks->next_place >= tail->chunks) {
		tail->all = false;
		read_events_skip_chunk(&tail->source);
	}
	return tail->shared;
}

static bool look(struct tail *tail, struct read_process *process, unsigned number)
{
	tail->all = true;
	tail->count = 0;
	tail->tid = 0;
	if (!read_events_open(&tail->source, process, number, READ_STREAM_BLOCK))
		return false;
	read_events_all(&tail->source, take_event, take_other, tail);
	read_events_close(&tail->source);
	return true;
}

uint64_t read_api_tail(struct read_process *process, unsigned number, uint32_t calls)
{
	struct read_damage *damage = process->family->damage, before = *damage;
	struct tail tail = { .chunks = 1, .calls = calls };
	uint64_t since = 0;

	tail.begun = read_memory_zeroed(damage, calls, sizeof(*tail.begun));
	*damage = (struct read_damage){ .no_memory = damage->no_memory };
	while (tail.begun && look(&tail, process, number) && !tail.shared && tail.count < calls && !tail.all)
		tail.chunks *= 2;
	if (tail.begun && !tail.shared && tail.count >= calls)
		since = tail.begun[tail.count % calls];
	free(tail.begun);
	before.no_memory |= damage->no_memory;
	read_damage_free(damage);
	*damage = before;
	return since;
}
