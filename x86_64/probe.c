/* SPDX-License-Identifier: MIT */
#include "x86_64/probe.h"

#include "x86_64/sys.h" /* sys_copy */

/* Bytes that a fixup fills in; 0: there is no such one. */
static size_t width(const struct probe_fixup *fixup)
{
	switch (fixup->fix) {
	case PROBE_FIX_NEAR:
	case PROBE_FIX_LOW:
	case PROBE_FIX_HIGH:
	case PROBE_FIX_WORD:
		return 4;
	case PROBE_FIX_ADDRESS:
	case PROBE_FIX_GATE:
		return 8;
	}
	return 0;
}

static bool check_fixup(const struct plan_window *window, const struct probe_fixup *fixup)
{
	const size_t n = width(fixup);

	if (!n || fixup->at + n > window->code_size || fixup->end > window->code_size)
		return false;
	if (fixup->fix == PROBE_FIX_WORD || fixup->fix == PROBE_FIX_GATE)
		return fixup->target >= 0 && (uint32_t)fixup->target < window->probes;
	return true;
}

/* Do so many bytes lie at the position? 0 is none. */
static bool lies_in(size_t size, uint64_t at, uint64_t bytes)
{
	return at && at <= size && bytes <= size - at;
}

/* Is all compared that the way writes and displaces, and is there room for it? What it displaces may be shorter. */
static bool check_way(const struct plan_window *window)
{
	unsigned compared = window->length;

	switch (window->way) {
	case PROBE_WAY_JUMP:
	case PROBE_WAY_ENTRY:
		break;
	case PROBE_WAY_SHARED:
		if (window->fixed > 4 || window->prefix > PROBE_ORIGINAL - PROBE_JUMP_SIZE)
			return false;
		/* The bytes that the jump shares must be there, too. */
		if (compared < window->prefix + (unsigned)PROBE_JUMP_SIZE)
			compared = window->prefix + PROBE_JUMP_SIZE;
		break;
	case PROBE_WAY_SHORT:
		if (window->padding < INT8_MIN + PROBE_SHORT_SIZE || window->padding > INT8_MAX + PROBE_SHORT_SIZE)
			return false;
		if (window->padding < window->length && window->padding > -PROBE_JUMP_SIZE)
			return false;
		break;
	default:
		return false;
	}
	/* Behind the last instruction of a function there may be padding. */
	return probe_written(window) <= 8 && probe_written(window) <= window->originals &&
	       compared <= window->originals && window->originals <= PROBE_ORIGINAL;
}

bool probe_check(const struct plan_window *window, const void *plan, size_t size)
{
	const uint64_t fixups = window->fixup_count * sizeof(struct probe_fixup);

	if (!window->code_size || window->code_size > PROBE_CODE_MAX || window->fixup_count > PROBE_FIXUPS_MAX ||
		!lies_in(size, window->code, window->code_size))
		return false;
	if (fixups && (!lies_in(size, window->fixups, fixups) || window->fixups % _Alignof(struct probe_fixup)))
		return false;
	if (!window->probes || window->probes > PROBE_IN_WINDOW || window->first > UINT32_MAX - window->probes ||
		!check_way(window))
		return false;
	for (size_t i = 0; i < PROBE_JUMP_SIZE - 1; i++)
		if (window->inside[i] >= window->code_size)
			return false;
	const struct probe_fixup *fixup = (const void *)((const uint8_t *)plan + window->fixups);
	for (size_t i = 0; i < window->fixup_count; i++)
		if (!check_fixup(window, &fixup[i]))
			return false;
	return true;
}

/* The distance as 32 bits in *to; false: it has more. */
static bool distance(uint64_t to, uint64_t from, uint32_t *out)
{
	const uint64_t d = to - from;

	*out = (uint32_t)d;
	return (uint64_t)(int64_t)(int32_t)d == d;
}

static uint32_t get32(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put64(uint8_t *at, uint64_t value)
{
	sys_put32(at, (uint32_t)value);
	sys_put32(at + 4, (uint32_t)(value >> 32));
}

size_t probe_write(const struct plan_window *window, const void *plan, uint64_t load, uint64_t at,
	const struct probe_event *event, uint8_t *out, size_t room)
{
	const struct probe_fixup *fixup = (const void *)((const uint8_t *)plan + window->fixups);
	uint32_t near;

	if (room < window->code_size)
		return 0;
	sys_copy(out, (const uint8_t *)plan + window->code, window->code_size);
	for (size_t i = 0; i < window->fixup_count; i++, fixup++) {
		uint8_t *to = out + fixup->at;
		const uint64_t target = load + window->address + (uint64_t)(int64_t)fixup->target;
		switch (fixup->fix) {
		case PROBE_FIX_NEAR:
			if (!distance(target, at + fixup->end, &near))
				return 0;
			sys_put32(to, near);
			break;
		case PROBE_FIX_ADDRESS:
			put64(to, target);
			break;
		case PROBE_FIX_LOW:
			sys_put32(to, (uint32_t)target);
			break;
		case PROBE_FIX_HIGH:
			sys_put32(to, (uint32_t)(target >> 32));
			break;
		case PROBE_FIX_WORD:
			sys_put32(to, event[fixup->target].word);
			break;
		case PROBE_FIX_GATE:
			put64(to, event[fixup->target].gate);
			break;
		}
	}
	return window->code_size;
}

/* A near jump at `at`. Returns false: out of reach. */
static bool put_jump(uint8_t out[PROBE_JUMP_SIZE], uint64_t at, uint64_t to)
{
	uint32_t near;

	if (!distance(to, at + PROBE_JUMP_SIZE, &near))
		return false;
	out[0] = 0xe9;
	sys_put32(out + 1, near);
	return true;
}

size_t probe_jump(const struct plan_window *window, uint64_t load, uint64_t stub, uint8_t out[8])
{
	const uint64_t at = load + window->address;
	const unsigned prefix = window->prefix, written = probe_written(window);
	uint8_t jump[PROBE_JUMP_SIZE];

	switch (window->way) {
	case PROBE_WAY_JUMP:
		return put_jump(out, at, stub) ? PROBE_JUMP_SIZE : 0;
	case PROBE_WAY_SHORT:
		out[0] = 0xeb;
		out[1] = (uint8_t)(window->padding - PROBE_SHORT_SIZE);
		return PROBE_SHORT_SIZE;
	case PROBE_WAY_SHARED:
		if (!put_jump(jump, at + prefix, stub))
			return 0;
		for (unsigned i = PROBE_JUMP_SIZE - window->fixed; i < PROBE_JUMP_SIZE; i++)
			if (jump[i] != window->original[prefix + i])
				return 0;
		for (unsigned i = 0; i < written; i++)
			out[i] = i < prefix ? PROBE_PREFIX : jump[i - prefix];
		return written;
	}
	return 0;
}

size_t probe_padding(const struct plan_window *window, uint64_t load, uint64_t stub, uint8_t out[8])
{
	const uint64_t at = load + window->address + (uint64_t)(int64_t)window->padding;

	return window->way == PROBE_WAY_SHORT && put_jump(out, at, stub) ? PROBE_JUMP_SIZE : 0;
}

uint64_t probe_interrupted(const uint8_t code[2 * PROBE_CALL_SIZE], uint32_t *below)
{
	/* Where its instructions begin, and how far the stack pointer is below the function's there. */
	static const struct {
		uint8_t at, below;
	} place[] = { { 0, 0 }, { 5, 128 }, { 10, 136 }, { 18, 136 }, { 23, 144 }, { 29, 144 }, { 31, 152 },
		{ PROBE_CALL_SIZE, 0 } };
	static const uint8_t call[PROBE_CALL_SIZE] = PROBE_CALL;

	for (unsigned i = 0; i < sizeof(place) / sizeof(*place); i++) {
		const uint8_t *p = code + PROBE_CALL_SIZE - place[i].at;
		bool same = true;
		for (unsigned n = 0; n < PROBE_CALL_SIZE && same; n++)
			same = p[n] == call[n] || n - PROBE_CALL_LOW < 4 || n - PROBE_CALL_HIGH < 4 ||
			       n - PROBE_CALL_WORD < 4 || n - PROBE_CALL_GATE < 4;
		if (!same)
			continue;
		*below = place[i].below;
		return ((uint64_t)get32(p + PROBE_CALL_HIGH) << 32 | get32(p + PROBE_CALL_LOW)) - 1;
	}
	return 0;
}
