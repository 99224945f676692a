/* SPDX-License-Identifier: MIT */
#include "tool/probe/window_code.h"

#include <string.h>

#include "tool/index/copy.h"
#include "tool/index/decode.h"
#include "tool/index/image.h"
#include "x86_64/probe.h"

#define GATE_SIZE 8

/* A call of the gate, which is not placed yet. `target`: RESUME, counted from the window's address. */
static void put_probe(struct copy *copy, int64_t resume, unsigned number, size_t *gate)
{
	static const uint8_t call[PROBE_CALL_SIZE] = PROBE_CALL;
	size_t from = copy->size;

	copy_put(copy, call, sizeof(call));
	copy_fix(copy, PROBE_FIX_LOW, from + PROBE_CALL_LOW, 0, resume);
	copy_fix(copy, PROBE_FIX_HIGH, from + PROBE_CALL_HIGH, 0, resume);
	copy_fix(copy, PROBE_FIX_WORD, from + PROBE_CALL_WORD, 0, number);
	*gate = from + PROBE_CALL_GATE;
}

/* The gates' addresses, behind the code. */
static void put_gates(struct copy *copy, const size_t *gate, unsigned count)
{
	static const uint8_t filler[GATE_SIZE] = { 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc }, zero[GATE_SIZE];

	copy_put(copy, filler, -(size_t)copy->size % GATE_SIZE);
	for (unsigned i = 0; i < count; i++) {
		uint32_t distance = (uint32_t)(copy->size - (gate[i] + 4));
		copy_put(copy, zero, GATE_SIZE);
		if (copy->reason != INDEX_REASON_USABLE)
			return;
		memcpy(copy->bytes + gate[i], &distance, sizeof(distance));
		copy_fix(copy, PROBE_FIX_GATE, copy->size - GATE_SIZE, 0, i);
	}
}

/* Which bytes are written, and which ones must be in memory. */
static void describe(struct window *to, const struct image *image, unsigned prefix)
{
	struct plan_window *plan = &to->plan;
	unsigned written = PROBE_JUMP_SIZE;
	size_t size;

	if (plan->way == PROBE_WAY_ENTRY)
		written = 0;
	if (plan->way == PROBE_WAY_SHORT)
		written = PROBE_SHORT_SIZE;
	if (plan->way == PROBE_WAY_SHARED) {
		plan->prefix = (uint8_t)prefix;
		plan->fixed = (uint8_t)(prefix + PROBE_JUMP_SIZE - plan->length);
		written = prefix + PROBE_JUMP_SIZE;
	}
	plan->originals = plan->length > written ? plan->length : (uint8_t)written;
	memset(plan->original, 0, sizeof(plan->original));
	memcpy(plan->original, image_code_at(image, plan->address, &size), plan->originals);
	if (plan->way == PROBE_WAY_SHORT)
		memcpy(plan->padding_original,
			image_code_at(image, plan->address + (uint64_t)(int64_t)plan->padding, &size),
			PROBE_JUMP_SIZE);
}

static unsigned as_refusal(enum index_reason reason)
{
	return reason == INDEX_REASON_TARGET ? PROBE_TARGET : PROBE_MANY;
}

unsigned window_make(struct window *to, const struct image *image, const struct window_choice *choice,
	const uint64_t *address, const uint32_t *which, unsigned count)
{
	const struct window_insn *insn = &choice->body->insn[choice->first], *last = &choice->body->insn[choice->last];
	uint64_t from = choice->body->address + insn->at;
	struct copy copy = { .bytes = to->code,
		.room = PROBE_CODE_MAX,
		.fixup = to->fixup,
		.fixups_room = PROBE_FIXUPS_MAX,
		.base = from };
	size_t gate[PROBE_IN_WINDOW], size;
	const uint8_t *bytes = image_code_at(image, from, &size);
	struct insn decoded = { 0 };

	if (count > PROBE_IN_WINDOW)
		return PROBE_MANY;
	memset(to, 0, sizeof(*to));
	to->plan = (struct plan_window){ .address = from,
		.way = choice->way,
		.length = choice->length,
		.padding = choice->padding,
		.other = PROBE_NONE };
	for (; insn <= last; insn++) {
		uint32_t at = (uint32_t)(choice->body->address + insn->at - from);
		if (at && at < PROBE_JUMP_SIZE)
			to->plan.inside[at - 1] = (uint16_t)copy.size;
		while (to->addresses < count && address[which[to->addresses]] == from + at) {
			to->address[to->addresses] = which[to->addresses];
			put_probe(&copy, at + 1, to->addresses, &gate[to->addresses]);
			to->addresses++;
		}
		insn_decode(bytes + at, size - at, from + at, &decoded);
		copy_instruction(&copy, &decoded, bytes + at, INDEX_CALL_IN_COPY);
	}
	to->plan.calls = (last->marks & WINDOW_CALL) != 0;
	if (!(last->marks & (WINDOW_CALL | WINDOW_CLOSED)))
		copy_jump(&copy, from + choice->length);
	put_gates(&copy, gate, to->addresses);
	to->plan.code_size = copy.size;
	to->plan.fixup_count = copy.fixups;
	to->plan.probes = to->addresses;
	describe(to, image, choice->prefixes ? (unsigned)__builtin_ctz(choice->prefixes) : 0);
	return copy.reason == INDEX_REASON_USABLE ? PROBE_USABLE : as_refusal(copy.reason);
}

void window_make_other(struct window *to, const struct window *of, const struct image *image, unsigned prefix)
{
	*to = *of;
	describe(to, image, prefix);
}
