/* SPDX-License-Identifier: MIT */
#include "runtime/files/records.h"

#include <errno.h> /* E2BIG */

#include "runtime/files/pool.h"
#include "x86_64/sys.h"

#define MOST 128u	   /* places of an extent, unless one record needs more: so blocks of places are filled well */
#define STEP (16ul << 10)  /* so much is made ready at a time */
#define PART (64ul << 10)  /* is no more looked at once it is full; places have several */
#define MUCH (256ul << 10) /* from here on by a descriptor, if one can be opened */

void records_begin(struct records *records, struct trace_head *head, uint32_t place)
{
	records->head = head;
	records->place = place;
	records->extents = 0;
	records->used = head->head_size;
	records->ready = place ? TRACE_HEAD_SIZE : POOL_BEGUN;
	records->room = pool_place_size() / 2;
	head->extents = 0;
	/* Release; pairs with the acquire load of `used` in the reading command, perhaps in another process. */
	__atomic_store_n(&head->used, records->used, __ATOMIC_RELEASE);
}

/* Where a position lies, and how much of its extent is left from there on. */
static uint8_t *locate(const struct records *records, uint64_t position, uint64_t *left)
{
	uint64_t size = pool_place_size() / 2;
	uint32_t place = records->place;

	for (uint32_t i = 0; position >= size; i++) {
		position -= size;
		place = records->extent[i].first;
		size = records->extent[i].places * pool_place_size();
	}
	*left = size - position;
	return (uint8_t *)pool_address(place) + position;
}

/* Takes places for at least so many bytes. */
static long extend(struct records *records, uint64_t bytes)
{
	struct trace_head *head = records->head;
	uint32_t n = records->extents;
	uint64_t needed = (bytes + pool_place_size() - 1) / pool_place_size(), wanted = 1;

	if (n == TRACE_EXTENTS || needed > TRACE_PLACE_MAX)
		return -E2BIG;
	if (n)
		wanted = 2 * (uint64_t)records->extent[n - 1].places;
	wanted = wanted < MOST ? wanted : MOST;
	wanted = wanted > needed ? wanted : needed;
	long first = pool_take((uint32_t)wanted);
	if (first < 0 && wanted > needed)
		first = pool_take((uint32_t)(wanted = needed));
	if (first < 0)
		return first;
	head->extent[n] = records->extent[n] = (struct trace_extent){ (uint32_t)first, (uint32_t)wanted };
	records->extents = n + 1;
	/* Release; pairs with the acquire of `used`, which will reach it. */
	__atomic_store_n(&head->extents, n + 1, __ATOMIC_RELEASE);
	pool_name((uint32_t)first, (uint32_t)wanted, TRACE_PLACE_RECORDS, records->place, 0);
	records->room += wanted * pool_place_size();
	return 0;
}

/* Is there room for another `size` bytes? */
static long make_room(struct records *records, uint64_t size)
{
	uint64_t end = records->used + size, left;
	long r = 0;

	if (end > records->room)
		r = extend(records, end - records->room);
	while (!r && records->ready < end) {
		void *at = locate(records, records->ready, &left);
		uint64_t piece = (end - records->ready + STEP - 1) & -STEP;
		piece = piece < left ? piece : left;
		r = pool_reserve(at, piece, piece < MUCH ? POOL_FEW : POOL_NOW);
		records->ready += r ? 0 : piece;
	}
	return r;
}

static void copy_in(const struct records *records, uint64_t position, const void *from, uint64_t size)
{
	uint64_t left;

	for (uint64_t done = 0; done < size; done += left) {
		void *to = locate(records, position + done, &left);
		left = left < size - done ? left : size - done;
		sys_copy(to, (const uint8_t *)from + done, left);
	}
}

/*
 * A program that opens and closes libraries for days is not to hold all that was said of them in its memory. The first
 * part has the head.
 */
static void forget(const struct records *records, uint64_t before)
{
	uint64_t left;

	for (uint64_t part = before / PART; part < records->used / PART; part++)
		if (part)
			pool_forget(locate(records, part * PART, &left), PART);
}

long records_append(
	struct records *records, struct trace_record *head, size_t head_size, const void *body, size_t body_size)
{
	uint64_t size = (head_size + body_size + 7) & ~7ul, before = records->used;
	long r = size > UINT32_MAX ? -E2BIG : make_room(records, size);

	if (r)
		return r;
	head->size = (uint32_t)size;
	copy_in(records, records->used, head, head_size);
	copy_in(records, records->used + head_size, body, body_size);
	records->used += size;
	/* Release; pairs with the acquire load of `used` in the reading command, perhaps in another process. */
	__atomic_store_n(&records->head->used, records->used, __ATOMIC_RELEASE);
	forget(records, before);
	return 0;
}
