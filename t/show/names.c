/* SPDX-License-Identifier: MIT */
/* Demangled names: of C++ and of both manglings of Rust, those of others, and what hostile names cost. */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <stdlib.h>

#include "tool/base/tool.h"
#include "tool/show/term/names.h"
#include "tool/show/term/term.h"

/* term.c has this; a terminal is not what this test is about. */
void term_name(FILE *file, const char *name)
{
	fputs(name, file);
}

static const struct {
	const char *raw, *shown, *call;
} known[] = {
	{ "_Z1fv", "f()", "" },
	{ "_ZN2ns1fIiEEvT_", "void ns::f<int>(int)", "" },
	{ "_ZNK1A1gEv", "A::g() const", "" },
	{ "_ZN1AC2Ev", "A::A()", "" },
	{ "_Z1fv.cold", "f() [clone .cold]", "" },
	{ "_ZThn8_N1B1fEv", "non-virtual thunk to B::f()", "" },
	{ "_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f(int)", "" },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int>::push_back(int const&)", "" },
	{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", "()" },
	{ "_ZN4core3fmt5write17h0123456789abcdefE.llvm.123", "core::fmt::write", "()" },
	{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
		"<Test + 'static as foo::Bar<Test>>::bar", "()" },
	{ "_RNvCs1234_7mycrate3foo", "mycrate::foo", "()" },
	{ "_RINvNtCsdOmxBqW8nI2_1m6shapes3sumhEB4_", "m::shapes::sum::<u8>", "()" },
	{ "_RNvMNtCsdOmxBqW8nI2_1m6shapesINtB2_6CirclejE4areaB4_", "<m::shapes::Circle<usize>>::area", "()" },
	{ "_RNCNvC1a4main0", "a::main::{closure#0}", "()" },
	{ "main", "main", "()" },
	{ "_Z", "_Z", "()" },
	{ "_R", "_R", "()" },
	{ "_ZN3fooE1", "_ZN3fooE1", "()" },
	{ "_Zork", "_Zork", "()" },
	{ "libfoo.so+0x1234", "libfoo.so+0x1234", "()" },
	{ "", "", "()" },
};

static void names(void)
{
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
			is_str(names_shown(known[i].raw), known[i].shown, "%s is shown as %s%s", known[i].raw,
				known[i].shown, round ? ", again" : "");
			is_str(names_call(known[i].raw), known[i].call, "and behind it stands '%s'", known[i].call);
		}
	ok(!names_shown(NULL) && !names_demangled(NULL), "no name is none");
	ok(!names_demangled("main"), "a name of C has no demangled one");
}

#define APPEND	   "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc"
#define NEW_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

/* Functions whose simple names are equal; the first two are of the two strings of libstdc++. */
static void several(void)
{
	static const char *const other[] = { "_Z1gSs", ("_Z1g" NEW_STRING), "_ZN1A1hB5cxx11Ev", "_ZN1A1hEv" };
	static const char string[] =
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
	char *full;

	if (asprintf(&full, "g(%s)", string) < 0)
		abort();
	is_str(names_shown("_Z1f" NEW_STRING), "f(std::string)", "a name that is the only one is simple");
	is_str(names_shown("_Z1f" NEW_STRING), "f(std::string)", "also when it is met again");
	is_str(names_full("_Z1g" NEW_STRING), full, "a full name has it all");
	is_str(names_demangled("_Z1g" NEW_STRING), full, "and so has what JSON calls demangled");
	for (size_t i = 0; i < 4; i++)
		names_meet(other[i]);
	is_str(names_shown(other[0]), "g(std::string)", "of two functions with the same simple name, one has no other");
	is_str(names_shown(other[1]), full, "the other one is shown in full");
	is_str(names_shown(other[2]), "A::h[abi:cxx11]()", "so it is with tags");
	is_str(names_shown(other[3]), "A::h()", "which one of two lacks");
	names_meet("_Z1i" NEW_STRING);
	is_str(names_shown("_Z1i" NEW_STRING), "i(std::string)", "a function that was met is simple");
	is_str(names_shown("_Z1iSs"), "i(std::string)", "until another one is met");
	is_str(names_shown("_Z1i" NEW_STRING) + 2, full + 2, "then it is shown in full");
	names_meet(NULL);
	names_meet("main");
	free(full);
}

static void matching(void)
{
	static const struct {
		const char *pattern, *raw;
		bool match;
	} row[] = {
		{ "_ZN2ns1fIiEEvT_", "_ZN2ns1fIiEEvT_", true },
		{ "void ns::f<int>(int)", "_ZN2ns1fIiEEvT_", true },
		{ "ns::f<int>", "_ZN2ns1fIiEEvT_", true },
		{ "ns::*", "_ZN2ns1fIiEEvT_", true },
		{ "ns::f", "_ZN2ns1fIiEEvT_", true },
		{ "A::g", "_ZNK1A1gEv", true },
		{ "A::operator[]", "_ZN1AixEi", true },
		{ "A::operator[](int)", "_ZN1AixEi", true },
		{ "mycrate::foo", "_RNvCs1234_7mycrate3foo", true },
		{ "core::fmt::write", "_ZN4core3fmt5write17h0123456789abcdefE", true },
		{ "f(std::string)", "_Z1f" NEW_STRING, true },
		{ "f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)",
			"_Z1f" NEW_STRING, true },
		{ "f(std::wstring)", "_Z1f" NEW_STRING, false },
		{ "g(std::string)", "_Z1g" NEW_STRING, true }, /* though it is shown in full */
		{ "std::string::append", APPEND, true },
		{ "std::__cxx11::basic_string::append", APPEND, true },
		{ "std::vector<int>::push_back", "_ZNSt6vectorIiSaIiEE9push_backERKi", true },
		{ "std::vector<int, std::allocator<int> >::push_back", "_ZNSt6vectorIiSaIiEE9push_backERKi", true },
		{ "std::vector<int>::push_back(*", "_ZNSt6vectorIiSaIiEE9push_backERKi", true },
		{ "main", "main", true },
		{ "m*", "main", true },
		{ "f", "main", false },
		{ "*", NULL, false },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		is_int(names_match(row[i].pattern, row[i].raw), row[i].match, "%s %s %s", row[i].pattern,
			row[i].match ? "names" : "does not name", row[i].raw ? row[i].raw : "nothing");
}

/* A name that doubles with each few bytes: A<A<...>, A<...>>, so many times. S_ is the first type that it names. */
static char *doubled(int times)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static char raw[1024];
	char *to = raw + sprintf(raw, "_Z1f1AIiiE"), last[16];

	for (int i = 0; i < times; i++) {
		if (i >= 36)
			sprintf(last, "S%c%c_", digits[i / 36], digits[i % 36]);
		else
			sprintf(last, "S%c_", digits[i]);
		to += sprintf(to, "S_I%s%sE", last, last);
	}
	return raw;
}

static void doubling(void)
{
	is_str(names_shown(doubled(1)), "f(A<int, int>, A<A<int, int>, A<int, int>>)", "a name that doubles once");
	ok(strlen(names_shown(doubled(6))) > 1000, "six times");
	is_str(names_shown(doubled(40)), doubled(40), "40 times, which are 2^41 words: it is shown raw");
}

static void long_ones(void)
{
	size_t size = 1 << 20;
	char *raw = malloc(size + 1);

	memset(raw, 'P', size);
	memcpy(raw, "_Z1f", 4);
	raw[size - 1] = 'i';
	raw[size] = '\0';
	ok(names_shown(raw) == raw, "a name of a megabyte of pointers is shown raw");
	raw[16000] = 'i';
	raw[16001] = '\0';
	ok(names_shown(raw) != NULL, "and one of 16000 does no harm");
	memset(raw, 'N', 16000);
	memcpy(raw, "_RNv", 4);
	ok(names_shown(raw) != NULL, "nor one of Rust");
	free(raw);
}

static void many(void)
{
	char raw[64], shown[64];
	int wrong = 0;

	/* 200 bytes and more each: the table is emptied on the way. */
	for (int i = 0; i < 300000; i++) {
		snprintf(raw, sizeof(raw), "_Z7f%06dv", i);
		snprintf(shown, sizeof(shown), "f%06d()", i);
		wrong += strcmp(names_shown(raw), shown) != 0;
	}
	is_int(wrong, 0, "300000 names, more than are kept");
	ok(strstr(names_shown("_Z1g" NEW_STRING), "__cxx11") != NULL,
		"and it is still known which are not the only ones");
}

/* With a library behind an @. */
static void meaning(void)
{
	static const char aliases[] = "deflate64\0z_deflate\0";
	static const char path[] = "/usr/lib/libz.so.1";
	static const struct {
		const char *pattern;
		int mean;
	} row[] = {
		{ "deflate", 1 },
		{ "de*", 1 },
		{ "inflate", 0 },
		{ "deflate@libz.so.1", 1 },
		{ "deflate@libz*", 1 },
		{ "de*@*", 1 },
		{ "deflate@/usr/lib/libz.so.1", 1 },
		{ "deflate@/usr/*/libz*", 1 },
		{ "deflate@*/lib/*", 1 },
		{ "deflate@lib", 0 },
		{ "deflate@*lib/*", 1 },
		{ "deflate@usr*", 0 },
		{ "deflate@*usr*", 0 }, /* without a slash it is about the last part */
		{ "deflate@libc*", 0 },
		{ "inflate@libz*", 0 },
		{ "deflate64@libz*", 0 }, /* an alias */
		{ "@libz*", 0 },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		is_int(names_mean(row[i].pattern, "deflate", path), row[i].mean, "%s", row[i].pattern);
	is_int(names_mean("f@libz*", "_Z1fv", path), 1, "a demangled name");
	is_int(names_mean("new@1@libz*", "new@1", path), 1, "a name with an @");
	is_int(names_mean("f@/opt/a@2/lib.so", "f", "/opt/a@2/lib.so"), 1, "a path with one");
	is_int(names_mean("f", "f", NULL), 1, "no library");
	is_int(names_mean("f@*", "f", NULL), 0, "which is none that anything behind an @ means");
	is_int(names_mean_any("z_*@libz*", "deflate", aliases, path), 1, "an alias, where these count");
	is_int(names_mean_any("deflate@libz*", "deflate", aliases, path), 1, "or the name");
	is_int(names_mean_any("z_*@libc*", "deflate", aliases, path), 0, "of another library");
}

static void json(void)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	names_json(to, "_Z1fv");
	names_json(to, "main");
	names_json(to, NULL);
	fclose(to);
	is_str(text, ",\"demangled\":\"f()\"", "JSON has the demangled name where there is one, and else nothing");
	free(text);
}

int main(void)
{
	names();
	several();
	matching();
	meaning();
	doubling();
	long_ones();
	many();
	json();
	names_take_full(NULL);
	is_str(names_shown("_ZNSt6vectorIiSaIiEE9push_backERKi"),
		"std::vector<int, std::allocator<int> >::push_back(int const&)",
		"with --full-names nothing is left out");
	ok(names_match("std::vector<int>::push_back", "_ZNSt6vectorIiSaIiEE9push_backERKi"),
		"patterns match simple names also then");
	names_take_raw(NULL);
	is_str(names_shown("_Z1fv"), "_Z1fv", "with --no-demangle names stay raw");
	is_str(names_call("_Z1fv"), "()", "and () stands behind them");
	ok(names_match("f", "_Z1fv"), "patterns match demangled names also then");
	return done_testing();
}
