/* SPDX-License-Identifier: MIT */
#include "x86_64/sled.h"

#include "x86_64/sys.h" /* sys_same */

/* The NOPs that a sled's first two bytes jump over (entry, tail), or that nobody reaches (behind the ret of an exit).
 */
static const uint8_t entry_nop[9] = {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00};
static const uint8_t nop5[SLED_JUMP_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
static const uint8_t endbr64[SLED_ENDBR64_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa};
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

int sled_read_event(enum sled_type type, const uint8_t *p, size_t size, struct sled_event *event)
{
	static const uint8_t registers[] = {7, 6, 2}, nop4[] = {0x0f, 0x1f, 0x40, 0x08}; /* rdi, rsi, rdx */
	const unsigned arguments = type == SLED_XRAY_TYPED ? 3 : 2, length = sled_xray_size(type);
	unsigned pushed = 0, at = 2;

	if (!sled_is_event(type) || size < length || p[0] != 0xeb || p[1] != length - 2)
		return 0;
	event->arguments = (uint8_t)arguments;
	sys_copy(event->bytes, p + 2, SLED_JUMP_SIZE);
	for (unsigned i = 0; i < arguments; i++) {
		event->source[i] = registers[i];
		if (p[at] == (0x50 | registers[i])) {
			pushed |= 1u << i;
			at++;
		} else if (sys_same(p + at, nop4, sizeof(nop4))) {
			at += sizeof(nop4);
		} else {
			return 0;
		}
	}
	/* All movs mean what registers held before the first of them: that is what the compiler was asked for. */
	for (unsigned i = 0; i < arguments; i++) {
		if (!(pushed & 1u << i))
			continue;
		uint8_t rex = p[at], modrm = p[at + 2], reg = modrm >> 3 & 7, rm = modrm & 7;
		/*
		 * mov %reg,%rm (89) or mov %rm,%reg (8b), of 64 bits, between registers; the argument's is never one of
		 * r8 to r15.
		 */
		if ((rex & 0xf8) != 0x48 || rex & 2 || modrm >> 6 != 3)
			return 0;
		if (p[at + 1] == 0x89 && rm == registers[i] && !(rex & 1))
			event->source[i] = (uint8_t)(reg | (rex & 4) << 1);
		else if (p[at + 1] == 0x8b && reg == registers[i] && !(rex & 4))
			event->source[i] = (uint8_t)(rm | (rex & 1) << 3);
		else
			return 0;
		/* The stub's own pushes move rsp. */
		if (event->source[i] == 4)
			return 0;
		at += 3;
	}
	if (p[at] != 0xe8)
		return 0;
	at += SLED_JUMP_SIZE;
	for (unsigned i = arguments; i-- > 0; at++)
		if (p[at] != (pushed & 1u << i ? 0x58 | registers[i] : 0x90))
			return 0;
	return at == length;
}

enum trace_reason sled_check_xray(enum sled_type type, uint64_t address, const uint8_t *p, size_t size)
{
	struct sled_event event;

	if (sled_is_event(type))
		return address % 2 || !sled_read_event(type, p, size, &event) ? TRACE_REASON_EVENT_SLED
									      : TRACE_REASON_TRACED;
	/* The head is stored as one aligned pair of bytes; on any other address a thread could see half of it. */
	if (address % 2 || size < SLED_XRAY_SIZE)
		return TRACE_REASON_SLED_BYTES;
	switch (type) {
	case SLED_XRAY_ENTRY:
	case SLED_XRAY_TAIL:
		if (p[0] != 0xeb || p[1] != 0x09)
			return TRACE_REASON_SLED_BYTES;
		if (!sys_same(p + 2, entry_nop, sizeof(entry_nop)) && p[6] != 0xe8)
			return TRACE_REASON_SLED_BYTES;
		if (type == SLED_XRAY_TAIL)
			return check_tail_jump(p + SLED_XRAY_SIZE, size - SLED_XRAY_SIZE);
		return TRACE_REASON_TRACED;
	case SLED_XRAY_EXIT:
		if (p[0] != 0xc3)
			return TRACE_REASON_SLED_BYTES;
		if (!sys_same(p + 1, exit_nop, sizeof(exit_nop)) && (p[1] != 0xba || p[6] != 0xe9))
			return TRACE_REASON_SLED_BYTES;
		return TRACE_REASON_TRACED;
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

int sled_is_guard(const uint8_t *p, size_t size)
{
	return size >= sizeof(nop5) && sys_same(p, nop5, sizeof(nop5));
}

int sled_is_endbr64(const uint8_t *p, size_t size)
{
	return size >= SLED_ENDBR64_SIZE && p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa;
}

/* Writes a jmp or call whose opcode is `place` bytes away from the site's address. 0: out of reach. */
static size_t put_branch(uint8_t *out, uint8_t opcode, int64_t rel, int place)
{
	int64_t distance;

	if (__builtin_sub_overflow(rel, (int64_t)place + SLED_JUMP_SIZE, &distance) || distance != (int32_t)distance)
		return 0;
	out[0] = opcode;
	sys_put32(out + 1, (uint32_t)distance);
	return SLED_JUMP_SIZE;
}

size_t sled_patched(enum sled_type type, uint32_t index, int64_t rel, uint8_t out[16], int *from)
{
	*from = 0;
	switch (type) {
	case SLED_XRAY_ENTRY:
	case SLED_XRAY_TAIL:
	case SLED_XRAY_EXIT:
		out[0] = 0x41;
		out[1] = 0xba;
		sys_put32(out + 2, index);
		if (!put_branch(out + 6, type == SLED_XRAY_EXIT ? 0xe9 : 0xe8, rel, 6))
			return 0;
		return SLED_XRAY_SIZE;
	case SLED_PATCHABLE:
	case SLED_GUARD:
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
		sys_copy(out + 5, endbr64, sizeof(endbr64));
		out[9] = 0xeb;
		out[10] = (uint8_t)-11;
		return 11;
	case SLED_XRAY_CUSTOM:
	case SLED_XRAY_TYPED:
		if (!put_branch(out + 2, 0xe9, rel, 2))
			return 0;
		out[0] = 0x66;
		out[1] = 0x90;
		return SLED_EVENT_PATCH;
	}
	return 0;
}

static int is_xray(enum sled_type type)
{
	return type == SLED_XRAY_ENTRY || type == SLED_XRAY_EXIT || type == SLED_XRAY_TAIL;
}

/* Distance of the bytes before the entry, of hot sites. */
static int before(enum sled_type type)
{
	return type == SLED_PATCHABLE_HOT	? SLED_JUMP_SIZE
	       : type == SLED_PATCHABLE_HOT_CET ? SLED_JUMP_SIZE + SLED_ENDBR64_SIZE
						: 0;
}

size_t sled_head(enum sled_type type)
{
	return (size_t)before(type);
}

void sled_keep(enum sled_type type, const uint8_t *p, uint8_t original[SLED_ORIGINAL_SIZE])
{
	sys_copy(original, p - before(type), SLED_JUMP_SIZE);
	if (before(type))
		sys_copy(original + SLED_JUMP_SIZE, p, SLED_HOT_JUMP_SIZE);
}

size_t sled_ready(enum sled_type type, const uint8_t *original, uint8_t out[16])
{
	static const uint8_t nop2[SLED_HOT_JUMP_SIZE] = {0x66, 0x90};

	switch (type) {
	case SLED_XRAY_ENTRY:
	case SLED_XRAY_TAIL:
		out[0] = 0xeb;
		out[1] = 0x09;
		return 2;
	case SLED_XRAY_EXIT:
		out[0] = 0xc3;
		return 1;
	case SLED_XRAY_CUSTOM:
	case SLED_XRAY_TYPED:
		out[0] = 0xeb;
		out[1] = (uint8_t)(sled_xray_size(type) - 2);
		return 2;
	case SLED_PATCHABLE:
		/* A NOP that is long enough stays: it goes on behind what a patch covers. */
		sys_copy(out, original[0] == 0x90 ? nop5 : original, SLED_JUMP_SIZE);
		return SLED_JUMP_SIZE;
	case SLED_GUARD:
		sys_copy(out, nop5, SLED_JUMP_SIZE);
		return SLED_JUMP_SIZE;
	case SLED_PATCHABLE_HOT:
	case SLED_PATCHABLE_HOT_CET:
		sys_copy(out, original[SLED_JUMP_SIZE] == 0x90 ? nop2 : original + SLED_JUMP_SIZE, SLED_HOT_JUMP_SIZE);
		return SLED_HOT_JUMP_SIZE;
	default:
		return 0;
	}
}

size_t sled_file(enum sled_type type, const uint8_t *original, uint8_t out[16], int *from)
{
	size_t n = 0;

	*from = -before(type);
	if (is_xray(type)) {
		n = sled_ready(type, original, out);
		sys_copy(out + n, n == 1 ? exit_nop : entry_nop, SLED_XRAY_SIZE - n);
		return SLED_XRAY_SIZE;
	}
	if (sled_is_event(type)) {
		n = sled_ready(type, original, out);
		sys_copy(out + n, original, SLED_JUMP_SIZE);
		return SLED_EVENT_PATCH;
	}
	if (type == SLED_GUARD)
		return sled_ready(type, original, out);
	if (type != SLED_PATCHABLE && !before(type))
		return 0;
	sys_copy(out, original, SLED_JUMP_SIZE);
	n = SLED_JUMP_SIZE;
	if (type == SLED_PATCHABLE_HOT_CET) {
		sys_copy(out + n, endbr64, sizeof(endbr64));
		n += sizeof(endbr64);
	}
	if (before(type)) {
		sys_copy(out + n, original + SLED_JUMP_SIZE, SLED_HOT_JUMP_SIZE);
		n += SLED_HOT_JUMP_SIZE;
	}
	return n;
}

/* Are all bytes but the head's the same? The head is at the start of XRay sleds, at the end of hot sites. */
static int same_others(enum sled_type type, const uint8_t *a, const uint8_t *b, size_t size, size_t head)
{
	if (before(type))
		return sys_same(a, b, size - head);
	return sys_same(a + head, b + head, size - head);
}

unsigned sled_look(
	enum sled_type type, const uint8_t *p, size_t length, const uint8_t *original, const uint8_t *patched)
{
	uint8_t file[16], ready[16];
	unsigned state = 0;
	int from;
	size_t size = sled_file(type, original, file, &from), head;

	if (!size)
		return 0;
	const uint8_t *now = p + from;
	if (patched && sys_same(now, patched, size))
		return SLED_IS_ON;
	if (sys_same(now, file, size))
		state = SLED_IS_OFF | SLED_IS_FILE;
	head = sled_ready(type, original, ready);
	if (sled_is_jump(type)) {
		/* The short jump of a batch that a fork cut off is one whole instruction, too. */
		if (sys_same(p, ready, head) || (p[0] == 0xeb && p[1] == length - 2))
			state |= SLED_IS_OFF | SLED_IS_READY;
		return state;
	}
	if (sys_same(p, ready, head)) {
		state |= SLED_IS_OFF;
		if (same_others(type, now, file, size, head) ||
			(patched && same_others(type, now, patched, size, head)))
			state |= SLED_IS_READY;
	} else if (before(type) && sys_same(p, original + SLED_JUMP_SIZE, SLED_HOT_JUMP_SIZE)) {
		state |= SLED_IS_OFF;
	}
	return state;
}

int sled_inside(enum sled_type type, size_t length, int on, int *low, int *high, int *resume)
{
	switch (type) {
	case SLED_XRAY_ENTRY:
	case SLED_XRAY_TAIL:
	case SLED_XRAY_EXIT:
		/* Between mov and call or jmp; an exit then returns untraced, an entry or tail goes on untraced. */
		*low = 6;
		*high = 7;
		*resume = type == SLED_XRAY_EXIT ? 0 : SLED_XRAY_SIZE;
		return !on;
	case SLED_XRAY_CUSTOM:
	case SLED_XRAY_TYPED:
		/* Between the NOP and the jmp: goes on behind the sled, without the event. */
		*low = 2;
		*high = 3;
		*resume = sled_xray_size(type);
		return !on;
	case SLED_PATCHABLE:
		*low = 1;
		*high = SLED_JUMP_SIZE;
		*resume = (int)length;
		return on;
	case SLED_PATCHABLE_HOT:
	case SLED_PATCHABLE_HOT_CET:
		/* In the second NOP of one byte; or at the jump before the entry. */
		*low = on ? 1 : -before(type);
		*high = on ? SLED_HOT_JUMP_SIZE : *low + 1;
		*resume = (int)length;
		return 1;
	default:
		return 0;
	}
}
