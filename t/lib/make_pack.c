/* SPDX-License-Identifier: MIT */
/*
 * make_pack FILE <SCRIPT: writes a packed trace that says what the script says, with right checksums, however wrong
 * that is: what readers must bear. It shares the checksum with the packer, and nothing else. One command per line,
 * numbers as in C:
 *	member NUMBER NAME MODE SIZE [BEGIN-END]...	a description of a file, also in the index
 *	block NUMBER OFFSET RAW BYTE [RAW]		RAW times BYTE, stored; the second RAW is what the index says
 *	frame TYPE NUMBER OFFSET SIZE			a frame of SIZE zeros
 *	again						the index names the last block once more
 *	count MEMBERS BLOCKS				what the index says there is; by default what there is
 *	end						index and end; else the file is cut off
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/pack.h"
#include "tool/read/pack/block.h"
#include "tool/read/pack/hash.h"

static FILE *out;
static char *index_members;
static size_t members_size;
static uint64_t members, blocks;
static struct pack_place *place;

static void put(const void *from, size_t size)
{
	if (size && fwrite(from, size, 1, out) != 1)
		err(1, "write");
}

static void put_frame(struct pack_frame frame, const void *content, size_t size)
{
	static const uint8_t zeros[8];

	frame.magic = PACK_FRAME_MAGIC;
	frame.size = (uint32_t)size;
	frame.raw = frame.raw ? frame.raw : frame.size;
	frame.content = pack_hash(content, size);
	frame.check = pack_frame_check(&frame);
	put(&frame, sizeof(frame));
	put(content, size);
	put(zeros, (0 - size) % 8);
}

static uint64_t number(const char *text)
{
	if (!text)
		errx(1, "a number is missing");
	return strtoull(text, NULL, 0);
}

static void member(void)
{
	uint32_t at = (uint32_t)number(strtok(NULL, " "));
	const char *name = strtok(NULL, " "), *range;
	struct pack_member_head head = { .name = (uint32_t)strlen(name) };
	struct pack_extent extent[64];
	char *content;
	size_t size;

	head.mode = (uint32_t)number(strtok(NULL, " "));
	head.size = number(strtok(NULL, " "));
	while (head.extents < 64 && (range = strtok(NULL, " "))) {
		char *to;
		extent[head.extents].begin = strtoull(range, &to, 0);
		extent[head.extents++].end = number(to + 1);
	}
	size = sizeof(head) + head.extents * sizeof(*extent) + (head.name + 7) / 8 * 8;
	content = calloc(1, size);
	memcpy(content, &head, sizeof(head));
	memcpy(content + sizeof(head), extent, head.extents * sizeof(*extent));
	memcpy(content + sizeof(head) + head.extents * sizeof(*extent), name, head.name);
	put_frame((struct pack_frame){ .type = PACK_MEMBER, .member = at }, content, size);
	index_members = realloc(index_members, members_size + size);
	memcpy(index_members + members_size, content, size);
	members_size += size;
	members++;
	free(content);
}

static void block(void)
{
	struct pack_frame frame = { .type = PACK_BLOCK, .member = (uint32_t)number(strtok(NULL, " ")) };
	uint64_t at = (uint64_t)ftell(out);
	const char *claim;
	size_t raw;
	char *content;

	frame.offset = number(strtok(NULL, " "));
	raw = number(strtok(NULL, " "));
	content = malloc(raw + 1);
	memset(content, (int)number(strtok(NULL, " ")), raw);
	put_frame(frame, content, raw);
	free(content);
	claim = strtok(NULL, " ");
	place = realloc(place, (blocks + 1) * sizeof(*place));
	place[blocks++] = (struct pack_place){ .at = at, .offset = frame.offset, .member = frame.member,
		.size = (uint32_t)raw, .raw = claim ? (uint32_t)number(claim) : (uint32_t)raw };
}

static void end(uint64_t of_members, uint64_t of_blocks)
{
	struct pack_index head = { of_members, of_blocks };
	size_t size = sizeof(head) + members_size + blocks * sizeof(*place);
	uint64_t at = (uint64_t)ftell(out);
	char *content = malloc(size);

	memcpy(content, &head, sizeof(head));
	if (members)
		memcpy(content + sizeof(head), index_members, members_size);
	if (blocks)
		memcpy(content + sizeof(head) + members_size, place, blocks * sizeof(*place));
	put_frame((struct pack_frame){ .type = PACK_INDEX }, content, size);
	put_frame((struct pack_frame){ .type = PACK_END, .offset = at }, NULL, 0);
	free(content);
}

int main(int argc, char **argv)
{
	const struct pack_head head = { .magic = PACK_MAGIC, .version = PACK_VERSION, .head_size = sizeof(head) };
	uint64_t of_members = UINT64_MAX, of_blocks = UINT64_MAX;
	char line[4096];

	if (argc != 2 || !(out = fopen(argv[1], "w")))
		errx(2, "Usage: make_pack FILE <SCRIPT");
	put(&head, sizeof(head));
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		const char *word = strtok(line, " ");
		if (!word)
			continue;
		if (!strcmp(word, "member")) {
			member();
		} else if (!strcmp(word, "block")) {
			block();
		} else if (!strcmp(word, "frame")) {
			struct pack_frame frame = { .type = (uint32_t)number(strtok(NULL, " ")) };
			frame.member = (uint32_t)number(strtok(NULL, " "));
			frame.offset = number(strtok(NULL, " "));
			size_t size = number(strtok(NULL, " "));
			char *zeros = calloc(1, size + 1);
			put_frame(frame, zeros, size);
			free(zeros);
		} else if (!strcmp(word, "again") && blocks) {
			place = realloc(place, (blocks + 1) * sizeof(*place));
			place[blocks] = place[blocks - 1];
			blocks++;
		} else if (!strcmp(word, "count")) {
			of_members = number(strtok(NULL, " "));
			of_blocks = number(strtok(NULL, " "));
		} else if (!strcmp(word, "end")) {
			end(of_members == UINT64_MAX ? members : of_members,
				of_blocks == UINT64_MAX ? blocks : of_blocks);
		} else {
			errx(1, "no such command: %s", word);
		}
	}
	free(index_members);
	free(place);
	return fclose(out) ? 1 : 0;
}
