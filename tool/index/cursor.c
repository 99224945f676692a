/* SPDX-License-Identifier: MIT */
#include "tool/index/cursor.h"

#include <dwarf.h>
#include <string.h>

uint64_t cursor_take(struct cursor *at, size_t n)
{
	uint64_t value = 0;

	if (at->bad || (size_t)(at->end - at->p) < n) {
		at->bad = true;
		return 0;
	}
	memcpy(&value, at->p, n);
	at->p += n;
	at->address += n;
	return value;
}

uint64_t cursor_leb(struct cursor *at, bool with_sign)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cursor_take(at, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !at->bad);
	if (with_sign && byte & 0x40 && shift < 64)
		value |= -(uint64_t)1 << shift;
	return value;
}

uint64_t cursor_pointer(struct cursor *at, uint8_t encoding)
{
	uint64_t base = (encoding & 0x70) == DW_EH_PE_pcrel ? at->address : 0, value;

	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = cursor_take(at, 8);
		break;
	case DW_EH_PE_udata2:
		value = cursor_take(at, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)cursor_take(at, 2);
		break;
	case DW_EH_PE_udata4:
		value = cursor_take(at, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)cursor_take(at, 4);
		break;
	case DW_EH_PE_uleb128:
		value = cursor_leb(at, false);
		break;
	case DW_EH_PE_sleb128:
		value = cursor_leb(at, true);
		break;
	default:
		at->bad = true;
		return 0;
	}
	if (encoding & 0x70 && (encoding & 0x70) != DW_EH_PE_pcrel)
		at->bad = true;
	return value ? base + value : 0;
}

struct cursor cursor_block(struct cursor *at)
{
	uint64_t n = cursor_leb(at, false);
	struct cursor block = *at;

	at->bad |= n > (uint64_t)(at->end - at->p);
	if (at->bad)
		return (struct cursor){ .bad = true };
	at->p += n;
	at->address += n;
	block.end = at->p;
	return block;
}
