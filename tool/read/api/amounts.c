/* SPDX-License-Identifier: MIT */
/* How much is in thread records: xaudit_read_process_amounts(), xaudit_read_record_amounts(). */
#include <stdlib.h>
#include <string.h>

#include "tool/read/api/api.h"
#include "tool/read/api/probes.h"
#include "tool/read/damage/memory.h"
#include "tool/read/events/counts.h"
#include "tool/read/events/events.h"
#include "tool/read/state.h"

/* What is counted, and how far that came. */
struct scan {
	struct xaudit_read_amounts *amounts;
	struct read_events *source;
	uint64_t most;		 /* words, of all finished chunks, that are to be read */
	uint64_t words, skipped; /* of finished chunks: read, and not read for their number */
	uint64_t first, now;	 /* ticks, of events of a record */
};

static void saw(struct scan *scan, uint64_t time)
{
	scan->now = time > scan->now ? time : scan->now;
	scan->first = scan->first < time ? scan->first : time;
}

READ_INLINE bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct scan *scan = user;

	(void)type;
	(void)id;
	(void)now;
	(void)at;
	scan->amounts->events++;
	saw(scan, time);
	return false;
}

/* Leaves out a chunk when enough has been read. */
static void take_chunk(struct scan *scan)
{
	uint64_t words = scan->source->stream.chunk.head.used ? read_events_chunk_words(scan->source) : 0;

	if (scan->words && words > scan->most - (scan->words < scan->most ? scan->words : scan->most)) {
		scan->skipped += words;
		read_events_skip_chunk(scan->source);
	} else {
		scan->words += words;
	}
}

static bool take_other(void *user, enum read_decoded what)
{
	struct scan *scan = user;
	struct xaudit_read_amounts *amounts = scan->amounts;
	const struct read_decoder *d = &scan->source->decoder;

	switch (what) {
	case READ_DECODED_THREAD:
		amounts->threads++;
		amounts->tid = d->tid;
		break;
	case READ_DECODED_CRASH:
		amounts->crashes++;
		amounts->signal = d->signal;
		break;
	case READ_DECODED_CUSTOM:
		amounts->custom++;
		amounts->custom_bytes += d->custom.size;
		saw(scan, d->time);
		break;
	case READ_DECODED_PROBE:
		amounts->probes++;
		saw(scan, d->time);
		break;
	case READ_DECODED_CHUNK:
		amounts->chunks++;
		amounts->tid = d->tid;
		memcpy(amounts->thread, scan->source->stream.chunk.head.comm, sizeof(amounts->thread) - 1);
		take_chunk(scan);
		break;
	case READ_DECODED_LOST:
	case READ_DECODED_GAP:
	case READ_DECODED_STACK:
	case READ_DECODED_PART:
	case READ_DECODED_NOTHING:
	case READ_DECODED_MORE:
	case READ_DECODED_VALUED:
		break;
	}
	return false;
}

static void scan_events(struct scan *scan, struct read_process *process, unsigned number)
{
	struct xaudit_read_amounts *amounts = scan->amounts;
	struct read_events source;

	if (!read_events_open(&source, process, number, READ_STREAM_BLOCK))
		return;
	scan->source = &source;
	scan->first = UINT64_MAX;
	scan->now = 0;
	read_events_all(&source, take_event, take_other, scan);
	amounts->disk += source.stream.chunks.disk;
	amounts->overwritten += source.stream.chunks.overwritten;
	amounts->unfinished += source.decoder.unfinished;
	read_events_close(&source);
	if (scan->first == UINT64_MAX)
		return;
	uint64_t first = read_clock_time(&process->clock, scan->first);
	uint64_t last = read_clock_time(&process->clock, scan->now);
	amounts->first = first < amounts->first ? first : amounts->first;
	amounts->last = last > amounts->last ? last : amounts->last;
}

/* A record without events may have counters. */
static void scan_counters(struct xaudit_read_amounts *amounts, struct read_process *process, unsigned number)
{
	struct read_counts *counts = read_memory_zeroed(process->family->damage, 1, sizeof(*counts));
	bool any = false;

	if (counts && read_counts_open(counts, process, number)) {
		amounts->disk += counts->disk;
		while (read_counts_next(counts)) {
			const struct read_function *function =
				process->loaded ? read_process_function(process, counts->id) : NULL;
			*(read_api_is_probe(function) ? &amounts->probes : &amounts->counted) += counts->calls;
			any = true;
		}
		amounts->threads += any && !(process->files[number] & (READ_FILE_EVENTS | READ_FILE_PLACES));
		read_counts_close(counts);
	}
	free(counts);
}

/* How many events the chunks that were not read would add, judged by those that were. */
static uint64_t rest_of(const struct scan *scan, uint64_t events)
{
	return (uint64_t)((unsigned __int128)events * scan->skipped / scan->words);
}

/* Of the records from `begin` to before `end`. */
static int count(struct read_process *process, unsigned begin, unsigned end, uint64_t most,
	struct xaudit_read_amounts *amounts)
{
	struct scan scan = { .amounts = amounts, .most = most / sizeof(uint64_t) };

	for (unsigned i = begin; i < end; i++) {
		if (process->files[i] & (READ_FILE_EVENTS | READ_FILE_PLACES))
			scan_events(&scan, process, i);
		if (process->files[i] & READ_FILE_COUNTS)
			scan_counters(amounts, process, i);
	}
	if (scan.skipped) {
		amounts->estimated = true;
		amounts->events += rest_of(&scan, amounts->events);
		amounts->custom += rest_of(&scan, amounts->custom);
		amounts->probes += rest_of(&scan, amounts->probes);
		amounts->custom_bytes += rest_of(&scan, amounts->custom_bytes);
	}
	return !process->family->damage->no_memory;
}

/* Copies as much as the caller's version of the structure has. */
static void give(struct xaudit_read_amounts *to, struct xaudit_read_amounts *amounts)
{
	amounts->size = to->size < sizeof(*amounts) ? to->size : sizeof(*amounts);
	memcpy(to, amounts, amounts->size);
}

int xaudit_read_process_amounts(struct xaudit_read_process *process, uint64_t most, struct xaudit_read_amounts *amounts)
{
	struct read_process *read = process->read;
	struct xaudit_read_amounts all = { .first = XAUDIT_READ_UNKNOWN, .lost = read->head.lost };

	memcpy(all.lost_by, read->head.lost_by, sizeof(all.lost_by));
	int good = count(read, 0, read->threads, most, &all), signal = read_process_killed(read);

	if (signal) {
		all.crashes++;
		all.signal = signal;
	}
	give(amounts, &all);
	return good;
}

int xaudit_read_record_amounts(
	struct xaudit_read_process *process, uint32_t record, uint64_t most, struct xaudit_read_amounts *amounts)
{
	struct read_process *read = process->read;
	struct xaudit_read_amounts all = { .first = XAUDIT_READ_UNKNOWN };
	int good = record >= read->threads || count(read, record, record + 1, most, &all);

	give(amounts, &all);
	return good;
}

_Static_assert(XAUDIT_READ_CAUSES == TRACE_LOST_ROOM, "lost_by is the head's");
