/* SPDX-License-Identifier: MIT */
/* Templates of displaced copies: what else they tell. That they do the same is for displace.c. */
#include "tool/index/template.h"

#include <string.h>

#include "t/lib/tap.h"

#define FUNCTION 0x400

/* Where a thread goes on that stands between the displaced instructions. */
static void places(void)
{
	static const struct {
		const char *what;
		uint8_t bytes[16], need, inside[INDEX_JUMP - 1];
	} rows[] = {
		{ "of one byte each", { 0x55, 0x53, 0x50, 0x51, 0x52, 0x90 }, 5, { 1, 2, 3, 4 } },
		{ "one of five bytes", { 0xb8, 1, 0, 0, 0 }, 5, { 0 } },
		{ "behind a jcc, longer in the copy", { 0x31, 0xc0, 0x74, 0x10, 0xff, 0xc2 }, 5, { 0, 2, 0, 8 } },
		{ "behind a loop", { 0xe2, 0x10, 0x31, 0xc0, 0x90 }, 5, { 0, 9, 0, 11 } },
		{ "a push and a call", { 0x53, 0xe8, 0, 1, 0, 0 }, 5, { 1 } },
		{ "where two bytes are needed", { 0x55, 0x53, 0x50 }, 2, { 1 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct template template;
		enum index_reason r = template_make(&template, rows[i].bytes, 16, FUNCTION, FUNCTION, rows[i].need, 0,
			true);
		ok(r == INDEX_REASON_USABLE && !memcmp(template.inside, rows[i].inside, sizeof(template.inside)),
			"places in the copy: %s (%u, %u, %u, %u)", rows[i].what, template.inside[0], template.inside[1],
			template.inside[2], template.inside[3]);
	}
}

/* How a call is made, by how many bytes there are behind the jump. */
static void calls_in_place(void)
{
	static const struct {
		const char *what;
		uint8_t bytes[16], need, call, meets;
	} rows[] = {
		{ "no call", { 0xb8, 1, 0, 0, 0 }, 5, INDEX_CALL_IN_COPY, 0 },
		{ "no byte", { 0xe8, 0, 1, 0, 0 }, 5, INDEX_CALL_IN_COPY, 0 },
		{ "one byte", { 0x53, 0xe8, 0, 1, 0, 0 }, 5, INDEX_CALL_BY_RAX, 1 },
		{ "two bytes", { 0x31, 0xf6, 0xe8, 0, 1, 0, 0 }, 5, INDEX_CALL_BY_RAX, 0 },
		{ "three bytes", { 0x48, 0x89, 0xfb, 0xe8, 0, 1, 0, 0 }, 5, INDEX_CALL_BY_RAX, 0 },
		{ "four bytes", { 0x48, 0x83, 0xec, 8, 0xe8, 0, 1, 0, 0 }, 5, INDEX_CALL_BY_STACK, 0 },
		{ "three bytes behind a short jump", { 0xe8, 0, 1, 0, 0 }, 2, INDEX_CALL_BY_RAX, 0 },
		{ "four bytes behind a short jump", { 0x53, 0xe8, 0, 1, 0, 0 }, 2, INDEX_CALL_BY_STACK, 0 },
		{ "one byte behind a short jump", { 0x53, 0xff, 0xd0 }, 2, INDEX_CALL_IN_COPY, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct template template;
		enum index_reason r =
			template_make(&template, rows[i].bytes, 16, FUNCTION, FUNCTION, rows[i].need, 0, true);
		ok(r == INDEX_REASON_USABLE && template.call == rows[i].call && template.meets == rows[i].meets,
			"a call with room behind the jump: %s (%u)", rows[i].what, template.call);
	}
}

int main(void)
{
	places();
	calls_in_place();
	return done_testing();
}
