/* SPDX-License-Identifier: MIT */
/* Places for make_trace.c: which process has which, records in extents, forked processes. */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/make_trace.h"

#define FORKS_MAX 100000

static struct {
	uint32_t pid, place, parent;
	uint64_t parent_used;
} forked[FORKS_MAX];
static unsigned forks;
static uint32_t places;

uint64_t place_size(void)
{
	return 2 * head.chunk_size;
}

static void put_word(uint32_t place, unsigned what, uint32_t number_of_it)
{
	uint64_t word = TRACE_PLACE(what, what == TRACE_PLACE_HEAD ? place : head.process, number_of_it);

	write_at(meta_fd, &word, sizeof(word), place_size() + 8ull * place);
}

uint32_t places_take(uint32_t n, unsigned what, uint32_t number_of_it)
{
	uint32_t first = places;

	if (8 * (places + (uint64_t)n) > place_size())
		fail("too many places");
	for (; n; n--)
		put_word(places++, what, number_of_it);
	return first;
}

/* Place 0 has the head, place 1 the directory. */
void places_begin(void)
{
	head.ring_chunk = head.chunk_size;
	places = forks = 0;
	head.place_size = place_size();
	head.directory = place_size();
	head.block = TRACE_PLACE_MAX;
	head.places_max = (uint32_t)(place_size() / 8);
	places_take(1, TRACE_PLACE_HEAD, head.pid);
	places_take(1, TRACE_PLACE_DIRECTORY, 0);
}

void places_end(void)
{
	write_at(meta_fd, &places, sizeof(places), offsetof(struct trace_head, places));
	write_at(meta_fd, &places, sizeof(places), offsetof(struct trace_head, places_end));
	if (ftruncate(meta_fd, (off_t)(places * place_size())))
		err(1, "ftruncate");
}

/* Each extent is larger than the one before. */
static uint64_t record_room(uint64_t pos, uint64_t *offset)
{
	if (pos < place_size() / 2) {
		*offset = head.process * place_size() + pos;
		return place_size() / 2 - pos;
	}
	pos -= place_size() / 2;
	for (unsigned i = 0;; i++) {
		if (i == TRACE_EXTENTS)
			fail("too many records");
		if (i == head.extents) {
			head.extent[i].places = i + 1;
			head.extent[i].first = places_take(i + 1, TRACE_PLACE_RECORDS, 0);
			head.extents++;
		}
		uint64_t size = head.extent[i].places * place_size();
		if (pos < size) {
			*offset = head.extent[i].first * place_size() + pos;
			return size - pos;
		}
		pos -= size;
	}
}

void put_records(const void *from, size_t size)
{
	while (size) {
		uint64_t offset, room = record_room(meta_used, &offset);

		room = room < size ? room : size;
		write_at(meta_fd, from, room, offset);
		from = (const char *)from + room;
		meta_used += room;
		size -= room;
	}
}

void places_fork(uint32_t pid)
{
	if (meta_fd < 0 || forks == FORKS_MAX)
		fail("there is no process");
	forked[forks].pid = pid;
	forked[forks].parent = head.process;
	forked[forks].parent_used = meta_used;
	forked[forks++].place = places_take(1, TRACE_PLACE_HEAD, pid);
}

void places_child(uint32_t pid)
{
	for (unsigned i = forks; i-- > 0;) {
		if (forked[i].pid != pid)
			continue;
		head.ppid = head.process == forked[i].parent ? head.pid : head.ppid;
		head.pid = pid;
		head.process = forked[i].place;
		head.parent = forked[i].parent;
		head.parent_used = forked[i].parent_used;
		head.extents = head.threads = 0;
		head.directory = head.places_max = head.block = 0;
		memset(head.lost_by, 0, sizeof(head.lost_by));
		head.lost = head.meta_lost = head.no_mirror = head.taken_back = 0;
		meta_used = TRACE_HEAD_SIZE;
		return;
	}
	fail("nobody forked it");
}
