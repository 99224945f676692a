/* SPDX-License-Identifier: MIT */
#include "x86_64/sled.h"

#include <string.h> /* memcpy, memcmp */

/* The NOPs that a sled's first two bytes jump over (entry, tail), or that nobody reaches (behind the ret of an exit).
 */
static const uint8_t entry_nop[9] = {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00};
static const uint8_t exit_nop[10] = {0x2e, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00};

/* Legacy prefixes that assemblers put before jumps: branch hints, notrack, bnd, padding; and REX. */
static int is_jump_prefix(uint8_t byte)
{
	return byte == 0x2e || byte == 0x3e || byte == 0x66 || byte == 0x67 || byte == 0xf2 || (byte & 0xf0) == 0x40;
}

/* What follows a tail sled is the jump that it announces. NOPs may pad the way to it
 * (-mbranches-within-32B-boundaries). */
static enum trace_reason check_tail_jump(const uint8_t *p, size_t size)
{
	size_t i = sled_nops(p, size);

	while (i < size && is_jump_prefix(p[i]))
		i++;
	if (i + 1 >= size)
		return TRACE_REASON_SLED_BYTES;
	if ((p[i] & 0xf0) == 0x70 || (p[i] == 0x0f && (p[i + 1] & 0xf0) == 0x80))
		return TRACE_REASON_CONDITIONAL_TAIL;
	if (p[i] == 0xe9 || p[i] == 0xeb || (p[i] == 0xff && (p[i + 1] & 0x38) == 0x20))
		return TRACE_REASON_TRACED;
	return TRACE_REASON_SLED_BYTES;
}

enum trace_reason sled_check_xray(enum sled_type type, uint64_t address, const uint8_t *p, size_t size)
{
	/* The head is stored as one aligned pair of bytes; on any other address a thread could see half of it. */
	if (address % 2 || size < SLED_XRAY_SIZE)
		return TRACE_REASON_SLED_BYTES;
	switch (type) {
	case SLED_XRAY_ENTRY:
	case SLED_XRAY_TAIL:
		if (p[0] != 0xeb || p[1] != 0x09)
			return TRACE_REASON_SLED_BYTES;
		if (memcmp(p + 2, entry_nop, sizeof(entry_nop)) && p[6] != 0xe8)
			return TRACE_REASON_SLED_BYTES;
		if (type == SLED_XRAY_TAIL)
			return check_tail_jump(p + SLED_XRAY_SIZE, size - SLED_XRAY_SIZE);
		return TRACE_REASON_TRACED;
	case SLED_XRAY_EXIT:
		if (p[0] != 0xc3)
			return TRACE_REASON_SLED_BYTES;
		if (memcmp(p + 1, exit_nop, sizeof(exit_nop)) && (p[1] != 0xba || p[6] != 0xe9))
			return TRACE_REASON_SLED_BYTES;
		return TRACE_REASON_TRACED;
	case SLED_XRAY_CUSTOM:
		if (size < 17 || ((p[0] != 0xeb || p[1] != 0x0f) && (p[0] != 0x66 || p[1] != 0x90)) || p[10] != 0xe8)
			return TRACE_REASON_SLED_BYTES;
		return TRACE_REASON_EVENT_SLED;
	case SLED_XRAY_TYPED:
		if (size < 22 || ((p[0] != 0xeb || p[1] != 0x14) && (p[0] != 0x66 || p[1] != 0x90)) || p[14] != 0xe8)
			return TRACE_REASON_SLED_BYTES;
		return TRACE_REASON_EVENT_SLED;
	default:
		return TRACE_REASON_SLED_BYTES;
	}
}

size_t sled_nop(const uint8_t *p, size_t size)
{
	size_t i = 0, length;

	/* An instruction has at most 15 bytes. No REX: it would make 90 an xchg. f3 90 is pause. */
	if (size > 15)
		size = 15;
	while (i < size && (p[i] == 0x66 || p[i] == 0x67 || p[i] == 0x2e))
		i++;
	if (i < size && p[i] == 0x90)
		return i + 1;
	if (size - i < 3 || p[i] != 0x0f || p[i + 1] != 0x1f)
		return 0;
	uint8_t modrm = p[i + 2];
	if (modrm & 0x38)
		return 0;
	length = i + 3;
	switch (modrm >> 6) {
	case 0:
		if ((modrm & 7) == 5)
			length += 4;
		break;
	case 1:
		length += 1;
		break;
	case 2:
		length += 4;
		break;
	}
	if (modrm >> 6 != 3 && (modrm & 7) == 4) {
		/* A scale-index-base byte; base 5 without displacement stands for one of 32 bits. */
		if (size - i < 4)
			return 0;
		length += 1;
		if (modrm >> 6 == 0 && (p[i + 3] & 7) == 5)
			length += 4;
	}
	return length <= size ? length : 0;
}

size_t sled_nops(const uint8_t *p, size_t size)
{
	size_t n = 0, one;

	while (n < size && (one = sled_nop(p + n, size - n)))
		n += one;
	return n;
}

size_t sled_room(const uint8_t *p, size_t size, size_t need)
{
	size_t n = sled_nop(p, size);

	if (n >= need)
		return n;
	if (size < need)
		return 0;
	for (size_t i = 0; i < need; i++)
		if (p[i] != 0x90)
			return 0;
	return need;
}

int sled_is_endbr64(const uint8_t *p, size_t size)
{
	return size >= SLED_ENDBR64_SIZE && p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa;
}

/* Writes a jmp or call whose opcode is `place` bytes away from the site's address. 0: out of reach. */
static size_t put_branch(uint8_t *out, uint8_t opcode, int64_t rel, int place)
{
	int64_t distance;
	int32_t rel32;

	if (__builtin_sub_overflow(rel, (int64_t)place + SLED_JUMP_SIZE, &distance) || distance != (int32_t)distance)
		return 0;
	rel32 = (int32_t)distance;
	out[0] = opcode;
	memcpy(out + 1, &rel32, sizeof(rel32));
	return SLED_JUMP_SIZE;
}

size_t sled_patched(enum sled_type type, uint32_t index, int64_t rel, uint8_t out[16], int *from)
{
	static const uint8_t endbr64[SLED_ENDBR64_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa};

	*from = 0;
	switch (type) {
	case SLED_XRAY_ENTRY:
	case SLED_XRAY_TAIL:
	case SLED_XRAY_EXIT:
		out[0] = 0x41;
		out[1] = 0xba;
		memcpy(out + 2, &index, sizeof(index));
		if (!put_branch(out + 6, type == SLED_XRAY_EXIT ? 0xe9 : 0xe8, rel, 6))
			return 0;
		return SLED_XRAY_SIZE;
	case SLED_PATCHABLE:
		return put_branch(out, 0xe9, rel, 0);
	case SLED_PATCHABLE_HOT:
		*from = -SLED_JUMP_SIZE;
		if (!put_branch(out, 0xe9, rel, *from))
			return 0;
		out[5] = 0xeb;
		out[6] = (uint8_t)-7;
		return 7;
	case SLED_PATCHABLE_HOT_CET:
		*from = -SLED_JUMP_SIZE - SLED_ENDBR64_SIZE;
		if (!put_branch(out, 0xe9, rel, *from))
			return 0;
		memcpy(out + 5, endbr64, sizeof(endbr64));
		out[9] = 0xeb;
		out[10] = (uint8_t)-11;
		return 11;
	case SLED_XRAY_CUSTOM:
	case SLED_XRAY_TYPED:
		break;
	}
	return 0;
}
