/* SPDX-License-Identifier: MIT */
/* The walk of a made stack, by made rules: each form of them, each end, ranges that come and go, also under readers. */
#define _GNU_SOURCE
#include "t/lib/core.h"
#include "t/lib/tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/frames.h"
#include "runtime/values/backtrace.h"
#include "x86_64/labels.h"
#include "x86_64/mirror.h"
#include "x86_64/probe.h"
#include "x86_64/stack_pages.h"

/* Code of a range: the rule of an address is rules[its low byte / 16]. */
#define CODE  0x100000u
#define BASE  0x1000u
#define AT(n) (CODE + BASE + 16 * (n) + 8)

static uint32_t rules[16];

static uint32_t rule_of(const void *table, uint64_t address)
{
	return ((const uint32_t *)table)[address / 16 % 16];
}

static struct backtrace_range range = { .low = CODE, .high = CODE + 0x3000, .code_low = CODE + 0x1000,
	.code_high = CODE + 0x2000, .base = CODE + BASE, .table = rules, .rule = rule_of };

static _Alignas(4096) uint8_t record[THREAD_SLAB + sizeof(struct thread_kept)];
static uint64_t stack[8192], out[CHAIN_MOST + 1], key, *told;

/* Walks from stack[0], which holds the return address. Returns how many words it wrote. */
static uint32_t walk(uint64_t rbp, uint32_t most)
{
	const struct backtrace_from from = { .slot = (uintptr_t)stack, .rbp = rbp, .stack_low = (uintptr_t)stack,
		.stack_high = (uintptr_t)(stack + 8192) };

	memset(out, 0xee, sizeof(out));
	return backtrace_walk((struct thread *)record, &from, most, out, &key, &told);
}

static uint64_t at(unsigned word)
{
	return (uintptr_t)(stack + word);
}

#define IS_END(n, reason, sentence) is_int((long)out[(n) - 1], (long)(CHAIN_END | (reason)), "%s: the end", sentence)

static void test_forms(void)
{
	/* AT(0): two words of frame. AT(1): by rbp. AT(2): a word tells. AT(3): nobody called it. */
	rules[0] = FRAME_RULE(FRAME_RSP, 3, 2);
	rules[1] = FRAME_RULE(FRAME_RBP, 2, FRAME_RBP_AT_RBP);
	rules[2] = FRAME_RULE(FRAME_INDIRECT, 1, FRAME_RBP_LOST);
	rules[3] = FRAME_RULE(FRAME_NONE, FRAME_OUTERMOST, 0);
	stack[0] = AT(0);
	stack[2] = at(8); /* rbp of the caller of AT(0), which lies two words below its end */
	stack[3] = AT(1);
	stack[8] = at(20); /* rbp again */
	stack[9] = AT(2);
	stack[19] = at(30);
	stack[29] = AT(3);
	uint32_t n = walk(0x7777, 32);
	is_int(n, 5, "a frame of each form");
	is_int((long)out[0], AT(0), "by rsp");
	is_int((long)out[1], AT(1), "by rbp");
	is_int((long)out[2], AT(2), "by a word");
	is_int((long)out[3], AT(3), "the outermost");
	IS_END(n, CHAIN_END_BOTTOM, "of each form");
	uint64_t first = key, *word = told;
	is_int(walk(0x7777, 32), 5, "the same, by rules that are kept");
	ok(key == first && told == word, "has the same key, and the same word of the thread");
	n = walk(0x7777, 2);
	is_int(n, 3, "two callers");
	IS_END(n, CHAIN_END_MOST, "two callers");
	ok(key != first, "are another chain");
	stack[29] = AT(0);
	stack[32] = 0;
	n = walk(0x7777, 32);
	is_int(n, 5, "a return address of 0 is no caller");
	IS_END(n, CHAIN_END_BOTTOM, "a return address of 0");
}

/* Behind the slot of an event sled is the red zone, and then the function's frame. */
static void test_gap(void)
{
	const struct backtrace_from from = { .slot = (uintptr_t)stack, .rbp = 1, .stack_low = (uintptr_t)stack,
		.stack_high = (uintptr_t)(stack + 8192), .gap = 128 };

	rules[0] = FRAME_RULE(FRAME_RSP, 3, 2);
	stack[0] = AT(0);
	stack[3] = AT(2);
	stack[1 + 16 + 2] = AT(3);
	memset(out, 0xee, sizeof(out));
	uint32_t n = backtrace_walk((struct thread *)record, &from, 32, out, &key, &told);
	is_int(n, 3, "out of an event sled");
	is_int((long)out[0], AT(0), "the function with the sled");
	is_int((long)out[1], AT(3), "its caller");
	IS_END(n, CHAIN_END_BOTTOM, "out of an event sled");
}

static void test_large(void)
{
	rules[4] = FRAME_RULE(FRAME_RSP, 5001, FRAME_RBP_SAME); /* more than fits beside an address */
	stack[0] = AT(4);
	stack[5001] = AT(3);
	for (int i = 0; i < 2; i++)
		is_int(walk(1, 32), 3, "a frame of 40 000 bytes");
}

static void test_signal(void)
{
	rules[5] = FRAME_RULE(FRAME_SIGNAL, 0, 0);
	rules[6] = FRAME_RULE(FRAME_RBP, 2, FRAME_RBP_SAME);
	stack[0] = AT(5);
	/* A ucontext_t from stack[1] on. */
	stack[1 + 15] = at(100);
	stack[1 + 20] = at(90);
	stack[1 + 21] = AT(5) + 8; /* the first instruction of what AT(6) is in */
	stack[101] = AT(3);
	uint32_t n = walk(1, 32);
	is_int(n, 4, "out of a handler");
	is_int((long)(out[1] & CHAIN_ADDRESS), AT(5) + 8, "to where the signal came in");
	ok(out[1] & CHAIN_EXACT && !(out[0] & CHAIN_EXACT) && !(out[2] & CHAIN_EXACT), "which is exact, and no other");
}

/* As test_signal(), where the signal came in a stub of a probe at that instruction. */
static void test_stub(void)
{
	static const struct {
		uint8_t at, below;
	} place[] = { { 0, 0 }, { 5, 128 }, { 10, 136 }, { 18, 136 }, { 23, 144 }, { 29, 144 }, { 31, 152 },
		{ PROBE_CALL_SIZE, 0 } };
	static uint8_t stub[256] = { [100] = 0x90 };
	static const uint8_t call[PROBE_CALL_SIZE] = PROBE_CALL;
	const uint32_t resume = AT(5) + 8 + 1, zero = 0;

	for (unsigned i = 0; i < sizeof(place) / sizeof(*place); i++) {
		memcpy(stub + 50, call, sizeof(call));
		memcpy(stub + 50 + PROBE_CALL_LOW, &resume, 4);
		memcpy(stub + 50 + PROBE_CALL_HIGH, &zero, 4);
		memset(stub + 50 + PROBE_CALL_WORD, 0x77, 4);
		memset(stub + 50 + PROBE_CALL_GATE, 0x55, 4);
		stack[1 + 20] = at(90) - place[i].below;
		stack[1 + 21] = (uintptr_t)stub + 50 + place[i].at;
		is_int(walk(1, 32), 4, "out of a handler that has interrupted a stub, at byte %d", place[i].at);
		is_int((long)out[1], (long)((AT(5) + 8) | CHAIN_EXACT), "to the probe");
		is_int((long)(out[2] & CHAIN_ADDRESS), AT(3), "and its function's caller");
	}
	stack[1 + 15] = 1; /* and without a frame pointer */
	stack[1 + 21] = (uintptr_t)stub + 50 + 1;
	uint32_t n = walk(1, 32);
	IS_END(n, CHAIN_END_NO_TABLE, "where no instruction of it begins");
	stack[1 + 21] = (uintptr_t)stub + 50;
	stub[50 + PROBE_CALL_SIZE - 1] ^= 1;
	n = walk(1, 32);
	IS_END(n, CHAIN_END_NO_TABLE, "out of other code without a table");
}

static void test_pointers(void)
{
	/* Code without a range: by its frame pointer. */
	stack[0] = 0x900000;
	stack[10] = at(20);
	stack[11] = 0x900100;
	stack[20] = 5;
	stack[21] = AT(3);
	uint32_t n = walk(at(10), 32);
	is_int(n, 4, "two functions without a table");
	ok(!(out[0] & CHAIN_BY_FRAME) && out[1] == (0x900100 | CHAIN_BY_FRAME) && out[2] == (AT(3) | CHAIN_BY_FRAME),
		"whose callers are marked");
	n = walk(at(10) + 4, 32);
	is_int(n, 2, "a frame pointer that is none");
	IS_END(n, CHAIN_END_NO_TABLE, "a frame pointer that is none");
	n = walk((uintptr_t)stack - 64, 32);
	is_int(n, 2, "one that points behind");
	IS_END(n, CHAIN_END_NO_TABLE, "one that points behind");
	rules[7] = FRAME_RULE(FRAME_NONE, FRAME_GAP, 0);
	stack[0] = AT(7);
	is_int(walk(at(10), 32), 4, "a gap in a table is gone through likewise");
}

static void test_ends(void)
{
	uint32_t n;

	rules[8] = FRAME_RULE(FRAME_NONE, FRAME_EXPRESSION, 0);
	stack[0] = AT(8);
	n = walk(at(10), 32);
	is_int(n, 2, "a form that is not followed");
	IS_END(n, CHAIN_END_RULE, "a form that is not followed");
	/* Frames of such a base would be left out, however many there are. */
	rules[11] = FRAME_RULE(5, 1, FRAME_RBP_SAME);
	for (unsigned i = 0; i < 200; i++)
		stack[i] = AT(11);
	stack[200] = AT(3);
	n = walk(at(10), 32);
	is_int(n, 2, "a form that there is not");
	IS_END(n, CHAIN_END_RULE, "a form that there is not");
	rules[9] = FRAME_RULE(FRAME_RBP, 2, FRAME_RBP_SAME);
	stack[0] = AT(9);
	n = walk((uintptr_t)stack - 80, 32);
	is_int(n, 2, "a frame that ends before it begins");
	IS_END(n, CHAIN_END_ODD, "a frame that ends before it begins");
	n = walk(0x10, 32);
	IS_END(n, CHAIN_END_ODD, "a frame pointer of another age");
	n = walk(UINT64_MAX / 4, 32);
	is_int(n, 2, "memory that is not there");
	IS_END(n, CHAIN_END_MEMORY, "memory that is not there");
	/* rbp is lost in AT(2), and AT(9) needs it. */
	rules[10] = FRAME_RULE(FRAME_RSP, 2, FRAME_RBP_LOST);
	stack[0] = AT(10);
	stack[2] = AT(9);
	n = walk(at(10), 32);
	is_int(n, 3, "a lost rbp");
	IS_END(n, CHAIN_END_RULE, "a lost rbp");
	stack[0] = AT(10);
	stack[2] = CODE + 0x2800;
	n = walk(at(10), 32);
	is_int(n, 2, "data of a load is no caller");
	IS_END(n, CHAIN_END_ODD, "data of a load");
	stack[2] = 1ull << 60;
	n = walk(at(10), 32);
	is_int(n, 2, "nor is what is no address");
	IS_END(n, CHAIN_END_ODD, "what is no address");
}

static void *memory(size_t size)
{
	void *to = aligned_alloc(128, (size + 127) & -128ul);

	return to ? memset(to, 0, size) : NULL;
}

/* The stack of a thread that ends, and whose mirror is given back between two looks. */
static void test_mirror(void)
{
	uint64_t *other = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t slot = (uintptr_t)(other + 100);

	mirror_init(memory);
	if (other == MAP_FAILED || !mirror_claim(slot, NULL, NULL))
		bail("no stack");
	other[100] = (uintptr_t)tramp_return_tsc;
	mirror_entry(slot)->address = AT(3);
	stack[0] = AT(9);
	uint32_t n = walk(slot - 8, 32);
	is_int(n, 3, "a label on another stack");
	is_int((long)out[1], AT(3), "stands for an address");
	munmap(mirror_entry(slot & -STACK_PIECE), 2 * STACK_PIECE);
	n = walk(slot - 8, 32);
	is_int(n, 2, "a label whose mirror has just gone");
	IS_END(n, CHAIN_END_MEMORY, "a label whose mirror has just gone");
}

/* ---- ranges ---- */

static uint32_t other_rule(const void *table, uint64_t address)
{
	(void)table;
	(void)address;
	return FRAME_RULE(FRAME_NONE, FRAME_OUTERMOST, 0);
}

static void test_ranges(int first)
{
	struct backtrace_range other = range;
	int more = 0, number;

	stack[0] = AT(0);
	stack[2] = 0;
	stack[3] = 0;
	is_int(walk(1, 32), 2, "a rule is kept");
	backtrace_remove(first);
	uint32_t n = walk(1, 32);
	IS_END(n, CHAIN_END_NO_TABLE, "and forgotten when the load goes");
	other.rule = other_rule;
	number = backtrace_add(&other);
	is_int(number, first, "the next load takes its place");
	walk(1, 32);
	IS_END(2, CHAIN_END_BOTTOM, "whose rules count");
	backtrace_remove(number);
	/* Our own frames. */
	other = range;
	other.own = true;
	rules[11] = FRAME_RULE(FRAME_RSP, 2, FRAME_RBP_SAME);
	rules[12] = FRAME_RULE(FRAME_RBP, 2, FRAME_RBP_AT_RBP);
	number = backtrace_add(&other);
	stack[0] = AT(11);
	stack[2] = AT(12);
	stack[10] = 1;
	stack[11] = 0x900000;
	for (int i = 0; i < 2; i++) {
		n = walk(at(10), 32);
		ok(n == 2 && out[0] == 0x900000, "frames of our own are left out");
	}
	backtrace_remove(number);
	other = range;
	while ((number = backtrace_add(&other)) >= 0 && more <= BACKTRACE_RANGES)
		more++;
	ok(number == -ENOSPC && more == BACKTRACE_RANGES, "there is room for so many loads, and no more");
	for (int i = 0; i < BACKTRACE_RANGES; i++)
		backtrace_remove(i);
}

/* A range is seen whole: its table, its base and its bounds belong together, whoever changes it. */
static int done;
static long torn, found;

static uint32_t whole_rule(const void *table, uint64_t address)
{
	const uint64_t *base = table;

	/* Each range has a base of its own, and its table tells it. */
	torn += *base + address != AT(0) - 1;
	found++;
	return FRAME_RULE(FRAME_NONE, FRAME_OUTERMOST, 0);
}

static void *change(void *unused)
{
	static const uint64_t base[2] = { CODE, CODE + 0x800 };

	for (int i = 0; i < 20000; i++) {
		struct backtrace_range of = range;
		of.base = base[i % 2];
		of.table = &base[i % 2];
		of.rule = whole_rule;
		backtrace_remove(backtrace_add(&of));
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE); /* pairs with the acquire in test_threads() */
	return unused;
}

static void test_threads(void)
{
	pthread_t thread;

	stack[0] = AT(0);
	if (pthread_create(&thread, NULL, change, NULL))
		bail("no thread");
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) /* pairs with the release in change() */
		walk(1, 32);
	pthread_join(thread, NULL);
	is_int(torn, 0, "no range is seen half changed");
	diag("found %ld times", found);
}

int main(void)
{
	int first = backtrace_add(&range);

	is_int(first, 0, "the first range");
	test_forms();
	test_gap();
	test_large();
	test_signal();
	test_stub();
	test_pointers();
	test_ends();
	if (CORE_HAS_MIRROR)
		test_mirror();
	test_ranges(first);
	test_threads();
	return done_testing();
}
