/* SPDX-License-Identifier: MIT */
/*
 * Numbers as by chance, the same ones in each run and on every machine, so that a failure can be repeated (xorshift64).
 * The state is the caller's, and never 0.
 */
#ifndef XAUDIT_T_LIB_RANDOM_H
#define XAUDIT_T_LIB_RANDOM_H

#include <stdint.h>

#define RANDOM_BEGIN 88172645463325252u

static inline uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
