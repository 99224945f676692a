/* SPDX-License-Identifier: MIT */
/*
 * Reading DWARF's numbers from bytes that may be damaged: a cursor never leaves its bytes. Once it should have, or met
 * what it does not know, it is `bad`, for good, and all that it gives from then on is 0. One thread.
 */
#ifndef XAUDIT_TOOL_INDEX_CURSOR_H
#define XAUDIT_TOOL_INDEX_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in bytes that are mapped at an address. */
struct cursor {
	const uint8_t *p, *end;
	uint64_t address;
	bool bad;
};

/* A number of n bytes, at most 8. */
uint64_t cursor_take(struct cursor *at, size_t n);

/* One in LEB128. */
uint64_t cursor_leb(struct cursor *at, bool with_sign);

/* An encoded pointer (DW_EH_PE_...); one that is 0 stays so, whatever it would be relative to. */
uint64_t cursor_pointer(struct cursor *at, uint8_t encoding);

/* What follows its length in LEB128, as a cursor of its own; it is gone over. */
struct cursor cursor_block(struct cursor *at);

#endif
