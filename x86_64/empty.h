/* SPDX-License-Identifier: MIT */
/* A function that does nothing: for callers that need all their registers kept. */
#ifndef XAUDIT_X86_64_EMPTY_H
#define XAUDIT_X86_64_EMPTY_H

/* Keeps all registers; flags, too. Any context. */
void empty_function(void) __attribute__((visibility("hidden")));

#endif
