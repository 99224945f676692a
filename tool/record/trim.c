/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/trim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h> /* OVERLAYFS_SUPER_MAGIC */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "format/stream.h"
#include "tool/read/api/api.h"
#include "tool/read/family.h"
#include "tool/read/folder.h"

#define BLOCK (64u << 10)
#define PAGE  4096ull

/* Bytes that shall be kept. */
struct range {
	uint64_t begin, end;
};

struct trim {
	int folder, fd;	/* fd: of meta */
	struct read_family *family;
	uint64_t size;	/* of meta */
	struct range *range;
	size_t ranges;
	bool no_memory; /* not all that shall be kept is in `range` */
	/* The thread's own file that was used last. */
	int file;
	uint32_t file_process, file_number;
};

/*
 * Does any process have the file open or mapped? A store after the end of a truncated mapping is a SIGBUS, so a user of
 * the file must never be missed: the kernel grants a write lease only to the file's sole user. On file systems without
 * leases the caller's own test (is there such a process?) has to do; also on overlayfs, where a lease does not see
 * mappings.
 */
enum use { USE_NONE, USE_SOME, USE_UNKNOWN };

static enum use find_use(int fd)
{
	/*
	 * If a process opens it in this moment the kernel tells us by a signal: this thread alone, not any that has not
	 * blocked it. Not by SIGIO, which would end us, but by one that does nothing.
	 */
	struct f_owner_ex own = { F_OWNER_TID, gettid() };

	fcntl(fd, F_SETOWN_EX, &own);
	fcntl(fd, F_SETSIG, SIGURG);
	if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0) {
		fcntl(fd, F_SETLEASE, F_UNLCK);
		return USE_NONE;
	}
	return errno == EAGAIN ? USE_SOME : USE_UNKNOWN;
}

bool record_trim_is_over(int folder)
{
	int fd = openat(folder, "meta", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct statfs fs;
	struct stat st;
	bool over;

	if (fd < 0)
		return false;
	over = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !fstatfs(fd, &fs) &&
	       fs.f_type != OVERLAYFS_SUPER_MAGIC && find_use(fd) == USE_NONE;
	close(fd);
	return over;
}

static void keep(struct trim *trim, uint64_t begin, uint64_t end)
{
	end = end < trim->size ? end : trim->size;
	if (begin >= end)
		return;
	if (!(trim->ranges & (trim->ranges + 1))) {
		struct range *range = reallocarray(trim->range, 2 * trim->ranges + 2, sizeof(*range));
		trim->no_memory |= !range;
		trim->range = range ? range : trim->range;
	}
	if (!trim->no_memory)
		trim->range[trim->ranges++] = (struct range){ begin, end };
}

/* The end of the last data in from...to, a multiple of 8; `to` if holes can't be seen, `from` if there is no data. */
static uint64_t last_data(const struct trim *trim, uint64_t from, uint64_t to)
{
	uint64_t end = from;

	for (off_t at = (off_t)from; (uint64_t)at < to; end = (uint64_t)at) {
		at = lseek(trim->fd, at, SEEK_DATA);
		if (at < 0)
			return errno == ENXIO ? end : to;
		if ((uint64_t)at >= to)
			return end;
		at = lseek(trim->fd, at, SEEK_HOLE);
		if (at < 0)
			return to;
	}
	return end / 8 * 8 < to ? end / 8 * 8 : to;
}

/*
 * The end of the last word in from...to that is neither in a hole nor `token`; `from` if there is no such word.
 * Multiples of 8. 0 on error.
 */
static uint64_t last_word(const struct trim *trim, uint64_t from, uint64_t to, uint64_t token)
{
	static uint64_t block[BLOCK / 8];

	/* Else the kernel would have to make pages of the holes that are read. */
	to = last_data(trim, from, to);
	while (to > from) {
		uint64_t size = to - from < BLOCK ? to - from : BLOCK;

		to -= size;
		if (pread(trim->fd, block, size, (off_t)to) != (ssize_t)size)
			return 0;
		for (uint64_t i = size / 8; i-- > 0;)
			if (block[i] != token)
				return to + (i + 1) * 8;
	}
	return from;
}

/*
 * The end of the last event of a chunk whose last word that is not 0 ends at `end`: what follows may be zeros of its
 * payload. 0 on error.
 */
static uint64_t last_event(const struct trim *trim, uint64_t from, uint64_t end, uint64_t limit, uint64_t token)
{
	static uint64_t block[BLOCK / 8];
	uint64_t have = from, next = from;

	while (next < end) {
		uint64_t at = next, size = end - at < BLOCK ? end - at : BLOCK;

		if (pread(trim->fd, block, size, (off_t)at) != (ssize_t)size)
			return 0;
		have = at + size;
		while (next < have) {
			uint64_t word = block[(next - at) / 8];
			next += 8 + (word == token ? 0 : 8ull * TRACE_PAYLOAD_OF(word));
		}
	}
	return next < limit ? next : limit;
}

/* Does the thread's own file have the same chunk? A chunk's head is written last. */
static bool has_copy(struct trim *trim, const struct trace_chunk *chunk)
{
	struct trace_chunk copy;
	char name[READ_FAMILY_NAME_SIZE];

	if (!chunk->used || !chunk->copied || chunk->copied > UINT32_MAX)
		return false;
	if (trim->file < 0 || trim->file_process != chunk->process || trim->file_number != chunk->thread) {
		if (trim->file >= 0)
			close(trim->file);
		read_family_file_name(name, 't', chunk->thread, chunk->process);
		trim->file = openat(trim->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		trim->file_process = chunk->process;
		trim->file_number = chunk->thread;
	}
	off_t at = (off_t)stream_at(chunk->copied);
	return trim->file >= 0 && pread(trim->file, &copy, sizeof(copy), at) == sizeof(copy) &&
	       copy.magic == TRACE_CHUNK_MAGIC && copy.seq == chunk->seq && copy.process == chunk->process &&
	       copy.thread == chunk->thread && copy.used == chunk->used && copy.lost == chunk->lost;
}

/* Returns false if it can't tell what the place holds. */
static bool keep_chunk(struct trim *trim, const struct read_family_place *place)
{
	uint64_t limit = trim->family->place_size / 2, at = place->place * trim->family->place_size + limit, end;
	struct trace_chunk head;

	if (at >= trim->size)
		return true;
	limit = trim->size - at < limit ? (trim->size - at) / 8 * 8 : limit;
	if (limit < sizeof(head) || pread(trim->fd, &head, sizeof(head), (off_t)at) != sizeof(head))
		return false;
	if (!head.magic)
		return true; /* its thread was about to begin it, and is gone */
	if (head.magic != TRACE_CHUNK_MAGIC || head.version != TRACE_VERSION || head.head_size < sizeof(head) ||
		head.head_size % 8 || head.head_size > limit || head.used > limit || head.used % 8 ||
		head.process != place->process || head.thread != place->number)
		return false;
	if (has_copy(trim, &head))
		return true;
	end = head.used ? at + head.used : last_word(trim, at + head.head_size, at + limit, head.token);
	if (!head.used && end)
		end = last_event(trim, at + head.head_size, end, at + limit, head.token);
	keep(trim, at, end);
	return end != 0;
}

static bool keep_counts(struct trim *trim, const struct read_family_place *place)
{
	uint64_t size = trim->family->place_size, at = read_family_half(place, size), end = (place->place + 1) * size;

	if (at >= trim->size)
		return true;
	end = last_word(trim, at, end < trim->size ? end : trim->size / 8 * 8, 0);
	keep(trim, at, end);
	return end != 0;
}

/* The chunk, or the counters, beside a head, if there are any. */
static bool keep_beside(struct trim *trim, const struct read_family_place *head)
{
	struct trace_chunk chunk;
	uint32_t magic;
	uint64_t at = head->place * trim->family->place_size + trim->family->place_size / 2;

	/* What was cut off was not there. */
	if (at + sizeof(struct trace_counts) > trim->size)
		return true;
	if (pread(trim->fd, &magic, sizeof(magic), (off_t)at) != sizeof(magic))
		return false;
	if (magic == TRACE_COUNTS_MAGIC)
		return keep_counts(trim, &(struct read_family_place){ head->place, 0, head->place,
						 TRACE_PLACE_COUNTS });
	if (at + sizeof(chunk) > trim->size)
		return true;
	if (pread(trim->fd, &chunk, sizeof(chunk), (off_t)at) != sizeof(chunk))
		return false;
	return keep_chunk(trim, &(struct read_family_place){ head->place, chunk.thread, head->place,
					TRACE_PLACE_CHUNK });
}

static bool keep_records(struct trim *trim, const struct read_family_place *place)
{
	const struct read_process *process = read_process_at(trim->family, place->place);
	uint64_t offset, room;

	if (!process)
		return false;
	keep(trim, read_process_offset(process), read_process_offset(process) + sizeof(process->head));
	/* With the word before them: the file must not end before they begin, though there are none. */
	for (uint64_t pos = process->head.head_size - 8; pos < process->head.used; pos += room) {
		if (!read_process_locate(process, pos, &offset, &room))
			return false;
		room = room < process->head.used - pos ? room : process->head.used - pos;
		keep(trim, offset, offset + room);
	}
	return true;
}

static bool keep_all(struct trim *trim)
{
	const struct read_family *family = trim->family;

	for (uint32_t at = 0, n; at < family->end; at += n) {
		uint64_t words = trace_word_at(&family->directory, at);
		n = trace_words_together(&family->directory, at, family->end - at);
		keep(trim, words, words + 8ull * n);
	}
	for (uint32_t i = 0; i < family->places.count; i++) {
		const struct read_family_place *place = &family->places.place[i];

		if (place->what == TRACE_PLACE_CHUNK ? !keep_chunk(trim, place) :
			place->what == TRACE_PLACE_COUNTS ? !keep_counts(trim, place) :
			place->what == TRACE_PLACE_HEAD && !(keep_records(trim, place) && keep_beside(trim, place)))
			return false;
	}
	/* Place 0 may have no word yet. */
	const struct read_family_place first = { 0 };
	return keep_records(trim, &first) && keep_beside(trim, &first) && !trim->no_memory;
}

static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/*
 * If holes can't be made it stays as it is. Blocks that were never written to are no data, so it can't be seen whether
 * there are some.
 */
static void give_back(const struct trim *trim, uint64_t begin, uint64_t end)
{
	begin = (begin + PAGE - 1) & ~(PAGE - 1);
	end &= ~(PAGE - 1);
	if (begin < end)
		fallocate(trim->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin, (off_t)(end - begin));
}

/* Returns 0 or -1. */
static int give_all_back(struct trim *trim)
{
	uint64_t end = 0;

	qsort(trim->range, trim->ranges, sizeof(*trim->range), by_begin);
	for (size_t i = 0; i < trim->ranges; i++) {
		if (trim->range[i].begin > end)
			give_back(trim, end, trim->range[i].begin);
		end = trim->range[i].end > end ? trim->range[i].end : end;
	}
	/* The size is written first: a file must never be shorter than that. */
	if (trim->family->head.size &&
		pwrite(trim->fd, &end, sizeof(end), offsetof(struct trace_head, size)) != sizeof(end))
		return -1;
	return ftruncate(trim->fd, (off_t)end);
}

long long record_trim(int folder, struct read_family *family)
{
	struct trim trim = { .folder = folder, .family = family, .file = -1 };
	struct stat before, after;
	long long given = -1;

	trim.fd = family->place_size ? openat(folder, "meta", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	if (trim.fd < 0)
		return -1;
	/* Our own descriptor would count. */
	read_file_rest(family->meta);
	/* What was read and what is cut are one file, whatever was put in its place. */
	if (!fstat(trim.fd, &before) && S_ISREG(before.st_mode) && read_file_is(family->meta, &before) &&
		find_use(trim.fd) != USE_SOME) {
		trim.size = (uint64_t)before.st_size;
		if (keep_all(&trim) && !give_all_back(&trim) && !fstat(trim.fd, &after))
			given = (before.st_blocks - after.st_blocks) * 512ll;
	}
	if (trim.file >= 0)
		close(trim.file);
	close(trim.fd);
	free(trim.range);
	if (trim.no_memory || family->damage->no_memory)
		return RECORD_TRIM_NO_MEMORY;
	return given < 0 ? -1 : given;
}

long long record_trim_trace(int folder, struct xaudit_read_trace *trace)
{
	return record_trim(folder, trace->folder->family[0]);
}
