/* SPDX-License-Identifier: MIT */
#include "x86_64/stub.h"

#include <errno.h>    /* ENOMEM */
#include <stdbool.h>
#include <sys/mman.h> /* PROT_READ */

#include "format/trace.h" /* TRACE_WORD */
#include "x86_64/pages.h"
#include "x86_64/sys.h"
#include "x86_64/tramp.h"  /* tramp_gate_xray_entry */

#define PAGE	  4096ul
/*
 * XRay stubs lie in the first bytes: three stubs of 16 bytes, then the addresses of their gates, and of those of
 * events.
 */
#define XRAY_STUB_SIZE 16
#define XRAY_SIZE      (3 * XRAY_STUB_SIZE + 5 * 8 + 8) /* padded to 96 */
/* Of an event sled: up to 36 bytes of code, and at EVENT_RESUME the address after the sled. */
#define EVENT_SIZE   48
#define EVENT_RESUME 40
#define WORD_JUMP_SIZE 8
#define REACH	     0x7fff0000ul /* of a rel32, less a margin for the instruction's own length */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

/* Where the cell stubs begin: two to a cache line. */
static size_t before_cells(int xray, uint32_t events)
{
	return round_up((xray ? XRAY_SIZE : 0) + (uint64_t)events * EVENT_SIZE, STUB_SIZE);
}

static size_t code_size(int xray, uint32_t events, uint32_t cells)
{
	return round_up(before_cells(xray, events) + (uint64_t)cells * STUB_SIZE, PAGE);
}

size_t stub_size(int xray, uint32_t events, uint32_t functions)
{
	return code_size(xray, events, functions) + round_up((uint64_t)functions * sizeof(struct stub_cell), PAGE);
}

/* lea base(%r10),%r10d ; jmp *gate(%rip) */
static void write_xray_stub(uint8_t *p, uint32_t base, const uint8_t *gate)
{
	p[0] = 0x45;
	p[1] = 0x8d;
	p[2] = 0x92;
	sys_put32(p + 3, base);
	p[7] = 0xff;
	p[8] = 0x25;
	sys_put32(p + 9, (uint32_t)(gate - (p + 13)));
}

/* The code that stub.h draws; gate: where the address of the gate lies. */
static void write_event_stub(uint8_t *p, const struct stub_event *event, const uint8_t *gate)
{
	const uint8_t *resume = p + EVENT_RESUME;
	static const uint8_t down[5] = { 0x48, 0x8d, 0x64, 0x24, (uint8_t)-STUB_RED_ZONE };

	sys_copy(p + EVENT_RESUME, &event->resume, sizeof(event->resume));
	sys_copy(p, down, sizeof(down));
	p += sizeof(down);
	p[0] = 0xff;
	p[1] = 0x35;
	sys_put32(p + 2, (uint32_t)(resume - (p + 6)));
	p += 6;
	for (unsigned i = 0; i < event->arguments; i++) {
		if (event->source[i] & 8)
			*p++ = 0x41;
		*p++ = 0x50 | (event->source[i] & 7);
	}
	p[0] = 0xff;
	p[1] = 0x15;
	sys_put32(p + 2, (uint32_t)(gate - (p + 6)));
	p += 6;
	p[0] = 0x48; /* lea, not add: flags are the function's */
	p[1] = 0x8d;
	p[2] = 0xa4;
	p[3] = 0x24;
	sys_put32(p + 4, STUB_RED_ZONE + 8 * (1u + event->arguments));
	p += 8;
	p[0] = 0xe9;
	sys_put32(p + 1, (uint32_t)(event->resume - (uint64_t)(uintptr_t)(p + 5)));
}

/* push word(%rip) ; push body(%rip) ; jmp *gate(%rip) */
static void write_rest(uint8_t *p, const struct stub_cell *cell)
{
	const uint8_t *word = (const uint8_t *)&cell->word, *body = (const uint8_t *)&cell->body;
	const uint8_t *gate = (const uint8_t *)&cell->gate;

	p[0] = 0xff;
	p[1] = 0x35;
	sys_put32(p + 2, (uint32_t)(word - (p + 6)));
	p[6] = 0xff;
	p[7] = 0x35;
	sys_put32(p + 8, (uint32_t)(body - (p + 12)));
	p[12] = 0xff;
	p[13] = 0x25;
	sys_put32(p + 14, (uint32_t)(gate - (p + 18)));
}

/* jmp *target(%rip) ; rest */
static void write_cell_stub(uint8_t *p, const struct stub_cell *cell)
{
	const uint8_t *target = (const uint8_t *)&cell->target;

	p[0] = 0xff;
	p[1] = 0x25;
	sys_put32(p + 2, (uint32_t)(target - (p + STUB_REST)));
	write_rest(p + STUB_REST, cell);
}

/* cmpq $0,target(%rip) ; jne rest ; room for the copy ; rest */
static void write_entry_stub(uint8_t *p, const struct stub_cell *cell)
{
	const uint8_t *target = (const uint8_t *)&cell->target;

	p[0] = 0x48;
	p[1] = 0x83;
	p[2] = 0x3d;
	sys_put32(p + 3, (uint32_t)(target - (p + 8)));
	p[7] = 0;
	p[8] = 0x75;
	p[9] = STUB_ENTRY_ROOM;
	write_rest(p + STUB_ENTRY_REST, cell);
}

static uint8_t *stubs_start(const struct stub_pages *pages)
{
	return pages->start + before_cells(pages->xray, pages->events);
}

/* Makes the code part executable, when all of it is written. */
static int seal(struct stub_pages *pages)
{
	/* Where memory that was written to may not become executable, it is taken from a file. */
	int r = pages_may_ask() ? (int)sys_mprotect(pages->start, pages->code_size, PROT_READ | PROT_EXEC) : -EACCES;

	if (r)
		r = (int)pages_make_code((uint64_t)(uintptr_t)pages->start, pages->code_size);
	if (r == 0) {
		pages->stubs = pages->reserved;
		pages->written = 1;
	}
	return r;
}

static void write_cell_stubs(struct stub_pages *pages)
{
	for (uint32_t i = 0; i < pages->reserved; i++)
		write_cell_stub(stubs_start(pages) + (size_t)i * STUB_SIZE, stub_cell(pages, i));
}

/* Fills a fresh read+write mapping and makes its code part executable. */
static int write_pages(struct stub_pages *pages, uint32_t xray_base,
	void (*event)(const void *, uint32_t, struct stub_event *), const void *arg)
{
	uint8_t *p = pages->start;

	sys_fill(p, 0xcc, pages->code_size);
	if (pages->xray) {
		uint64_t gates[5] = { (uint64_t)(uintptr_t)tramp_gate_xray_entry,
			(uint64_t)(uintptr_t)tramp_gate_xray_exit, (uint64_t)(uintptr_t)tramp_gate_xray_tail,
			(uint64_t)(uintptr_t)tramp_gate_custom, (uint64_t)(uintptr_t)tramp_gate_typed };
		static const uint32_t types[3] = { TRACE_ENTRY, TRACE_EXIT, TRACE_TAIL };
		uint8_t *gate = p + 3 * XRAY_STUB_SIZE;

		sys_copy(gate, gates, sizeof(gates));
		for (int i = 0; i < 3; i++)
			write_xray_stub(p + i * XRAY_STUB_SIZE, TRACE_WORD(types[i], xray_base), gate + 8 * i);
		for (uint32_t i = 0; i < pages->events; i++) {
			struct stub_event what;
			event(arg, i, &what);
			write_event_stub(
				p + XRAY_SIZE + (size_t)i * EVENT_SIZE, &what, gate + 8 * (what.arguments + 1));
		}
	}
	write_cell_stubs(pages);
	return seal(pages);
}

static uint8_t *try_map(uint64_t at, size_t size, int prot)
{
	uint8_t *p = (uint8_t *)(uintptr_t)at;

	return sys_mmap_at(p, size, prot) ? NULL : p;
}

static bool within_reach(uint64_t at, size_t size, uint64_t low, uint64_t high)
{
	uint64_t end = at + size;

	return (end > low ? end - low : 0) < REACH && (high > at ? high - at : 0) < REACH;
}

/* Looks for free room in growing steps on both sides of the text. */
static uint8_t *map_near(uint64_t low, uint64_t high, size_t size, int prot)
{
	for (uint64_t step = 1ul << 20; step < REACH; step += step < (32ul << 20) ? 1ul << 20 : 16ul << 20) {
		uint64_t below = low - round_up(size, PAGE) - step, above = round_up(high, PAGE) + step;
		uint8_t *p = NULL;

		if (below < low && below >= 0x10000 && within_reach(below, size, low, high))
			p = try_map(below & ~(PAGE - 1), size, prot);
		if (!p && within_reach(above, size, low, high))
			p = try_map(above, size, prot);
		if (p)
			return p;
	}
	return NULL;
}

/* At `wanted`, or elsewhere within reach; NULL: nowhere. */
static uint8_t *map_within_reach(uint64_t wanted, uint64_t low, uint64_t high, size_t size, int prot)
{
	uint8_t *p = within_reach(wanted, size, low, high) ? try_map(wanted, size, prot) : NULL;

	return p ? p : map_near(low, high, size, prot);
}

int stub_reserve(struct stub_pages *pages, uint64_t wanted, uint64_t text_low, uint64_t text_high, int xray,
	uint32_t events, uint32_t functions)
{
	size_t size = stub_size(xray, events, functions);
	uint8_t *p = map_within_reach(wanted, text_low, text_high, size, PROT_NONE);

	*pages = (struct stub_pages){ 0 };
	if (!p)
		return -ENOMEM;
	pages->size = size;
	pages->code_size = code_size(xray, events, functions);
	pages->reserved = functions;
	pages->events = events;
	pages->xray = xray != 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner but a child that another thread forks meanwhile: it finds
						    all of it, or none */
	pages->start = p;
	return 0;
}

int stub_write(struct stub_pages *pages, uint32_t xray_base, void (*event)(const void *, uint32_t, struct stub_event *),
	const void *arg)
{
	if (sys_mprotect(pages->start, pages->size, PROT_READ | PROT_WRITE) != 0)
		return -ENOMEM;
	if (write_pages(pages, xray_base, event, arg) == 0)
		return 0;
	sys_madvise(pages->start, pages->size, MADV_DONTNEED);
	sys_mprotect(pages->start, pages->size, PROT_NONE);
	return -EACCES;
}

int stub_map_block(struct stub_pages *pages, uint32_t count)
{
	size_t size = stub_size(0, 0, count);
	void *p = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*pages = (struct stub_pages){ 0 };
	if (sys_is_error(p))
		return -ENOMEM;
	pages->start = p;
	pages->size = size;
	pages->code_size = code_size(0, 0, count);
	pages->reserved = count;
	if (write_pages(pages, 0, NULL, NULL) != 0) {
		stub_unmap(pages);
		return -EACCES;
	}
	for (uint32_t i = 0; i < count; i++)
		stub_cell(pages, i)->target = stub_rest(pages, i);
	return 0;
}

uint8_t *stub_map_copies(struct stub_pages *pages, uint64_t wanted, uint64_t text_low, uint64_t text_high,
	uint32_t count, size_t room)
{
	size_t stubs = (size_t)count * STUB_ENTRY_SIZE, code = round_up(stubs + room, PAGE);
	size_t size = code + round_up(count * sizeof(struct stub_cell), PAGE);
	uint8_t *p = map_within_reach(wanted, text_low, text_high, size, PROT_READ | PROT_WRITE);

	*pages = (struct stub_pages){ 0 };
	if (!p)
		return NULL;
	pages->start = p;
	pages->size = size;
	pages->code_size = code;
	pages->reserved = count;
	sys_fill(p, 0xcc, code);
	for (uint32_t i = 0; i < count; i++)
		write_entry_stub(p + (size_t)i * STUB_ENTRY_SIZE, stub_cell(pages, i));
	return p + stubs;
}

size_t stub_near_size(uint32_t count)
{
	return round_up((uint64_t)count * STUB_ENTRY_SIZE, PAGE);
}

void stub_write_entry(const struct stub_pages *pages, uint32_t n, const struct stub_cell *cell)
{
	write_entry_stub(pages->start + (size_t)n * STUB_ENTRY_SIZE, cell);
}

int stub_map_near(struct stub_pages *pages, uint64_t at, uint64_t text_low, uint64_t text_high, uint32_t count)
{
	size_t size = stub_near_size(count);
	uint8_t *p = within_reach(at, size, text_low, text_high) ? try_map(at, size, PROT_READ | PROT_WRITE) : NULL;

	*pages = (struct stub_pages){ 0 };
	if (!p)
		return 0;
	pages->start = p;
	pages->size = pages->code_size = size;
	pages->reserved = count;
	sys_fill(p, 0xcc, size);
	return 1;
}

int stub_map_words(struct stub_pages *pages, uint64_t low, uint64_t high, uint32_t count)
{
	size_t code = round_up((uint64_t)count * WORD_JUMP_SIZE, PAGE);
	size_t size = code + round_up((uint64_t)count * sizeof(uint64_t), PAGE);
	uint8_t *p = map_near(low, high, size, PROT_READ | PROT_WRITE);

	*pages = (struct stub_pages){ 0 };
	if (!p)
		return -ENOMEM;
	pages->start = p;
	pages->size = size;
	pages->code_size = code;
	sys_fill(p, 0xcc, code);
	return 0;
}

uint64_t stub_word(const struct stub_pages *pages, uint32_t n)
{
	return (uint64_t)(uintptr_t)pages->start + pages->code_size + n * sizeof(uint64_t);
}

void stub_write_word(const struct stub_pages *pages, uint32_t n, uint64_t own)
{
	uint8_t *p = pages->start + (size_t)n * WORD_JUMP_SIZE;

	/* jmp *own(%rip) */
	p[0] = 0xff;
	p[1] = 0x25;
	sys_put32(p + 2, (uint32_t)(own - (uint64_t)(uintptr_t)(p + 6)));
	*(uint64_t *)(uintptr_t)stub_word(pages, n) = (uint64_t)(uintptr_t)p;
}

int stub_finish_copies(struct stub_pages *pages)
{
	if (seal(pages) == 0)
		return 0;
	stub_unmap(pages);
	return -EACCES;
}

/* stub_fixed.S */
extern uint8_t stub_fixed[];
extern struct stub_cell stub_fixed_cells[];
_Static_assert(sizeof(struct stub_cell) == STUB_SIZE, "stub n and cell n of the module lie at one distance for all n");

int stub_take_block(struct stub_pages *pages, uint32_t count)
{
	static uint32_t taken;

	*pages = (struct stub_pages){ 0 };
	if (count > STUB_FIXED - taken)
		return -ENOMEM;
	pages->start = stub_fixed + (size_t)taken * STUB_SIZE;
	pages->code_size = (size_t)((uintptr_t)stub_fixed_cells - (uintptr_t)stub_fixed);
	pages->stubs = pages->reserved = count;
	pages->written = 1;
	taken += count;
	for (uint32_t i = 0; i < count; i++)
		stub_cell(pages, i)->target = stub_rest(pages, i);
	return 0;
}

bool stub_is_fixed(uint64_t address)
{
	return address - (uintptr_t)stub_fixed < (uint64_t)STUB_FIXED * STUB_SIZE;
}

uint64_t stub_xray(const struct stub_pages *pages, int sled)
{
	return (uint64_t)(uintptr_t)(pages->start + sled * XRAY_STUB_SIZE);
}

uint64_t stub_event(const struct stub_pages *pages, uint32_t n)
{
	return (uint64_t)(uintptr_t)(pages->start + XRAY_SIZE + (size_t)n * EVENT_SIZE);
}

uint64_t stub_address(const struct stub_pages *pages, uint32_t n)
{
	return (uint64_t)(uintptr_t)(stubs_start(pages) + (size_t)n * STUB_SIZE);
}

uint64_t stub_entry(const struct stub_pages *pages, uint32_t n)
{
	return (uint64_t)(uintptr_t)(pages->start + (size_t)n * STUB_ENTRY_SIZE);
}

uint64_t stub_rest(const struct stub_pages *pages, uint32_t n)
{
	return stub_rest_of(stub_address(pages, n));
}

struct stub_cell *stub_cell(const struct stub_pages *pages, uint32_t n)
{
	return (struct stub_cell *)(uintptr_t)stub_cell_at((uintptr_t)pages->start, pages->code_size, n);
}

void stub_unmap(struct stub_pages *pages)
{
	if (pages->size)
		sys_munmap(pages->start, pages->size);
	*pages = (struct stub_pages){ 0 };
}
