/* SPDX-License-Identifier: MIT */
#include "tool/probe/window_ways.h"

#include <string.h>

#include "format/probe.h"
#include "runtime/base/search.h"
#include "tool/index/image.h"

/* ---- whose bytes are they? ---- */

static void mark(struct window_taken *taken, uint64_t from, unsigned bytes, bool as)
{
	for (uint64_t at = from - taken->low; bytes; bytes--, at++) {
		if (as)
			taken->bit[at / 64] |= (uint64_t)1 << at % 64;
		else
			taken->bit[at / 64] &= ~((uint64_t)1 << at % 64);
	}
}

static bool is_taken(const struct window_taken *taken, uint64_t from, unsigned bytes)
{
	for (uint64_t at = from - taken->low; taken->bit && bytes; bytes--, at++)
		if (taken->bit[at / 64] >> at % 64 & 1)
			return true;
	return false;
}

static uint64_t begins(const struct window_choice *choice)
{
	return choice->body->address + choice->body->insn[choice->first].at;
}

static void mark_all(struct window_taken *taken, const struct window_choice *choice, bool as)
{
	mark(taken, begins(choice), choice->own, as);
	if (choice->way == PROBE_WAY_SHORT)
		mark(taken, begins(choice) + (uint64_t)(int64_t)choice->padding, PROBE_JUMP_SIZE, as);
}

void window_take(struct window_taken *taken, const struct window_choice *choice)
{
	mark_all(taken, choice, true);
}

void window_give(struct window_taken *taken, const struct window_choice *choice)
{
	mark_all(taken, choice, false);
}

/* ---- windows with room for a jump ---- */

/* Bytes that are nobody's, from the end of an instruction on. */
static unsigned free_from(const struct window_body *body, size_t insn)
{
	uint32_t end = body->insn[insn].at + body->insn[insn].length, at = end;

	for (size_t i = insn + 1; i < body->insns && body->insn[i].marks & WINDOW_FREE; i++)
		at += body->insn[i].length;
	return at - end + (at == body->size ? body->free : 0);
}

/* Can these instructions be displaced together, for a jump of `need` bytes? */
static unsigned fits(const struct window_taken *taken, const struct window_body *body, size_t first, size_t last,
	unsigned need, struct window_choice *choice)
{
	const struct window_insn *insn = body->insn;
	uint32_t length = insn[last].at + insn[last].length - insn[first].at;

	for (size_t i = first; i <= last; i++) {
		if (insn[i].refusal)
			return PROBE_SHORT;
		if (i == first)
			continue;
		/* What is behind a jump is another one's, if anybody comes there at all. */
		if (insn[i].marks & WINDOW_LED || body->computed || insn[i - 1].marks & WINDOW_CLOSED)
			return PROBE_BRANCH;
		if (insn[i].marks & WINDOW_RETURN)
			return PROBE_CALL;
	}
	if (length > PROBE_ORIGINAL)
		return PROBE_SHORT;
	if (length < need && free_from(body, last) < need - length)
		return PROBE_SHORT;
	*choice = (struct window_choice){ .body = body, .first = (uint32_t)first, .last = (uint32_t)last,
		.way = PROBE_WAY_JUMP, .length = (uint8_t)length, .own = (uint8_t)(length > need ? length : need) };
	return is_taken(taken, begins(choice), choice->own) ? PROBE_NEIGHBOUR : PROBE_USABLE;
}

/* The last instruction of a window from `first` on that has `need` bytes, or ends where nothing goes on. */
static size_t last_of(const struct window_body *body, size_t first, unsigned need)
{
	const struct window_insn *insn = body->insn;
	size_t last = first;

	while (last + 1 < body->insns && insn[last].at + insn[last].length - insn[first].at < need &&
		!(insn[last + 1].marks & WINDOW_FREE))
		last++;
	return last;
}

/* ---- SHORT ---- */

/* Room for a jump that two bytes' distance from `end` on reaches. */
static bool padding_of(const struct window_taken *taken, const struct window_body *body, uint64_t end,
	const struct window_choice *without, uint64_t *found)
{
	uint64_t low = end + (uint64_t)(int64_t)INT8_MIN, high = end + INT8_MAX, own = begins(without);
	size_t r = SEARCH(i, 0, body->runs, body->address + body->run[i].at + body->run[i].size <= low);

	for (; r < body->runs && body->address + body->run[r].at <= high; r++) {
		uint64_t from = body->address + body->run[r].at, to = from + body->run[r].size - PROBE_JUMP_SIZE;
		for (uint64_t at = from > low ? from : low; at <= to && at <= high; at++)
			if (!is_taken(taken, at, PROBE_JUMP_SIZE) &&
				(at >= own + without->own || at + PROBE_JUMP_SIZE <= own)) {
				*found = at;
				return true;
			}
	}
	return false;
}

static bool find_padding(struct window_bodies *bodies, const struct window_taken *taken, size_t function,
	struct window_choice *choice)
{
	const struct image *image = bodies->image;
	uint64_t from = begins(choice), end = from + PROBE_SHORT_SIZE, found = 0;
	bool is = false;

	for (size_t i = function; !is && i < image->functions; i--) {
		const struct window_body *body = window_body(bodies, i);
		if (body->address + body->size + body->free + INT8_MAX < end)
			break;
		is = padding_of(taken, body, end, choice, &found);
	}
	for (size_t i = function + 1; !is && i < image->functions && image->function[i].address <= end + INT8_MAX; i++)
		is = padding_of(taken, window_body(bodies, i), end, choice, &found);
	if (is) {
		choice->way = PROBE_WAY_SHORT;
		choice->padding = (int32_t)(found - from);
	}
	return is;
}

/* ---- SHARED ---- */

/* The bytes behind it that the jump shares are the file's, and nobody else's. */
static bool shares(struct window_bodies *bodies, const struct window_taken *taken, const struct window_body *body,
	size_t insn, struct window_choice *choice)
{
	unsigned length = body->insn[insn].length;
	size_t size;

	*choice = (struct window_choice){ .body = body, .first = (uint32_t)insn, .last = (uint32_t)insn,
		.way = PROBE_WAY_SHARED, .length = (uint8_t)length };
	if (length >= PROBE_JUMP_SIZE || !image_code_at(bodies->image, begins(choice), &size))
		return false;
	for (unsigned prefix = 0; prefix < length; prefix++) {
		unsigned own = prefix + PROBE_JUMP_SIZE;
		if (own > size || is_taken(taken, begins(choice), own))
			break;
		choice->prefixes |= (uint8_t)(1u << prefix);
		choice->own = (uint8_t)own;
	}
	return choice->prefixes;
}

/* ---- all of them, in order ---- */

/* A window of a jump of `need` bytes, from the instruction on or from one before it. *reason: the first one's. */
static bool jumps(struct window_bodies *bodies, const struct window_taken *taken, size_t function, size_t insn,
	unsigned need, struct window_choice *choice, unsigned *reason)
{
	const struct window_body *body = window_body(bodies, function);

	for (size_t first = insn; first < body->insns; first--) {
		size_t last = last_of(body, first, need);
		unsigned why = fits(taken, body, first, last > insn ? last : insn, need, choice);
		if (!why && (need == PROBE_JUMP_SIZE || find_padding(bodies, taken, function, choice)))
			return true;
		if (*reason == PROBE_USABLE)
			*reason = why ? why : PROBE_SHORT;
		/* One that begins further before has what is between here and the instruction, too. */
		if (body->insn[first].marks & (WINDOW_LED | WINDOW_RETURN) || body->computed ||
			body->insn[insn].at - body->insn[first].at >= PROBE_ORIGINAL)
			break;
	}
	return false;
}

unsigned window_choose(struct window_bodies *bodies, const struct window_taken *taken, size_t function, size_t insn,
	struct window_choice *choice)
{
	static const struct window_taken none;
	const struct window_body *body = window_body(bodies, function);
	unsigned reason = PROBE_USABLE, unused = PROBE_USABLE;

	if (body->insn[insn].refusal)
		return body->insn[insn].refusal;
	if (jumps(bodies, taken, function, insn, PROBE_JUMP_SIZE, choice, &reason) ||
		jumps(bodies, taken, function, insn, PROBE_SHORT_SIZE, choice, &unused) ||
		shares(bodies, taken, body, insn, choice))
		return PROBE_USABLE;
	if (taken->bit && window_choose(bodies, &none, function, insn, choice) == PROBE_USABLE)
		return PROBE_NEIGHBOUR;
	return reason;
}

unsigned window_join(const struct window_taken *taken, const struct window_body *body, size_t first, size_t last,
	struct window_choice *choice)
{
	size_t least = last_of(body, first, PROBE_JUMP_SIZE);

	return fits(taken, body, first, least > last ? least : last, PROBE_JUMP_SIZE, choice);
}
