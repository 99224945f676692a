/* SPDX-License-Identifier: MIT */
#include "x86_64/stub.h"

#include <errno.h>    /* ENOMEM */
#include <sys/mman.h> /* PROT_READ */

#include "runtime/sys.h"
#include "runtime/trace.h" /* TRACE_WORD */
#include "x86_64/tramp.h"  /* tramp_gate_xray_entry */

#define PAGE	  4096ul
#define STUB_REST 6  /* behind the jump through the target */
/* XRay stubs lie in the first bytes: three stubs of 16 bytes, then the addresses of their gates. */
#define XRAY_STUB_SIZE 16
#define XRAY_SIZE      (3 * XRAY_STUB_SIZE + 3 * 8 + 24) /* padded to 96 */
#define REACH	       0x7fff0000ul			 /* of a rel32, less a margin for the instruction's own length */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static size_t code_size(int xray, uint32_t cells)
{
	return round_up((xray ? XRAY_SIZE : 0) + (uint64_t)cells * STUB_SIZE, PAGE);
}

size_t stub_size(int xray, uint32_t functions)
{
	return code_size(xray, functions) + round_up((uint64_t)functions * sizeof(struct stub_cell), PAGE);
}

static void put32(uint8_t *p, uint32_t v)
{
	struct unaligned {
		uint32_t v;
	} __attribute__((packed, may_alias)) *to = (struct unaligned *)p;

	to->v = v; /* one store: sys_copy() takes ten times as long to begin, and a library has thousands of stubs */
}

/* lea base(%r10),%r10d ; jmp *gate(%rip) */
static void write_xray_stub(uint8_t *p, uint32_t base, const uint8_t *gate)
{
	p[0] = 0x45;
	p[1] = 0x8d;
	p[2] = 0x92;
	put32(p + 3, base);
	p[7] = 0xff;
	p[8] = 0x25;
	put32(p + 9, (uint32_t)(gate - (p + 13)));
}

/* jmp *target(%rip) ; push word(%rip) ; push body(%rip) ; jmp *gate(%rip) */
static void write_cell_stub(uint8_t *p, const struct stub_cell *cell)
{
	const uint8_t *word = (const uint8_t *)&cell->word, *body = (const uint8_t *)&cell->body;
	const uint8_t *gate = (const uint8_t *)&cell->gate, *target = (const uint8_t *)&cell->target;

	p[0] = 0xff;
	p[1] = 0x25;
	put32(p + 2, (uint32_t)(target - (p + 6)));
	p += STUB_REST;
	p[0] = 0xff;
	p[1] = 0x35;
	put32(p + 2, (uint32_t)(word - (p + 6)));
	p[6] = 0xff;
	p[7] = 0x35;
	put32(p + 8, (uint32_t)(body - (p + 12)));
	p[12] = 0xff;
	p[13] = 0x25;
	put32(p + 14, (uint32_t)(gate - (p + 18)));
}

static uint8_t *cells_start(const struct stub_pages *pages)
{
	return pages->start + pages->code_size;
}

static uint8_t *stubs_start(const struct stub_pages *pages)
{
	return pages->start + (pages->xray ? XRAY_SIZE : 0);
}

/* Fills a fresh read+write mapping and makes its code part executable. */
static int write_pages(struct stub_pages *pages, uint32_t xray_base)
{
	uint8_t *p = pages->start;

	sys_fill(p, 0xcc, pages->code_size);
	if (pages->xray) {
		uint64_t gates[3] = { (uint64_t)(uintptr_t)tramp_gate_xray_entry, (uint64_t)(uintptr_t)tramp_gate_xray_exit,
			(uint64_t)(uintptr_t)tramp_gate_xray_tail };
		static const uint32_t types[3] = { TRACE_ENTRY, TRACE_EXIT, TRACE_TAIL };
		uint8_t *gate = p + 3 * XRAY_STUB_SIZE;

		sys_copy(gate, gates, sizeof(gates));
		for (int i = 0; i < 3; i++)
			write_xray_stub(p + i * XRAY_STUB_SIZE, TRACE_WORD(types[i], xray_base), gate + 8 * i);
	}
	for (uint32_t i = 0; i < pages->reserved; i++)
		write_cell_stub(stubs_start(pages) + (size_t)i * STUB_SIZE, stub_cell(pages, i));
	int r = (int)sys_mprotect(p, pages->code_size, PROT_READ | PROT_EXEC);
	if (r == 0) {
		pages->stubs = pages->reserved;
		pages->written = 1;
	}
	return r;
}

static uint8_t *try_map(uint64_t at, size_t size, int prot)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0);
	void *p = sys_mmap((void *)(uintptr_t)at, size, prot, flags, -1, 0);

	if (sys_is_error(p))
		return NULL;
	if (at && (uint64_t)(uintptr_t)p != at) { /* a kernel before 4.17 takes the address for a hint */
		sys_munmap(p, size);
		return NULL;
	}
	return p;
}

static int within_reach(uint64_t at, size_t size, uint64_t low, uint64_t high)
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

static int map(struct stub_pages *pages, uint64_t wanted, uint64_t low, uint64_t high, int xray, uint32_t functions, int prot)
{
	size_t size = stub_size(xray, functions);
	uint8_t *p = NULL;

	*pages = (struct stub_pages){ 0 };
	if (within_reach(wanted, size, low, high))
		p = try_map(wanted, size, prot);
	if (!p)
		p = map_near(low, high, size, prot);
	if (!p)
		return -ENOMEM;
	pages->start = p;
	pages->size = size;
	pages->code_size = code_size(xray, functions);
	pages->reserved = functions;
	pages->xray = xray;
	return 0;
}

int stub_reserve(struct stub_pages *pages, uint64_t wanted, uint64_t text_low, uint64_t text_high, int xray, uint32_t functions)
{
	return map(pages, wanted, text_low, text_high, xray != 0, functions, PROT_NONE);
}

int stub_write(struct stub_pages *pages, uint32_t xray_base)
{
	if (sys_mprotect(pages->start, pages->size, PROT_READ | PROT_WRITE) != 0)
		return -ENOMEM;
	if (write_pages(pages, xray_base) == 0)
		return 0;
	sys_madvise(pages->start, pages->size, MADV_DONTNEED);
	sys_mprotect(pages->start, pages->size, PROT_NONE);
	return -EACCES;
}

int stub_map(struct stub_pages *pages, uint64_t wanted, uint64_t text_low, uint64_t text_high, uint32_t xray_base, uint32_t functions)
{
	int r = map(pages, wanted, text_low, text_high, xray_base != 0, functions, PROT_READ | PROT_WRITE);

	if (r == 0 && write_pages(pages, xray_base) != 0) {
		stub_unmap(pages);
		return -EACCES;
	}
	return r;
}

int stub_map_block(struct stub_pages *pages, uint32_t count)
{
	size_t size = stub_size(0, count);
	uint8_t *p = try_map(0, size, PROT_READ | PROT_WRITE);

	*pages = (struct stub_pages){ 0 };
	if (!p)
		return -ENOMEM;
	pages->start = p;
	pages->size = size;
	pages->code_size = code_size(0, count);
	pages->reserved = count;
	if (write_pages(pages, 0) != 0) {
		stub_unmap(pages);
		return -EACCES;
	}
	for (uint32_t i = 0; i < count; i++)
		stub_cell(pages, i)->target = stub_rest(pages, i);
	return 0;
}

uint64_t stub_xray(const struct stub_pages *pages, int sled)
{
	return (uint64_t)(uintptr_t)(pages->start + sled * XRAY_STUB_SIZE);
}

uint64_t stub_address(const struct stub_pages *pages, uint32_t n)
{
	return (uint64_t)(uintptr_t)(stubs_start(pages) + (size_t)n * STUB_SIZE);
}

uint64_t stub_rest(const struct stub_pages *pages, uint32_t n)
{
	return stub_address(pages, n) + STUB_REST;
}

struct stub_cell *stub_cell(const struct stub_pages *pages, uint32_t n)
{
	return (struct stub_cell *)(cells_start(pages) + (size_t)n * sizeof(struct stub_cell));
}

void stub_unmap(struct stub_pages *pages)
{
	if (pages->start)
		sys_munmap(pages->start, pages->size);
	*pages = (struct stub_pages){ 0 };
}
