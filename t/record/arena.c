/* SPDX-License-Identifier: MIT */
/* The arena: alignment, zeros, growth, giving back. */
#include "t/lib/tap.h"

#include <stdint.h>

#include "runtime/base/arena.h"
#include "t/lib/core.h"

/* The first 16 arenas that stay small share static memory. */
static void test_windows(void)
{
	static struct arena arena[18];
	uint8_t *first[18], dirty = 0;
	int mapped = 0;

	for (int i = 0; i < 18; i++) {
		first[i] = arena_alloc(&arena[i], 100);
		if (!first[i])
			bail("no memory");
		mapped += arena[i].mapped != 0;
	}
	is_int(mapped, 2, "of 18 small arenas two have a mapping");
	is_int(first[1] - first[0], 8192, "the others have a window of 8 KiB each");
	arena_free(&arena[17]);
	arena_free(&arena[16]);
	memset(arena_alloc(&arena[15], 8192 - 112), 0xff, 8192 - 112);
	is_int((long long)arena[15].mapped, 0, "a window can be filled to its end");
	memset(arena_alloc(&arena[15], 16), 0xff, 16);
	is_int((long long)arena[15].mapped, 65536, "what does not fit into it comes from a mapping");
	arena_free(&arena[3]);
	ok(arena_alloc(&arena[3], 16) != first[3], "a window is not used again while one that began later is in use");
	arena_free(&arena[3]);
	arena_free(&arena[15]);
	uint8_t *again = arena_alloc(&arena[15], 8192);
	ok(again == first[15], "it is when it was the last");
	for (int i = 0; again && i < 8192; i++)
		dirty |= again[i];
	is_int(dirty, 0, "and is zero again");
	for (int i = 15; i >= 0; i--)
		arena_free(&arena[i]);
}

/* Blocks that are given back are used again, up to four, and are zero again. */
static void test_kept(void)
{
	struct arena arena[6] = {0};
	uint8_t *first[6], *again[4];
	unsigned dirty = 0, kept = 0, same = 0;

	/* The first one has two. */
	for (int i = 0; i < 6; i++)
		first[i] = arena_alloc(&arena[i], 60000);
	uint8_t *second = arena_alloc(&arena[0], 50000);
	if (!first[5] || !second)
		bail("no memory");
	memset(first[0], 0xff, 60000);
	memset(second, 0xff, 50000);
	memset(first[1], 0xff, 60000);
	for (int i = 0; i < 6; i++)
		arena_free(&arena[i]);
	for (int i = 0; i < 6; i++)
		kept += !strcmp(core_protection((uint64_t)(uintptr_t)first[i]), "rw-p");
	kept += !strcmp(core_protection((uint64_t)(uintptr_t)second), "rw-p");
	is_int(kept, 4, "of seven blocks that are given back, four are kept");
	for (int i = 0; i < 4; i++) {
		again[i] = arena_alloc(&arena[i], 65000);
		for (int k = 0; again[i] && k < 65000; k++)
			dirty += again[i][k] != 0;
		for (int k = 0; k < 6; k++)
			same += again[i] == first[k];
		same += again[i] == second;
	}
	is_int(same, 4, "they are used again");
	is_int(dirty, 0, "and are zero again");
	for (int i = 0; i < 4; i++)
		arena_free(&arena[i]);
}

int main(void)
{
	struct arena arena = {0};
	static uint8_t *piece[20000];
	unsigned unaligned = 0, dirty = 0, wrong = 0, failed = 0;

	test_windows();
	test_kept();
	for (unsigned i = 0; i < 20000; i++) {
		size_t size = i % 97;
		piece[i] = arena_alloc(&arena, size);
		if (!piece[i]) {
			failed++;
			continue;
		}
		unaligned += (uintptr_t)piece[i] % 16 != 0;
		for (size_t j = 0; j < size; j++)
			dirty += piece[i][j] != 0;
		memset(piece[i], (int)(i % 251 + 1), size);
	}
	is_int(failed, 0, "20000 pieces are given out");
	is_int(unaligned, 0, "each is aligned to 16");
	is_int(dirty, 0, "each is zero");
	for (unsigned i = 0; i < 20000; i++)
		for (size_t j = 0; j < i % 97; j++)
			wrong += piece[i][j] != i % 251 + 1;
	is_int(wrong, 0, "none overlaps another");
	size_t used = 0;
	for (unsigned i = 0; i < 20000; i++)
		used += (i % 97 + 15) & ~15ul;
	ok(arena.mapped >= used && arena.mapped < 3 * used,
		"what is mapped is less than three times what was asked for");

	uint8_t *big = arena_alloc(&arena, 10ul << 20);
	ok(big && !big[0] && !big[(10ul << 20) - 1], "a piece of 10 MiB is given out, zero to its end");
	if (big)
		big[(10ul << 20) - 1] = 1;
	ok(arena_alloc(&arena, 1ul << 60) == NULL, "a piece that no system has is refused");
	ok(arena_alloc(&arena, 16) != NULL, "and the arena goes on");
	ok(arena_alloc(&arena, SIZE_MAX) == NULL, "a size that overflows is refused");

	char *text = arena_string(&arena, "abcdef", 3);
	is_str(text, "abc", "arena_string copies so many bytes and ends them");
	is_str(arena_string(&arena, "", 0), "", "also none");

	uint64_t at = (uint64_t)(uintptr_t)piece[19999];
	is_str(core_protection(at), "rw-p", "a piece can be read and written, not executed");
	arena_free(&arena);
	ok(!strcmp(core_protection(at), "") && !strcmp(core_protection((uint64_t)(uintptr_t)big), ""),
		"arena_free gives the mappings back");
	is_int((long long)arena.mapped, 0, "and knows it");
	ok(arena_alloc(&arena, 100) != NULL, "the arena can be used again");
	arena_free(&arena);
	return done_testing();
}
