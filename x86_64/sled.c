/* SPDX-License-Identifier: MIT */
#include "x86_64/sled.h"

#include <stdbool.h>

#include "x86_64/sys.h" /* sys_same */

/*
 * The NOPs that a sled's first two bytes jump over (entry, tail), or that no thread reaches (after the ret of an exit).
 */
static const uint8_t entry_nop[9] = {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00};
static const uint8_t exit_nop[10] = {0x2e, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00};
static const uint8_t endbr64[SLED_ENDBR64_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa};

#define NOP5 {0x0f, 0x1f, 0x44, 0x00, 0x00}, .off_size = 5
#define NOP2 {0x66, 0x90}, .off_size = 2

static const struct sled_row rows[SLED_TYPES + 1] = {
	[SLED_XRAY_ENTRY] = {.word = "entry", .size = SLED_XRAY_SIZE, .length = SLED_XRAY_SIZE, .as_is = 1,
		.on = {0x41, 0xba}, .on_size = 2, .off = {0xeb, 0x09}, .off_size = 2, .rest = entry_nop,
		.opcode = 0xe8, .branch = 6, .resume = SLED_XRAY_SIZE},
	[SLED_XRAY_EXIT] = {.word = "exit", .size = SLED_XRAY_SIZE, .length = SLED_XRAY_SIZE, .as_is = 1,
		.on = {0x41, 0xba}, .on_size = 2, .off = {0xc3}, .off_size = 1, .rest = exit_nop,
		.opcode = 0xe9, .branch = 6, .resume = 0 /* at its ret */},
	[SLED_XRAY_TAIL] = {.word = "tail", .size = SLED_XRAY_SIZE, .length = SLED_XRAY_SIZE, .as_is = 1,
		.on = {0x41, 0xba}, .on_size = 2, .off = {0xeb, 0x09}, .off_size = 2, .rest = entry_nop,
		.opcode = 0xe8, .branch = 6, .resume = SLED_XRAY_SIZE},
	[SLED_XRAY_CUSTOM] = {.word = "custom", .size = SLED_EVENT_PATCH, .length = SLED_CUSTOM_SIZE, .as_is = 1,
		.is_event = 1, .on = {0x66, 0x90}, .on_size = 2, .off = {0xeb, SLED_CUSTOM_SIZE - 2}, .off_size = 2,
		.opcode = 0xe9, .branch = 2, .resume = SLED_CUSTOM_SIZE},
	[SLED_XRAY_TYPED] = {.word = "typed", .size = SLED_EVENT_PATCH, .length = SLED_TYPED_SIZE, .as_is = 1,
		.is_event = 1, .on = {0x66, 0x90}, .on_size = 2, .off = {0xeb, SLED_TYPED_SIZE - 2}, .off_size = 2,
		.opcode = 0xe9, .branch = 2, .resume = SLED_TYPED_SIZE},
	[SLED_PATCHABLE] = {.word = "patchable", .size = SLED_JUMP_SIZE, .is_jump = 1, .keeps = 1,
		.on = {0xe9}, .on_size = 1, .off = NOP5, .opcode = 0xe9},
	[SLED_PATCHABLE_HOT] = {.word = "hot", .size = SLED_JUMP_SIZE + SLED_HOT_JUMP_SIZE, .before = SLED_JUMP_SIZE,
		.keeps = 1, .on = {0xeb, (uint8_t)-7}, .on_size = 2, .off = NOP2, .opcode = 0xe9},
	[SLED_PATCHABLE_HOT_CET] = {.word = "hot", .size = SLED_JUMP_SIZE + SLED_ENDBR64_SIZE + SLED_HOT_JUMP_SIZE,
		.before = SLED_JUMP_SIZE + SLED_ENDBR64_SIZE, .keeps = 1, .on = {0xeb, (uint8_t)-11}, .on_size = 2,
		.off = NOP2, .opcode = 0xe9},
	[SLED_GUARD] = {.word = "guard", .size = SLED_JUMP_SIZE, .length = SLED_JUMP_SIZE, .is_jump = 1,
		.on = {0xe9}, .on_size = 1, .off = NOP5, .opcode = 0xe9},
	[SLED_ENTRY] = {.word = "displaced", .size = SLED_JUMP_SIZE, .keeps = 1, .displaces = 1,
		.on = {0xe9}, .on_size = 1, .off_size = SLED_JUMP_SIZE, .opcode = 0xe9},
	[SLED_ENTRY_PADDING] = {.word = "displaced", .size = SLED_JUMP_SIZE + SLED_HOT_JUMP_SIZE,
		.before = SLED_JUMP_SIZE, .keeps = 1, .displaces = 1, .on = {0xeb, (uint8_t)-7}, .on_size = 2,
		.off_size = SLED_HOT_JUMP_SIZE, .opcode = 0xe9},
	[SLED_ENTRY_PADDING_CET] = {.word = "displaced",
		.size = SLED_JUMP_SIZE + SLED_ENDBR64_SIZE + SLED_HOT_JUMP_SIZE,
		.before = SLED_JUMP_SIZE + SLED_ENDBR64_SIZE, .keeps = 1, .displaces = 1, .on = {0xeb, (uint8_t)-11},
		.on_size = 2, .off_size = SLED_HOT_JUMP_SIZE, .opcode = 0xe9},
};

const struct sled_row *sled_row(enum sled_type type)
{
	return &rows[(unsigned)type < SLED_TYPES ? type : SLED_TYPES];
}

/* Legacy prefixes that assemblers put before jumps: branch hints, notrack, bnd, padding; and REX. */
static bool is_jump_prefix(uint8_t byte)
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
	const struct sled_row *row = sled_row(type);
	struct sled_event event;

	if (row->is_event)
		return address % 2 || !sled_read_event(type, p, size, &event) ? TRACE_REASON_EVENT_SLED
									      : TRACE_REASON_TRACED;
	/* The head is stored as one aligned pair of bytes; on any other address a thread could see half of it. */
	if (address % 2 || size < SLED_XRAY_SIZE)
		return TRACE_REASON_SLED_BYTES;
	if (!row->rest || !sys_same(p, row->off, row->off_size))
		return TRACE_REASON_SLED_BYTES;
	/* It may have been on before. */
	if (!sys_same(p + row->off_size, row->rest, SLED_XRAY_SIZE - row->off_size) &&
		(!sys_same(p + row->off_size, row->on + row->off_size, row->on_size - row->off_size) ||
			p[row->branch] != row->opcode))
		return TRACE_REASON_SLED_BYTES;
	if (type == SLED_XRAY_TAIL)
		return check_tail_jump(p + SLED_XRAY_SIZE, size - SLED_XRAY_SIZE);
	return TRACE_REASON_TRACED;
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

bool sled_is_guard(const uint8_t *p, size_t size)
{
	return sled_is_own(SLED_GUARD, 0, p, size);
}

bool sled_is_endbr64(const uint8_t *p, size_t size)
{
	return size >= sizeof(endbr64) && sys_same(p, endbr64, sizeof(endbr64));
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

/*
 * At most the 16 bytes of a sled. gcc -O3 does not know that in sys_copy() with its four words at once, and warns.
 */
static void copy_some(uint8_t *to, const uint8_t *from, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		to[i] = from[i];
		__asm__ volatile("" : : : "memory"); /* or the compiler calls memcpy */
	}
}

size_t sled_patched(enum sled_type type, uint32_t index, int64_t rel, uint8_t out[16], int *from)
{
	const struct sled_row *row = sled_row(type);

	*from = -row->before;
	if (!row->size || !put_branch(out + row->branch, row->opcode, rel, *from + row->branch))
		return 0;
	if (row->before > SLED_JUMP_SIZE)
		sys_copy(out + SLED_JUMP_SIZE, endbr64, sizeof(endbr64));
	copy_some(out + row->before, row->on, row->on_size);
	if (row->rest)
		sys_put32(out + row->on_size, index);
	return row->size;
}

bool sled_is_on(enum sled_type type, const uint8_t two[2])
{
	const struct sled_row *row = sled_row(type);

	return row->size && sys_same(two, row->on, row->on_size);
}

bool sled_is_own(enum sled_type type, uint64_t address, const uint8_t *p, size_t size)
{
	const struct sled_row *row = sled_row(type);

	if (row->as_is)
		return sled_check_xray(type, address, p, size) == TRACE_REASON_TRACED;
	if (row->displaces) /* that is for the index to say */
		return false;
	if (!row->keeps)
		return row->size && size >= row->size && sys_same(p, row->off, row->size);
	if (row->before && !sled_nops(p - row->before, SLED_JUMP_SIZE))
		return false;
	return sled_room(p, size, row->off_size) != 0;
}

/* Where the head is in what is kept. */
static size_t kept_head(const struct sled_row *row)
{
	return row->before ? SLED_JUMP_SIZE : 0;
}

void sled_keep(enum sled_type type, const uint8_t *p, uint8_t original[SLED_ORIGINAL_SIZE])
{
	const struct sled_row *row = sled_row(type);

	sys_copy(original, p - row->before, SLED_JUMP_SIZE);
	if (row->before)
		sys_copy(original + SLED_JUMP_SIZE, p, SLED_HOT_JUMP_SIZE);
}

size_t sled_ready(enum sled_type type, const uint8_t *original, uint8_t out[16])
{
	const struct sled_row *row = sled_row(type);

	/* A NOP that is long enough stays: it goes on after the bytes that a patch covers. */
	int stays = row->keeps && original[kept_head(row)] != 0x90;
	copy_some(out, stays ? original + kept_head(row) : row->off, row->off_size);
	return row->off_size;
}

size_t sled_file(enum sled_type type, const uint8_t *original, uint8_t out[16], int *from)
{
	const struct sled_row *row = sled_row(type);

	*from = -row->before;
	if (row->keeps) {
		sys_copy(out, original, SLED_JUMP_SIZE);
		if (row->before > SLED_JUMP_SIZE)
			sys_copy(out + SLED_JUMP_SIZE, endbr64, sizeof(endbr64));
		if (row->before)
			sys_copy(out + row->before, original + SLED_JUMP_SIZE, SLED_HOT_JUMP_SIZE);
		return row->size;
	}
	copy_some(out, row->off, row->off_size);
	if (row->off_size < row->size)
		copy_some(out + row->off_size, row->rest ? row->rest : original, row->size - row->off_size);
	return row->size;
}

/* Are all bytes but the head's the same? The head is at the start of XRay sleds, at the end of hot sites. */
static bool same_others(const struct sled_row *row, const uint8_t *a, const uint8_t *b)
{
	size_t others = row->size - row->off_size, first = row->before ? 0 : row->off_size;

	return sys_same(a + first, b + first, others);
}

/*
 * Did a fork cut off a batch that switches on, before it stored the head? Where the head of off is shorter, the bytes
 * between the two are still the file's, behind an instruction that never goes on to them.
 */
static bool is_cut(const struct sled_row *row, const uint8_t *now, const uint8_t *file, const uint8_t *patched)
{
	size_t off = row->off_size, on = row->on_size;

	return off < on && sys_same(now + off, file + off, on - off) &&
	       sys_same(now + on, patched + on, row->size - on);
}

unsigned sled_look(
	enum sled_type type, const uint8_t *p, size_t length, const uint8_t *original, const uint8_t *patched)
{
	const struct sled_row *row = sled_row(type);
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
	if (row->displaces) {
		/* Where a batch from outside was cut off, the jump before the entry may be there without the other. */
		if (row->before && sys_same(p, original + kept_head(row), row->off_size))
			state |= SLED_IS_OFF;
		return state;
	}
	head = sled_ready(type, original, ready);
	if (row->is_jump) {
		/* The short jump of a batch that a fork cut off is one whole instruction, too. */
		if (sys_same(p, ready, head) || (p[0] == 0xeb && p[1] == length - 2))
			state |= SLED_IS_OFF | SLED_IS_READY;
		return state;
	}
	if (sys_same(p, ready, head)) {
		state |= SLED_IS_OFF;
		if (same_others(row, now, file) ||
			(patched && (same_others(row, now, patched) || is_cut(row, now, file, patched))))
			state |= SLED_IS_READY;
	} else if (row->keeps && sys_same(p, original + kept_head(row), head)) {
		state |= SLED_IS_OFF;
	}
	return state;
}

int sled_inside(enum sled_type type, size_t length, int on, int *low, int *high, int *resume)
{
	const struct sled_row *row = sled_row(type);

	if (row->as_is) {
		/* Before the jump or call: a thread there goes on untraced. */
		*low = row->branch;
		*high = row->branch + 1;
		*resume = row->resume;
		return !on;
	}
	if (!row->keeps)
		return 0;
	/* A displaced entry goes on with the instructions that are there again. */
	*resume = row->displaces ? 0 : (int)length;
	if (row->before && !on) {
		/* At the jump before the entry. */
		*low = -row->before;
		*high = *low + 1;
		return 1;
	}
	/* After the first of its NOPs of one byte. */
	*low = 1;
	*high = row->off_size;
	return on;
}
