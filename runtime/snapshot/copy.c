/* SPDX-License-Identifier: MIT */
#include "runtime/snapshot/copy.h"

#include <errno.h>    /* ENOENT */
#include <stdbool.h>
#include <sys/mman.h> /* PROT_READ */

#include "format/stream.h"
#include "runtime/base/text.h"
#include "runtime/files/output.h"
#include "runtime/snapshot/meta.h"
#include "runtime/snapshot/sparse_file.h"
#include "runtime/snapshot/state.h"
#include "x86_64/sys.h"

#define THREADS_MAX (1u << 20)
#define FEW	    10

/* What a chunk is copied from and to. */
struct way {
	int from, to;
	uint64_t behind; /* of `to`, a multiple of STREAM_UNIT: the one that is about to be copied goes there */
};

static bool is_all(const uint8_t *p, uint64_t size, uint64_t wanted)
{
	const uint64_t *word = (const uint64_t *)(const void *)p;

	for (uint64_t i = 0; i < size / 8; i++)
		if (word[i] != wanted)
			return false;
	return true;
}

/* ---- chunks ---- */

/* Reads the head of a chunk. Returns 1 if it is one, 0, or -errno. */
static long read_chunk(int fd, uint64_t at, uint64_t room, struct trace_chunk *chunk)
{
	long n = snapshot_read(fd, chunk, sizeof(*chunk), at);

	if (n < 0)
		return n;
	return n == sizeof(*chunk) && chunk->magic == TRACE_CHUNK_MAGIC &&
	       (chunk->version == TRACE_VERSION || (chunk->version == TRACE_CHUNK_DENSE && chunk->used)) &&
	       chunk->head_size >= sizeof(*chunk) && chunk->head_size <= room && chunk->size >= chunk->head_size &&
	       chunk->size <= room && chunk->used <= chunk->size;
}

/* Where what follows the head ends. Dense words stay as they are. */
static uint64_t end_of(const struct trace_chunk *chunk)
{
	if (chunk->version != TRACE_CHUNK_DENSE)
		return chunk->used ? chunk->used : chunk->size;
	uint64_t room = chunk->size - chunk->head_size;
	return chunk->head_size + (chunk->dense < room ? chunk->dense : room);
}

/*
 * Copies the words of the present chunk, dense or not, from its head's end up to `end`. *copied_to: how far it came; an
 * unfinished chunk has its token after its events.
 */
static long copy_words(struct copy *c, const struct way *way, uint64_t at, uint64_t end, uint64_t *copied_to)
{
	uint64_t pos = c->chunk.head_size, to = way->behind;

	while (pos < end) {
		/* What is a hole there stays one here, whatever the head says. */
		uint64_t data = snapshot_data(way->from, at + pos);
		if (data >= at + end)
			break;
		pos += (data - at - pos) & ~7ul;
		uint64_t size = end - pos < PIECE ? end - pos : PIECE;
		long n = snapshot_read(way->from, c->first, size, at + pos);
		if (n < 0)
			return n;
		n -= c->chunk.version == TRACE_CHUNK_DENSE ? 0 : n % 8;
		if (n == 0 || (!c->chunk.used && is_all(c->first, (uint64_t)n, c->chunk.token)))
			break;
		long r = snapshot_write(c, way->to, c->first, (uint64_t)n, to + pos);
		if (r)
			return r;
		pos += (uint64_t)n;
	}
	*copied_to = pos;
	return 0;
}

/* Compares what was copied with what is there now, and takes back what lies after the first difference. */
static long settle_words(struct copy *c, const struct way *way, uint64_t at, uint64_t end)
{
	uint64_t to = way->behind;

	for (uint64_t pos = c->chunk.head_size; pos < end;) {
		uint64_t size = end - pos < PIECE ? end - pos : PIECE;
		long a = snapshot_read(way->to, c->first, size, to + pos),
		     b = snapshot_read(way->from, c->second, size, at + pos);
		if (a < 0 || b < 0)
			return a < 0 ? a : b;
		uint64_t same = 0, most = (uint64_t)(a < b ? a : b) / 8;
		const uint64_t *x = (const uint64_t *)(const void *)c->first,
			       *y = (const uint64_t *)(const void *)c->second;
		while (same < most && x[same] == y[same])
			same++;
		pos += same * 8;
		if (same == size / 8)
			continue;
		sys_fill_words(c->first, c->chunk.token, PIECE / 8);
		for (; pos < end; pos += size) {
			size = end - pos < PIECE ? end - pos : PIECE;
			long r = snapshot_write(c, way->to, c->first, size, to + pos);
			if (r)
				return r;
		}
	}
	return 0;
}

/*
 * Copies the chunk of number seq, which lies at `at`. Returns 1, 0 if it was overwritten, or -errno. The head is
 * written last: until then nothing is there.
 */
static long copy_chunk(struct copy *c, struct way *way, uint64_t at, uint64_t seq, int newest)
{
	uint64_t end = 0;
	long r;

	for (int look = 0;; look++) {
		r = read_chunk(way->from, at, c->chunk_size, &c->chunk);
		if (r <= 0)
			return r;
		if (c->chunk.seq != seq)
			return 0;
		/*
		 * Its thread is about to finish it, since a newer one is there; unless the place was taken from the
		 * thread: then it never will.
		 */
		if (newest || c->chunk.used || look == LOOKS)
			break;
		sys_call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
	}
	end = end_of(&c->chunk);
	r = copy_words(c, way, at, end, &end);
	if (r == 0 && !c->chunk.used)
		r = settle_words(c, way, at, end);
	if (r)
		return r;
	r = read_chunk(way->from, at, c->chunk_size, &c->behind);
	if (r < 0)
		return r;
	/* Without a head nothing is there. */
	if (r == 0 || c->behind.seq != seq)
		return 0;
	if (c->chunk.version != TRACE_CHUNK_DENSE) {
		c->chunk.used = end;
		c->chunk.dense = 0;
	}
	c->chunk.copied = 0;
	c->chunk.process = 0;
	r = snapshot_write(c, way->to, &c->chunk, sizeof(c->chunk), way->behind);
	if (r)
		return r;
	c->copied->chunks++;
	return 1;
}

/* ---- threads ---- */

static uint64_t chunk_at(const struct copy *c, unsigned i)
{
	return snapshot_place_at(c, c->place[i]) + c->chunk_size;
}

/*
 * Calls `found` for the places that the thread record has for that, as far as the directory tells now. Returns 0, or
 * what else `found` returned, or -errno.
 */
static long each_place(struct copy *c, enum trace_place what, uint32_t number,
	long (*found)(struct copy *c, uint32_t place, uint32_t number))
{
	const uint64_t wanted = TRACE_PLACE(what, c->process, number);
	uint32_t places = 0;
	long n = snapshot_read(c->meta, &places, sizeof(places), offsetof(struct trace_head, places)), r = 0;

	if (n < 0)
		return n;
	places = places < c->family.places_max ? places : c->family.places_max;
	for (uint32_t at = 0, piece; at < places && !r; at += piece) {
		/* What somebody else made may be a hole of any size. */
		uint64_t begin = trace_word_at(&c->words_at, at), data = snapshot_data(c->meta, begin);
		piece = trace_words_together(&c->words_at, at, places - at);
		if (++c->pieces > PIECES_MOST)
			return -EBADMSG;
		if (data == UINT64_MAX)
			break;
		if ((data - begin) / 8) {
			piece = (data - begin) / 8 < piece ? (uint32_t)((data - begin) / 8) : piece;
			continue;
		}
		piece = piece < PIECE / 8 ? piece : PIECE / 8;
		n = snapshot_read(c->meta, c->second, 8ul * piece, begin);
		if (n < 0)
			return n;
		for (uint32_t i = 0; i < (uint64_t)n / 8 && !r; i++)
			if (((const uint64_t *)(const void *)c->second)[i] == wanted)
				r = found(c, at + i, number);
	}
	return r;
}

static long list_place(struct copy *c, uint32_t place, uint32_t number)
{
	(void)number;
	if (c->places < PLACES_MAX) {
		c->seq[c->places] = NO_SEQ;
		c->taken[c->places] = 0;
		c->place[c->places++] = place;
	}
	return 0;
}

static long list_places(struct copy *c, uint32_t number)
{
	c->places = 0;
	/* That beside the head says itself whose it is. */
	if (read_chunk(c->meta, snapshot_place_at(c, c->process) + c->chunk_size, c->chunk_size, &c->chunk) > 0 &&
		c->chunk.process == c->process && c->chunk.thread == number)
		list_place(c, c->process, number);
	return each_place(c, TRACE_PLACE_CHUNK, number, list_place);
}

/* Notes which chunks lie in the places. Returns the newest number, NO_SEQ if there is none. */
static uint64_t look_at_places(struct copy *c)
{
	uint64_t newest = NO_SEQ;

	for (unsigned i = 0; i < c->places; i++) {
		c->seq[i] = NO_SEQ;
		if (read_chunk(c->meta, chunk_at(c, i), c->chunk_size, &c->chunk) <= 0)
			continue;
		c->seq[i] = c->chunk.seq;
		if (newest == NO_SEQ || c->chunk.seq > newest)
			newest = c->chunk.seq;
	}
	return newest;
}

/* "t<n>", or "t<n>.<p>" of a process that is not the first. */
static void put_name(char name[32], uint32_t number, uint32_t process)
{
	struct text text = { name, 32, 0 };

	text_char(&text, 't');
	text_number(&text, number);
	if (process) {
		text_char(&text, '.');
		text_number(&text, process);
	}
}

/* Opens t<n>; what takes the place of the file can't make us wait. *size: its length. A descriptor, or -errno. */
static long open_stream(const struct copy *c, uint32_t number, uint64_t *size)
{
	char name[32];

	put_name(name, number, c->process);
	long fd = output_open_file(c->from, name, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return fd;
	long end = sys_call(__NR_lseek, fd, 0, SEEK_END, 0, 0, 0);
	if (end < 0)
		sys_close((int)fd);
	*size = end < 0 ? 0 : (uint64_t)end;
	return end < 0 ? end : fd;
}

/* The first chunk of t<n> from there on, which is read to c->chunk; UINT64_MAX: there is none. */
static uint64_t next_in_stream(struct copy *c, int fd, uint64_t at, uint32_t number)
{
	while ((at = snapshot_step(fd, at, STREAM_UNIT)) != UINT64_MAX) {
		long n = snapshot_read(fd, &c->chunk, sizeof(c->chunk), at);
		if (n < (long)sizeof(c->chunk))
			return UINT64_MAX;
		if (stream_is_chunk(&c->chunk, c->chunk_size) && c->chunk.process == c->process &&
			c->chunk.thread == number)
			break;
		at += STREAM_UNIT;
	}
	return at;
}

/*
 * The newest number in t<n>, NO_SEQ if there is none. It may be newer than all in the thread's places, which keep
 * chunks that nobody has taken yet: the thread writes the newer ones itself, and may be about to begin the next where
 * the last one was.
 */
static uint64_t newest_in_stream(struct copy *c, uint32_t number)
{
	uint64_t size = 0, newest = NO_SEQ;
	int fd = (int)open_stream(c, number, &size);

	if (fd < 0)
		return NO_SEQ;
	for (uint64_t at = next_in_stream(c, fd, 0, number); at < size;
		at = next_in_stream(c, fd, at + stream_whole(stream_bytes(&c->chunk)), number))
		if (newest == NO_SEQ || c->chunk.seq > newest)
			newest = c->chunk.seq;
	sys_close(fd);
	return newest;
}

/*
 * Lists the chunks in the thread's places so that none is missing from the newest back to the first that is gone.
 * *newest: that number, of one in t<n> perhaps; NO_SEQ if there is none. It looks twice: while the places are looked
 * at, the thread may overwrite one that was looked at and then one that was not, whose chunk is the newer. All chunks
 * up to the newest of the first look were there when the second look began, in places that the thread had by then, or
 * will be in t<n> when that is copied.
 */
static long list_chunks(struct copy *c, uint32_t number, uint64_t *newest)
{
	uint64_t written = NO_SEQ;
	long r = list_places(c, number);

	*newest = look_at_places(c);
	/* What is not in a place any more is there by now. */
	if (c->head.mode == TRACE_MODE_STREAM || *newest == NO_SEQ)
		written = newest_in_stream(c, number);
	if (*newest == NO_SEQ || (written != NO_SEQ && written > *newest))
		*newest = written;
	r = r ? r : list_places(c, number);
	look_at_places(c);
	return r;
}

/*
 * Copies from the newest chunk backwards, in mode ring until one is gone; counts those that are gone. In mode stream
 * such a chunk is in t<n> by then, and older ones may not be. *oldest: the oldest that was copied, NO_SEQ if none was.
 * They lie behind so many bytes of the copy, in the order of their numbers.
 */
static long copy_places(
	struct copy *c, struct way *way, uint64_t behind, uint64_t newest, uint64_t *oldest, unsigned *gone)
{
	way->behind = behind + c->places * c->chunk_size;
	*oldest = NO_SEQ;
	*gone = 0;
	for (uint64_t seq = newest, below; seq != NO_SEQ; seq = below) {
		unsigned at = c->places;
		below = NO_SEQ;
		for (unsigned i = 0; i < c->places; i++) {
			if (c->seq[i] == seq)
				at = i;
			else if (c->seq[i] != NO_SEQ && c->seq[i] < seq && (below == NO_SEQ || c->seq[i] > below))
				below = c->seq[i];
		}
		way->behind -= c->chunk_size;
		long r = at < c->places ? copy_chunk(c, way, chunk_at(c, at), seq, seq == newest) : 0;
		if (r < 0)
			return r;
		if (r) {
			c->taken[at] = 1;
			*oldest = seq;
		} else if (c->head.mode == TRACE_MODE_STREAM) {
			way->behind += c->chunk_size;
		} else {
			for (unsigned i = 0; i < c->places; i++)
				*gone += c->seq[i] != NO_SEQ && c->seq[i] <= seq;
			return 0;
		}
	}
	return 0;
}

/* If it is one that the thread's places had. */
static void note_taken(struct copy *c, uint64_t seq)
{
	for (unsigned i = 0; i < c->places; i++)
		c->taken[i] |= c->seq[i] == seq;
}

static bool is_taken(const struct copy *c, uint64_t seq)
{
	for (unsigned i = 0; i < c->places; i++)
		if (c->taken[i] && c->seq[i] == seq)
			return true;
	return false;
}

/*
 * Copies from t<n> the chunks up to the newest that were not copied from the thread's places. It comes after those: a
 * chunk that is gone there is in t<n> by then, in mode stream. before: bytes that t<n> had at first; chunks that begin
 * there keep their places in the copy, and others come after them.
 */
static long copy_stream(struct copy *c, const struct way *way, uint32_t number, uint64_t before, uint64_t newest)
{
	const uint64_t most = before + c->places * c->chunk_size;
	uint64_t more = before, size = 0, next;
	struct way file = { (int)open_stream(c, number, &size), way->to, 0 };
	long r = 0;

	if (file.from < 0)
		return file.from == -ENOENT ? 0 : file.from;
	for (uint64_t at = 0; r >= 0 && (at = next_in_stream(c, file.from, at, number)) < size; at = next) {
		const uint64_t seq = c->chunk.seq, bytes = stream_whole(stream_bytes(&c->chunk));
		next = at + bytes;
		if (seq > newest || is_taken(c, seq))
			continue;
		/* Of the chunks that came meanwhile, no more are needed than the thread has places. */
		file.behind = next <= before ? at : more;
		if (file.behind == more && more + bytes > most)
			break;
		more += next <= before ? 0 : bytes;
		r = copy_chunk(c, &file, at, seq, 0);
		/* It may be there once more: its thread took it back. */
		if (r > 0)
			note_taken(c, seq);
	}
	sys_close(file.from);
	return r < 0 ? r : 0;
}

/* Bytes of t<n>, of whole units; there may be none yet. */
static uint64_t stream_size(struct copy *c, uint32_t number)
{
	uint64_t size = 0;
	int fd = (int)open_stream(c, number, &size);

	if (fd < 0)
		return 0;
	sys_close(fd);
	return stream_whole(size);
}

/*
 * Copies the chunks of a thread record to a file that is open, in the order of their numbers but for those that only
 * its places have, with holes for chunks that might have come.
 */
static long copy_chunks(struct copy *c, struct way *way, uint32_t number, uint64_t newest)
{
	uint64_t chunks = c->copied->chunks, oldest = NO_SEQ, before;
	unsigned gone = 0;
	long r = 0;
	int has_file;

	/*
	 * A thread at full speed may overwrite all while we wait for a processor: then all begins anew. A few times,
	 * too, if it was more than half: that is luck.
	 */
	for (int again = 0;; again++) {
		if (again) {
			c->copied->chunks = chunks;
			/* What was copied before is gone. */
			if ((r = sys_call(__NR_ftruncate, way->to, 0, 0, 0, 0, 0)) ||
				(r = list_chunks(c, number, &newest)))
				return r;
		}
		before = stream_size(c, number);
		has_file = before || c->head.mode == TRACE_MODE_STREAM;
		/* Chunks that are begun after these looks are not copied: so nothing is missing in between. */
		r = copy_places(
			c, way, has_file ? before + c->places * c->chunk_size : 0, newest, &oldest, &gone);
		if (r)
			return r;
		int nothing = oldest == NO_SEQ;
		if (c->head.mode == TRACE_MODE_STREAM || again == (nothing ? LOOKS : FEW) ||
			(!nothing && gone * 2 <= c->places))
			break;
	}
	c->copied->gone += c->head.mode == TRACE_MODE_RING ? gone : 0;
	return has_file ? copy_stream(c, way, number, before, newest) : 0;
}

/* Counters: of 8 bytes each, so each is whole. */
static long copy_run(struct copy *c, struct trace_counts *counts, uint64_t from, uint64_t to)
{
	uint64_t size = counts->size, skip;
	long n = 0, r = 0;

	for (uint64_t at = 0; at < size && !r; at += PIECE) {
		skip = snapshot_step(c->meta, from + at, PIECE);
		if (skip == UINT64_MAX || (at = skip - from) >= size)
			break;
		n = snapshot_read(c->meta, c->first, size - at < PIECE ? size - at : PIECE, from + at);
		if (n <= 0)
			break;
		/* Zeros stay a hole. */
		if (!is_all(c->first, (uint64_t)n, 0))
			r = snapshot_write(c, c->out, c->first, (uint64_t)n, to + at);
	}
	if (n < 0 || r)
		return n < 0 ? n : r;
	c->runs++;
	counts->process = 0;
	return snapshot_write(c, c->out, counts, sizeof(*counts), to);
}

/* The head of counters. Returns 1 if there is one, 0, or -errno. */
static long read_counts(const struct copy *c, uint64_t at, struct trace_counts *counts)
{
	long n = snapshot_read(c->meta, counts, sizeof(*counts), at);

	if (n < 0)
		return n;
	return n == sizeof(*counts) && counts->magic == TRACE_COUNTS_MAGIC && counts->size >= sizeof(*counts);
}

/* Called for each place of a run; the first one has the head. */
static long copy_counts(struct copy *c, uint32_t place, uint32_t number)
{
	struct trace_counts counts;
	uint64_t size = c->family.place_size;
	long r = read_counts(c, snapshot_place_at(c, place), &counts);

	if (r <= 0)
		return r;
	if (place < c->run_end || counts.size % size || counts.size / size > c->family.places_max)
		return 0;
	uint32_t places = (uint32_t)(counts.size / size);
	if (places > c->words - c->next)
		return -EBADMSG;
	c->run_end = place + places;
	r = copy_run(c, &counts, snapshot_place_at(c, place), c->next * size);
	if (r)
		return r;
	c->next += places;
	return snapshot_name(c, c->next - places, places, TRACE_PLACE_COUNTS, number);
}

/* Those beside the head say themselves whose they are. In the copy that half is free, too. */
static long copy_counts_beside(struct copy *c, uint32_t number)
{
	struct trace_counts counts;
	uint64_t from = snapshot_place_at(c, c->process) + c->chunk_size;
	long r = read_counts(c, from, &counts);

	if (r <= 0 || counts.process != c->process || counts.thread != number || counts.size > c->chunk_size)
		return r < 0 ? r : 0;
	return copy_run(c, &counts, from, c->chunk_size);
}

/* Copies the chunks and counters of a thread record. */
static long copy_thread(struct copy *c, uint32_t number)
{
	uint64_t chunks = c->copied->chunks, newest;
	char name[32];
	long r = list_chunks(c, number, &newest);

	c->runs = c->run_end = 0;
	if (!r && newest != NO_SEQ) {
		put_name(name, number, 0);
		struct way way = { c->meta, (int)snapshot_make_file(c, name), 0 };
		if (way.to < 0)
			return way.to;
		r = copy_chunks(c, &way, number, newest);
		sys_close(way.to);
	}
	if (!r)
		r = copy_counts_beside(c, number);
	if (!r)
		r = each_place(c, TRACE_PLACE_COUNTS, number, copy_counts);
	c->copied->threads += c->copied->chunks != chunks || c->runs;
	return r;
}

/* ---- all ---- */

static long copy_all(struct copy *c, uint32_t threads)
{
	long r = snapshot_begin(c);
	/* Threads may begin meanwhile; what they have is newer. */
	for (uint32_t n = 0; n < threads && n < c->head.threads && n < THREADS_MAX && !r; n++)
		r = copy_thread(c, n);
	if (!r)
		r = snapshot_meta(c);
	if (c->out >= 0)
		sys_close(c->out);
	if (c->meta >= 0)
		sys_close(c->meta);
	return r;
}

long snapshot_copy(int from, int to, uint32_t process, uint32_t threads, void (*rest)(void),
	struct snapshot_copied *copied)
{
	struct copy *c = sys_mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*copied = (struct snapshot_copied){ 0, 0, 0, 0 };
	if (sys_is_error(c))
		return (long)(intptr_t)c;
	c->copied = copied;
	c->rest = rest;
	c->from = from;
	c->to = to;
	c->out = c->meta = -1;
	c->size_most = snapshot_size_most();
	c->process = process;
	long r = copy_all(c, threads);
	sys_munmap(c, sizeof(*c));
	return r;
}
