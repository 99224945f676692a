/* SPDX-License-Identifier: MIT */
#include "runtime/snapshot_copy.h"

#include <errno.h>    /* ENOENT */
#include <sys/mman.h> /* PROT_READ */

#include "runtime/output.h"
#include "runtime/sys.h"
#include "runtime/text.h"
#include "runtime/trace.h"

#define PIECE	    (64ul << 10)
#define PLACES_MAX  65536u	/* of a thread's ring */
#define THREADS_MAX (1u << 20)
#define FEW	    10
#define LOOKS	    1000 /* at a chunk that is about to be finished, and at a pair of times that is being written */

#define NO_SEQ UINT64_MAX

/* All that is needed, mapped: a signal handler's stack may be small. */
struct copy {
	uint8_t first[PIECE], second[PIECE];
	struct trace_head head;
	struct trace_chunk chunk, behind;
	struct snapshot_copied *copied;
	int from, to; /* folders */
	uint64_t seq[PLACES_MAX]; /* of the places of a ring; NO_SEQ: none */
};

/* A file of one thread record. */
struct files {
	int from, to;
	uint64_t size; /* of the file */
	uint64_t chunk;
	unsigned places; /* of a ring */
};

/* ---- reading and writing ---- */

/* As many bytes as there are, up to size; or -errno. */
static long read_at(int fd, void *to, uint64_t size, uint64_t at)
{
	uint64_t done = 0;

	while (done < size) {
		long n = sys_call(__NR_pread64, fd, (long)to + (long)done, (long)(size - done), (long)(at + done), 0, 0);
		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (uint64_t)n;
	}
	return (long)done;
}

static long write_at(struct copy *c, int fd, const void *from, uint64_t size, uint64_t at)
{
	for (uint64_t done = 0; done < size;) {
		long n = sys_call(__NR_pwrite64, fd, (long)from + (long)done, (long)(size - done), (long)(at + done), 0, 0);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? n : -ENOSPC;
		done += (uint64_t)n;
	}
	c->copied->bytes += size;
	return 0;
}

/* A thread's file: opened to be read in the folder `from`, made in the folder `to`. */
static int open_from(int folder, char kind, unsigned n)
{
	char name[16];
	struct text text = { name, sizeof(name), 0 };

	text_char(&text, kind);
	text_number(&text, n);
	/* What takes the place of a file can't make us wait. */
	return (int)output_open_file(folder, name, O_RDONLY | O_NONBLOCK);
}

static int make_to(int folder, char kind, unsigned n)
{
	char name[16];
	struct text text = {name, sizeof(name), 0};

	text_char(&text, kind);
	text_number(&text, n);
	return (int)output_make_file(folder, name);
}

static int is_all(const uint8_t *p, uint64_t size, uint64_t wanted)
{
	const uint64_t *word = (const uint64_t *)(const void *)p;

	for (uint64_t i = 0; i < size / 8; i++)
		if (word[i] != wanted)
			return 0;
	return 1;
}

/* ---- chunks ---- */

/* Reads the head of a chunk. Returns 1 if it is one, 0, or -errno. */
static long read_chunk(int fd, uint64_t at, uint64_t room, struct trace_chunk *chunk)
{
	long n = read_at(fd, chunk, sizeof(*chunk), at);

	if (n < 0)
		return n;
	return n == sizeof(*chunk) && chunk->magic == TRACE_CHUNK_MAGIC && chunk->version == TRACE_VERSION &&
	       chunk->head_size >= sizeof(*chunk) && chunk->head_size <= room && chunk->size >= chunk->head_size && chunk->size <= room &&
	       chunk->used <= chunk->size;
}

/*
 * Copies the words of the chunk at hand, from its head's end up to `end`. *copied_to: how far it came; an unfinished
 * one has its token behind its events.
 */
static long copy_words(struct copy *c, const struct files *f, uint64_t at, uint64_t end, uint64_t *copied_to)
{
	uint64_t pos = c->chunk.head_size;

	while (pos < end) {
		uint64_t size = end - pos < PIECE ? end - pos : PIECE;
		long n = read_at(f->from, c->first, size, at + pos);
		if (n < 0)
			return n;
		n -= n % 8;
		if (n == 0 || (!c->chunk.used && is_all(c->first, (uint64_t)n, c->chunk.token)))
			break;
		long r = write_at(c, f->to, c->first, (uint64_t)n, at + pos);
		if (r)
			return r;
		pos += (uint64_t)n;
	}
	*copied_to = pos;
	return 0;
}

/* Compares what was copied with what is there now, and takes back what lies behind the first difference. */
static long settle_words(struct copy *c, const struct files *f, uint64_t at, uint64_t end)
{
	for (uint64_t pos = c->chunk.head_size; pos < end;) {
		uint64_t size = end - pos < PIECE ? end - pos : PIECE;
		long a = read_at(f->to, c->first, size, at + pos), b = read_at(f->from, c->second, size, at + pos);
		if (a < 0 || b < 0)
			return a < 0 ? a : b;
		uint64_t same = 0, most = (uint64_t)(a < b ? a : b) / 8;
		const uint64_t *x = (const uint64_t *)(const void *)c->first, *y = (const uint64_t *)(const void *)c->second;
		while (same < most && x[same] == y[same])
			same++;
		pos += same * 8;
		if (same == size / 8)
			continue;
		sys_fill_words(c->first, c->chunk.token, PIECE / 8);
		for (; pos < end; pos += size) {
			size = end - pos < PIECE ? end - pos : PIECE;
			long r = write_at(c, f->to, c->first, size, at + pos);
			if (r)
				return r;
		}
	}
	return 0;
}

/*
 * Copies the chunk of number seq, which lies at `at`. Returns 1, 0 if it was overwritten, or -errno. The head is written last: until then nothing is there.
 */
static long copy_chunk(struct copy *c, const struct files *f, uint64_t at, uint64_t seq, int newest)
{
	uint64_t end = 0;
	long r;

	for (int look = 0;; look++) {
		r = read_chunk(f->from, at, f->chunk, &c->chunk);
		if (r <= 0)
			return r;
		if (c->chunk.seq != seq)
			return 0;
		/* Its thread is about to finish it, since a newer one is there; unless it was taken from it, and never will be. */
		if (newest || c->chunk.used || look == LOOKS)
			break;
		sys_call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
	}
	end = c->chunk.used ? c->chunk.used : c->chunk.size;
	r = copy_words(c, f, at, end, &end);
	if (r == 0 && !c->chunk.used)
		r = settle_words(c, f, at, end);
	if (r)
		return r;
	r = read_chunk(f->from, at, f->chunk, &c->behind);
	if (r < 0)
		return r;
	if (r == 0 || c->behind.seq != seq) {
		/* Without a head nothing is there; the words are given back if the file system can. */
		sys_call(__NR_fallocate, f->to, 3 /* PUNCH_HOLE | KEEP_SIZE */, (long)at, (long)f->chunk, 0, 0);
		return 0;
	}
	r = write_at(c, f->to, &c->chunk, sizeof(c->chunk), at);
	if (r)
		return r;
	c->copied->chunks++;
	return 1;
}

/* ---- files ---- */

/* Both get the size that the file has now. */
static long take_size(struct files *f)
{
	long size = sys_call(__NR_lseek, f->from, 0, SEEK_END, 0, 0, 0);

	if (size < 0)
		return size;
	f->size = (uint64_t)size;
	/* What was copied before is gone. */
	long r = sys_call(__NR_ftruncate, f->to, 0, 0, 0, 0, 0);
	return r ? r : sys_call(__NR_ftruncate, f->to, size, 0, 0, 0, 0);
}

/* Opens both ends, and lists nothing yet. Returns 1, 0 if there is no such file, or -errno. */
static long open_files(struct copy *c, struct files *f, char kind, unsigned n, uint64_t chunk)
{
	f->to = -1;
	f->chunk = chunk;
	f->from = open_from(c->from, kind, n);
	if (f->from < 0)
		return f->from == -ENOENT ? 0 : f->from;
	f->to = make_to(c->to, kind, n);
	if (f->to < 0)
		return f->to;
	long r = take_size(f);
	return r ? r : 1;
}

static void close_files(struct files *f)
{
	if (f->from >= 0)
		sys_close(f->from);
	if (f->to >= 0)
		sys_close(f->to);
}

static uint64_t place_at(const struct files *f, unsigned place)
{
	return (2 * (uint64_t)place + 1) * f->chunk;
}

/* Lists the places of a ring. Returns the newest number, NO_SEQ if there is none. */
static uint64_t look_at_ring(struct copy *c, const struct files *f)
{
	uint64_t newest = NO_SEQ;

	for (unsigned i = 0; i < f->places; i++) {
		c->seq[i] = NO_SEQ;
		if (read_chunk(f->from, place_at(f, i), f->chunk, &c->chunk) <= 0)
			continue;
		c->seq[i] = c->chunk.seq;
		if (newest == NO_SEQ || c->chunk.seq > newest)
			newest = c->chunk.seq;
	}
	return newest;
}

/*
 * The same, so that the list lacks none from the newest back to the first that is gone. Twice: while the places are
 * looked at, the thread may overwrite one that was looked at and then one that was not, whose chunk is the newer. What
 * is not newer than the newest of the first look was all there when the second began.
 */
static uint64_t list_ring(struct copy *c, struct files *f)
{
	/* The last one may be cut behind its events. */
	uint64_t places = (f->size + f->chunk - 1) / (2 * f->chunk);

	f->places = places < PLACES_MAX ? (unsigned)places : PLACES_MAX;
	uint64_t newest = look_at_ring(c, f);
	look_at_ring(c, f);
	return newest;
}

/*
 * From the newest chunk backwards, until one is gone; counts those that are. *oldest: of those that were copied, NO_SEQ
 * if none was.
 */
static long copy_ring(struct copy *c, const struct files *f, uint64_t newest, uint64_t *oldest, unsigned *gone)
{
	*oldest = NO_SEQ;
	*gone = 0;
	for (uint64_t seq = newest, below; seq != NO_SEQ; seq = below) {
		unsigned at = f->places;
		below = NO_SEQ;
		for (unsigned i = 0; i < f->places; i++) {
			if (c->seq[i] == seq)
				at = i;
			else if (c->seq[i] != NO_SEQ && c->seq[i] < seq && (below == NO_SEQ || c->seq[i] > below))
				below = c->seq[i];
		}
		long r = at < f->places ? copy_chunk(c, f, place_at(f, at), seq, seq == newest) : 0;
		if (r < 0)
			return r;
		if (r == 0) {
			for (unsigned i = 0; i < f->places; i++)
				*gone += c->seq[i] != NO_SEQ && c->seq[i] <= seq;
			return 0;
		}
		*oldest = seq;
	}
	return 0;
}

/*
 * Of what the thread has written to t<n>, the chunks up to the newest that are not copied from its ring. Looked at
 * behind that: what is gone there is here by then, in mode stream.
 */
static long copy_file(struct copy *c, const struct files *f, uint64_t newest, uint64_t oldest)
{
	for (uint64_t at = 0; at < f->size; at += f->chunk) {
		if (read_chunk(f->from, at, f->chunk, &c->chunk) <= 0 || c->chunk.seq > newest ||
			c->chunk.seq >= oldest)
			continue;
		long r = copy_chunk(c, f, at, c->chunk.seq, 0);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Counters: of 8 bytes each, so each is whole. */
static long copy_counts(struct copy *c, const struct files *f)
{
	for (uint64_t at = 0; at < f->size; at += PIECE) {
		long n = read_at(f->from, c->first, PIECE, at);
		if (n <= 0)
			return n;
		/* Zeros stay a hole. */
		if (!is_all(c->first, (uint64_t)n, 0)) {
			long r = write_at(c, f->to, c->first, (uint64_t)n, at);
			if (r)
				return r;
		}
	}
	return 0;
}

/* t<n>, as it is now. Returns 1, 0 if there is none, or -errno. */
static long copy_stream(struct copy *c, unsigned n, uint64_t newest, uint64_t oldest)
{
	struct files t = { -1, -1, 0, 0, 0 };
	long r = open_files(c, &t, 't', n, c->head.chunk_size);

	if (r > 0) {
		long bad = copy_file(c, &t, newest, oldest);
		r = bad ? bad : r;
	}
	close_files(&t);
	return r;
}

/* Copies the chunks of thread record n, whose ring is open. */
static long copy_chunks(struct copy *c, struct files *r, unsigned n)
{
	uint64_t chunks = c->copied->chunks, newest, oldest;
	unsigned gone = 0;
	long bad;

	/*
	 * A thread at full speed may overwrite all while we wait for a processor: then all begins anew. A few times,
	 * too, if it was more than half: that is luck.
	 */
	for (int again = 0;; again++) {
		if (again && (bad = take_size(r)))
			return bad;
		c->copied->chunks = chunks;
		/* What is begun behind these looks is not copied: then nothing is missing in between. */
		newest = list_ring(c, r);
		if (newest == NO_SEQ)
			return 0;
		bad = copy_ring(c, r, newest, &oldest, &gone);
		if (bad)
			return bad;
		int nothing = oldest == NO_SEQ;
		if (again == (nothing ? LOOKS : FEW) || (c->head.mode == TRACE_MODE_STREAM && !nothing) ||
			(!nothing && gone * 2 <= r->places))
			break;
	}
	c->copied->gone += c->head.mode == TRACE_MODE_RING ? gone : 0;
	bad = copy_stream(c, n, newest, oldest);
	return bad < 0 ? bad : 0;
}

/* Copies the files of thread record n. Returns 1, 0 if it has none, or -errno. */
static long copy_thread(struct copy *c, unsigned n)
{
	struct files r = { -1, -1, 0, 0, 0 }, k = r;
	uint64_t chunks = c->copied->chunks;
	long has_r = open_files(c, &r, 'r', n, c->head.chunk_size);
	long has_k = has_r < 0 ? 0 : open_files(c, &k, 'c', n, 0);
	long bad = has_r < 0 ? has_r : has_k < 0 ? has_k : 0;

	if (!bad && has_r)
		bad = copy_chunks(c, &r, n);
	if (!bad && has_k)
		bad = copy_counts(c, &k);
	close_files(&r);
	close_files(&k);
	c->copied->threads += c->copied->chunks != chunks || has_k > 0;
	return bad ? bad : has_r | has_k;
}

/* ---- meta ---- */

/* The head, with a pair of times that held still: a writer that was killed in the middle of it leaves none. */
static long read_head(struct copy *c, int fd)
{
	for (int look = 0; look < LOOKS; look++) {
		long n = read_at(fd, &c->head, sizeof(c->head), 0);
		if (n < 0)
			return n;
		if (n != sizeof(c->head) || !sys_same(c->head.magic, TRACE_MAGIC, sizeof(c->head.magic)) ||
			c->head.version != TRACE_VERSION || c->head.head_size < sizeof(c->head) || c->head.head_size > TRACE_HEAD_SIZE ||
			c->head.chunk_size < TRACE_CHUNK_MIN || c->head.chunk_size > TRACE_CHUNK_MAX ||
			(c->head.ring_chunk && (c->head.ring_chunk < 4096 || c->head.ring_chunk > TRACE_CHUNK_MAX)))
			return -EBADMSG;
		uint32_t seq = c->head.last_seq;
		n = read_at(fd, c->second, sizeof(c->head), 0);
		if (n == sizeof(c->head) && !(seq & 1) && ((struct trace_head *)(void *)c->second)->last_seq == seq)
			return 0;
	}
	sys_fill(&c->head.last, 0, sizeof(c->head.last));
	c->head.last_seq = 0;
	return 0;
}

static long copy_meta(struct copy *c, int from)
{
	long r = read_head(c, from);
	if (r)
		return r;
	int to = (int)output_make_file(c->to, "meta");
	if (to < 0)
		return to;
	uint64_t end = c->head.used;
	for (uint64_t at = TRACE_HEAD_SIZE; at < end && r == 0; at += PIECE) {
		uint64_t size = end - at < PIECE ? end - at : PIECE;
		long n = read_at(from, c->first, size, at);
		r = n < 0 ? n : write_at(c, to, c->first, (uint64_t)n, at);
		if (n >= 0 && (uint64_t)n < size) /* cut off: readers say so */
			break;
	}
	if (r == 0)
		r = write_at(c, to, &c->head, sizeof(c->head), 0);
	if (r == 0 && end <= TRACE_HEAD_SIZE)
		r = sys_call(__NR_ftruncate, to, TRACE_HEAD_SIZE, 0, 0, 0, 0);
	sys_close(to);
	return r;
}

/* ---- all ---- */

static long copy_all(struct copy *c)
{
	int meta = (int)output_open_file(c->from, "meta", O_RDONLY | O_NONBLOCK);
	if (meta < 0)
		return meta;
	long r = read_head(c, meta);
	/* Threads may begin meanwhile; so may files be missing of those that did not write yet. */
	uint32_t threads = c->head.threads < THREADS_MAX ? c->head.threads : THREADS_MAX;
	for (unsigned n = 0; r >= 0 && n < THREADS_MAX; n++) {
		r = copy_thread(c, n);
		if (r == 0 && n >= threads)
			break;
	}
	if (r >= 0)
		r = copy_meta(c, meta);
	sys_close(meta);
	return r;
}

long snapshot_copy(int from, int to, struct snapshot_copied *copied)
{
	struct copy *c = sys_mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*copied = (struct snapshot_copied){ 0, 0, 0, 0 };
	if (sys_is_error(c))
		return (long)(intptr_t)c;
	c->copied = copied;
	c->from = from;
	c->to = to;
	long r = copy_all(c);
	sys_munmap(c, sizeof(*c));
	return r < 0 ? r : 0;
}
