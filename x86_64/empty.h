/* SPDX-License-Identifier: MIT */
/* A function that does nothing: for code that calls with registers of its own, which it wants to find as they were. */
#ifndef XAUDIT_X86_64_EMPTY_H
#define XAUDIT_X86_64_EMPTY_H

/* Keeps all registers; flags, too. Any context. */
void empty_function(void) __attribute__((visibility("hidden")));

#endif
