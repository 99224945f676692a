/* SPDX-License-Identifier: MIT */
/*
 * Words in a file's data that ld.so fills with addresses of functions, of a PLT or not: of libc's functions that look
 * at their return address to know who called them, and of the file's own ones, which may jump to such a one. One
 * thread.
 */
#ifndef XAUDIT_TOOL_INDEX_ASKS_CALLER_H
#define XAUDIT_TOOL_INDEX_ASKS_CALLER_H

#include "tool/index/image.h"

#define ASKS_IT	  UINT32_MAX	   /* one that asks who called it */
#define ASKS_NONE (UINT32_MAX - 1) /* anything else */

struct asks {
	struct asks_word *word; /* by address */
	size_t count;		/* 0: nothing in the file asks */
};

void asks_begin(struct asks *asks, const struct image *image);

/* Whose address the word holds: a function's of the file, by index, or one of the above. */
uint32_t asks_at(const struct asks *asks, uint64_t address);

void asks_free(struct asks *asks);

#endif
