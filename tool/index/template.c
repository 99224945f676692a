/* SPDX-License-Identifier: MIT */
#include "tool/index/template.h"

#include <string.h>

#include "tool/index/copy.h"
#include "tool/index/decode.h"

_Static_assert((int)INDEX_FIX_NEAR == (int)PROBE_FIX_NEAR && (int)INDEX_FIX_ADDRESS == (int)PROBE_FIX_ADDRESS,
	"fixups of both have the same numbers");

/* How a call is made that ends so many bytes behind the jump. */
static void choose_call(struct template *to, unsigned behind, unsigned need)
{
	if (behind >= COPY_BY_STACK_SIZE)
		to->call = INDEX_CALL_BY_STACK;
	else if (behind >= COPY_BY_RAX_SIZE || (behind == COPY_BY_RAX_SIZE - 1 && need == INDEX_JUMP))
		to->call = INDEX_CALL_BY_RAX;
	to->meets = to->call && behind < COPY_BY_RAX_SIZE;
}

/* What was written becomes the template's. */
static enum index_reason take(struct template *to, const struct copy *copy)
{
	to->size = (uint8_t)copy->size;
	to->fixups = (uint8_t)copy->fixups;
	for (size_t i = 0; i < copy->fixups; i++) {
		const struct probe_fixup *from = &copy->fixup[i];
		to->fixup[i] = (struct index_fixup){
			.at = (uint8_t)from->at, .end = (uint8_t)from->end, .fix = from->fix, .target = from->target
		};
	}
	return copy->reason;
}

enum index_reason template_make(struct template *to, const uint8_t *bytes, size_t room, uint64_t site,
	uint64_t function, unsigned need, uint64_t without, bool in_place)
{
	struct probe_fixup fixup[INDEX_FIXUPS_MAX];
	struct copy copy = { .bytes = to->bytes,
		.room = sizeof(to->bytes),
		.fixup = fixup,
		.fixups_room = INDEX_FIXUPS_MAX,
		.base = function,
		.reason = INDEX_REASON_USABLE };

	memset(to, 0, sizeof(*to));
	while (to->length < need && !to->closed) {
		struct insn insn;
		/* What comes back to the bytes behind a call would find the jump there. */
		if (to->calls)
			return INDEX_REASON_CALL;
		if (to->length >= room)
			return INDEX_REASON_SHORT;
		if (!insn_decode(bytes + to->length, room - to->length, site + to->length, &insn))
			return INDEX_REASON_UNDECODABLE;
		if (to->length && to->length < INDEX_JUMP)
			to->inside[to->length - 1] = (uint8_t)copy.size;
		unsigned length = to->length + insn.length;
		bool calls = insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT;
		bool runs = !without || insn.address != without;
		if (runs && calls && in_place && length > need)
			choose_call(to, length - need, need);
		if (runs) {
			to->faults |= copy_may_fault(&copy, &insn);
			copy_instruction(&copy, &insn, bytes + to->length, to->call);
			to->calls |= calls;
			to->closed = insn_ends(&insn);
		}
		if (copy.reason != INDEX_REASON_USABLE)
			return copy.reason;
		to->length = (uint8_t)length;
	}
	if (!to->closed && !to->calls)
		copy_jump(&copy, site + to->length);
	return take(to, &copy);
}
