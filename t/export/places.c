/* SPDX-License-Identifier: MIT */
/* Addresses that are made up for functions: of objects as many as there may be, and of functions at one place. */
#include "tool/export/folders/places.h"

#include "t/lib/tap.h"
#include "tool/base/memory.h"

static struct places places;
static struct xaudit_read_object object[1100000];
static struct xaudit_read_function function[20000];

static uint64_t add(uint32_t number, uint32_t of, uint64_t offset)
{
	function[number] = (struct xaudit_read_function){ .object = &object[of], .offset = offset,
		.number = number };
	return places_function(&places, &function[number])->address;
}

int main(void)
{
	is_int((long long)add(7, 0, 0x1234), 0x100001234,
		"a function is where it was linked to be, in the first object");
	is_int((long long)add(3, 1, 0x1234), 0x200001234, "in the second one, at another address");
	is_int((long long)places_function(&places, &function[7])->address, 0x100001234, "it stays there");
	is_int((long long)add(4, 0, 0x1234), 0x1f0000000, "a second one at its place gets another");
	is_int((long long)add(5, 0, 0x1234), 0x1f0000010, "a third one, too");
	is_int((long long)add(6, 0, 0x1f0000010), 0x1f0000020, "and one that lies beyond 4 GiB");
	is_int((long long)add(8, 1, 0x2f0000000), 0x2f0000000, "in each object for itself");

	const struct places_function *at;
	uint64_t last = 0;
	uint32_t count = 0;
	for (; (at = places_sorted(&places, count)) && at->address > last; count++)
		last = at->address;
	is_int(count, 6, "all are told in the order of addresses");
	ok(!at, "and no more");

	bool good = true;
	for (uint32_t i = 0; i < 1064000; i++) {
		uint32_t number = places_object(&places, &object[i]);
		const struct places_object *is = &places.object[number];

		good = good && (!i || is->base >= is[-1].base + is[-1].span) && is->base + is->span <= 1ull << 47;
	}
	ok(good, "a million objects have room of their own, in 47 bits");
	for (uint32_t i = 1064000; i < 1100000; i++) {
		uint32_t number = places_object(&places, &object[i]);

		good = good && places.object[number].base < 1ull << 47;
	}
	ok(good, "more share the last one's");
	is_int((long long)add(9, 1099998, 0x40), 0x7ffffc000040, "in which functions have places");
	is_int((long long)add(10, 1099999, 0x40), 0x7ffffc000000 + 0x3c00000, "of their own");
	places_free(&places);
	return done_testing();
}
