/* SPDX-License-Identifier: MIT */
#include "tool/read/pack/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/search.h"
#include "tool/read/damage/memory.h"
#include "tool/read/pack/cache.h"
#include "tool/read/pack/index.h"

static bool get_head(int fd, struct pack_head *head)
{
	return pread(fd, head, sizeof(*head), 0) == sizeof(*head) &&
	       !memcmp(head->magic, PACK_MAGIC, sizeof(head->magic));
}

bool pack_is(int fd)
{
	struct pack_head head;

	return get_head(fd, &head);
}

struct pack *pack_open(int fd, const char *path, struct read_damage *damage, const char **why)
{
	struct pack *pack = read_memory_zeroed(damage, 1, sizeof(*pack));
	struct pack_head head;
	struct stat st;

	*why = NULL;
	if (!pack)
		return NULL;
	if (fstat(fd, &st) || !get_head(fd, &head))
		*why = "this is no packed trace";
	else if (head.version != PACK_VERSION || head.head_size != sizeof(head))
		*why = "it was packed by another version than this xaudit reads: use the xaudit that packed it";
	if (!*why) {
		pack->damage = damage;
		pack->path = read_memory_text(damage, path, strlen(path));
		pack->reader = pack_reader_open(fd, (uint64_t)st.st_size);
		damage->no_memory |= !pack->reader;
	}
	if (*why || damage->no_memory)
		goto bad;
	pack_index_read(pack);
	if (!damage->no_memory)
		return pack;
bad:
	/* The descriptor stays the caller's. */
	if (pack->reader)
		pack->reader->fd = -1;
	pack_close(pack);
	return NULL;
}

void pack_close(struct pack *pack)
{
	if (!pack)
		return;
	if (pack->reader)
		pack_reader_close(pack->reader);
	for (size_t i = 0; i < pack->members; i++) {
		free(pack->member[i].name);
		free(pack->member[i].extent);
	}
	free(pack->member);
	free(pack->block);
	free(pack->path);
	free(pack);
}

int pack_descriptor(const struct pack *pack)
{
	return pack->reader->fd;
}

/* ---- members ---- */

/* The first member that is not before the name. */
static size_t find_place(const struct pack *pack, const char *name)
{
	return SEARCH(i, 0, pack->members, strcmp(pack->member[i].name, name) < 0);
}

const struct pack_member *pack_find(const struct pack *pack, const char *name)
{
	size_t i = find_place(pack, name);

	return i < pack->members && !strcmp(pack->member[i].name, name) ? &pack->member[i] : NULL;
}

bool pack_is_in(const struct pack_member *member, const char *folder)
{
	size_t length = strlen(folder);

	return !length || (!strncmp(member->name, folder, length) && member->name[length] == '/');
}

size_t pack_first_in(const struct pack *pack, const char *folder)
{
	size_t i = find_place(pack, folder);

	/* Names such as "p1" and "p1.2" stand before "p1/meta". */
	while (i < pack->members && !pack_is_in(&pack->member[i], folder) &&
		!strncmp(pack->member[i].name, folder, strlen(folder)) &&
		(unsigned char)pack->member[i].name[strlen(folder)] < '/')
		i++;
	return i;
}

/* ---- extents ---- */

/* Index of the first extent that ends after the offset. */
static uint64_t find_extent(const struct pack_member *member, uint64_t offset)
{
	return SEARCH(i, 0, member->extents, member->extent[i].end <= offset);
}

uint64_t pack_data(const struct pack_member *member, uint64_t offset)
{
	uint64_t i = find_extent(member, offset), begin = i < member->extents ? member->extent[i].begin : UINT64_MAX;

	begin = begin > offset ? begin : offset;
	return i < member->extents && begin < member->size ? begin : UINT64_MAX;
}

uint64_t pack_hole(const struct pack_member *member, uint64_t offset)
{
	uint64_t i = find_extent(member, offset);

	return i < member->extents && member->extent[i].begin <= offset ? member->extent[i].end : offset;
}

uint64_t pack_disk(const struct pack_member *member, uint64_t begin, uint64_t end)
{
	uint64_t disk = 0;

	end = end < member->size ? end : member->size;
	for (uint64_t i = find_extent(member, begin); i < member->extents && member->extent[i].begin < end; i++) {
		uint64_t from = member->extent[i].begin, to = member->extent[i].end;
		from = from > begin ? from : begin;
		to = to < end ? to : end;
		disk += to > from ? to - from : 0;
	}
	return disk;
}

/* ---- bytes ---- */

/* Index in pack.block of the member's first block that ends after the offset; the one after its last: there is none. */
static size_t find_block(const struct pack *pack, const struct pack_member *member, uint64_t offset)
{
	const struct pack_block *block = pack->block;

	return SEARCH(i, member->first, member->first + member->blocks, block[i].offset + block[i].raw <= offset);
}

/* Bytes in no block: holes, up to `next`. Returns how many of `size` could be given; fewer: the next one is lost. */
static size_t read_hole(
	const struct pack_member *member, uint8_t *to, size_t size, uint64_t offset, uint64_t next)
{
	uint64_t data = pack_data(member, offset), end = data < next ? data : next;

	size = end - offset < size ? end - offset : size;
	memset(to, 0, size);
	return size;
}

/* Bytes of one block. Returns how many; 0: it is bad. */
static size_t read_block(struct pack *pack, struct pack_block *block, uint8_t *to, size_t size, uint64_t offset)
{
	uint64_t at = offset - block->offset;
	size_t n = block->raw - at < size ? block->raw - at : size;

	if (!block->cached && n == size && pack_load_piece(pack, block, to, n, at))
		return n;
	struct pack_cached *cached = pack_load(pack, block);
	if (!cached)
		return 0;
	memcpy(to, cached->data + at, n);
	if (at + n == block->raw)
		pack_done(pack->reader, cached);
	return n;
}

size_t pack_read(
	struct pack *pack, const struct pack_member *member, void *to, size_t size, uint64_t offset, int *error)
{
	size_t have = 0, n = 1, i = find_block(pack, member, offset), end = member->first + member->blocks;

	if (offset >= member->size)
		size = 0;
	else if (size > member->size - offset)
		size = member->size - offset;
	for (; have < size && n; have += n) {
		uint8_t *at = (uint8_t *)to + have;
		uint64_t pos = offset + have;
		while (i < end && pack->block[i].offset + pack->block[i].raw <= pos)
			i++;
		if (i < end && pack->block[i].offset <= pos)
			n = read_block(pack, &pack->block[i], at, size - have, pos);
		else
			n = read_hole(member, at, size - have, pos, i < end ? pack->block[i].offset : member->size);
	}
	if (error)
		*error = have < size ? EIO : 0;
	return have;
}

uint64_t pack_after_lost(const struct pack *pack, const struct pack_member *member, uint64_t offset)
{
	size_t i = find_block(pack, member, offset);
	const struct pack_block *block = i < member->first + member->blocks ? &pack->block[i] : NULL;

	return !block ? member->size : block->offset > offset ? block->offset : block->offset + block->raw;
}
