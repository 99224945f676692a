/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/pack/write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/thread.h"
#include "tool/base/whole.h"
#include "tool/pack/block.h"
#include "tool/pack/sources.h"
#include "tool/read/compact.h"

int pack_failed(struct pack_write *write, int error, const char *name)
{
	if (!write->error) {
		write->error = error ? error : EIO;
		write->at = name ? strdup(name) : NULL;
	}
	return -1;
}

void pack_write_free(struct pack_write *write)
{
	for (size_t i = 0; i < write->sources; i++) {
		free(write->source[i].name);
		free(write->source[i].extent);
		free(write->source[i].slots.slot);
	}
	free(write->source);
	free(write->at);
}

/* ---- the file ---- */

static int put(struct pack_write *write, const void *from, size_t size)
{
	int error = whole_write(write->to, from, size, write->stream ? WHOLE_NEXT : write->packed);

	if (error)
		return pack_failed(write, error, NULL);
	write->packed += size;
	return 0;
}

/* A frame whose content is stored; size: a multiple of 8. */
static int put_frame(struct pack_write *write, struct pack_frame *frame, const void *content, size_t size)
{
	if (size > UINT32_MAX - 7)
		return pack_failed(write, EFBIG, NULL);
	frame->size = (uint32_t)size;
	pack_frame_stored(frame, content);
	return put(write, frame, sizeof(*frame)) || (size && put(write, content, size)) ? -1 : 0;
}

static size_t described(const struct pack_source *source)
{
	return sizeof(struct pack_member_head) + source->extents * sizeof(*source->extent) +
	       (strlen(source->name) + 7) / 8 * 8;
}

/* Returns where the description ends. */
static uint8_t *describe(const struct pack_source *source, uint8_t *to)
{
	struct pack_member_head head = { .size = source->size,
		.mode = source->mode,
		.name = (uint32_t)strlen(source->name),
		.extents = source->extents };
	size_t extents = source->extents * sizeof(*source->extent);

	memset(to, 0, described(source));
	memcpy(to, &head, sizeof(head));
	if (extents)
		memcpy(to + sizeof(head), source->extent, extents);
	memcpy(to + sizeof(head) + extents, source->name, head.name);
	return to + described(source);
}

static int put_members(struct pack_write *write)
{
	const struct pack_head head = { .magic = PACK_MAGIC, .version = PACK_VERSION, .head_size = sizeof(head) };
	int result = put(write, &head, sizeof(head));

	for (size_t i = 0; i < write->sources && !result; i++) {
		struct pack_frame frame = { .type = PACK_MEMBER, .member = (uint32_t)i };
		uint8_t *content = malloc(described(&write->source[i]));
		if (content) {
			describe(&write->source[i], content);
			result = put_frame(write, &frame, content, described(&write->source[i]));
		} else {
			result = pack_failed(write, ENOMEM, NULL);
		}
		free(content);
	}
	return result;
}

static int put_index(struct pack_write *write, const struct pack_place *place, size_t places)
{
	struct pack_index index = { .members = write->sources, .blocks = places };
	struct pack_frame frame = { .type = PACK_INDEX }, end = { .type = PACK_END, .offset = write->packed };
	size_t size = sizeof(index) + places * sizeof(*place);

	for (size_t i = 0; i < write->sources; i++)
		size += described(&write->source[i]);
	uint8_t *content = malloc(size), *at = content;
	if (!content)
		return pack_failed(write, ENOMEM, NULL);
	memcpy(at, &index, sizeof(index));
	at += sizeof(index);
	for (size_t i = 0; i < write->sources; i++)
		at = describe(&write->source[i], at);
	if (places)
		memcpy(at, place, places * sizeof(*place));
	int result = put_frame(write, &frame, content, size);
	free(content);
	return result ? result : put_frame(write, &end, NULL, 0);
}

/* ---- blocks ---- */

/* A block that is to be packed. */
struct piece {
	uint64_t number; /* 0, 1, ...: its turn */
	size_t source, extent;
	uint64_t begin, end; /* in the file */
};

struct work {
	struct pack_write *write;
	pthread_mutex_t lock; /* of all that follows, and of what write->error, write->at and write->packed are */
	pthread_cond_t written;
	struct piece next;
	bool over; /* there is no next one */
	uint64_t turn; /* number of the block that is to be written next */
	struct pack_place *place;
	size_t places;
	uint64_t done, all; /* bytes */
};

/*
 * Moves to the next block: what of the file lies in one window of write->block bytes, from the first byte of data to
 * the last.
 */
static void step(struct work *work)
{
	const struct pack_write *write = work->write;
	struct piece *next = &work->next;
	uint64_t from = next->end;

	for (; next->source < write->sources; next->source++, next->extent = 0, from = 0) {
		const struct pack_source *source = &write->source[next->source];
		while (next->extent < source->extents && source->extent[next->extent].end <= from)
			next->extent++;
		if (next->extent == source->extents)
			continue;
		next->begin = source->extent[next->extent].begin > from ? source->extent[next->extent].begin : from;
		uint64_t window = (next->begin / write->block + 1) * write->block;
		for (size_t i = next->extent; i < source->extents && source->extent[i].begin < window; i++)
			next->end = source->extent[i].end < window ? source->extent[i].end : window;
		return;
	}
	work->over = true;
}

static bool take(struct work *work, struct piece *piece)
{
	bool taken;

	pthread_mutex_lock(&work->lock);
	taken = !work->over && !work->write->error;
	if (taken) {
		*piece = work->next;
		work->next.number++;
		step(work);
	}
	pthread_mutex_unlock(&work->lock);
	return taken;
}

static void fail(struct work *work, int error, const char *name, bool changed)
{
	pthread_mutex_lock(&work->lock);
	if (!work->write->error)
		work->write->changed = changed;
	pack_failed(work->write, error, name);
	pthread_cond_broadcast(&work->written);
	pthread_mutex_unlock(&work->lock);
}

/* Reads the piece. Returns false if that fails, which is noted. */
static bool get(struct work *work, const struct piece *piece, uint8_t *to)
{
	const struct pack_source *source = &work->write->source[piece->source];
	int fd = openat(work->write->folder, source->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct compact file = { .fd = fd };
	int error = fd < 0 ? errno : compact_open(&file, fd);
	size_t size = piece->end - piece->begin;
	bool good = !error && compact_size(&file) == source->file;

	if (good && source->slots.count)
		good = slots_read(&source->slots, &file, piece->begin, piece->end, to);
	else if (good)
		good = compact_read_most(&file, to, size, piece->begin, &error) == size;
	if (!good)
		fail(work, error ? error : ESTALE, source->name, !error);
	compact_close(&file);
	if (fd >= 0)
		close(fd);
	return good;
}

/* Writes a block that was packed, when its turn has come. */
static void write_block(struct work *work, const struct piece *piece, const struct pack_packer *packer, size_t size)
{
	struct pack_write *write = work->write;
	struct pack_frame frame;

	memcpy(&frame, packer->out, sizeof(frame));
	pthread_mutex_lock(&work->lock);
	while (work->turn != piece->number && !write->error)
		pthread_cond_wait(&work->written, &work->lock);
	if (!write->error && !(work->places & (work->places + 1))) {
		struct pack_place *more = reallocarray(work->place, 2 * work->places + 2, sizeof(*more));
		if (more)
			work->place = more;
		else
			pack_failed(write, ENOMEM, NULL);
	}
	if (!write->error) {
		work->place[work->places++] = (struct pack_place){ .at = write->packed,
			.offset = piece->begin,
			.member = (uint32_t)piece->source,
			.size = frame.size,
			.raw = frame.raw,
			.pieces = frame.pieces };
		put(write, packer->out, size);
		work->turn++;
		work->done += frame.raw;
		if (write->progress)
			write->progress(work->done < work->all ? work->done : work->all, work->all);
	}
	pthread_cond_broadcast(&work->written);
	pthread_mutex_unlock(&work->lock);
}

static void *run(void *argument)
{
	struct work *work = argument;
	struct pack_packer packer = { .level = work->write->level };
	struct piece piece;

	if (!pack_packer_begin(&packer, work->write->block))
		fail(work, ENOMEM, NULL, false);
	while (take(work, &piece) && get(work, &piece, packer.content))
		write_block(work, &piece, &packer,
			pack_block(&packer, (uint32_t)piece.source, piece.begin, piece.end - piece.begin));
	pack_packer_end(&packer);
	return NULL;
}

/* Runs the threads; the caller's is one of them. */
static void run_all(struct work *work, unsigned jobs)
{
	pthread_t thread[PACK_JOBS_MOST];
	unsigned n = 0;

	/* With fewer threads it takes longer. */
	while (n + 1 < jobs && n < PACK_JOBS_MOST && !tool_thread(&thread[n], run, work))
		n++;
	run(work);
	while (n)
		pthread_join(thread[--n], NULL);
}

int pack_write(struct pack_write *write)
{
	struct work work = {
		.write = write, .lock = PTHREAD_MUTEX_INITIALIZER, .written = PTHREAD_COND_INITIALIZER
	};

	if (pack_sources_find(write) || put_members(write))
		return -1;
	for (size_t i = 0; i < write->sources; i++)
		for (size_t k = 0; k < write->source[i].extents; k++)
			work.all += write->source[i].extent[k].end - write->source[i].extent[k].begin;
	step(&work);
	run_all(&work, write->jobs);
	if (!write->error)
		put_index(write, work.place, work.places);
	free(work.place);
	return write->error ? -1 : 0;
}
