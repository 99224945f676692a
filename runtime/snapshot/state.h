/* SPDX-License-Identifier: MIT */
/* What a copy (copy.h) is made with. For copy.c, meta.c and sparse_file.c alone. */
#ifndef XAUDIT_RUNTIME_SNAPSHOT_STATE_H
#define XAUDIT_RUNTIME_SNAPSHOT_STATE_H

#include <stdint.h>

#include "format/places.h"
#include "format/trace.h"
#include "runtime/snapshot/copy.h"

#define PIECE	    (64ul << 10)
#define PLACES_MAX  65536u	/* of a thread's chunks */
#define LOOKS	    1000 /* at a chunk that is about to be finished, and at a pair of times that is being written */

/*
 * Pieces of the directory that are looked at, most. It is gone through some times for each thread, and whoever forges
 * one may say that there are a million: real ones take a thousandth.
 */
#define PIECES_MOST (1u << 23)

#define FOREFATHERS 1024 /* whose records are copied with a process */

#define NO_SEQ UINT64_MAX

#define UNFINISHED "meta.new" /* name of the copy's meta until it is complete */

/* All the data of a copy, mapped: a signal handler's stack may be small. */
struct copy {
	uint8_t first[PIECE], second[PIECE];
	struct trace_head head; /* of the process */
	struct trace_head family, forefather;
	struct trace_chunk chunk, behind;
	struct snapshot_copied *copied;
	void (*rest)(void); /* or NULL */
	int from, to; /* folders */
	int meta, out; /* the file of the family, and that of the copy */
	uint32_t process;
	uint64_t size_most; /* of a file: a write beyond it would raise SIGXFSZ */
	uint64_t chunk_size;
	struct trace_directory words_at; /* of the family */
	uint64_t directory; /* of the copy */
	uint64_t words;	    /* that it has */
	uint32_t pieces; /* of the directory that were looked at */
	uint64_t records;   /* bytes that may still be copied: twice what is in the file */
	uint32_t next;	    /* place of the copy */
	uint32_t next_first; /* after its directory */
	uint32_t runs, run_end; /* of counters: how many were copied, and the place after the last */
	/* Of the chunks that a thread has in meta. */
	unsigned places;
	uint32_t place[PLACES_MAX];
	uint64_t seq[PLACES_MAX]; /* NO_SEQ: none */
	uint8_t taken[PLACES_MAX]; /* its chunk is copied */
	/* The processes whose records are the process's, too: itself, its parent and so on. */
	struct {
		uint32_t process;
		uint64_t used;
	} line[FOREFATHERS];
};

static inline uint64_t snapshot_place_at(const struct copy *c, uint32_t place)
{
	return place * c->family.place_size;
}

#endif
