/* SPDX-License-Identifier: MIT */
/*
 * Simple forms of demangled names: what is left out and what stays, in names whose forms were written by hand; what
 * holds of any name, in those of real libraries (real_names.txt) and of texts that were made from them by chance; the
 * cut of all of them to any width; and what hostile names cost.
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "audit/match/cxx.h"
#include "tool/show/term/cut.h"
#include "tool/show/term/cxx_text.h"
#include "tool/show/term/fit.h"
#include "tool/show/term/simple.h"

#define STRING	"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
#define WSTRING "std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >"
#define VIEW	"std::basic_string_view<char, std::char_traits<char> >"
#define OSTREAM "std::basic_ostream<char, std::char_traits<char> >"
#define VECTOR	"std::vector<int, std::allocator<int> >"

static const struct {
	const char *full, *simple; /* NULL: the same */
} known[] = {
	/* strings and streams */
	{ STRING, "std::string" },
	{ "f(" STRING " const&, " WSTRING ")", "f(std::string const&, std::wstring)" },
	{ STRING "::basic_string(char const*)", "std::string::basic_string(char const*)" },
	{ STRING "::~basic_string()", "std::string::~basic_string()" },
	{ "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::append(char const*)",
		"std::string::append(char const*)" },
	{ "std::basic_string<char, my::traits, std::allocator<char> >::f()",
		"std::basic_string<char, my::traits>::f()" },
	{ "std::basic_string<char, std::char_traits<char>, my::pool<char> >::f()",
		"std::basic_string<char, std::char_traits<char>, my::pool<char>>::f()" },
	{ "std::basic_string<unsigned char, std::char_traits<unsigned char>, std::allocator<unsigned char> >::f()",
		"std::basic_string<unsigned char>::f()" },
	{ "f(std::__cxx11::basic_string<char16_t, std::char_traits<char16_t>, std::allocator<char16_t> >)",
		"f(std::u16string)" },
	{ "f(std::__1::basic_string<char32_t, std::__1::char_traits<char32_t>, std::__1::allocator<char32_t> >)",
		"f(std::u32string)" },
	{ "f(" VIEW ", std::basic_string_view<char8_t, std::char_traits<char8_t> >)",
		"f(std::string_view, std::u8string_view)" },
	{ OSTREAM "& std::operator<< <std::char_traits<char> >(" OSTREAM "&, char const*)",
		"std::ostream& std::operator<< <std::char_traits<char>>(std::ostream&, char const*)" },
	{ "std::basic_istream<wchar_t, std::char_traits<wchar_t> >::operator>>(double&)",
		"std::wistream::operator>>(double&)" },
	{ "virtual thunk to std::__cxx11::basic_ostringstream<wchar_t, std::char_traits<wchar_t>, "
	  "std::allocator<wchar_t> >::~basic_ostringstream()",
		"virtual thunk to std::wostringstream::~basic_ostringstream()" },
	{ "std::basic_ios<char, std::char_traits<char> >::operator bool() const", "std::ios::operator bool() const" },
	{ "vtable for std::basic_ofstream<char, std::char_traits<char> >", "vtable for std::ofstream" },
	{ "f(std::basic_filebuf<char16_t, std::char_traits<char16_t> >)", "f(std::basic_filebuf<char16_t>)" },
	{ "A::operator " STRING "() const", "A::operator std::string() const" },
	{ "std::__cxx11::basic_regex<char, std::__cxx11::regex_traits<char> >::imbue(std::locale)",
		"std::regex::imbue(std::locale)" },
	{ "std::__cxx11::money_get<wchar_t, std::istreambuf_iterator<wchar_t, std::char_traits<wchar_t> > >::id",
		"std::money_get<wchar_t>::id" },
	{ "std::num_put<char, std::ostreambuf_iterator<char, std::char_traits<char> > >::do_put("
	  "std::ostreambuf_iterator<char, std::char_traits<char> >, std::ios_base&, char, bool) const",
		"std::num_put<char>::do_put(std::ostreambuf_iterator<char>, std::ios_base&, char, bool) const" },
	{ "std::__cxx11::moneypunct<char, false>::grouping() const", "std::moneypunct<char>::grouping() const" },
	{ "std::__cxx11::moneypunct<char, true>::grouping() const", "std::moneypunct<char, true>::grouping() const" },
	/* containers */
	{ VECTOR "::push_back(int const&)", "std::vector<int>::push_back(int const&)" },
	{ "std::vector<" VECTOR ", std::allocator<" VECTOR " > >::size() const",
		"std::vector<std::vector<int>>::size() const" },
	{ "std::vector<int, my::pool<int> >::size() const", "std::vector<int, my::pool<int>>::size() const" },
	{ "std::vector<int, std::allocator<long> >::size() const",
		"std::vector<int, std::allocator<long>>::size() const" },
	{ "std::map<" STRING ", int, std::less<" STRING " >, std::allocator<std::pair<" STRING
	  " const, int> > >::operator[](" STRING " const&)",
		"std::map<std::string, int>::operator[](std::string const&)" },
	{ "std::map<int, long, std::greater<int>, std::allocator<std::pair<int const, long> > >::clear()",
		"std::map<int, long, std::greater<int>>::clear()" },
	{ "std::map<int, long, std::less<int>, std::allocator<std::pair<long const, long> > >::clear()",
		"std::map<int, long, std::less<int>, std::allocator<std::pair<long const, long>>>::clear()" },
	{ "f(std::set<char*, std::less<char*>, std::allocator<char*> >&)", "f(std::set<char*>&)" },
	{ "f(std::unordered_map<int, " VECTOR ", std::hash<int>, std::equal_to<int>, "
	  "std::allocator<std::pair<int const, " VECTOR " > > >)",
		"f(std::unordered_map<int, std::vector<int>>)" },
	{ "f(std::unordered_set<int, H, std::equal_to<int>, std::allocator<int> >)", "f(std::unordered_set<int, H>)" },
	{ "f(std::unordered_set<int, std::hash<int>, E, std::allocator<int> >)",
		"f(std::unordered_set<int, std::hash<int>, E>)" },
	{ "std::deque<A*, std::allocator<A*> >::_M_reallocate_map(unsigned long, bool)",
		"std::deque<A*>::_M_reallocate_map(unsigned long, bool)" },
	{ "f(std::priority_queue<A, std::vector<A, std::allocator<A> >, std::less<A> >)", "f(std::priority_queue<A>)" },
	{ "f(std::queue<A, std::deque<A, std::allocator<A> > >, std::stack<A, " VECTOR " >)",
		"f(std::queue<A>, std::stack<A, std::vector<int>>)" },
	{ "f(std::unique_ptr<A, std::default_delete<A> >&&)", "f(std::unique_ptr<A>&&)" },
	{ "f(std::unique_ptr<char [], std::default_delete<char []> >)", "f(std::unique_ptr<char []>)" },
	{ "f(std::unique_ptr<A, D>)", NULL },
	{ "f(std::shared_ptr<A>)", NULL },
	{ "f(std::chrono::duration<long, std::ratio<1l, 1l> >, std::chrono::duration<long, std::ratio<1l, 1000l> >)",
		"f(std::chrono::duration<long>, std::chrono::duration<long, std::ratio<1l, 1000l>>)" },
	{ "std::vector<bool, std::allocator<bool> >::iterator::operator++()",
		"std::vector<bool>::iterator::operator++()" },
	{ "f(__gnu_cxx::__normal_iterator<char const*, " STRING " >)",
		"f(__gnu_cxx::__normal_iterator<char const*, std::string>)" },
	/* namespaces, tags */
	{ "std::filesystem::__cxx11::path::_M_split_cmpts()", "std::filesystem::path::_M_split_cmpts()" },
	{ "std::chrono::_V2::system_clock::now()", "std::chrono::system_clock::now()" },
	{ "my::__cxx11::f()", NULL },
	{ "my::std::vector<int, std::allocator<int> >::f()", "my::std::vector<int, std::allocator<int>>::f()" },
	{ "std::__cxx11", NULL },
	{ "std::locale::name[abi:cxx11]() const", "std::locale::name() const" },
	{ "std::f[abi:x][abi:y]<int>()", "std::f<int>()" },
	{ "f(int) [clone .cold]", NULL },
	{ "(anonymous namespace)::f(" STRING ")", "(anonymous namespace)::f(std::string)" },
	/* brackets */
	{ "A<B<C<int> > >::f()", "A<B<C<int>>>::f()" },
	{ "A<&(B::operator>(int))>::f()", NULL },
	{ "A<&B::operator> >::f()", NULL },
	{ "std::vector<A<&B::operator> >, std::allocator<A<&B::operator> > > >::f()",
		"std::vector<A<&B::operator> >>::f()" },
	{ "std::set<&B::operator>, std::less<&B::operator> >, std::allocator<&B::operator> > >::f()",
		"std::set<&B::operator>, std::less<&B::operator> >, std::allocator<&B::operator> >>::f()" },
	{ "std::moneypunct<&B::operator>, false>::f()", "std::moneypunct<&B::operator> >::f()" },
	{ "A<(1)>(2)>::f()", NULL },
	{ "A<((1)>(2)), B<int> >::f()", "A<((1)>(2)), B<int>>::f()" },
	{ "A::operator-><int>()", NULL },
	{ "A::operator->*<B<int> >()", "A::operator->*<B<int>>()" },
	{ "bool operator< <A, B<int> >(A const&)", "bool operator< <A, B<int>>(A const&)" },
	{ "bool operator<=><A, B<int> >(A const&)", "bool operator<=><A, B<int>>(A const&)" },
	{ "f(int)::{lambda(" VECTOR ")#1}::operator()(" VECTOR ") const",
		"f(int)::{lambda(std::vector<int>)#1}::operator()(std::vector<int>) const" },
	{ "decltype (({parm#1}<{parm#2}), (" VECTOR "{})) f<int>(int, int)",
		"decltype (({parm#1}<{parm#2}), (std::vector<int>{})) f<int>(int, int)" },
	{ "void (*f<" VECTOR " >(int))(" STRING ")", "void (*f<std::vector<int>>(int))(std::string)" },
	/* no names of C++, or not whole */
	{ "main", NULL },
	{ "", NULL },
	{ "A<B<int> >::f(", NULL },
	{ "A<B<int> >)::f()", NULL },
	{ "> >", NULL },
	{ "std::vector<int, std::allocator<int>", NULL },
	{ "std::vector<>", NULL },
	{ "std::vector<, std::allocator<> >", "std::vector<>" },
	{ "std::vector<int,std::allocator<int> >", "std::vector<int,std::allocator<int>>" },
};

static void by_hand(void)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		char *simple = simple_name(known[i].full);
		is_str(simple, known[i].simple, "%s", known[i].full);
		free(simple);
	}
}

/* ---- real names ---- */

static char **real;
static size_t reals;

static void read_names(void)
{
	const char *folder = getenv("top_srcdir");
	char *path, *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (asprintf(&path, "%s/t/show/real_names.txt", folder ? folder : ".") < 0)
		abort();
	FILE *file = fopen(path, "r");
	while (file && (length = getline(&line, &room, file)) > 1) {
		line[length - 1] = '\0';
		real = realloc(real, (reals + 1) * sizeof(*real));
		real[reals++] = strdup(line);
	}
	if (file)
		fclose(file);
	free(line);
	free(path);
}

/* Do the brackets match, and how many are there of each sort? */
static bool is_balanced(const char *name)
{
	struct cxx_text text = { .at = name, .end = name + strlen(name) };
	enum cxx_text_what what;

	while ((what = cxx_text_next(&text)) != CXX_TEXT_END)
		if (what == CXX_TEXT_WRONG)
			return false;
	return true;
}

/* Is the word in the text, and no part of a longer one? */
static bool has_word(const char *text, const char *word)
{
	for (const char *at = text; (at = strstr(at, word)); at++) {
		char before = at > text ? at[-1] : ' ', behind = at[strlen(word)];
		if (!isalnum((unsigned char)before) && before != '_' && (!behind || strchr("(<[:, )>{", behind)))
			return true;
	}
	return false;
}

/* The last part of the symbol's name, as rules know it: without a demangler. NULL: it has none. */
static const char *base_of(const char *raw, char name[CXX_NAME_SIZE])
{
	if (!cxx_name(raw, name))
		return NULL;
	for (char *at = name; (at = strstr(at, "::"));)
		name = at += 2;
	return name;
}

static unsigned random_number(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 32);
}

static size_t cut_columns(const char *name, size_t room, char **text)
{
	static size_t size;
	FILE *to = open_memstream(text, &size);

	cut_name(to, name, strlen(name), room, "\u2026");
	fclose(to);
	return fit_columns(*text, size);
}

/* Cuts it to all widths up to its own, or to some of them. Returns how many were wrong. */
static unsigned cut_all(const char *name, unsigned step)
{
	size_t all = fit_columns(name, strlen(name));
	unsigned wrong = 0;

	for (size_t room = 2; room < all; room += step) {
		char *text;
		size_t columns = cut_columns(name, room, &text);
		wrong += columns > room || columns + 1 < room;
		free(text);
	}
	return wrong;
}

static void real_names(void)
{
	unsigned shorter = 0, longer = 0, changed = 0, unbalanced = 0, lost = 0, bases = 0, cuts = 0, gone = 0;
	unsigned kept = 0;
	char name[CXX_NAME_SIZE];

	read_names();
	ok(reals >= 1000, "there are %zu names of real libraries", reals);
	for (size_t i = 0; i < reals; i++) {
		char *full = cplus_demangle_v3(real[i], DMGL_PARAMS | DMGL_ANSI);
		char *simple = full ? simple_name(full) : NULL;
		if (!full)
			continue;
		const char *shown = simple ? simple : full, *base = base_of(real[i], name);
		shorter += strlen(shown) < strlen(full);
		longer += strlen(shown) > strlen(full);
		char *again = simple_name(shown);
		changed += again != NULL;
		free(again);
		unbalanced += is_balanced(full) && !is_balanced(shown);
		if (base && has_word(full, base)) {
			bases++;
			lost += !has_word(shown, base);
		}
		cuts += cut_all(shown, 1 + (unsigned)(strlen(shown) / 64));
		/* The method's name, one more column for what is in front of it, and brackets with an ellipsis. */
		if (base && strchr(shown, '(') && has_word(shown, base) && !strstr(base, "operator") &&
			strlen(base) + 16 < strlen(shown)) {
			char *text;
			cut_columns(shown, strlen(base) + 16, &text);
			kept++;
			gone += !strstr(text, base);
			free(text);
		}
		free(simple);
		free(full);
	}
	ok(shorter > 500, "many of them get shorter: %u", shorter);
	is_int(longer, 0, "none gets longer");
	is_int(changed, 0, "a simple name is not made simpler once more");
	is_int(unbalanced, 0, "brackets match as before");
	ok(bases > reals / 2, "the name of the function is known of %u", bases);
	is_int(lost, 0, "and is in their simple forms");
	is_int(cuts, 0, "cut to any width, names take all of it, or one column less, and no more");
	ok(kept > reals / 4, "%u are long", kept);
	is_int(gone, 0, "the function's name is in all of these when they are cut to little more than it");
}

/* Changes some bytes of the text, in place. */
static void spoil(char *text)
{
	static const char bytes[] = "<>()[]{},: o\xc3\xbc~-";
	size_t length = strlen(text);

	for (unsigned n = 1 + random_number() % 4; n--;) {
		size_t at = random_number() % length;
		switch (random_number() % 3) {
		case 0:
			text[at] = bytes[random_number() % (sizeof(bytes) - 1)];
			break;
		case 1:
			text[at] = text[random_number() % length];
			break;
		default:
			text[at] = '\0';
			length = at ? at : 1;
			if (!at)
				text[0] = '<';
		}
	}
}

static void spoiled_names(void)
{
	unsigned longer = 0, cuts = 0, all = 0;

	for (size_t i = 0; i < reals; i++) {
		char *full = cplus_demangle_v3(real[i], DMGL_PARAMS | DMGL_ANSI);
		for (int n = 0; full && n < 8; n++) {
			char *text = strdup(full);
			spoil(text);
			char *simple = simple_name(text);
			all++;
			longer += simple && strlen(simple) > strlen(text);
			cuts += cut_all(simple ? simple : text, 1 + (unsigned)(strlen(text) / 8));
			free(simple);
			free(text);
		}
		free(full);
	}
	ok(all >= 8000, "%u texts that are no names any more", all);
	is_int(longer, 0, "none gets longer");
	is_int(cuts, 0, "and they can be cut");
}

/* ---- hostile names ---- */

static char *repeated(const char *before, const char *piece, size_t times, const char *behind)
{
	size_t size = strlen(before) + strlen(piece) * times + strlen(behind) + 1;
	char *text = malloc(size), *at = stpcpy(text, before);

	for (size_t i = 0; i < times; i++)
		at = stpcpy(at, piece);
	strcpy(at, behind);
	return text;
}

/* Seconds of processor time for a name's simple form, and for its cut to 100 columns. */
static double cost_of(char *name, char **simple)
{
	struct timespec begin, end;
	char *text;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	*simple = simple_name(name);
	cut_columns(name, 100, &text);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	free(text);
	free(name);
	return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
}

static void hostile_names(void)
{
	char *simple;
	double cost;

	cost = cost_of(repeated("f(", "std::vector<", 100000, ")"), &simple);
	ok(!simple && cost < 1, "a hundred thousand brackets that are open are not followed (%.3f s)", cost);
	char *inner = repeated("", "std::vector<", 120, "int"), *deep = repeated(inner, " >", 120, "");
	cost = cost_of(deep, &simple);
	is_str(simple + strlen(simple) - 4, ">>>>", "120 of them in each other are");
	free(simple);
	free(inner);
	cost = cost_of(repeated("f(", VECTOR ", ", 20000, "int)"), &simple);
	ok(simple && strlen(simple) == 20000 * 18 + 6 && cost < 1,
		"a megabyte of vectors is made simple (%.3f s)", cost);
	free(simple);
	/* All arguments are equal, and compared with each other on all levels. */
	inner = repeated("", "std::set<", 100, "A");
	char *wide = repeated(inner, "A", 250000, "");
	deep = repeated(wide, ", std::less<B> >", 100, "");
	cost = cost_of(deep, &simple);
	ok(simple && cost < 1, "an argument of 250 kB within 100 others costs little (%.3f s)", cost);
	free(simple);
	free(wide);
	free(inner);
	cost = cost_of(repeated("f", "<>", 100000, "()"), &simple);
	ok(cost < 1, "a hundred thousand lists of arguments, one behind another (%.3f s)", cost);
	free(simple);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	by_hand();
	real_names();
	spoiled_names();
	hostile_names();
	for (size_t i = 0; i < reals; i++)
		free(real[i]);
	free(real);
	return done_testing();
}
