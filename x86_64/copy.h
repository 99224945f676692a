/* SPDX-License-Identifier: MIT */
/* Copies of data that is too long for general registers. */
#ifndef XAUDIT_COPY_H
#define XAUDIT_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "x86_64/sys.h"

/*
 * Copies many bytes at once, by vector registers, which are restored: the caller's caller may be a function whose
 * registers are all in use. SSE instructions leave the upper halves alone. The compiler knows nothing of these
 * registers here. Any context, async-signal-safe.
 */
static inline void copy_in(void *to, const void *from, size_t size)
{
	uint8_t kept[4][16];

	if (size >= 64 && size <= 1024) {
		__asm__ volatile("movups %%xmm0, (%0)\n"
				 "movups %%xmm1, 16(%0)\n"
				 "movups %%xmm2, 32(%0)\n"
				 "movups %%xmm3, 48(%0)\n"
				 :
				 : "r"(kept)
				 : "memory");
		for (; size >= 64; size -= 64, to = (char *)to + 64, from = (const char *)from + 64) {
			__asm__ volatile("movups (%1), %%xmm0\n"
					 "movups 16(%1), %%xmm1\n"
					 "movups 32(%1), %%xmm2\n"
					 "movups 48(%1), %%xmm3\n"
					 "movups %%xmm0, (%0)\n"
					 "movups %%xmm1, 16(%0)\n"
					 "movups %%xmm2, 32(%0)\n"
					 "movups %%xmm3, 48(%0)\n"
					 :
					 : "r"(to), "r"(from)
					 : "memory");
		}
		__asm__ volatile("movups (%0), %%xmm0\n"
				 "movups 16(%0), %%xmm1\n"
				 "movups 32(%0), %%xmm2\n"
				 "movups 48(%0), %%xmm3\n"
				 :
				 : "r"(kept)
				 : "memory");
	}
	sys_copy(to, from, size);
}

#endif
