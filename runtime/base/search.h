/* SPDX-License-Identifier: MIT */
/* Looking for something in what is sorted. Any thread, async-signal-safe. */
#ifndef XAUDIT_RUNTIME_SEARCH_H
#define XAUDIT_RUNTIME_SEARCH_H

#include <stddef.h> /* size_t */

/*
 * The first index i from `from` on, below `to`, for which the condition `before` does not hold; `to`: there is none.
 * The condition names i; it holds for the first indexes, and for none after one for which it does not:
 *
 *	size_t n = SEARCH(i, 0, rows, row[i].address < address);	the first row at the address or behind it
 */
#define SEARCH(i, from, to, before)                                                   \
	({                                                                            \
		size_t search_low = (from), search_high = (to);                       \
		while (search_low < search_high) {                                    \
			size_t i = search_low + (search_high - search_low) / 2;       \
			if (before)                                                   \
				search_low = i + 1;                                   \
			else                                                          \
				search_high = i;                                      \
		}                                                                     \
		search_low;                                                           \
	})

#endif
