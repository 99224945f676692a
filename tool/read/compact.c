/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* SEEK_DATA */
#include "tool/read/compact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/search.h"
#include "tool/base/whole.h"

/* Makes parts of the extents. have: bytes that there are. Returns false: they can't be so. */
static bool take_extents(
	struct compact *file, const struct compact_head *head, const struct compact_extent *extent, uint64_t have)
{
	uint64_t at = sizeof(*head) + head->extents * sizeof(*extent), last = 0;

	for (uint64_t i = 0; i < head->extents; i++) {
		uint64_t begin = extent[i].begin, end = extent[i].end, there = have > at ? have - at : 0;
		if (begin < last || end <= begin || end > head->size)
			return false;
		file->part[i] = (struct compact_part){ begin, end, at };
		/* Cut off: as if what it stands for was. */
		if (there < end - begin) {
			file->size = file->part[i].end = begin + there;
			file->parts = i + (there > 0);
			break;
		}
		last = end;
		at += end - begin;
	}
	return true;
}

int compact_open(struct compact *file, int fd)
{
	struct compact_extent *extent = NULL;
	struct compact_head head;
	struct stat st;
	int error = 0;

	*file = (struct compact){ .fd = fd };
	if (!whole_read(fd, &head, sizeof(head), 0) || memcmp(head.magic, COMPACT_MAGIC, sizeof(head.magic)) ||
		head.version != COMPACT_VERSION || head.head_size != sizeof(head) || head.size > INT64_MAX ||
		fstat(fd, &st) || head.extents > ((uint64_t)st.st_size - sizeof(head)) / sizeof(*extent))
		return 0;
	/* One more: not of size 0. */
	extent = reallocarray(NULL, head.extents + 1, sizeof(*extent));
	file->part = reallocarray(NULL, head.extents + 1, sizeof(*file->part));
	if (!extent || !file->part)
		error = ENOMEM;
	file->size = head.size;
	file->parts = head.extents;
	if (!error && whole_read(fd, extent, head.extents * sizeof(*extent), sizeof(head)))
		file->is = take_extents(file, &head, extent, (uint64_t)st.st_size);
	free(extent);
	if (!file->is)
		compact_close(file);
	return error;
}

void compact_close(struct compact *file)
{
	free(file->part);
	*file = (struct compact){ .fd = file->fd };
}

/* The first part that ends behind the place. */
static uint64_t find_part(const struct compact *file, uint64_t at)
{
	return SEARCH(i, 0, file->parts, file->part[i].end <= at);
}

size_t compact_read_most(const struct compact *file, void *to, size_t size, uint64_t at, int *error)
{
	size_t done = 0;

	if (!file->is)
		return whole_read_most(file->fd, to, size, at, error);
	*error = 0;
	if (at >= file->size)
		return 0;
	size = file->size - at < size ? file->size - at : size;
	for (uint64_t i = find_part(file, at); done < size; i++) {
		const struct compact_part *part = i < file->parts ? &file->part[i] : NULL;
		uint64_t begin = part ? part->begin : UINT64_MAX, place = at + done;
		size_t left = size - done;
		if (begin > place) {
			size_t hole = begin - place < left ? begin - place : left;
			memset((char *)to + done, 0, hole);
			done += hole;
			left -= hole;
			place += hole;
		}
		if (!left)
			break;
		left = part->end - place < left ? part->end - place : left;
		size_t have = whole_read_most(file->fd, (char *)to + done, left, part->at + (place - begin), error);
		done += have;
		if (have < left)
			break;
	}
	return done;
}

bool compact_read(const struct compact *file, void *to, size_t size, uint64_t at)
{
	int error;

	return compact_read_most(file, to, size, at, &error) == size;
}

uint64_t compact_size(const struct compact *file)
{
	struct stat st;

	if (file->is)
		return file->size;
	return fstat(file->fd, &st) ? 0 : (uint64_t)st.st_size;
}

uint64_t compact_data(const struct compact *file, uint64_t at)
{
	if (!file->is) {
		off_t data = lseek(file->fd, (off_t)at, SEEK_DATA);
		return data >= 0 ? (uint64_t)data : errno == ENXIO ? UINT64_MAX : at;
	}
	uint64_t i = find_part(file, at);
	if (i == file->parts)
		return UINT64_MAX;
	return file->part[i].begin > at ? file->part[i].begin : at;
}

uint64_t compact_hole(const struct compact *file, uint64_t at)
{
	if (!file->is) {
		off_t hole = lseek(file->fd, (off_t)at, SEEK_HOLE);
		return hole > (off_t)at ? (uint64_t)hole : UINT64_MAX;
	}
	uint64_t i = find_part(file, at);
	return i < file->parts && file->part[i].begin <= at ? file->part[i].end : UINT64_MAX;
}
