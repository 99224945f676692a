/* SPDX-License-Identifier: MIT */
/* Lines that are cut to a terminal's width: what goes first, what stays, and how wide characters count. */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <locale.h>

#include "tool/show/term/fit.h"

static char *cut(const char *line, unsigned columns, const char *ellipsis)
{
	static char *text;
	static size_t size;

	free(text);
	FILE *to = open_memstream(&text, &size);
	fit_line(to, line, strlen(line), columns, ellipsis);
	fclose(to);
	return text;
}

static void long_names(void)
{
	/* 40 letters in a name, 10 columns before it and 6 behind it: 56. */
#define ROW "123456789 \001abcdefghijklmnopqrstuvwxyzabcdefghijklmn\002 [lib]\n"
	is_str(cut(ROW, 56, "~"), "123456789 abcdefghijklmnopqrstuvwxyzabcdefghijklmn [lib]\n", "what fits stays");
	is_str(cut(ROW, 55, "~"), "123456789 abcdefghijklmnopqrstuvwxyzabcdefghijkl~ [lib]\n",
		"one column too much: the name loses two letters, for the ellipsis");
	is_str(cut(ROW, 40, "~"), "123456789 abcdefghijklmnopqrstuvw~ [lib]\n", "what stands behind the name stays");
	is_str(cut(ROW, 40, "..."), "123456789 abcdefghijklmnopqrstu... [lib]\n", "an ellipsis of three columns");
	is_str(cut(ROW, 36, "~"), "123456789 abcdefghijklmnopqrs~ [lib]\n", "a name keeps 20 columns");
	is_str(cut(ROW, 30, "~"), "123456789 abcdefghijklmnopqrs~\n", "then the line is cut at the right");
	is_str(cut(ROW, 20, "~"), "123456789 abcdefghi~\n", "and further");
	is_str(cut("\001abcdefghijklmnopqrstuvwxyz\002 \001abcdefghijklmnopqrstuvwxyzabcd\002\n", 49, "~"),
		"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstu~\n", "of two names the longer one is cut first");
	is_str(cut("\001abcdefghijklmnopqrstuvwxyz\002 \001abcdefghijklmnopqrstuvwxyzabcd\002\n", 43, "~"),
		"abcdefghijklmnopqrstu~ abcdefghijklmnopqrs~\n", "then the other one");
}

static char *cut_function(const char *name, unsigned columns)
{
	char line[512];

	snprintf(line, sizeof(line), "\003%s\002\n", name);
	char *text = cut(line, columns, "~");
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void functions(void)
{
	static const struct {
		const char *name;
		unsigned columns;
		const char *expected;
	} row[] = {
#define INSERT "ns::Box<std::vector<int>, unsigned long>::insert(std::vector<int> const&, bool)"
		{ INSERT, 79, INSERT },
		{ INSERT, 78, "ns::Box<std::vector<int~ unsigned long>::insert(std::vector<int> const&, bool)" },
		{ INSERT, 60, "ns::Box<std::vecto~igned long>::insert(std::vecto~st&, bool)" },
		{ INSERT, 40, "ns::Box<std::~ long>::insert(std::~bool)" },
		{ INSERT, 30, "ns::Box<std~ng>::insert(st~ol)" },
		{ INSERT, 22, "ns::Box<s~>::insert(~)" },
		{ INSERT, 21, "ns::Box<~>::insert(~)" },
		{ INSERT, 20, "~::Box<~>::insert(~)" },
#define METHOD "std::enable_if<(true), int>::type ns::Class<std::string, long>::method(std::string const&) const"
		{ METHOD, 60, "std::enable_if<(t~t>::type ns::Class<s~g>::method(s~&) const" },
		{ METHOD, 40, "~<~>::type ns::Class<~>::method(~) const" },
		{ METHOD, 30, "~ns::Class<~>::method(~) const" },
		{ METHOD, 20, "~>::method(~) const" },
		{ "A::B::operator std::vector<int>() const", 38, "A::B::operator std::vector<i~>() const" },
		{ "A::B::operator std::vector<int>() const", 20, "operator std::vecto~" },
		{ "f(int)::{lambda(long const&)#1}::operator()(long const&) const", 50,
			"f(int)::{lambd~&)#1}::operator()(long ~nst&) const" },
		{ "f(int)::{lambda(long const&)#1}::operator()(long const&) const", 20, "~operator()(~) const" },
		{ "decltype (auto) ns::f<int>(int, int, long, char) const volatile", 31,
			"~(~) ns::f<~>(~) const volatile" },
		{ "operator new(unsigned long, std::align_val_t)", 20, "operator new(uns~_t)" },
		{ "core::fmt::Formatter::pad_integral", 25, "~:Formatter::pad_integral" },
		{ "<m::shapes::Circle<usize> as m::shapes::Shape>::area", 30, "<m::shapes::~pes::Shape>::area" },
		{ "a_name_of_c_that_is_long", 20, "a_name_of_c_that_is~" },
		{ "brackets(that<don't match", 20, "brackets(that<don't~" },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		is_str(cut_function(row[i].name, row[i].columns), row[i].expected, "%u columns", row[i].columns);
}

static void other_lines(void)
{
	is_str(cut("no name in it\n", 8, "~"), "no name~\n", "a line without a name is cut at the right");
	is_str(cut("no end", 4, "~"), "no ~", "one without newline too");
	is_str(cut("", 4, "~"), "", "an empty line stays empty");
	is_str(cut("\033[1m12345678\033[0m\n", 8, "~"), "\033[1m12345678\033[0m\n", "colours have no width");
	is_str(cut("\033[1m12345678\033[0m90\n", 8, "~"), "\033[1m1234567~\033[0m\n",
		"what ends a colour stays, though the text around it does not");
	is_str(cut("ab\xff\xfe" "cdef\n", 6, "~"), "ab\xff\xfe" "c~\n", "a byte that is no UTF-8 counts as one column");
	is_str(cut("abc\033", 9, "~"), "abc\033", "a lone escape character at the end");
	is_str(cut("abc\033[", 9, "~"), "abc\033[", "and a sequence that does not end");
}

static void wide(void)
{
	is_int((long long)fit_columns("\u65e5\u672c\u8a9e", 9), 6, "an ideograph has two columns");
	is_int((long long)fit_columns("e\u0301a", 4), 2, "a combining accent has none");
	is_int((long long)fit_columns("\u00fc\u03b1", 4), 2, "letters of two bytes have one");
	is_str(cut("\u65e5\u672c\u8a9e\n", 6, "~"), "\u65e5\u672c\u8a9e\n", "three ideographs fit in 6 columns");
	is_str(cut("\u65e5\u672c\u8a9e\n", 5, "~"), "\u65e5\u672c~\n", "two and an ellipsis in 5");
	is_str(cut("\u65e5\u672c\u8a9e\n", 4, "\u2026"), "\u65e5\u2026\n", "half an ideograph is none: one in 4");
}

int main(void)
{
	if (!ok(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "there is a locale of UTF-8"))
		return done_testing();
	long_names();
	functions();
	other_lines();
	wide();
	return done_testing();
}
