/* SPDX-License-Identifier: MIT */
/* The middle of few values, exactly, and of many, nearly. */
#include "tool/show/calls/sample.h"

#include "t/lib/tap.h"

static void check(const char *what, uint32_t values, uint64_t middle, uint64_t low, uint64_t high, uint64_t off)
{
	struct sample sample = { 0 };
	uint64_t got[3];

	/* 1 ... values, in an order that is no order: `values` and the factor have no common divisor. */
	for (uint32_t i = 0; i < values; i++)
		sample_add(&sample, (uint64_t)i * 99991 % values + 1);
	sample_sort(&sample);
	got[0] = sample_middle(&sample, 20, &got[1], &got[2]);
	is_int((long long)sample.count, values, "%s are counted", what);
	ok(sample.values <= SAMPLE_MOST && (values <= SAMPLE_MOST ? sample.values == values :
								     sample.values >= SAMPLE_MOST / 2),
		"of them %u are kept", sample.values);
	const uint64_t want[3] = { middle, low, high };
	for (int i = 0; i < 3; i++)
		ok(got[i] + off >= want[i] && got[i] <= want[i] + off, "%llu is near %llu",
			(unsigned long long)got[i], (unsigned long long)want[i]);
	sample_free(&sample);
}

int main(void)
{
	check("one value", 1, 1, 1, 1, 0);
	check("two values", 2, 1, 1, 1, 0);
	check("three values", 3, 2, 2, 2, 0);
	check("eleven values", 11, 6, 5, 7, 0);
	check("a hundred values", 100, 50, 41, 59, 0);
	check("as many as are kept", SAMPLE_MOST, 32768, 26215, 39321, 0);
	/* Ranks of a sample of 32768 or more are off by less than 1 % of the values. */
	check("one more", SAMPLE_MOST + 1, 32769, 26215, 39322, 655);
	check("a million values", 1000000, 500000, 400000, 600000, 10000);
	return done_testing();
}
