/* SPDX-License-Identifier: MIT */
/*
 * Making a template (format/index.h) of the first instructions of a function: a copy (copy.h). Pure; any thread.
 *
 * It ends with a jmp to what follows in place, unless the last instruction does not go on there.
 */
#ifndef XAUDIT_TOOL_INDEX_TEMPLATE_H
#define XAUDIT_TOOL_INDEX_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/index.h"

struct template {
	uint8_t bytes[INDEX_TEMPLATE_MAX];
	struct index_fixup fixup[INDEX_FIXUPS_MAX];
	uint8_t size, fixups;
	uint8_t length; /* of the instructions in place */
	uint8_t inside[INDEX_JUMP - 1]; /* struct index_template's */
	bool calls;	/* the last of them is a call */
	uint8_t call, meets; /* struct index_template's */
	bool closed;	/* the last of them does not go on behind itself */
	/* One of them may fault: it divides, or loads or stores what is neither stack nor the file's own. */
	bool faults;
};

/*
 * Takes instructions from `bytes` on, `room` of which are code of this function, until they are `need` bytes long, or
 * one does not go on (then `length` may be less). site: their address; function: the function's; without: address of an
 * instruction that is to do nothing, or 0. in_place: a call may be made in place. Returns INDEX_REASON_USABLE,
 * UNDECODABLE, SHORT (the room ends before), CALL (a call within), INSTRUCTION or TARGET.
 */
enum index_reason template_make(struct template *to, const uint8_t *bytes, size_t room, uint64_t site,
	uint64_t function, unsigned need, uint64_t without, bool in_place);

#endif
