#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* Stubs: where their pages are, what is in them, and their protection. */
#include "t/lib/tap.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "t/lib/core.h"
#include "x86_64/stub.h"

#define PAGE  4096ul
#define REACH (1ul << 31)

/* A range as wide as the test needs, with no mappings but the test's own. Text is assumed to lie in its middle. */
static uint64_t find_room(size_t size)
{
	void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		bail("no address range of %zu bytes", size);
	munmap(p, size);
	return ((uint64_t)(uintptr_t)p + 0xffff) & ~0xfffful;
}

static uint64_t occupy(uint64_t at, size_t size)
{
	void *p = mmap((void *)(uintptr_t)at, size, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	return p == (void *)(uintptr_t)at ? at : 0;
}

static int32_t get32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Is there push word(%rip); push body(%rip); jmp *gate(%rip) with the cell's addresses? */
static int is_rest(const uint8_t *p, const struct stub_cell *cell)
{
	return p[0] == 0xff && p[1] == 0x35 && p + 6 + get32(p + 2) == (const uint8_t *)&cell->word && p[6] == 0xff &&
	       p[7] == 0x35 && p + 12 + get32(p + 8) == (const uint8_t *)&cell->body && p[12] == 0xff &&
	       p[13] == 0x25 && p + 18 + get32(p + 14) == (const uint8_t *)&cell->gate;
}

/* Is there jmp *target(%rip) and the rest? */
static int is_cell_stub(uint64_t address, const struct stub_cell *cell)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)address;

	return p[0] == 0xff && p[1] == 0x25 && p + 6 + get32(p + 2) == (const uint8_t *)&cell->target &&
	       is_rest(p + 6, cell);
}

/* Is there cmpq $0,target(%rip); jne rest, and the rest at the end of a line of the cache? */
static int is_entry_stub(uint64_t address, const struct stub_cell *cell)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)address;

	return address % 64 == 0 && p[0] == 0x48 && p[1] == 0x83 && p[2] == 0x3d &&
	       p + 8 + get32(p + 3) == (const uint8_t *)&cell->target && p[7] == 0 && p[8] == 0x75 &&
	       p + 10 + (int8_t)p[9] == p + 46 && is_rest(p + 46, cell);
}

/* Is there lea word(%r10),%r10d; jmp *(gate)? */
static int is_xray_stub(uint64_t address, uint32_t word, void (*gate)(void))
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)address;
	uint64_t target;

	if (p[0] != 0x45 || p[1] != 0x8d || p[2] != 0x92 || (uint32_t)get32(p + 3) != word || p[7] != 0xff ||
		p[8] != 0x25)
		return 0;
	memcpy(&target, p + 13 + get32(p + 9), sizeof(target));
	return target == (uint64_t)(uintptr_t)gate;
}

static int all_pages_are(uint64_t from, size_t size, const char *protection)
{
	for (uint64_t at = from; at < from + size; at += PAGE)
		if (strcmp(core_protection(at), protection) != 0)
			return 0;
	return 1;
}

static void check_pages(struct stub_pages *pages, uint32_t base, uint32_t functions)
{
	uint64_t start = (uint64_t)(uintptr_t)pages->start;
	unsigned right = 0;

	is_int((long long)pages->size, (long long)stub_size(base != 0, 0, functions),
		"the mapping has the size that stub_size() tells");
	ok(all_pages_are(start, pages->code_size, "r-xp"), "the code part is mapped read and execute, all of it");
	ok(all_pages_are(start + pages->code_size, pages->size - pages->code_size, "rw-p"),
		"the cells are mapped read and write, all of them");
	for (uint32_t i = 0; i < functions; i++)
		right += is_cell_stub(stub_address(pages, i), stub_cell(pages, i));
	is_int(right, functions, "each stub pushes its cell's word and body and jumps to its gate");
	uint64_t last = stub_address(pages, functions - 1), cell = (uint64_t)(uintptr_t)stub_cell(pages, functions - 1);
	ok(stub_address(pages, 0) >= start + (base ? 48 : 0) && last + 24 <= start + pages->code_size,
		"all stubs lie in the code part");
	ok(cell + sizeof(struct stub_cell) <= start + pages->size, "all cells lie in the mapping");
	if (!base)
		return;
	ok(is_xray_stub(stub_xray(pages, 0), TRACE_WORD(TRACE_ENTRY, base), tramp_gate_xray_entry),
		"the XRay entry stub adds the first id and the type and jumps to its gate");
	ok(is_xray_stub(stub_xray(pages, 1), TRACE_WORD(TRACE_EXIT, base), tramp_gate_xray_exit),
		"the XRay exit stub adds the first id and the type and jumps to its gate");
	ok(is_xray_stub(stub_xray(pages, 2), TRACE_WORD(TRACE_TAIL, base), tramp_gate_xray_tail),
		"the XRay tail stub adds the first id and the type and jumps to its gate");
}

static void check_unmap(struct stub_pages *pages)
{
	uint64_t start = (uint64_t)(uintptr_t)pages->start;
	size_t size = pages->size;

	stub_unmap(pages);
	ok(all_pages_are(start, size, "") && !pages->start && !pages->size, "stub_unmap gives the whole mapping back");
}

static void test_wanted(void)
{
	uint64_t text = find_room(16ul << 20) + (8ul << 20), wanted;
	struct stub_pages pages;
	int r;

	wanted = text - stub_size(1, 0, 1000);
	r = core_stubs(&pages, wanted, text, text + 0x10000, 77, 1000);
	is_int(r, 0, "1000 stubs are mapped");
	is_int((long long)(uintptr_t)pages.start, (long long)wanted, "stubs lie at the wanted place when it is free");
	check_pages(&pages, 77, 1000);
	check_unmap(&pages);

	r = core_stubs(&pages, wanted, text, text + 0x10000, 0, 1);
	is_int(r, 0, "and one stub without XRay stubs");
	is_int((long long)stub_size(0, 0, 1), 2 * PAGE, "one stub takes a page of code and a page of cells");
	check_pages(&pages, 0, 1);
	check_unmap(&pages);

	/* The last stub that fits into a page, and the first of the next page. */
	is_int((long long)stub_size(0, 0, 128), 2 * PAGE, "128 stubs fill one page of code, 128 cells fit one page");
	is_int((long long)stub_size(0, 0, 129), 4 * PAGE,
		"the 129th stub begins a second page of code, and its cell one of cells");
	is_int((long long)stub_size(1, 0, 0), PAGE, "XRay stubs alone take one page");
	r = core_stubs(&pages, wanted, text, text + 0x10000, (1u << TRACE_ID_BITS) - 1, 0);
	is_int(r, 0, "and XRay stubs alone");
	ok(is_xray_stub(stub_xray(&pages, 0), TRACE_WORD(TRACE_ENTRY, TRACE_ID_MASK), tramp_gate_xray_entry),
		"the highest function id is added as it is");
	ok(all_pages_are((uint64_t)(uintptr_t)pages.start, pages.size, "r-xp"),
		"a mapping without cells is all read and execute");
	check_unmap(&pages);
}

static void test_taken(void)
{
	size_t size = stub_size(1, 0, 10);
	uint64_t text = find_room(64ul << 20) + (32ul << 20), wanted = text - size;
	struct stub_pages pages;

	if (!occupy(wanted, PAGE))
		bail("the place before the text can't be taken");
	is_int(core_stubs(&pages, wanted, text, text + 0x10000, 5, 10), 0,
		"room is found when the wanted place is taken");
	uint64_t start = (uint64_t)(uintptr_t)pages.start;
	ok(start != wanted && start + size > text - REACH && start < text + REACH,
		"that room is within 2 GiB of the text");
	is_str(core_protection(wanted), "---p", "what lay at the wanted place is as it was");
	check_pages(&pages, 5, 10);
	struct stub_pages second;
	is_int(core_stubs(&second, wanted, text, text + 0x10000, 5, 10), 0,
		"a second load near the same text finds room too");
	ok(second.start >= pages.start + pages.size || pages.start >= second.start + second.size,
		"and does not overlap the first");
	check_unmap(&second);
	check_unmap(&pages);

	/* 1.5 GiB below are taken: there is room only above; then the other way round. */
	uint64_t wide = find_room(4ul << 30), middle = wide + (2ul << 30);
	munmap((void *)(uintptr_t)wanted, PAGE);
	if (!occupy(wide, 2ul << 30))
		bail("2 GiB of addresses can't be taken");
	is_int(core_stubs(&pages, middle - size, middle, middle + 0x10000, 5, 10), 0,
		"room is found above when all below is taken");
	ok((uint64_t)(uintptr_t)pages.start > middle && (uint64_t)(uintptr_t)pages.start < middle + REACH,
		"and lies above within reach");
	check_unmap(&pages);
	munmap((void *)(uintptr_t)wide, 2ul << 30);
	if (!occupy(middle, 2ul << 30))
		bail("2 GiB of addresses can't be taken");
	is_int(core_stubs(&pages, middle, middle - 0x10000, middle, 5, 10), 0,
		"room is found below when all above is taken");
	ok((uint64_t)(uintptr_t)pages.start < middle && (uint64_t)(uintptr_t)pages.start + REACH > middle,
		"and lies below within reach");
	check_unmap(&pages);
	munmap((void *)(uintptr_t)middle, 2ul << 30);
}

static void test_reach(void)
{
	uint64_t text = find_room(16ul << 30) + (8ul << 30);
	struct stub_pages pages;

	/* If text is wider than a rel32 reaches, no place reaches all of it. */
	is_int(core_stubs(&pages, text - 0x10000, text, text + (3ul << 30), 1, 10), -ENOMEM,
		"stubs for a text of 3 GiB are refused: no place reaches all of it");
	ok(!pages.start, "a refusal leaves nothing mapped");
	is_int(core_stubs(&pages, text + (5ul << 30), text, text + 0x1000, 1, 10), 0,
		"a wanted place out of reach is passed over");
	uint64_t start = (uint64_t)(uintptr_t)pages.start;
	ok(start > text - REACH && start < text + REACH, "for one within reach");
	check_unmap(&pages);
	is_int(core_stubs(&pages, text - (1ul << 30), text, text + (1ul << 30), 1, 10), 0,
		"a place 1 GiB before a text of 1 GiB is used or replaced");
	start = (uint64_t)(uintptr_t)pages.start;
	ok(text + (1ul << 30) - start < REACH, "so that the text's end is within reach");
	check_unmap(&pages);
	is_int(core_stubs(&pages, 0x400000 - stub_size(0, 0, 10), 0x400000, 0x500000, 0, 10), 0,
		"text at 4 MiB finds room");
	ok((uint64_t)(uintptr_t)pages.start < REACH, "within reach of low addresses");
	check_unmap(&pages);
}

static void test_reserved(void)
{
	uint64_t text = find_room(16ul << 20) + (8ul << 20), wanted = text - stub_size(1, 0, 200);
	struct stub_pages pages;

	is_int(stub_reserve(&pages, wanted, text, text + 0x10000, 1, 0, 200), 0,
		"stub_reserve keeps a place for 200 stubs");
	is_int((long long)(uintptr_t)pages.start, (long long)wanted, "the wanted one when it is free");
	ok(all_pages_are(wanted, stub_size(1, 0, 200), "---p") && pages.stubs == 0,
		"nobody can access it, and it has no stubs");
	is_int(stub_write(&pages, 42, NULL, NULL), 0, "stub_write writes them");
	check_pages(&pages, 42, 200);
	check_unmap(&pages);
}

/* Event sleds 0, 1, 2 ...: custom and typed in turn, from registers that depend on the number. */
static void tell_event(const void *text, uint32_t n, struct stub_event *to)
{
	to->resume = *(const uint64_t *)text + 100 * n;
	to->arguments = n & 1 ? 3 : 2;
	for (unsigned i = 0; i < 3; i++)
		to->source[i] = (uint8_t)((n + 5 * i) % 16 == 4 ? 15 : (n + 5 * i) % 16);
}

/* The whole code of a stub, as the header draws it. */
static int is_event_stub(uint64_t address, const struct stub_event *event)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)address;
	void (*gate)(void) = event->arguments == 3 ? tramp_gate_typed : tramp_gate_custom;
	uint64_t word;

	if (memcmp(p, "\x48\x8d\x64\x24\x80\xff\x35", 7))
		return 0;
	memcpy(&word, p + 11 + get32(p + 7), 8);
	if (word != event->resume)
		return 0;
	p += 11;
	for (unsigned i = 0; i < event->arguments; i++) {
		if (event->source[i] >= 8 && *p++ != 0x41)
			return 0;
		if (*p++ != (0x50 | (event->source[i] & 7)))
			return 0;
	}
	if (p[0] != 0xff || p[1] != 0x15)
		return 0;
	memcpy(&word, p + 6 + get32(p + 2), 8);
	if (word != (uint64_t)(uintptr_t)gate)
		return 0;
	p += 6;
	return !memcmp(p, "\x48\x8d\xa4\x24", 4) && get32(p + 4) == 128 + 8 + 8 * event->arguments && p[8] == 0xe9 &&
	       (uint64_t)(uintptr_t)p + 13 + (uint64_t)(int64_t)get32(p + 9) == event->resume;
}

static void test_events(void)
{
	enum { EVENTS = 301, CELLS = 7 };
	uint64_t text = find_room(16ul << 20) + (8ul << 20), end = 0;
	struct stub_pages pages;
	unsigned right = 0, cells = 0, apart = 0;

	is_int((long long)stub_size(1, 1, 0), PAGE, "XRay stubs and one of an event take a page");
	is_int((long long)stub_size(1, 84, 0), 2 * PAGE, "84 of events take a second one");
	is_int(stub_reserve(&pages, text - stub_size(1, EVENTS, CELLS), text, text + 0x10000, 1, EVENTS, CELLS), 0,
		"a place for 301 event sleds is kept");
	is_int(stub_write(&pages, 42, tell_event, &text), 0, "their stubs are written");
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct stub_event event;
		tell_event(&text, i, &event);
		right += is_event_stub(stub_event(&pages, i), &event);
		apart += stub_event(&pages, i) >= end;
		end = stub_event(&pages, i) + 48;
	}
	for (uint32_t i = 0; i < CELLS; i++)
		cells += is_cell_stub(stub_address(&pages, i), stub_cell(&pages, i));
	is_int(right, EVENTS,
		"each steps over the red zone, pushes what its sled names, calls its gate and goes on behind the sled");
	is_int(apart, EVENTS, "none lies over another");
	ok(cells == CELLS && stub_address(&pages, 0) >= end, "stubs of patchable functions follow them");
	ok(is_xray_stub(stub_xray(&pages, 2), TRACE_WORD(TRACE_TAIL, 42), tramp_gate_xray_tail),
		"the XRay stubs come first as ever");
	ok(all_pages_are((uint64_t)(uintptr_t)pages.start, pages.code_size, "r-xp"),
		"all code is mapped read and execute");
	check_unmap(&pages);
}

static void test_block(void)
{
	struct stub_pages pages;

	is_int(stub_map_block(&pages, 300), 0, "stub_map_block maps 300 stubs");
	check_pages(&pages, 0, 300);
	struct stub_cell *cell = stub_cell(&pages, 299);
	cell->word = 1;
	cell->body = 2;
	cell->gate = 3;
	ok(is_cell_stub(stub_address(&pages, 299), cell), "filling a cell changes no code");
	is_int((long long)(stub_rest(&pages, 299) - stub_address(&pages, 299)), 6,
		"the rest of a stub begins behind its first jump");
	is_int((long long)stub_cell(&pages, 299)->target, (long long)stub_rest(&pages, 299),
		"a new stub of a block goes on to its rest");
	check_unmap(&pages);
}

/* Where blocks go whose place is taken. */
static void test_copies_elsewhere(uint64_t text, uint64_t wanted)
{
	struct stub_pages pages;

	occupy(wanted, PAGE);
	stub_map_copies(&pages, wanted, text, text + PAGE, 1, 16);
	int64_t distance = (int64_t)((uintptr_t)pages.start - text);
	ok(pages.start && (uintptr_t)pages.start != wanted && llabs(distance) < (int64_t)REACH,
		"elsewhere within reach, where its place is taken");
	stub_unmap(&pages);
	ok(!stub_map_near(&pages, wanted, text, text + PAGE, 1) && !pages.start, "stubs that must be near: nowhere");
	munmap((void *)(uintptr_t)wanted, PAGE);
	ok(stub_map_near(&pages, wanted, text, text + PAGE, 1) && (uintptr_t)pages.start == wanted,
		"but there, where it is free");
	stub_unmap(&pages);
}

static void test_copies(void)
{
	uint64_t low = find_room(4 * REACH), text = (low + 2 * REACH) & ~0xfffffful;
	struct stub_pages pages;
	uint32_t right = 0;
	const uint64_t wanted = text - 0x10000000;
	uint8_t *copies = stub_map_copies(&pages, wanted, text, text + PAGE, 130, 5000);

	is_int((long long)(uintptr_t)pages.start, (long long)wanted,
		"a block with copies is where it should be");
	is_int(copies - pages.start, 130 * 64, "the copies follow the stubs");
	copies[0] = copies[4999] = 0xc3;
	is_int(stub_finish_copies(&pages), 0, "it can be finished");
	ok(all_pages_are((uint64_t)(uintptr_t)pages.start, pages.code_size, "r-xp") &&
			pages.code_size >= 130 * 64 + 5000,
		"stubs and copies are read+execute");
	ok(all_pages_are((uint64_t)(uintptr_t)stub_cell(&pages, 0), 130 * sizeof(struct stub_cell), "rw-p"),
		"the cells are read+write");
	for (uint32_t i = 0; i < 130; i++)
		right += is_entry_stub(stub_entry(&pages, i), stub_cell(&pages, i));
	is_int(right, 130, "each stub has its cell");
	is_int((long long)stub_entry_rest(stub_entry(&pages, 7)), (long long)(wanted + 7 * 64 + 46), "and its rest");
	((void (*)(void))(uintptr_t)copies)();
	((void (*)(void))(uintptr_t)(copies + 4999))();
	stub_unmap(&pages);
	test_copies_elsewhere(text, wanted);
}

/* The module's own stubs: 32 at a time, until all are taken. */
static void test_fixed(void)
{
	struct stub_pages pages, next;
	uint32_t right = 0, blocks = 2;

	is_int(stub_take_block(&pages, 32) | stub_take_block(&next, 32), 0, "stub_take_block gives stubs twice");
	for (uint32_t i = 0; i < 32; i++)
		right += is_cell_stub(stub_address(&pages, i), stub_cell(&pages, i)) &&
			 is_cell_stub(stub_address(&next, i), stub_cell(&next, i)) &&
			 stub_cell(&next, i)->target == stub_rest(&next, i);
	is_int(right, 32, "each pushes its cell's word and body, jumps to its gate, and is on");
	ok(stub_address(&next, 0) == stub_address(&pages, 31) + STUB_SIZE &&
			stub_cell(&next, 0) == stub_cell(&pages, 31) + 1,
		"the second block follows the first");
	ok(stub_is_fixed(stub_address(&pages, 0)) && stub_is_fixed(stub_address(&next, 31) + 23) &&
			!stub_is_fixed(stub_address(&pages, 0) - 1) && !stub_is_fixed((uint64_t)(uintptr_t)&pages),
		"stub_is_fixed knows them");
	is_str(core_protection(stub_address(&pages, 0)), "r-xp", "they are code");
	is_str(core_protection((uint64_t)(uintptr_t)stub_cell(&pages, 0)), "rw-p", "their cells are data");
	stub_unmap(&pages);
	ok(!pages.start && is_cell_stub(stub_address(&next, 0), stub_cell(&next, 0)), "stub_unmap leaves them");
	while (blocks < 100 && !stub_take_block(&next, 32))
		blocks++;
	is_int(blocks, STUB_FIXED / 32, "there are so many blocks, then no more");
	ok(!next.start, "a block that is not given is empty");
}

/* Where the system never makes memory executable that was not (MDWE, Linux 6.3). 1: this kernel does not know that. */
static int without_execute(void *argument)
{
	int *results = argument;
	uint64_t text = find_room(16ul << 20) + (8ul << 20), wanted = text - stub_size(1, 0, 3);
	struct stub_pages pages;

	if (prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0))
		return 1;
	const struct rlimit none = { 0, 0 };
	results[0] = core_stubs(&pages, wanted, text, text + PAGE, 1, 3);
	results[1] = !results[0] && all_pages_are(wanted, pages.code_size, "r-xp") &&
		     all_pages_are(wanted + pages.code_size, pages.size - pages.code_size, "rw-p");
	results[2] = !results[0] && is_cell_stub(stub_address(&pages, 2), stub_cell(&pages, 2));
	stub_unmap(&pages);
	if (setrlimit(RLIMIT_FSIZE, &none))
		return 2;
	results[3] = core_stubs(&pages, wanted, text, text + PAGE, 1, 3);
	results[4] = all_pages_are(wanted, stub_size(1, 0, 3), "");
	results[5] = stub_map_block(&pages, 3);
	results[6] = !pages.start;
	return 0;
}

static void test_refused(void)
{
	int *results = core_shared(7 * sizeof(*results));
	int status = core_child(without_execute, results, 60);

	if (status == 1) {
		skip(8, "this kernel can't forbid executable memory");
		return;
	}
	is_int(status, 0, "a process that may make nothing executable goes on");
	is_int(results[0], 0, "its stubs are of a file in memory");
	ok(results[1], "their code is read+execute, their cells are read+write");
	ok(results[2], "and they are as ever");
	is_int(results[3], -EACCES, "where there can be no such file, they can't be written");
	ok(results[4], "and keeps no mapping");
	ok(results[5] < 0, "stub_map_block fails too");
	ok(results[6], "and keeps no mapping either");
}

int main(void)
{
	test_wanted();
	test_taken();
	test_reach();
	test_reserved();
	test_events();
	test_block();
	test_copies();
	test_fixed();
	test_refused();
	return done_testing();
}
