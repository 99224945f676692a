/* SPDX-License-Identifier: MIT */
/*
 * Calling a function of the program's libc from a slow path: such code may use SSE registers, which hold arguments of
 * the call that was interrupted. Saves them and x87 by fxsave around it (libc's base code uses no more; wider code is
 * chosen by IFUNC in string functions only).
 */
#ifndef XAUDIT_VECTORS_H
#define XAUDIT_VECTORS_H

#include <stdint.h>

/* Returns function(a, b). Any thread; needs 600 bytes of stack and what the function needs. */
long vectors_keep(uintptr_t function, uint64_t a, uint64_t b);

#endif
