/* SPDX-License-Identifier: MIT */
/*
 * Gives places of a family's file back, so that a server that forks for years does not use them up (format/trace.h,
 * GIVING BACK). Who may use a place again, and when:
 *
 *	state of a place	word of the directory	who changes it
 *	new			0, from head.places on	any member: takes it by moving head.places
 *	being begun		0			its thread, which then gives the word
 *	used			CHUNK, process, thread	`xaudit record` alone, once the process is gone
 *	free			FREE			any member: takes it by exchanging the word for 0
 *
 *	- Used to free. First the words of the directory are read, and the heads of the processes that they name: these
 *	  were marked before. Then marks.h tells which of them are gone, memory and all. So nobody stores to their
 *	  places, or to the words of these, any more, and this code is their only writer. Then the words are read once
 *	  more, for all places that those processes had in the end: else a chunk could get the number of another one.
 *	- Mode stream: t<n> must have the chunk. A published chunk is written as ever; any other is published here, in
 *	  the thread's stead: its events' end is looked for, and it gets the number after the last one in t<n>.
 *	  Chunks that have numbers come first. If t<n> can't be written the place stays used.
 *	- Mode ring: the last events of a process that is gone are what its user wants; so a place is given up only
 *	  where nothing else is left, the oldest first, a few at a time, and its events are counted as lost in the head
 *	  of its process: in a word that no other process writes. Killed right after that, they may count twice.
 *	- Free to being begun: of several members who see the word one exchanges it. One that is killed before it gives
 *	  the word its new value leaves a place that nobody uses.
 *	- Heads, records and counters stay: readers find a process by the place of its head, for ever. So does the
 *	  chunk beside a head; in mode stream it is written out, like others, if it has a number.
 *
 * When: after so many places were taken that it may be worth it, or when a member says that few are left, since only
 * members know their limits (head.short_of). Between two looks there are pauses, long compared with a look; they grow
 * while nothing can be given back, to half a second while few places are left. At most TRACE_FREE places are free at a
 * time: those that head.free names. Of bytes of chunks a look reads so many; the next one comes soon then.
 *
 * What stands in the file is believed no more than elsewhere (drain.h): a process that lies about its place, or about
 * others', spoils chunks. No page is taken away, and no hole made: stores of other processes stay safe.
 *
 * One thread, or under a lock.
 */
#ifndef XAUDIT_TOOL_RECORD_DRAIN_GIVE_H
#define XAUDIT_TOOL_RECORD_DRAIN_GIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/places.h"
#include "format/trace.h"

/* Of a family; zeros at first. */
struct drain_reclaim {
	uint64_t likely;   /* places that the file may have, as the head tells (trace_head.places_likely) */
	uint64_t taken;	   /* places, new and used ones, when it was looked at last */
	uint64_t short_of; /* as the head had it then */
	uint64_t looked, took, pause; /* when that look ended, how long it took, and the pause after it */
	uint32_t hand;	   /* the place with which the next look begins */
	bool full;	   /* nothing else is left */
};

/* What it needs of a family. */
struct drain_reclaim_way {
	struct drain_reclaim *state;
	int meta; /* descriptor */
	uint64_t place_size;
	struct trace_directory directory;
	void *family;
	bool (*stops)(void); /* asked now and then: shall it return early? NULL: no */
	/* Writes the chunk of a place, which was published with that word, to t<n>. False: that can't be. */
	bool (*write)(void *family, uint32_t place, uint64_t full);
	/* Where t<n> ends, a multiple of STREAM_UNIT; UINT64_MAX: it can't be opened. */
	uint64_t (*reach)(void *family, uint32_t process, uint32_t thread);
	/* Has t<n> that chunk, at the place of its number? */
	bool (*has)(void *family, const struct trace_chunk *chunk);
};

/* Is it worth a look? head: as far as the counts of places, which end before `free`. now: CLOCK_MONOTONIC, ns. */
bool drain_reclaim_is_due(struct drain_reclaim *state, const struct trace_head *head, uint64_t now);

/* Looks, and gives back what can be. */
void drain_reclaim(const struct drain_reclaim_way *way, const struct trace_head *head, uint64_t now);

#endif
