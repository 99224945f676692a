/* SPDX-License-Identifier: MIT */
#include "runtime/record/chunk_file.h"

#include <errno.h>    /* ENOSPC */
#include <sys/mman.h> /* PROT_READ */
#include <sys/uio.h>  /* struct iovec */

#include "format/stream.h"
#include "runtime/files/dense.h"
#include "runtime/files/output.h"
#include "runtime/process/process.h"
#include "runtime/process/process_counters.h"
#include "x86_64/sys.h"

#define TRIES	  8 /* where the program closes the descriptor */
#define ROOM_SIZE (64ul << 10) /* what a hot loop makes of a chunk, and what others make of a third, is one write */

struct chunk_room {
	struct dense dense;
	uint16_t code[(ROOM_SIZE - sizeof(struct dense)) / sizeof(uint16_t)];
};
_Static_assert(sizeof(struct chunk_room) <= ROOM_SIZE, "all of it is mapped");

#define ROOM_CODES (sizeof(((struct chunk_room *)0)->code) / sizeof(uint16_t) - DENSE_SLACK)

/* t<n>, open. */
struct chunk_out {
	int fd;
	struct output_place place;
};

/* All of it. Returns 0 or -errno. The parts are used up. */
static long write_parts(const struct chunk_out *out, struct iovec *part, int parts, uint64_t at)
{
	for (;;) {
		while (parts && !part->iov_len) {
			part++;
			parts--;
		}
		if (!parts)
			return 0;
		long r = output_check(out->fd, &out->place);
		if (r)
			return r;
		r = sys_call(__NR_pwritev, out->fd, (long)part, parts, (long)at, 0, 0);
		if (r <= 0)
			return r ? r : -ENOSPC;
		at += (uint64_t)r;
		for (uint64_t done, left = (uint64_t)r; left; left -= done) {
			done = left < part->iov_len ? left : part->iov_len;
			part->iov_base = (uint8_t *)part->iov_base + done;
			part->iov_len -= done;
			if (!part->iov_len && left > done)
				part++, parts--;
		}
	}
}

/* The memory for dense words, or NULL. A record keeps it for the threads that have it later. */
static struct chunk_room *room_of(struct thread *thread)
{
	struct thread_kept *kept = thread_kept(thread);

	if (!kept->room) {
		void *room = sys_mmap(NULL, ROOM_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (sys_is_error(room))
			return NULL;
		kept->room = room;
	}
	return kept->room;
}

/*
 * Writes dense words, behind zeros for the head: data that begins where a page does goes into larger folios, which is
 * cheaper. Returns the bytes after the head; 0: they are not worth it, all of them or up to the end of a piece,
 * or there is no memory, and what was written means nothing; or -errno.
 */
static long write_dense(struct thread *thread, const struct chunk_out *out, const struct trace_chunk *chunk,
	const struct trace_chunk *head, uint64_t at)
{
	const struct trace_chunk zeros = { 0 };
	const uint64_t *first = (const uint64_t *)(chunk + 1), *word = first;
	const uint64_t *end = (const uint64_t *)((uint64_t)(uintptr_t)chunk + head->used);
	struct chunk_room *room = room_of(thread);
	uint64_t size = 0;

	if (!room)
		return 0;
	dense_begin(&room->dense, head->clock);
	while (word < end) {
		uint16_t *to = dense_add(&room->dense, &word, end, room->code, room->code + ROOM_CODES);
		uint64_t piece = (uint64_t)(to - room->code) * sizeof(*to);
		/* Where it has begun like that it is not tried any longer, nor written in vain. */
		if (size + piece > DENSE_WORTH((uint64_t)(word - first) * sizeof(*word)))
			return 0;
		struct iovec part[2] = { { (void *)&zeros, size ? 0 : sizeof(zeros) }, { room->code, piece } };
		long r = write_parts(out, part, 2, size ? at + sizeof(zeros) + size : at);
		if (r)
			return r;
		size += piece;
	}
	return (long)size;
}

/* Writes the words as they are, behind zeros, as above. */
static long write_plain(const struct chunk_out *out, const struct trace_chunk *chunk, uint64_t used, uint64_t at)
{
	const struct trace_chunk zeros = { 0 };
	struct iovec part[2] = { { (void *)&zeros, sizeof(zeros) },
		{ (void *)(chunk + 1), used - sizeof(*chunk) } };

	return write_parts(out, part, 2, at);
}

void chunk_file_count(const struct thread_place *known, uint64_t size, uint64_t dense)
{
	/* In mode stream it was counted whole when it was begun; in mode ring not at all. */
	uint64_t counted = known->mode == TRACE_MODE_STREAM ? size : 0;
	uint64_t head = sizeof(struct trace_chunk), written = dense && dense < size - head ? head + dense : size;

	if (written != counted)
		process_count_stream(written - counted);
}

static long write_once(
	struct thread *thread, const struct trace_chunk *chunk, const struct thread_place *known, uint64_t size)
{
	uint64_t at = stream_at(known->copied);
	struct trace_chunk head;
	struct iovec part = { &head, sizeof(head) };
	struct chunk_out out;

	out.fd = process_open_stream(thread->number, at + known->used, &out.place);
	if (out.fd < 0)
		return out.fd;
	sys_copy(&head, chunk, sizeof(head));
	head.seq = known->seq;
	head.used = known->used;
	long dense = write_dense(thread, &out, chunk, &head, at), r = dense < 0 ? dense : 0;
	head.copied = 0;
	head.dense = dense > 0 ? (uint64_t)dense : 0;
	if (dense > 0)
		head.version = TRACE_CHUNK_DENSE;
	else if (!r)
		r = write_plain(&out, chunk, known->used, at);
	if (!r)
		r = write_parts(&out, &part, 1, at);
	output_close(out.fd, &out.place);
	if (r)
		return r;
	chunk_file_count(known, size, (uint64_t)dense);
	if (at + size == thread->saved)
		thread->saved = at + stream_whole(stream_bytes(&head));
	return 0;
}

void chunk_file_number(
	struct thread *thread, struct trace_chunk *chunk, struct thread_place *known, uint64_t size)
{
	chunk->copied = known->copied = 1 + thread->saved / STREAM_UNIT;
	thread->saved += size;
}

long chunk_file_write(
	struct thread *thread, const struct trace_chunk *chunk, const struct thread_place *known, uint64_t size)
{
	long r = -EBADF;

	for (int i = 0; i < TRIES && r == -EBADF; i++)
		r = write_once(thread, chunk, known, size);
	return r;
}
