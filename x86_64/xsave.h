/* SPDX-License-Identifier: MIT */
/* What the processor has to save of its vector registers, and where tramp_call_saved() (vectors.h) has left one. */
#ifndef XAUDIT_X86_64_XSAVE_H
#define XAUDIT_X86_64_XSAVE_H

#include <stdint.h>

/*
 * Asks the processor what tramp_call_saved() has to save. Before its first call; one thread. On a virtual machine each
 * question costs.
 */
void vectors_find(void);

/*
 * Vector register n (0 ... 31) as it was when tramp_call_saved() filled the area; what the processor does not have is
 * 0. Returns its width in bytes: 16, 32, 64; 0: no such register, or no area. Any context.
 */
int vectors_read(const void *area, unsigned n, uint8_t value[64]);

#endif
