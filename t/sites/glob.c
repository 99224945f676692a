/* SPDX-License-Identifier: MIT */
/* The functions of the rules without state: globs, sizes, kinds, which section, which function. */
#include "audit/match/match.h"

#include <inttypes.h>

#include "t/lib/tap.h"

static const struct {
	const char *pattern, *text;
	int match;
} glob[] = {
	{ "", "", 1 },
	{ "", "a", 0 },
	{ "a", "", 0 },
	{ "abc", "abc", 1 },
	{ "abc", "abcd", 0 },
	{ "abcd", "abc", 0 },
	{ "abc", "ABC", 0 },
	{ "*", "", 1 },
	{ "*", "anything/at all", 1 },
	{ "**", "", 1 },
	{ "*a", "ba", 1 },
	{ "*a", "ab", 0 },
	{ "a*", "a", 1 },
	{ "a*b*c", "a.b.b.c", 1 },
	{ "a*b*c", "a.b.b.c.", 0 },
	{ "*aab", "aaaaab", 1 },
	{ "lib*.so*", "libfoo.so.1", 1 },
	{ "lib*.so*", "libfoo.a", 0 },
	{ "?", "", 0 },
	{ "?", "x", 1 },
	{ "??", "x", 0 },
	{ "a?c", "a/c", 1 },
	{ "[abc]", "b", 1 },
	{ "[abc]", "d", 0 },
	{ "[abc]", "", 0 },
	{ "[a-c]x", "cx", 1 },
	{ "[a-c]x", "dx", 0 },
	{ "[!a-c]", "d", 1 },
	{ "[!a-c]", "b", 0 },
	{ "[0-9a-f]*", "face", 1 },
	{ "[]]", "]", 1 },
	{ "[!]]", "]", 0 },
	{ "[!]]", "x", 1 },
	{ "[a-]", "-", 1 },
	{ "[a-]", "b", 0 },
	{ "[\\]a]", "a", 1 },
	{ "[\\]a]", "]", 1 },
	{ "[a\\-c]", "b", 0 },
	{ "[abc", "[abc", 1 },
	{ "[abc", "a", 0 },
	{ "x[", "x[", 1 },
	{ "*[0-9]", "a1b2", 1 },
	{ "*[0-9]", "a1b", 0 },
	{ "\\*", "*", 1 },
	{ "\\*", "a", 0 },
	{ "\\[a]", "[a]", 1 },
	{ "a\\", "a\\", 1 },
	{ "\\\\", "\\", 1 },
	{ "^a", "^a", 1 },
};

static const struct {
	const char *text;
	uint64_t size;
} size[] = {
	{ "4M", 4ul << 20 },
	{ "4m", 4ul << 20 },
	{ "64k", 64ul << 10 },
	{ "64K", 64ul << 10 },
	{ "65536", 64ul << 10 },
	{ "1G", 1ul << 30 },
	{ "1024M", 1ul << 30 },
	{ "1073741824", 1ul << 30 },
	{ "32k", 32ul << 10 },
	{ "2G", 2ul << 30 },
	{ "3M", 3ul << 20 },
	{ "0", 0 },
	{ "", 0 },
	{ "M", 0 },
	{ "-4M", 0 },
	{ "4MB", 0 },
	{ "4 M", 0 },
	{ "4T", 0 },
	{ "18446744073709617152", 0 }, /* 2^64 + 64k */
	{ "17179869184G", 0 },
};

static void selection(void)
{
	struct rules_pattern at = { .function = "bar", .library = "libbar.so*" };
	struct rules_pattern foo = { .next = &at, .function = "foo_*" };
	struct rules_pattern hot = { .function = "foo_hot_*" };
	struct rules_pattern star = { .function = "*", .library = "libc.so*" };
	struct rules_pattern stars = { .function = "**" };
	struct rules_section all = { 0 };
	struct rules_section some = { .functions = &foo, .exclude = &hot };
	struct rules_section libc = { .functions = &star };
	struct rules_section not_libc = { .exclude = &star };
	struct rules_section odd = { .functions = &stars };

	ok(rules_select(&all, "x", "/lib/libx.so", NULL), "a section without patterns selects every function");
	ok(rules_select(&all, NULL, "/lib/libx.so", NULL), "and functions without a name");
	ok(rules_select(&some, "foo_a", "/lib/libx.so", NULL), "a function that matches is selected");
	ok(!rules_select(&some, "fo", "/lib/libx.so", NULL), "one that does not is not");
	ok(!rules_select(&some, "foo_hot_a", "/lib/libx.so", NULL), "exclude wins over functions");
	ok(rules_select(&some, "bar", "/lib/libbar.so.1", NULL), "a pattern with a library matches in this library");
	ok(rules_select(&some, "bar", "/lib/x.so", "libbar.so.1"), "and in one with this soname");
	ok(!rules_select(&some, "bar", "/lib/libx.so", "libx.so"), "but in no other");
	ok(!rules_select(&some, NULL, "/lib/libbar.so.1", NULL), "a nameless function matches no named pattern");
	ok(rules_select(&libc, NULL, "/lib/libc.so.6", NULL), "a nameless function matches *@LIBGLOB");
	ok(!rules_select(&libc, NULL, "/lib/libm.so.6", NULL), "where the library matches");
	ok(!rules_select(&not_libc, NULL, "/lib/libc.so.6", NULL), "exclude = *@LIBGLOB drops nameless functions too");
	ok(rules_select(&not_libc, "puts", "/lib/libm.so.6", NULL), "and leaves other libraries alone");
	ok(!rules_select(&odd, NULL, "/lib/libm.so.6", NULL), "only the pattern * itself matches the nameless");
	ok(!rules_select(&libc, "puts", NULL, NULL), "an object without path and soname matches no library");
}

static void sections(void)
{
	struct rules_section program = { .kinds = 1u << TRACE_KIND_CALLS };
	struct rules_section rest = { .next = &program, .library = "*" };
	struct rules_section path = { .next = &rest, .library = "/opt/*/lib*.so", .kinds = 1u << TRACE_KIND_PLT };
	struct rules_section foo = { .next = &path, .library = "libfoo.so*", .kinds = 1u << TRACE_KIND_XRAY };
	struct rules rules = { .sections = &foo };
	struct rules only = { .sections = &path };

	rest.next = NULL;
	ok(rules_for(&rules, "/usr/lib/libfoo.so.1", NULL, 0) == &foo, "a glob is compared with the basename");
	ok(rules_for(&rules, "/usr/lib/other.so", "libfoo.so.2", 0) == &foo, "and with the soname");
	ok(rules_for(&rules, "libfoo.so", NULL, 0) == &foo, "a path without a slash is its own basename");
	ok(rules_for(&rules, "/opt/a/libx.so", NULL, 0) == &path,
		"a glob with a slash is compared with the whole path");
	ok(rules_for(&rules, "/opt/a/libfoo.so", NULL, 0) == &foo, "the first section that matches decides");
	ok(rules_for(&rules, "/lib/x.so", "/opt/a/libx.so", 0) == &rest, "a glob with a slash ignores the soname");
	ok(rules_for(&only, "/usr/libfoo.so.1/x", NULL, 0) == &rest, "the last section takes the rest");
	ok(rules_for(&rules, "/usr/lib/libfoo.so.1", NULL, 1) == NULL, "no library section matches the program");
	rest.next = &program;
	ok(rules_for(&rules, "/usr/bin/app", NULL, 1) == &program, "[program] matches the program");
	rest.library = "libz*";
	ok(rules_for(&rules, "/usr/lib/libx.so", NULL, 0) == NULL, "[program] matches no library");
	is_int(rules_kinds(&rules), 1u << TRACE_KIND_CALLS | 1u << TRACE_KIND_PLT | 1u << TRACE_KIND_XRAY,
		"all kinds are those of all sections");
}

int main(void)
{
	char many[4097], text[4097];

	for (size_t i = 0; i < sizeof(glob) / sizeof(*glob); i++)
		is_int(rules_glob(glob[i].pattern, glob[i].text), glob[i].match, "'%s' %s '%s'", glob[i].pattern,
			glob[i].match ? "matches" : "does not match", glob[i].text);
	is_int(rules_glob("[\xc0-\xff]x", "\xe4x"), 1, "bytes above 127 are compared without a sign");
	/* 2048 stars over 4096 characters: exponential matching would not return. */
	for (int i = 0; i < 4096; i++) {
		many[i] = i % 2 ? 'a' : '*';
		text[i] = 'a';
	}
	many[4096] = text[4096] = '\0';
	many[4095] = 'b';
	is_int(rules_glob(many, text), 0, "a pattern of two thousand stars ends");

	for (size_t i = 0; i < sizeof(size) / sizeof(*size); i++)
		is_int((long long)rules_bytes(size[i].text), (long long)size[i].size, "size '%s' is %" PRIu64,
			size[i].text, size[i].size);

	is_int(rules_kind("xray", 4), TRACE_KIND_XRAY, "xray is a kind");
	is_int(rules_kind("patchable", 9), TRACE_KIND_PATCHABLE, "patchable is a kind");
	is_int(rules_kind("plt,x", 3), TRACE_KIND_PLT, "plt is a kind, and the length counts");
	is_int(rules_kind("calls", 5), TRACE_KIND_CALLS, "calls is a kind");
	is_int(rules_kind("xra", 3), -1, "half a word is none");
	is_int(rules_kind("xrays", 5), -1, "nor is a longer word");
	is_int(rules_kind("", 0), -1, "nor is nothing");
	selection();
	sections();
	return done_testing();
}
