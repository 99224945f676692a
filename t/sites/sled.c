/* SPDX-License-Identifier: MIT */
/* The bytes of sleds: which are recognised, and what is written over them. */
#include "t/lib/tap.h"

#include <stdint.h>
#include <string.h>

#include "x86_64/sled.h"

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

#define ENTRY	   0xeb, 0x09, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00
#define ENTRY_USED 0xeb, 0x09, 0x11, 0x22, 0x33, 0x44, 0xe8, 0x55, 0x66, 0x77, 0x88
#define EXIT	   0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00
#define EXIT_USED  0xc3, 0xba, 0x11, 0x22, 0x33, 0x44, 0xe9, 0x55, 0x66, 0x77, 0x88
#define CUSTOM	   0xeb, 0x0f, 0x57, 0x56, 0x48, 0x89, 0xc7, 0x48, 0x89, 0xd6, 0xe8, 1, 2, 3, 4, 0x5e, 0x5f
#define TYPED                                                                                                          \
	0xeb, 0x14, 0x57, 0x56, 0x0f, 0x1f, 0x40, 8, 0x48, 0x89, 0xc7, 0x48, 0x89, 0xce, 0xe8, 1, 2, 3, 4, 0x90, 0x5e, \
		0x5f
#define ENDBR64	   0xf3, 0x0f, 0x1e, 0xfa

static void check(enum sled_type type, uint64_t address, const uint8_t *p, size_t size, enum trace_reason expected,
	const char *sentence)
{
	is_int(sled_check_xray(type, address, p, size), expected, "%s", sentence);
}

static void test_xray(void)
{
	check(SLED_XRAY_ENTRY, 0x1000, BYTES(ENTRY), TRACE_REASON_TRACED, "an entry sled is accepted");
	check(SLED_XRAY_ENTRY, 0x1000, BYTES(ENTRY_USED), TRACE_REASON_TRACED,
		"an entry sled that was patched and unpatched is accepted");
	check(SLED_XRAY_EXIT, 0x1002, BYTES(EXIT), TRACE_REASON_TRACED, "an exit sled is accepted");
	check(SLED_XRAY_EXIT, 0x1002, BYTES(EXIT_USED), TRACE_REASON_TRACED,
		"an exit sled that was patched and unpatched is accepted");
	check(SLED_XRAY_ENTRY, 0x1001, BYTES(ENTRY), TRACE_REASON_SLED_BYTES, "a sled at an odd address is refused");
	check(SLED_XRAY_ENTRY, 0x1000, BYTES(EXIT), TRACE_REASON_SLED_BYTES, "an exit sled is no entry sled");
	check(SLED_XRAY_EXIT, 0x1000, BYTES(ENTRY), TRACE_REASON_SLED_BYTES, "an entry sled is no exit sled");
	check(SLED_XRAY_EXIT, 0x1000, BYTES(0xc3, 0xba, 0x11, 0x22, 0x33, 0x44, 0xe8, 0x55, 0x66, 0x77, 0x88),
		TRACE_REASON_SLED_BYTES, "an exit sled that would call is refused");

	const uint8_t entry[] = {ENTRY}, exit[] = {EXIT};
	int accepted = 0;
	for (size_t i = 0; i < SLED_XRAY_SIZE; i++)
		for (int bit = 0; bit < 8; bit++) {
			uint8_t bytes[SLED_XRAY_SIZE];
			memcpy(bytes, entry, sizeof(bytes));
			bytes[i] ^= 1 << bit;
			accepted += sled_check_xray(SLED_XRAY_ENTRY, 0, bytes, sizeof(bytes)) == TRACE_REASON_TRACED;
			memcpy(bytes, exit, sizeof(bytes));
			bytes[i] ^= 1 << bit;
			accepted += sled_check_xray(SLED_XRAY_EXIT, 0, bytes, sizeof(bytes)) == TRACE_REASON_TRACED;
		}
	is_int(accepted, 0, "an unpatched sled with one wrong bit is refused, whichever bit it is");
	accepted = 0;
	for (size_t size = 0; size < SLED_XRAY_SIZE; size++)
		accepted += sled_check_xray(SLED_XRAY_ENTRY, 0, entry, size) == TRACE_REASON_TRACED;
	is_int(accepted, 0, "a sled that the section cuts short is refused");
}

static void test_tail(void)
{
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0xe9, 1, 2, 3, 4), TRACE_REASON_TRACED,
		"a tail sled before jmp rel32 is accepted");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0xeb, 1), TRACE_REASON_TRACED, "a tail sled before jmp rel8 is accepted");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0xff, 0x25, 1, 2, 3, 4), TRACE_REASON_TRACED,
		"a tail sled before jmp through memory is accepted");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0x41, 0xff, 0xe3), TRACE_REASON_TRACED,
		"a tail sled before jmp through r11 is accepted");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0x3e, 0xff, 0xe0), TRACE_REASON_TRACED,
		"a tail sled before a notrack jmp is accepted");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0x66, 0x90, 0xe9, 1, 2, 3, 4), TRACE_REASON_TRACED,
		"a tail sled with padding before the jmp is accepted");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0x0f, 0x84, 1, 2, 3, 4), TRACE_REASON_CONDITIONAL_TAIL,
		"a tail sled before je rel32 is refused as conditional");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0x75, 1), TRACE_REASON_CONDITIONAL_TAIL,
		"a tail sled before jne rel8 is refused as conditional");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0x2e, 0x0f, 0x85, 1, 2, 3, 4), TRACE_REASON_CONDITIONAL_TAIL,
		"a tail sled before a hinted jne is refused as conditional");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0xff, 0xd0), TRACE_REASON_SLED_BYTES,
		"a tail sled before a call is refused");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY), TRACE_REASON_SLED_BYTES,
		"a tail sled with nothing behind it is refused");
	check(SLED_XRAY_TAIL, 0, BYTES(ENTRY, 0x2e, 0x2e), TRACE_REASON_SLED_BYTES,
		"a tail sled with prefixes alone behind it is refused");
}

/* Makes an event sled whose arguments come from these registers; opcode: of mov. Returns its length. */
static size_t make_event(enum sled_type type, const uint8_t *source, uint8_t opcode, uint8_t *p)
{
	static const uint8_t registers[] = {7, 6, 2}, nop4[] = {0x0f, 0x1f, 0x40, 0x08};
	unsigned arguments = type == SLED_XRAY_TYPED ? 3 : 2;
	size_t n = 2;

	p[0] = 0xeb;
	for (unsigned i = 0; i < arguments; i++) {
		if (source[i] != registers[i]) {
			p[n++] = (uint8_t)(0x50 + registers[i]);
			continue;
		}
		memcpy(p + n, nop4, 4);
		n += 4;
	}
	for (unsigned i = 0; i < arguments; i++) {
		unsigned from = source[i], high = from >> 3, low = from & 7;
		if (from == registers[i])
			continue;
		p[n++] = (uint8_t)(opcode == 0x89 ? 0x48 | high << 2 : 0x48 | high);
		p[n++] = opcode;
		p[n++] = (uint8_t)(opcode == 0x89 ? 0xc0 | low << 3 | registers[i] : 0xc0u | registers[i] << 3 | low);
	}
	memcpy(p + n, (const uint8_t[]){0xe8, 1, 2, 3, 4}, 5);
	n += 5;
	for (unsigned i = arguments; i-- > 0;)
		p[n++] = source[i] == registers[i] ? 0x90 : (uint8_t)(0x58 + registers[i]);
	p[1] = (uint8_t)(n - 2);
	return n;
}

/* All registers for each argument, and both forms of mov. Only rsp is refused. */
static void test_sources(enum sled_type type, unsigned all)
{
	unsigned arguments = type == SLED_XRAY_TYPED ? 3 : 2, right = 0, refused = 0, made = 0;
	uint8_t p[32], source[3];
	struct sled_event event;

	for (unsigned n = 0; n < 2 * all; n++) {
		for (unsigned i = 0; i < 3; i++)
			source[i] = n >> (1 + 4 * i) & 15;
		size_t size = make_event(type, source, n & 1 ? 0x8b : 0x89, p);
		int with_rsp = 0, good = sled_read_event(type, p, size, &event);
		for (unsigned i = 0; i < arguments; i++)
			with_rsp |= source[i] == 4;
		made++;
		refused += with_rsp && !good && sled_check_xray(type, 0, p, size) == TRACE_REASON_EVENT_SLED;
		right += !with_rsp && good && event.arguments == arguments &&
			 !memcmp(event.source, source, arguments) && !memcmp(event.bytes, p + 2, 5) &&
			 size == sled_xray_size(type) && sled_check_xray(type, 0, p, size) == TRACE_REASON_TRACED;
	}
	unsigned without = arguments == 3 ? 15 * 15 * 15 : 15 * 15;
	is_int(made, 2 * all, "%u sleds of %u arguments are made, by all registers", 2 * all, arguments);
	is_int(right, 2 * without, "%u of them are read, and tell which registers hold the arguments", 2 * without);
	is_int(refused, 2 * (all - without), "those that pass the stack pointer are left alone");
}

/*
 * Every byte has to be the right one, except the four of the call's distance. Some changes of a mov give another valid
 * mov.
 */
static void test_spoilt(enum sled_type type, const char *what)
{
	const uint8_t source[] = {0, 1, 8};
	uint8_t p[32], spoilt[32];
	struct sled_event event;
	unsigned accepted = 0, other = 0, call = type == SLED_XRAY_TYPED ? 14 : 10;
	size_t size = make_event(type, source, 0x89, p);

	for (size_t i = 0; i < size; i++) {
		if (i > call && i < call + 5)
			continue;
		for (unsigned byte = 0; byte < 256; byte++) {
			memcpy(spoilt, p, size);
			spoilt[i] = (uint8_t)byte;
			if (byte == p[i] || !sled_read_event(type, spoilt, size, &event))
				continue;
			/* Another source, in the REX prefix or the register field. */
			int in_mov = i >= 2 + size / 7 && i < call;
			accepted += !in_mov;
			other += in_mov && event.source[0] == source[0] && event.source[1] == source[1] &&
				 event.source[2] == source[2];
		}
	}
	is_int(accepted, 0, "%s: no other byte is accepted outside of the movs", what);
	is_int(other, 0, "%s: another byte in them is refused, or names another register", what);
	accepted = 0;
	for (size_t n = 0; n < size; n++)
		accepted += sled_read_event(type, p, n, &event);
	is_int(accepted, 0, "%s: a part of a sled is left alone", what);
}

static void test_events(void)
{
	const uint8_t wrong_order[] = { 0xeb, 0x0f, 0x57, 0x56, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xfe, 0xe8, 1, 2, 3, 4,
		0x5e, 0x5f };
	struct sled_event event;

	test_sources(SLED_XRAY_CUSTOM, 16 * 16);
	test_sources(SLED_XRAY_TYPED, 16 * 16 * 16);
	test_spoilt(SLED_XRAY_CUSTOM, "a custom event sled");
	test_spoilt(SLED_XRAY_TYPED, "a typed event sled");
	ok(sled_read_event(SLED_XRAY_CUSTOM, wrong_order, sizeof(wrong_order), &event) && event.source[0] == 6 &&
			event.source[1] == 7,
		"two movs that swap registers wrongly mean a swap");
	/* As clang 14 writes them. */
	check(SLED_XRAY_CUSTOM, 0,
		BYTES(0xeb, 0x0f, 0x57, 0x56, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xfe, 0x49, 0x89, 0xc3, 0xe8, 1, 2, 3, 4,
			0x5e, 0x5f),
		TRACE_REASON_EVENT_SLED, "a third mov leaves a custom event sled alone");
	check(SLED_XRAY_CUSTOM, 0,
		BYTES(0xeb, 0x0f, 0x0f, 0x1f, 0x40, 8, 0x0f, 0x1f, 0x40, 8, 0x48, 0x89, 0xe8, 0xe8, 1, 2, 3, 4, 0x90,
			0x90),
		TRACE_REASON_EVENT_SLED, "a mov behind two NOPs, too");
	/* As LLVM's runtime leaves them. */
	check(SLED_XRAY_CUSTOM, 0,
		BYTES(0x66, 0x90, 0x57, 0x56, 0x48, 0x89, 0xc7, 0x48, 0x89, 0xd6, 0xe8, 1, 2, 3, 4, 0x5e, 0x5f),
		TRACE_REASON_EVENT_SLED, "a custom event sled that is on by somebody else is left alone");
	check(SLED_XRAY_TYPED, 0,
		BYTES(0x66, 0x90, 0x57, 0x56, 0x52, 0x48, 0x89, 0xc7, 0x48, 0x89, 0xce, 0x48, 0x89, 0xc2, 0xe8, 1, 2, 3,
			4, 0x5a, 0x5e, 0x5f),
		TRACE_REASON_EVENT_SLED, "a typed one, too");
	check(SLED_XRAY_CUSTOM, 1, BYTES(CUSTOM), TRACE_REASON_EVENT_SLED,
		"an event sled at an odd address is left alone");
	check(SLED_XRAY_CUSTOM, 2, BYTES(CUSTOM), TRACE_REASON_TRACED, "at an even one it is accepted");
	check(SLED_XRAY_TYPED, 0, BYTES(CUSTOM), TRACE_REASON_EVENT_SLED, "a custom event sled is no typed one");
	ok(!sled_read_event(SLED_XRAY_ENTRY, BYTES(CUSTOM), &event), "nor an entry sled");
}

static void test_nops(void)
{
	static const struct {
		uint8_t length, bytes[15];
	} nop[] = {
		{1, {0x90}},
		{2, {0x66, 0x90}},
		{3, {0x0f, 0x1f, 0x00}},
		{4, {0x0f, 0x1f, 0x40, 0x08}},
		{5, {0x0f, 0x1f, 0x44, 0x00, 0x08}},
		{5, {0x67, 0x0f, 0x1f, 0x04, 0x00}},
		{6, {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
		{7, {0x0f, 0x1f, 0x80, 0x00, 0x02, 0x00, 0x00}},
		{7, {0x0f, 0x1f, 0x05, 0x00, 0x02, 0x00, 0x00}},
		{8, {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00}},
		{8, {0x0f, 0x1f, 0x04, 0x05, 0x00, 0x02, 0x00, 0x00}},
		{9, {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00}},
		{10, {0x2e, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00}},
		{15, {0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00}},
	};
	int wrong = 0, cut = 0;

	for (size_t i = 0; i < sizeof(nop) / sizeof(*nop); i++) {
		wrong += sled_nop(nop[i].bytes, nop[i].length) != nop[i].length;
		for (size_t size = 0; size < nop[i].length; size++)
			cut += sled_nop(nop[i].bytes, size) != 0;
	}
	is_int(wrong, 0, "each form of NOP is known with its length");
	is_int(cut, 0, "a NOP that is cut short is none");
	is_int(sled_nop(BYTES(0xf3, 0x90)), 0, "pause is no NOP");
	is_int(sled_nop(BYTES(0x41, 0x90)), 0, "xchg with r8 is no NOP");
	is_int(sled_nop(BYTES(0x0f, 0x1f, 0xc8)), 0, "0f 1f with another operation than 0 is no NOP");
	is_int(sled_nop(BYTES(ENDBR64)), 0, "endbr64 is no NOP");
	is_int(sled_nops(BYTES(0x90, 0x66, 0x90, 0x0f, 0x1f, 0x00, 0xc3, 0x90)), 6,
		"a row of NOPs ends at the first other one");
	is_int(sled_nops(BYTES(0x90, 0x90, 0x0f, 0x1f)), 2, "a row of NOPs ends before one that is cut short");
	is_int(sled_is_endbr64(BYTES(ENDBR64)), 1, "endbr64 is known");
	is_int(sled_is_endbr64(BYTES(0xf3, 0x0f, 0x1e, 0xfb)), 0, "endbr32 is another instruction");
	is_int(sled_is_endbr64(BYTES(0xf3, 0x0f, 0x1e)), 0, "half an endbr64 is none");

	is_int(sled_room(BYTES(0x90, 0x90, 0x90, 0x90, 0x90, 0x90), 5), 5,
		"five of six one-byte NOPs are room for a jump");
	is_int(sled_room(BYTES(0x90, 0x90, 0x90, 0x90), 5), 0, "four are not");
	is_int(sled_room(BYTES(0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00), 5), 8,
		"one NOP of 8 bytes is covered whole");
	is_int(sled_room(BYTES(0x90, 0x90, 0x90, 0x0f, 0x1f, 0x00), 5), 0, "a mixture of NOPs is no room");
	is_int(sled_room(BYTES(0x66, 0x90, 0x48), 2), 2, "a NOP of two bytes is room for a short jump");
	is_int(sled_room(BYTES(0x0f, 0x1f, 0x00), 2), 3, "a NOP of three bytes is covered whole by a short jump");
}

static void check_patch(enum sled_type type, uint32_t index, int64_t rel, const uint8_t *expected, size_t size,
	int place, const char *sentence)
{
	uint8_t out[16];
	int from = 99;
	size_t n = sled_patched(type, index, rel, out, &from);

	if (!ok(n == size && from == place && !memcmp(out, expected, n), "%s", sentence))
		diag("%zu bytes at %d", n, from);
}

static void test_patched(void)
{
	uint8_t out[16];
	int from;

	check_patch(SLED_XRAY_ENTRY, 0x01020304, 0x1000 + 11, BYTES(0x41, 0xba, 4, 3, 2, 1, 0xe8, 0, 0x10, 0, 0), 0,
		"an entry sled becomes mov and call");
	check_patch(SLED_XRAY_TAIL, 1, -0x1000 + 11, BYTES(0x41, 0xba, 1, 0, 0, 0, 0xe8, 0, 0xf0, 0xff, 0xff), 0,
		"a tail sled becomes mov and call");
	check_patch(SLED_XRAY_EXIT, 1, 11, BYTES(0x41, 0xba, 1, 0, 0, 0, 0xe9, 0, 0, 0, 0), 0,
		"an exit sled becomes mov and jmp");
	check_patch(SLED_PATCHABLE, 1, 0x105, BYTES(0xe9, 0, 1, 0, 0), 0, "a patchable entry becomes jmp");
	check_patch(SLED_PATCHABLE_HOT, 1, 0x100, BYTES(0xe9, 0, 1, 0, 0, 0xeb, 0xf9), -5,
		"a hot entry becomes a short jmp to a jmp before it");
	check_patch(SLED_PATCHABLE_HOT_CET, 1, 0x100 - 4, BYTES(0xe9, 0, 1, 0, 0, ENDBR64, 0xeb, 0xf5), -9,
		"a hot entry keeps its endbr64 between the two");
	check_patch(SLED_PATCHABLE, 1, (int64_t)INT32_MAX + 5, BYTES(0xe9, 0xff, 0xff, 0xff, 0x7f), 0,
		"a stub just in reach is reached");
	check_patch(SLED_PATCHABLE, 1, (int64_t)INT32_MIN + 5, BYTES(0xe9, 0, 0, 0, 0x80), 0,
		"a stub just in reach before the site is reached");
	is_int(sled_patched(SLED_PATCHABLE, 1, (int64_t)INT32_MAX + 6, out, &from), 0,
		"one byte farther is out of reach");
	is_int(sled_patched(SLED_PATCHABLE, 1, (int64_t)INT32_MIN + 4, out, &from), 0,
		"one byte farther before it, too");
	is_int(sled_patched(SLED_XRAY_EXIT, 1, INT64_MIN, out, &from), 0, "the farthest address is out of reach");
	check_patch(SLED_XRAY_CUSTOM, 1, 0x107, BYTES(0x66, 0x90, 0xe9, 0, 1, 0, 0), 0,
		"a custom event sled becomes a NOP and a jmp");
	check_patch(SLED_XRAY_TYPED, 1, -0x100 + 7, BYTES(0x66, 0x90, 0xe9, 0, 0xff, 0xff, 0xff), 0,
		"a typed event sled becomes a NOP and a jmp");
	is_int(sled_patched(SLED_XRAY_TYPED, 1, (int64_t)INT32_MAX + 8, out, &from), 0,
		"out of reach, an event sled has no patch");
}

/* A site's bytes with room before and after. */
static uint8_t room[64];
static uint8_t *const site = room + 16;

static unsigned look(enum sled_type type, size_t length, const uint8_t *bytes, size_t size, int from,
	const uint8_t *original, const uint8_t *patched)
{
	memset(room, 0xcc, sizeof(room));
	memcpy(site + from, bytes, size);
	return sled_look(type, site, length, original, patched);
}

/* Checks what sled_look() tells of the file's bytes, of the ready and of the patched ones. */
static void check_states(enum sled_type type, size_t length, const uint8_t *own, size_t size, int before, int joined,
	const char *sentence)
{
	uint8_t original[SLED_ORIGINAL_SIZE], file[16], ready[16], patched[16], other[16];
	int from, place;

	memset(room, 0xcc, sizeof(room));
	memcpy(site + before, own, size);
	if (type >= SLED_PATCHABLE)
		sled_keep(type, site, original);
	else if (sled_is_event(type))
		memcpy(original, own + 2, 5);
	size_t all = sled_file(type, original, file, &from);
	ok(all <= size && from == before && !memcmp(file, own, all), "%s: the file's bytes are known", sentence);
	ok(sled_patched(type, 7, 0x1000, patched, &place) == all && place == from, "%s: a patch covers the same ones",
		sentence);
	const unsigned as_loaded = SLED_IS_OFF | SLED_IS_FILE | (joined ? 0 : SLED_IS_READY);
	is_int(look(type, length, own, size, before, original, patched), as_loaded,
		"%s: at load it is off and the file's", sentence);
	is_int(look(type, length, own, size, before, original, NULL), as_loaded, "%s: before there are stubs, too",
		sentence);
	is_int(look(type, length, patched, all, before, original, patched), SLED_IS_ON, "%s: patched it is on",
		sentence);
	is_int(look(type, length, patched, all, before, original, NULL), 0,
		"%s: where there are no stubs such bytes are unknown", sentence);
	/* Ready bytes over the patched ones: switched off live. */
	size_t head = sled_ready(type, original, ready);
	memcpy(other, patched, all);
	memcpy(other + sled_head(type), ready, head);
	unsigned state = look(type, length, other, all, before, original, patched);
	is_int(state & ~(unsigned)SLED_IS_FILE, SLED_IS_OFF | SLED_IS_READY,
		"%s: switched off live it is off and ready", sentence);
	other[sled_head(type) + (head < 2 ? 0 : 1)] ^= 0x40;
	is_int(look(type, length, other, all, before, original, patched), 0, "%s: with another head it is unknown",
		sentence);
}

static void test_states(void)
{
	static const uint8_t long_nop[] = {0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};
	uint8_t original[SLED_ORIGINAL_SIZE] = {0x90, 0x90, 0x90, 0x90, 0x90}, patched[16], patched_late[11];
	int from, low, high, resume;

	check_states(SLED_XRAY_ENTRY, 11, BYTES(ENTRY), 0, 0, "an entry sled");
	check_states(SLED_XRAY_TAIL, 11, BYTES(ENTRY), 0, 0, "a tail sled");
	check_states(SLED_XRAY_EXIT, 11, BYTES(EXIT), 0, 0, "an exit sled");
	check_states(SLED_XRAY_CUSTOM, 17, BYTES(CUSTOM), 0, 0, "a custom event sled");
	check_states(SLED_XRAY_TYPED, 22, BYTES(TYPED), 0, 0, "a typed event sled");
	memcpy(original, (const uint8_t[]){CUSTOM} + 2, 5);
	is_int(look(SLED_XRAY_CUSTOM, 17, BYTES(0x66, 0x90, 0x57, 0x56, 0x48, 0x89, 0xc7), 0, original, NULL), 0,
		"an event sled that somebody else switched on is unknown");
	memset(original, 0x90, sizeof(original));
	check_states(SLED_PATCHABLE, 5, BYTES(0x90, 0x90, 0x90, 0x90, 0x90), 0, 1, "five NOPs");
	check_states(SLED_PATCHABLE, 8, long_nop, sizeof(long_nop), 0, 0, "one NOP of 8 bytes");
	check_states(SLED_PATCHABLE_HOT, 2, BYTES(0x90, 0x90, 0x90, 0x90, 0x90, 0x66, 0x90), -5, 0, "a hot entry");
	check_states(SLED_PATCHABLE_HOT, 2, BYTES(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90), -5, 1,
		"a hot entry of two NOPs");
	check_states(SLED_PATCHABLE_HOT_CET, 2, BYTES(0x0f, 0x1f, 0x44, 0, 8, ENDBR64, 0x66, 0x90), -9, 0,
		"a hot entry with endbr64");
	is_int(look(SLED_PATCHABLE, 5, BYTES(0xeb, 3, 1, 2, 3), 0, original, NULL), SLED_IS_OFF | SLED_IS_READY,
		"a guard that was left behind is off and ready");
	is_int(look(SLED_PATCHABLE, 8, BYTES(0xeb, 3, 1, 2, 3), 0, original, NULL), 0,
		"one that jumps elsewhere is unknown");
	sled_patched(SLED_XRAY_ENTRY, 7, 0x1000, patched, &from);
	is_int(look(SLED_XRAY_ENTRY, 11, BYTES(ENTRY_USED), 0, NULL, patched), SLED_IS_OFF,
		"a sled with another's bytes behind its head is off, not ready");
	sled_patched(SLED_XRAY_EXIT, 7, 0x1000, patched, &from);
	memcpy(patched_late, (const uint8_t[]){EXIT}, 2);
	memcpy(patched_late + 2, patched + 2, sizeof(patched_late) - 2);
	is_int(look(SLED_XRAY_EXIT, 11, patched_late, sizeof(patched_late), 0, NULL, patched),
		SLED_IS_OFF | SLED_IS_READY,
		"an exit sled that is patched but for its head is off and ready");
	patched_late[1] ^= 0x40;
	is_int(look(SLED_XRAY_EXIT, 11, patched_late, sizeof(patched_late), 0, NULL, patched), SLED_IS_OFF,
		"with another's second byte it is not ready");

	ok(sled_inside(SLED_PATCHABLE, 5, 1, &low, &high, &resume) && low == 1 && high == 5 && resume == 5,
		"NOPs of one byte: whoever is between them goes on behind them");
	ok(!sled_inside(SLED_PATCHABLE, 5, 0, &low, &high, &resume), "nobody is inside of a jump");
	ok(sled_inside(SLED_XRAY_ENTRY, 11, 0, &low, &high, &resume) && low == 6 && high == 7 && resume == 11,
		"an entry sled that becomes the file's: whoever is at its call goes on behind it");
	ok(sled_inside(SLED_XRAY_EXIT, 11, 0, &low, &high, &resume) && low == 6 && high == 7 && resume == 0,
		"an exit sled: whoever is at its jmp goes back to the ret");
	ok(sled_inside(SLED_XRAY_CUSTOM, 17, 0, &low, &high, &resume) && low == 2 && high == 3 && resume == 17,
		"a custom event sled that becomes the file's: whoever is at its jmp goes on behind the sled");
	ok(sled_inside(SLED_XRAY_TYPED, 22, 0, &low, &high, &resume) && low == 2 && high == 3 && resume == 22,
		"a typed one, too");
	ok(!sled_inside(SLED_XRAY_TYPED, 22, 1, &low, &high, &resume), "nobody is inside of one that is switched on");
	ok(!sled_inside(SLED_XRAY_TAIL, 11, 1, &low, &high, &resume), "nobody is inside of a sled that is switched on");
	ok(sled_inside(SLED_PATCHABLE_HOT, 2, 1, &low, &high, &resume) && low == 1 && high == 2 && resume == 2,
		"a hot entry: whoever is at the second NOP goes on behind it");
	ok(sled_inside(SLED_PATCHABLE_HOT_CET, 3, 0, &low, &high, &resume) && low == -9 && high == -8 && resume == 3,
		"switched off: whoever is at the jump before the entry goes on behind its NOPs");
}

/* Over a function's own instructions. */
static void displaced(void)
{
	/* push %rbp; mov %rsp,%rbp; xor %eax,%eax behind five bytes of padding, or behind these and an endbr64 */
	static const uint8_t plain[] = { 0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0 };
	static const uint8_t padded[] = { 0x66, 0x66, 0x66, 0x66, 0x90, 0x55, 0x48, 0x89, 0xe5 };
	static const uint8_t landed[] = { 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, ENDBR64, 0x55, 0x48, 0x89, 0xe5 };
	static const struct {
		enum sled_type type;
		const char *name;
		const uint8_t *own;
		size_t size, before, patch;
	} forms[] = { { SLED_ENTRY, "jump", plain, sizeof(plain), 0, 5 },
		{ SLED_ENTRY_PADDING, "padding", padded, sizeof(padded), 5, 7 },
		{ SLED_ENTRY_PADDING_CET, "padding and endbr64", landed, sizeof(landed), 9, 11 } };
	uint8_t original[SLED_ORIGINAL_SIZE], patched[16], out[16];
	int from, low, high, resume;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		enum sled_type type = forms[i].type;
		int before = (int)forms[i].before;
		sled_keep(type, forms[i].own + before, original);
		is_int((int)sled_patched(type, 0, 0x1000, patched, &from), (int)forms[i].patch, "%s: the patch's size",
			forms[i].name);
		is_int(from, -before, "%s: where it begins", forms[i].name);
		ok(patched[0] == 0xe9 && (!before || (patched[before] == 0xeb &&
							     before + 2 + (int8_t)patched[before + 1] == 0)),
			"%s: it leads to the jump", forms[i].name);
		is_int((int)sled_file(type, original, out, &from), (int)forms[i].patch, "%s: the file's bytes",
			forms[i].name);
		ok(!memcmp(out, forms[i].own, forms[i].patch), "%s: are those kept", forms[i].name);
		is_int(look(type, 4, forms[i].own, forms[i].size, -before, original, patched),
			SLED_IS_OFF | SLED_IS_FILE, "%s: they are off, and not ready", forms[i].name);
		is_int(look(type, 4, patched, forms[i].patch, -before, original, patched), SLED_IS_ON,
			"%s: the jump is there", forms[i].name);
		memcpy(out, patched, forms[i].patch);
		out[forms[i].patch - 1] ^= 1;
		is_int(look(type, 4, out, forms[i].patch, -before, original, patched), 0, "%s: another one is unknown",
			forms[i].name);
		ok(sled_inside(type, 4, 1, &low, &high, &resume) && low == 1 && high == (before ? 2 : 5),
			"%s: where a thread would be between instructions", forms[i].name);
		ok(!sled_is_own(type, 0, forms[i].own + before, 16), "%s: any bytes may be a function's own",
			forms[i].name);
	}
	/* Cut off in the middle. */
	sled_keep(SLED_ENTRY_PADDING, padded + 5, original);
	sled_patched(SLED_ENTRY_PADDING, 0, 0x1000, patched, &from);
	memcpy(patched + 5, padded + 5, 2);
	is_int(look(SLED_ENTRY_PADDING, 4, patched, 7, -5, original, NULL), SLED_IS_OFF,
		"the jump before an entry alone: off, and not the file's");
	ok(sled_inside(SLED_ENTRY_PADDING, 4, 0, &low, &high, &resume) && low == -5 && high == -4 && resume == 0,
		"switched off: whoever is at the jump before the entry goes on at the entry");
	ok(!sled_inside(SLED_ENTRY, 6, 0, &low, &high, &resume), "nobody is inside of a jump");
}

int main(void)
{
	test_xray();
	test_tail();
	test_events();
	test_nops();
	test_patched();
	test_states();
	displaced();
	return done_testing();
}
