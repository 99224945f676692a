/* SPDX-License-Identifier: MIT */
/* The processor's state that handlers might change, and where it is kept meanwhile. */
#include "x86_64/xsave.h"

#include <stdbool.h>

#include "x86_64/cpu.h"
#include "x86_64/sys.h"
#include "x86_64/vectors.h"

/* Components of XCR0: x87, SSE, AVX, AVX-512 (mask registers, upper halves, upper registers), r16-r31. */
#define AVX	   2
#define ZMM_HIGH   6
#define ZMM_MORE   7
#define AVX512	   (1u << 5 | 1u << ZMM_HIGH | 1u << ZMM_MORE)
#define MORE	   (AVX512 | 1u << 19)
#define COMPONENTS (1u << 0 | 1u << 1 | 1u << AVX | MORE)

#define GENUINE 0x756e6547 /* "Genu" of Intel's name: measured, see .Lempty in tramp_handlers.S */

#define LEGACY_SIZE 512
#define HEADER_SIZE 64

struct tramp_vectors tramp_vectors = { .size = LEGACY_SIZE, .mask = 3, .way = TRAMP_FXSAVE };

static uint32_t offset[32]; /* of components in the area */

/*
 * Has it the instructions that the quick way moves AVX-512's registers by (AVX512F, and AVX512BW for masks of 64
 * bits)?
 */
static bool moves_zmm(uint32_t mask)
{
	uint32_t a, b, c, d;

	if ((mask & (AVX512 | 1u << AVX)) != (AVX512 | 1u << AVX))
		return false;
	cpu_id(7, 0, &a, &b, &c, &d);
	return b >> 16 & b >> 30 & 1;
}

static uint32_t xcr0(void)
{
	uint32_t a, d;

	__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return a;
}

void vectors_find(void)
{
	uint32_t a, b, c, d, at = LEGACY_SIZE + HEADER_SIZE, end = at, most, vendor;

	cpu_id(0, 0, &most, &vendor, &c, &d);
	cpu_id(1, 0, &a, &b, &c, &d);
	if (most < 0xd || !(c & 1u << 27)) /* OSXSAVE */
		return;
	uint32_t mask = xcr0() & COMPONENTS;
	cpu_id(0xd, 1, &a, &b, &c, &d);
	int compact = (a & 1u << 1) != 0, tells_use = (a & 1u << 2) != 0;
	for (uint32_t i = 2; i < 32; i++) {
		if (!(mask & 1u << i))
			continue;
		cpu_id(0xd, i, &a, &b, &c, &d); /* size; place in the standard format; flags */
		if (compact)
			offset[i] = c & 2 ? (at + 63) & ~63u : at;
		else
			offset[i] = b;
		at = offset[i] + a;
		if (at > end)
			end = at;
	}
	enum tramp_vectors_quick quick = mask & 1u << AVX ? TRAMP_QUICK_YMM : TRAMP_QUICK_NONE;
	uint32_t more = mask & MORE;
	if (moves_zmm(mask)) {
		quick = TRAMP_QUICK_ZMM;
		more &= ~AVX512;
		if (end < sizeof(struct tramp_saved))
			end = sizeof(struct tramp_saved);
	}
	if (more && !tells_use)
		quick = TRAMP_QUICK_NONE;
	tramp_vectors = (struct tramp_vectors){ .size = end, .mask = mask, .way = compact ? TRAMP_XSAVEC : TRAMP_XSAVE,
		.quick = quick, .more = more, .pushes = vendor == GENUINE };
}

/* What the area has of a component at an offset; zeros where the component was in its initial state. */
static void piece(const uint8_t *area, unsigned component, uint32_t at, uint8_t *value, size_t size)
{
	uint64_t in_use = tramp_vectors.way == TRAMP_FXSAVE ? 3 : *(const uint64_t *)(const void *)(area + LEGACY_SIZE);

	if (in_use & tramp_vectors.mask & 1u << component)
		sys_copy(value, area + at, size);
}

int vectors_read(const void *area, unsigned n, uint8_t value[64])
{
	int wide = (tramp_vectors.mask & 1u << ZMM_MORE) != 0;

	sys_fill(value, 0, 64);
	const struct tramp_saved *saved = area;
	if (!saved || n >= (wide ? 32 : 16))
		return 0;
	if (tramp_vectors.quick && saved->is_quick == TRAMP_QUICK_ZMM) {
		if (n < 16 || saved->in_use & TRAMP_USED_MORE)
			sys_copy(value, saved->zmm[n], sizeof(saved->zmm[n]));
		return 64;
	}
	if (tramp_vectors.quick && saved->is_quick) {
		if (n < 16)
			sys_copy(value, saved->ymm[n], sizeof(saved->ymm[n]));
		return wide ? 64 : 32;
	}
	if (n >= 16) {
		piece(area, ZMM_MORE, offset[ZMM_MORE] + 64 * (n - 16), value, 64);
		return 64;
	}
	piece(area, 1, 160 + 16 * n, value, 16);
	piece(area, AVX, offset[AVX] + 16 * n, value + 16, 16);
	piece(area, ZMM_HIGH, offset[ZMM_HIGH] + 32 * n, value + 32, 32);
	return wide ? 64 : tramp_vectors.mask & 1u << AVX ? 32 : 16;
}
