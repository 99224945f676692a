/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/pack/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/search.h"
#include "tool/read/damage/memory.h"
#include "tool/read/pack/cache.h"
#include "tool/read/pack/hash.h"

#define NAME_LONGEST 600 /* two names of a file system, and more */
#define SEARCHED     (4u << 10) /* bytes that are searched at once: frames may be close together */

static void damage(struct pack *pack, uint64_t offset, const char *what)
{
	read_damage_add(pack->damage, pack->path, NULL, offset, what);
}

static uint64_t padded(uint64_t size)
{
	return (size + 7) & ~7ull;
}

/* ---- members ---- */

static bool is_component(const char *name, size_t length)
{
	return length && !(name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')));
}

bool pack_name_is_good(const char *name)
{
	const char *slash = strchr(name, '/');
	size_t length = strlen(name), first = slash ? (size_t)(slash - name) : length;

	return length <= NAME_LONGEST && is_component(name, first) &&
	       (!slash || (is_component(slash + 1, length - first - 1) && !strchr(slash + 1, '/')));
}

/* Are the extents in order, and in the file? */
static bool are_good(const struct pack_member *member)
{
	uint64_t end = 0;

	for (uint64_t i = 0; i < member->extents; i++) {
		if (member->extent[i].begin < end || member->extent[i].end <= member->extent[i].begin)
			return false;
		end = member->extent[i].end;
	}
	return end <= member->size && member->size <= INT64_MAX;
}

static void free_member(struct pack_member *member)
{
	free(member->name);
	free(member->extent);
}

/*
 * Takes the member that is described at `from`. Returns how many bytes that takes, 0 if it is no description, or memory
 * ran out.
 */
static size_t take_member(struct pack *pack, uint32_t number, const uint8_t *from, size_t size)
{
	struct pack_member_head head;
	struct pack_member member = { .number = number };

	if (size < sizeof(head))
		return 0;
	memcpy(&head, from, sizeof(head));
	size -= sizeof(head);
	if (head.extents > size / sizeof(*member.extent) || !head.name ||
		head.name > size - head.extents * sizeof(*member.extent) || head.name > NAME_LONGEST)
		return 0;
	size_t extents = head.extents * sizeof(*member.extent), taken = sizeof(head) + extents + padded(head.name);
	member.size = head.size;
	member.mode = head.mode;
	member.extents = head.extents;
	member.name = read_memory_text(pack->damage, (const char *)from + sizeof(head) + extents, head.name);
	if (!member.name || !read_memory_resize(pack->damage, &member.extent, head.extents, sizeof(*member.extent)))
		goto bad;
	memcpy(member.extent, from + sizeof(head), extents);
	if (strlen(member.name) != head.name || !pack_name_is_good(member.name) || !are_good(&member) ||
		!(S_ISREG(head.mode) || (S_ISDIR(head.mode) && !head.size)))
		goto bad;
	if (!read_memory_grow(pack->damage, &pack->member, pack->members, sizeof(member)))
		goto bad;
	pack->member[pack->members++] = member;
	return taken;
bad:
	free_member(&member);
	return 0;
}

static void forget_all(struct pack *pack)
{
	while (pack->members)
		free_member(&pack->member[--pack->members]);
	pack->blocks = 0;
}

/* ---- by the index ---- */

/* Reads the content of a frame that is stored as it is. NULL: it is damaged, or there is no memory. */
static uint8_t *get_content(struct pack *pack, const struct pack_frame *frame, uint64_t at)
{
	uint64_t left = pack->reader->size - at - sizeof(*frame);
	uint8_t *content = NULL;

	/* No more than the file has. */
	if (frame->method != PACK_STORED || frame->raw != frame->size || frame->size > left ||
		!read_memory_resize(pack->damage, &content, frame->size, 1))
		return NULL;
	if (pack_reader_get(pack->reader, content, frame->size, at + sizeof(*frame)) &&
		pack_hash(content, frame->size) == frame->content)
		return content;
	free(content);
	return NULL;
}

static bool get_frame(const struct pack *pack, struct pack_frame *frame, uint64_t at)
{
	return pack->reader->size >= sizeof(*frame) && at <= pack->reader->size - sizeof(*frame) &&
	       pack_reader_get(pack->reader, frame, sizeof(*frame), at) && pack_frame_is_good(frame);
}

static bool add_block(struct pack *pack, const struct pack_block *block)
{
	if (!read_memory_grow(pack->damage, &pack->block, pack->blocks, sizeof(*block)))
		return false;
	pack->block[pack->blocks++] = *block;
	return true;
}

static bool take_index(struct pack *pack, const uint8_t *content, size_t size)
{
	struct pack_index index;

	if (size < sizeof(index))
		return false;
	memcpy(&index, content, sizeof(index));
	content += sizeof(index);
	size -= sizeof(index);
	if (index.members > UINT32_MAX)
		return false;
	for (uint32_t number = 0; number < index.members; number++) {
		size_t taken = take_member(pack, number, content, size);
		if (!taken || taken > size)
			return false;
		content += taken;
		size -= taken;
	}
	if (index.blocks != size / sizeof(struct pack_place))
		return false;
	for (uint64_t i = 0; i < index.blocks; i++) {
		struct pack_place place;

		memcpy(&place, content + i * sizeof(place), sizeof(place));
		if (place.member >= index.members || !add_block(pack, &(struct pack_block){ .at = place.at,
			.offset = place.offset, .member = place.member, .size = place.size, .raw = place.raw,
			.pieces = place.pieces }))
			return false;
	}
	return true;
}

/* Returns false if there is no index, or it is damaged, or memory ran out. */
static bool by_index(struct pack *pack)
{
	struct pack_frame end, frame;
	uint64_t size = pack->reader->size;

	if (size < sizeof(end) || !get_frame(pack, &end, size - sizeof(end)) || end.type != PACK_END ||
		end.offset > size - 2 * sizeof(end) || !get_frame(pack, &frame, end.offset) ||
		frame.type != PACK_INDEX)
		return false;
	uint8_t *content = get_content(pack, &frame, end.offset);
	bool taken = content && take_index(pack, content, frame.size);
	free(content);
	if (!taken)
		forget_all(pack);
	return taken;
}

/* ---- by the frames ---- */

/* The first frame from `at` on; the file's size if there is none. */
static uint64_t find_frame(struct pack *pack, uint64_t at)
{
	uint64_t size = pack->reader->size, magic = PACK_FRAME_MAGIC;
	struct pack_frame frame;
	uint8_t *bytes = NULL;

	if (!read_memory_resize(pack->damage, &bytes, SEARCHED, 1))
		return size;
	for (; at < size; at += SEARCHED) {
		/* A file that was damaged may have a hole of any size. */
		off_t data = lseek(pack->reader->fd, (off_t)at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		if (data > (off_t)at)
			at = (uint64_t)data / sizeof(magic) * sizeof(magic);
		size_t have = size - at < SEARCHED ? size - at : SEARCHED;

		if (!pack_reader_get(pack->reader, bytes, have, at))
			break;
		for (size_t i = 0; i + sizeof(magic) <= have; i += sizeof(magic))
			if (!memcmp(bytes + i, &magic, sizeof(magic)) && get_frame(pack, &frame, at + i)) {
				free(bytes);
				return at + i;
			}
	}
	free(bytes);
	return size;
}

static void take_described(struct pack *pack, const struct pack_frame *frame, uint64_t at)
{
	uint8_t *content = get_content(pack, frame, at);

	/* The number comes from the file: it must be that of no other one. They are in order. */
	if (!content || (pack->members && pack->member[pack->members - 1].number >= frame->member) ||
		!take_member(pack, frame->member, content, frame->size))
		damage(pack, at, "the description of a file is damaged");
	free(content);
}

/* The index of the member with that number; SIZE_MAX: there is none. Members are in the order of their numbers. */
static size_t find_number(const struct pack *pack, uint32_t number)
{
	size_t low = SEARCH(i, 0, pack->members, pack->member[i].number < number);

	return low < pack->members && pack->member[low].number == number ? low : SIZE_MAX;
}

static void take_found(struct pack *pack, const struct pack_frame *frame, uint64_t at)
{
	size_t member = find_number(pack, frame->member);

	if (member > UINT32_MAX)
		damage(pack, at, "a block is of a file that is not described");
	else
		add_block(pack, &(struct pack_block){ .at = at, .offset = frame->offset, .member = (uint32_t)member,
			.size = frame->size, .raw = frame->raw, .pieces = frame->pieces });
}

/* Members end where their last block does. */
static void cut_members(struct pack *pack)
{
	uint64_t *end = read_memory_zeroed(pack->damage, pack->members, sizeof(*end));

	for (size_t i = 0; end && i < pack->blocks; i++) {
		const struct pack_block *block = &pack->block[i];
		if (block->offset + block->raw > end[block->member])
			end[block->member] = block->offset + block->raw;
	}
	for (size_t i = 0; end && i < pack->members; i++) {
		struct pack_member *member = &pack->member[i];
		uint64_t last = member->extents ? member->extent[member->extents - 1].end : 0;
		if (end[i] < last)
			member->size = end[i];
	}
	free(end);
}

static void by_frames(struct pack *pack)
{
	uint64_t size = pack->reader->size, at = sizeof(struct pack_head);
	struct pack_frame frame;
	bool ended = false, whole = true;

	while (at < size && whole && !pack->damage->no_memory) {
		if (!get_frame(pack, &frame, at)) {
			uint64_t next = find_frame(pack, at + 8);
			whole = next < size;
			if (whole)
				damage(pack, at, "there is no frame where one should begin");
			at = next;
			continue;
		}
		whole = frame.size <= size - at - sizeof(frame);
		if (!whole)
			break;
		if (frame.type == PACK_MEMBER)
			take_described(pack, &frame, at);
		else if (frame.type == PACK_BLOCK)
			take_found(pack, &frame, at);
		ended |= frame.type == PACK_END;
		at += sizeof(frame) + padded(frame.size);
	}
	if (ended) {
		damage(pack, size, "the packed file's index is damaged");
	} else {
		pack->cut = true;
		damage(pack, size, "the packed file is cut off");
		cut_members(pack);
	}
}

/* ---- both ---- */

static int by_name(const void *a, const void *b)
{
	const struct pack_member *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->number < y->number ? -1 : 1;
}

static int by_offset(const void *a, const void *b)
{
	const struct pack_block *x = a, *y = b;

	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Sorts members by name. Blocks have their index: that becomes the new one, or UINT32_MAX if they are dropped. */
static void sort_members(struct pack *pack)
{
	uint32_t *now = read_memory_zeroed(pack->damage, pack->members, sizeof(*now));
	size_t kept = 0;

	if (!now)
		return;
	for (size_t i = 0; i < pack->members; i++)
		pack->member[i].first = i;
	if (pack->members)
		qsort(pack->member, pack->members, sizeof(*pack->member), by_name);
	for (size_t i = 0; i < pack->members; i++) {
		struct pack_member *member = &pack->member[i];
		bool twice = kept && !strcmp(pack->member[kept - 1].name, member->name);
		now[member->first] = twice ? UINT32_MAX : (uint32_t)kept;
		if (twice) {
			damage(pack, READ_DAMAGE_NOWHERE, "a file is there twice");
			free_member(member);
		} else {
			pack->member[kept++] = *member;
		}
	}
	pack->members = kept;
	for (size_t i = 0; i < pack->blocks; i++)
		pack->block[i].member = now[pack->block[i].member];
	free(now);
}

/* Sorts the blocks, leaves out those that can't be, and tells the members which are theirs. */
static void sort_blocks(struct pack *pack)
{
	size_t kept = 0;

	if (pack->blocks)
		qsort(pack->block, pack->blocks, sizeof(*pack->block), by_offset);
	for (size_t i = 0; i < pack->members; i++)
		pack->member[i].first = pack->member[i].blocks = 0;
	for (size_t i = 0; i < pack->blocks; i++) {
		const struct pack_block *block = &pack->block[i], *last = kept ? &pack->block[kept - 1] : NULL;
		struct pack_member *member = &pack->member[block->member];
		if (block->member == UINT32_MAX)
			continue;
		if (!block->raw || block->raw > PACK_BLOCK_MAX || block->raw > member->size ||
			block->offset > member->size - block->raw ||
			(last && last->member == block->member && block->offset < last->offset + last->raw)) {
			damage(pack, block->at, "a block lies where none can be");
			continue;
		}
		if (!member->blocks++)
			member->first = kept;
		pack->block[kept++] = *block;
	}
	pack->blocks = kept;
}

/*
 * What of a member is in no block can't be more than blocks that the file had room for: else readers would look for
 * chunks in places without end.
 */
static void check_lost(struct pack *pack)
{
	uint64_t most = (pack->reader->size / sizeof(struct pack_frame) + 1) * PACK_BLOCK_MAX;

	for (size_t i = 0; i < pack->members; i++) {
		struct pack_member *member = &pack->member[i];
		uint64_t lost = pack_disk(member, 0, UINT64_MAX);
		for (size_t b = 0; b < member->blocks; b++) {
			const struct pack_block *block = &pack->block[member->first + b];
			lost -= pack_disk(member, block->offset, block->offset + block->raw);
		}
		if (lost > most) {
			damage(pack, READ_DAMAGE_NOWHERE, "most of a file is missing");
			member->extents = member->blocks = 0;
		}
	}
}

void pack_index_read(struct pack *pack)
{
	if (!by_index(pack) && !pack->damage->no_memory)
		by_frames(pack);
	sort_members(pack);
	if (!pack->damage->no_memory) {
		sort_blocks(pack);
		check_lost(pack);
	}
}
