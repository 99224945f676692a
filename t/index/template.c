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

/* Which of them may fault with the copy's address. */
static void faults(void)
{
	static const struct {
		const char *what;
		uint8_t bytes[16];
		bool faults;
	} rows[] = {
		{ "a load by a register", { 0x48, 0x8b, 0x47, 8, 0x90 }, true }, /* mov 8(%rdi),%rax */
		{ "a store behind another instruction", { 0x31, 0xc0, 0x89, 0x06, 0x90 }, true }, /* mov %eax,(%rsi) */
		{ "a load by an index alone", { 0x8b, 0x04, 0xbd, 0, 0, 0, 0 }, true }, /* mov 0(,%rdi,4) */
		{ "a load by rsp and an index", { 0x48, 0x8b, 0x04, 0xfc, 0x90 }, true }, /* mov (%rsp,%rdi,8) */
		{ "a vector's load", { 0x62, 0xf1, 0x7c, 0x48, 0x28, 0x07 }, true }, /* vmovaps (%rdi) */
		{ "a push of memory", { 0xff, 0x37, 0x31, 0xc0, 0x90 }, true }, /* push (%rdi) */
		{ "a jump by memory", { 0x31, 0xc0, 0x90, 0xff, 0x27 }, true }, /* jmp *(%rdi) */
		{ "a call by memory", { 0x31, 0xc0, 0x90, 0xff, 0x17 }, true }, /* call *(%rdi) */
		{ "a load by the caller's rbp", { 0x55, 0x8b, 0x45, 8, 0x90 }, true }, /* mov 8(%rbp) */
		{ "a string", { 0xf3, 0xa4, 0x31, 0xc0, 0x90 }, true }, /* rep movsb */
		{ "a division", { 0x99, 0xf7, 0xff, 0x31, 0xc0 }, true }, /* idiv %edi */
		{ "a load by the frame's rbp", { 0x55, 0x48, 0x89, 0xe5, 0x8b, 0x45, 8 }, false }, /* mov 8(%rbp) */
		{ "the stack", { 0x48, 0x89, 0x7c, 0x24, 8 }, false }, /* mov %rdi,8(%rsp) */
		{ "data of the file", { 0x8b, 5, 0, 1, 0, 0 }, false }, /* mov 256(%rip) */
		{ "thread-local data", { 0x64, 0x8b, 4, 0x25, 0, 0, 0, 0 }, false }, /* mov %fs:0 */
		{ "an address alone", { 0x48, 0x8d, 0x47, 8, 0x90 }, false }, /* lea 8(%rdi) */
		{ "a prefetch", { 0x0f, 0x18, 0x0f, 0x31, 0xc0 }, false }, /* prefetcht0 (%rdi) */
		{ "a multiplication", { 0x99, 0xf7, 0xef, 0x31, 0xc0 }, false }, /* imul %edi */
		{ "what stays in place", { 0x31, 0xc0, 0x90, 0x90, 0x90, 0x8b, 0x07 }, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct template template;
		enum index_reason r = template_make(&template, rows[i].bytes, 16, FUNCTION, FUNCTION, 5, 0, true);
		ok(r == INDEX_REASON_USABLE && template.faults == rows[i].faults, "%s %s", rows[i].what,
			rows[i].faults ? "may fault" : "does not fault");
	}
}

int main(void)
{
	places();
	calls_in_place();
	faults();
	return done_testing();
}
