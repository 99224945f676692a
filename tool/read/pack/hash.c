/* SPDX-License-Identifier: MIT */
#include "tool/read/pack/hash.h"

#include <string.h>

#define PRIME_1 0x9e3779b185ebca87u
#define PRIME_2 0xc2b2ae3d27d4eb4fu
#define PRIME_3 0x165667b19e3779f9u
#define PRIME_4 0x85ebca77c2b2ae63u
#define PRIME_5 0x27d4eb2f165667c5u

static uint64_t left(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static uint64_t get(const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static uint64_t mix(uint64_t sum, uint64_t input)
{
	return left(sum + input * PRIME_2, 31) * PRIME_1;
}

static uint64_t merge(uint64_t hash, uint64_t sum)
{
	return (hash ^ mix(0, sum)) * PRIME_1 + PRIME_4;
}

/* The four sums of so many times 32 bytes. */
static uint64_t stripes(const uint8_t *p, size_t count)
{
	uint64_t a = PRIME_1 + PRIME_2, b = PRIME_2, c = 0, d = 0 - PRIME_1;

	for (; count; count--, p += 32) {
		a = mix(a, get(p));
		b = mix(b, get(p + 8));
		c = mix(c, get(p + 16));
		d = mix(d, get(p + 24));
	}
	uint64_t hash = left(a, 1) + left(b, 7) + left(c, 12) + left(d, 18);
	return merge(merge(merge(merge(hash, a), b), c), d);
}

uint64_t pack_hash(const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t hash = PRIME_5;
	size_t rest = size % 32;

	/* Of nothing, there may be no place either. */
	if (size >= 32) {
		hash = stripes(p, size / 32);
		p += size - rest;
	}
	hash += size;
	for (; rest >= 8; p += 8, rest -= 8)
		hash = left(hash ^ mix(0, get(p)), 27) * PRIME_1 + PRIME_4;
	if (rest >= 4) {
		uint32_t word;

		memcpy(&word, p, sizeof(word));
		hash = left(hash ^ word * PRIME_1, 23) * PRIME_2 + PRIME_3;
		p += 4;
		rest -= 4;
	}
	for (; rest; rest--)
		hash = left(hash ^ *p++ * PRIME_5, 11) * PRIME_1;
	hash = (hash ^ hash >> 33) * PRIME_2;
	hash = (hash ^ hash >> 29) * PRIME_3;
	return hash ^ hash >> 32;
}
