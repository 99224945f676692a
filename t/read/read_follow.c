/* SPDX-License-Identifier: MIT */
/*
 * Following a process that grows: what each look finds, word by word. Its records are those of a trace that make_trace
 * has made, with one chunk that is not finished; the test goes on writing there, as the recorder would.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/trace.h"
#include "t/lib/mapped.h"
#include "t/lib/tap.h"
#include "t/lib/written.h"
#include "tool/read/api/xaudit-read.h"

#define CHUNK 65536u
#define LONG  60000000000u /* ns: a look here is done at once */

static const char script[] =
	"process p1 chunk=65536 ring_size=131072 clock=mono\n"
	"pair first 1000 1000 5\n"
	"pair last 900000 900000 8005\n"
	"object 1 /usr/lib/libfoo.so\n"
	"function 1 0 1 0x100 outer\n"
	"function 1 0 2 0x200 inner\n"
	"layout 1 entry 2 u8:arg0:n\n"
	"thread 1 main\n"
	"ring\n"
	"entry 1 2000\n"
	"open\n"
	"counts-beside 0 1 main 1:5\n";

static uint64_t *word;	  /* of the chunk: the next one */
static struct trace_counts *counts;
static uint64_t *counter; /* of function 1 */
static struct trace_chunk *chunk;
static struct trace_head *head;

/* Finds the places to write to. */
static void map(const char *dir)
{
	off_t size;
	char *meta = map_meta(dir, 1, &size);

	head = (void *)meta;
	for (off_t at = CHUNK; at < size; at += CHUNK) {
		uint32_t magic;
		memcpy(&magic, meta + at, sizeof(magic));
		if (magic == TRACE_CHUNK_MAGIC) {
			chunk = (void *)(meta + at);
			word = (uint64_t *)(void *)(chunk + 1) + 1;
		} else if (magic == TRACE_COUNTS_MAGIC) {
			counts = (void *)(meta + at);
			counter = (uint64_t *)(void *)(counts + 1) + 1;
		}
	}
	if (!word || !counter || word[-1] != TRACE_EVENT(TRACE_ENTRY, 1, 2000) || *counter != 5)
		bail("the trace is not as it was written");
}

static void put(enum trace_type type, uint32_t id, uint64_t time)
{
	*word++ = TRACE_EVENT(type, id, time);
}

struct seen {
	uint64_t events, calls, counted, self;
};

/* Looks. Returns what it found of a function, and all events. */
static struct seen look_at(struct xaudit_read_follow *follow, const char *name)
{
	const struct xaudit_read_look *look = xaudit_read_follow_look(follow, 0, LONG);
	struct seen seen = { 0 };

	if (!look)
		bail("no memory");
	seen.events = look->events;
	for (uint32_t i = 0; i < look->rows; i++) {
		const struct xaudit_read_follow_row *row = xaudit_read_follow_row(follow, i);
		if (!row || strcmp(row->function->name, name))
			continue;
		seen.calls += row->calls;
		seen.counted += row->counted;
		seen.self += row->self;
	}
	return seen;
}

/* "EVENTS CALLS COUNTED SELF" */
static const char *text(struct seen seen)
{
	static char text[96];

	snprintf(text, sizeof(text), "%lu %lu %lu %lu", (unsigned long)seen.events, (unsigned long)seen.calls,
		(unsigned long)seen.counted, (unsigned long)seen.self);
	return text;
}

static void follow_it(struct xaudit_read_trace *trace)
{
	struct xaudit_read_process *process = xaudit_read_process(trace, 0);
	struct xaudit_read_follow *outer = xaudit_read_follow(process, 0, NULL);
	struct xaudit_read_follow *inner = xaudit_read_follow(process, 0, NULL);

	if (!outer || !inner)
		bail("the process can't be followed");
	is_str(text(look_at(outer, "outer")), "0 0 0 0", "what was there before is not told");
	is_str(text(look_at(inner, "inner")), "0 0 0 0", "nor to another one that follows");
	put(TRACE_ENTRY, 2, 2100);
	put(TRACE_EXIT, 2, 2400);
	is_str(text(look_at(outer, "outer")), "2 0 0 100", "a call that was open before has its time since then");
	is_str(text(look_at(inner, "inner")), "2 1 0 300", "and the call in it its own");
	put(TRACE_EXIT, 1, 3000);
	is_str(text(look_at(outer, "outer")), "1 0 0 600", "the rest comes with its end");
	counts->magic = TRACE_COUNTS_MAGIC;
	head->beside++;
	is_str(text(look_at(outer, "outer")), "0 0 5 0", "counters that begin beside the head");
	*counter += 4;
	is_str(text(look_at(outer, "outer")), "0 0 4 0", "counters: what they grew by");
	word++;
	put(TRACE_ENTRY, 1, 3100);
	is_str(text(look_at(outer, "outer")), "0 0 0 0", "an event behind a word that is missing waits for it");
	is_str(text(look_at(outer, "outer")), "1 1 0 0", "until the next look: then it is a hole");
	put(TRACE_EXIT, 1, 3150);
	put(TRACE_POINT, 2, 3160);
	is_str(text(look_at(outer, "outer")), "2 0 0 50", "and it goes on behind it");
	is_str(text(look_at(inner, "inner")), "1 0 0 0", "the other one sees what is in front of it, and waits");
	is_str(text(look_at(inner, "inner")), "3 1 0 0", "and then has seen all");
	word[0] = TRACE_EVENT(TRACE_VALUED, TRACE_VALUED_ID(1, 2), 3200);
	word[1] = word[2] = 0;
	word += 3;
	put(TRACE_EXIT, 2, 3210);
	is_str(text(look_at(inner, "inner")), "2 1 0 10", "values of 0 are no reason to wait");
	uint64_t *reserved = word;
	put(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_RESERVED, 1), 3220);
	*word++ = 7;
	put(TRACE_EXIT, 2, 3240);
	is_str(text(look_at(inner, "inner")), "0 0 0 0", "an event whose values are being written is waited for");
	*reserved = TRACE_EVENT(TRACE_VALUED, TRACE_VALUED_ID(1, 1), 3220);
	is_str(text(look_at(inner, "inner")), "2 1 0 20", "and seen when they are");
	put(TRACE_VALUED, TRACE_VALUED_ID(1, TRACE_VALUED_LATE(1)), 3242);
	uint64_t *late = word++;
	put(TRACE_EXIT, 2, 3243);
	is_str(text(look_at(inner, "inner")), "0 0 0 0", "so is an event whose payload comes late");
	*late = 7;
	is_str(text(look_at(inner, "inner")), "2 1 0 1", "and it is seen with that");
	put(TRACE_VALUED, TRACE_VALUED_ID(1, TRACE_VALUED_LATE(1)), 3244);
	word++;
	put(TRACE_POINT, 2, 3246);
	look_at(inner, "inner");
	is_str(text(look_at(inner, "inner")), "1 1 0 0", "or, at the next look, passed over");
	put(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_RESERVED, 1), 3250);
	*word++ = 7;
	put(TRACE_POINT, 2, 3260);
	look_at(inner, "inner");
	is_str(text(look_at(inner, "inner")), "1 1 0 0", "until the next look: then it has none");
	word[0] = TRACE_EVENT(TRACE_VALUED, TRACE_VALUED_ID(1, 1), 3300);
	word[1] = 0;
	word += 2;
	chunk->used = (uint64_t)((char *)word - (char *)chunk);
	is_str(text(look_at(inner, "inner")), "1 1 0 0", "a chunk may end with a value of 0");
	head->lost = 7;
	const struct xaudit_read_look *look = xaudit_read_follow_look(inner, 0, LONG);
	is_int((long)look->lost, 7, "losses since it is followed");
	is_int((long)xaudit_read_process_head(process)->lost, 7, "which the head has then, too");
	is_int((long)(look->scale * 100), 100, "nothing was left out");
	is_int((long)look->threads, 1, "one thread record");
	xaudit_read_follow_close(outer);
	xaudit_read_follow_close(NULL);
}

int main(void)
{
	char dir[] = "/tmp/xaudit-read-follow-XXXXXX";
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace;

	make_folder(dir);
	make_trace(dir, script);
	map(dir);
	counts->magic = 0; /* not yet */
	trace = xaudit_read_open(dir, NULL, &error);
	if (!trace)
		bail("%s", error.text);
	follow_it(trace);
	xaudit_read_close(trace);
	remove_folder(dir);
	return done_testing();
}
