/* SPDX-License-Identifier: MIT */
/*
 * Memory for stubs of probes (audit/live/probe_room.h): there are 64 MiB of addresses and 4096 mappings, whatever is
 * asked for; what is given back can be had again; and in the end nothing is mapped.
 */
#include "t/lib/tap.h"

#include <inttypes.h>
#include <stdint.h>
#include <sys/mman.h>

#include "audit/live/probe_room.h"

#define MIB	 (1ul << 20)
#define REACH	 (2040ul * MIB)
#define MOST	 (64ul * MIB)
#define LARGE	 512ul
#define MAPPINGS 4096u
#define SPACED	 (1ul << 16)

static uint64_t text; /* what stubs must reach: pages of ours */
static uint64_t at[MOST / LARGE + 2];

static enum probe_refusal beside(size_t size, uint64_t wish, uint64_t *to)
{
	struct probe_near near = { .place = text - 512 * MIB, .low = text, .high = text + 4096, .size = wish };

	return probe_room_find(text - REACH, text + REACH, size, &near, to);
}

/* Bytes of executable memory that is no file's. */
static uint64_t executable(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4400], rights[8];
	uint64_t low, high, inode, sum = 0;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %" SCNu64, &low, &high, rights, &inode) == 4 &&
			rights[2] == 'x' && !inode && !strchr(line, '['))
			sum += high - low;
	if (maps)
		fclose(maps);
	return sum;
}

static void test_bytes(void)
{
	static const uint8_t code[LARGE] = { 0xc3 };
	const uint64_t before = executable();
	enum probe_refusal why = PROBE_USABLE;
	uint64_t n = 0, again = 0;
	unsigned wrong = 0;

	probe_room_begin();
	while (n <= MOST / LARGE && !(why = beside(LARGE, 8 * MIB, &at[n])))
		n++;
	ok(n * LARGE > MOST - 2 * MIB && n * LARGE <= MOST, "there are 64 MiB for stubs, and no more: %" PRIu64 " KiB",
		n * LARGE / 1024);
	is_int(why, PROBE_ROOM, "then it is said that there is no room");
	for (uint64_t i = 0; i < n; i++)
		wrong += !probe_room_put(at[i], code, sizeof(code)) || !probe_room_has(at[i]);
	is_int(wrong, 0, "all can be written to");
	probe_room_seal();
	probe_room_end();
	ok(executable() - before <= MOST, "%" PRIu64 " KiB are executable", (executable() - before) / 1024);
	for (uint64_t i = 0; i < n; i += n / 7)
		((void (*)(void))(uintptr_t)at[i])();
	probe_room_begin();
	for (uint64_t i = 1; i < n; i += 1024)
		probe_room_give(at[i], LARGE);
	for (uint64_t i = 1; i < n && !(why = beside(LARGE, LARGE, &at[i])); i += 1024, again++)
		wrong += !probe_room_put(at[i], code, sizeof(code));
	is_int((long long)again, (long long)((n + 1022) / 1024), "as many as are given back can be had again");
	is_int(wrong, 0, "and written to, beside what is executed");
	uint64_t more;
	is_int(beside(LARGE, LARGE, &more), PROBE_ROOM, "not one more");
	probe_room_end();
	probe_room_begin();
	for (uint64_t i = 0; i < n; i++)
		probe_room_give(at[i], LARGE);
	probe_room_end();
	is_int((long long)(executable() - before), 0, "and nothing stays mapped");
}

/* Each stub has one address, on a page of its own. */
static void test_mappings(void)
{
	const uint64_t before = executable();
	enum probe_refusal why = PROBE_USABLE;
	uint64_t n = 0, low = text - 1024 * MIB;
	unsigned taken = 0;

	probe_room_begin();
	for (; n <= MAPPINGS && taken < 1000 && why != PROBE_ROOM; low += SPACED) {
		why = probe_room_find(low + 64, low + 64, 64, NULL, &at[n]);
		n += !why;
		taken += why == PROBE_TAKEN;
	}
	is_int((long long)n, MAPPINGS, "there are 4096 mappings, and no more");
	is_int(why, PROBE_ROOM, "then it is said that there is no room");
	is_int(probe_room_find(at[7] + 64, at[7] + 64, 64, NULL, &at[n]), PROBE_USABLE, "but in one that is there");
	probe_room_give(at[n], 64);
	is_int(probe_room_find(at[7], at[7], 64, NULL, &at[n]), PROBE_ROOM, "yet not where something is");
	probe_room_seal();
	is_int((long long)(executable() - before), MAPPINGS * 4096, "each is a page");
	for (uint64_t i = 0; i < n; i++)
		probe_room_give(at[i], 64);
	probe_room_end();
	is_int((long long)(executable() - before), 0, "and nothing stays mapped");
}

int main(void)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		bail("no page");
	text = (uint64_t)(uintptr_t)page;
	test_bytes();
	test_mappings();
	return done_testing();
}
