/* SPDX-License-Identifier: MIT */
/*
 * How a thread writes a finished chunk to its place in t<n> (format/trace.h): as dense words (format/dense.h) if these
 * are worth it, else as it is. Dense words are made in pieces, in memory that the thread's record gets with its
 * first one; where there is none the chunk is written as it is.
 *
 * Called by the thread itself, with all signals blocked; no lock. Async-signal-safe, no libc.
 */
#ifndef XAUDIT_CHUNK_FILE_H
#define XAUDIT_CHUNK_FILE_H

#include "runtime/process/thread.h"

/*
 * Gives the chunk its number: its place is behind all that have one, with room for all of it, since others may write it
 * as it is.
 */
void chunk_file_number(
	struct thread *thread, struct trace_chunk *chunk, struct thread_place *known, uint64_t size);

/*
 * Writes it to its place, which known->copied tells and nobody else writes to: the head last, so that a reader
 * meanwhile sees a whole chunk or none. Returns 0 or -errno; then what is in the place is no chunk. Where the chunk's
 * own head contradicts what is known of it, it is as known. What it does not need of the last room goes to the next
 * chunk. size: of chunks.
 */
long chunk_file_write(
	struct thread *thread, const struct trace_chunk *chunk, const struct thread_place *known, uint64_t size);

/* The chunk is in its place; dense: so many bytes of dense words, or 0. Counts it as bytes of the stream. */
void chunk_file_count(const struct thread_place *known, uint64_t size, uint64_t dense);

#endif
