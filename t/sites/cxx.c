/* SPDX-License-Identifier: MIT */
/* Names of C++ without a demangler: of symbols that compilers wrote, of others, and of what is none. */
#include "audit/match/cxx.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "audit/match/match.h"
#include "t/lib/tap.h"

static const struct {
	const char *symbol, *name; /* name NULL: it has none */
} names[] = {
	{ "_ZN4shop4openEi", "::shop::open" },
	{ "_ZN4shop5inner4openEi", "::shop::inner::open" },
	{ "_Z8open_alli", "::open_all" },
	{ "_ZL6hiddenv", "::hidden" },
	{ "_ZN4shopL6hiddenEv", "::shop::hidden" },
	{ "_ZNK4shop4Cart5totalEv", "::shop::Cart::total" },
	{ "_ZNVK4shop4Cart5totalEv", "::shop::Cart::total" },
	{ "_ZNKR4shop4Cart5totalEv", "::shop::Cart::total" },
	{ "_ZN4shop4CartC1Ev", "::shop::Cart::Cart" },
	{ "_ZN4shop4CartC2ERKS0_", "::shop::Cart::Cart" },
	{ "_ZN4shop4CartD0Ev", "::shop::Cart::~Cart" },
	{ "_ZN3BoxIlE3putEl", "::Box::put" },
	{ "_ZN3BoxIlEC1Ev", "::Box::Box" },
	{ "_Z3maxIiET_S0_S0_", "::max" },
	{ "_ZN1aIN1b1cIJLi5ELb1EEEES2_E1fIPKcEEvT_", "::a::f" },
	{ "_ZN1aILN1b1eE2EE1fEv", "::a::f" },
	{ "_ZN1aILNS_1eE2ELin7EE1fEv", "::a::f" },
	{ "_ZN1aIXadL_ZN1b1gEvEEE1fEv", NULL }, /* an expression */
	{ "_ZN1aIL_Z1gvEE1fEv", "::a::f" },
	{ "_ZN1aIA5_cM1bFvvEE1fEv", "::a::f" },
	{ "_ZNSt6vectorIiSaIiEE9push_backEOi", "::std::vector::push_back" },
	{ "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "::std::move" },
	{ "_ZNSs6appendEPKc", "::std::string::append" },
	{ "_ZNSsC1ERKSs", "::std::string::basic_string" },
	{ "_ZNSiD1Ev", "::std::istream::~basic_istream" },
	{ "_ZNSdC2Ev", "::std::iostream::basic_iostream" },
	{ "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc", "::std::__cxx11::basic_string::append" },
	{ "_ZlsRSoi", "::operator<<" },
	{ "_ZStlsIcEvT_", "::std::operator<<" },
	{ "_ZN4shop4CartclEv", "::shop::Cart::operator()" },
	{ "_ZN4shop4CartixEi", "::shop::Cart::operator[]" },
	{ "_ZN4shop4CartaSERKS0_", "::shop::Cart::operator=" },
	{ "_Znwm", "::operator new" },
	{ "_ZdaPv", "::operator delete[]" },
	{ "_ZN4shop4CartcviEv", NULL }, /* a conversion's name is a type */
	{ "_ZN12_GLOBAL__N_14workEv", "::(anonymous namespace)::work" },
	{ "_ZN4shop4nameB5cxx11Ev", "::shop::name" },
	{ "_ZN4shop4openEi.constprop.0", "::shop::open" },
	{ "_ZN4shop4openEi.cold", NULL },
	{ "_ZZN4shop4openEiENKUlvE_clEv", NULL },
	{ "_ZTVN4shop4CartE", NULL },
	{ "_ZThn16_N4shop4Cart5totalEv", NULL },
	{ "_ZGVZN4shop4openEiE1x", NULL },
	{ "_ZN4core3fmt5write17h0123456789abcdefE", "::core::fmt::write" },
	{ "_ZN4core17habcdef01234567891fEv", "::core::habcdef0123456789::f" },
	{ "_RNvC5crate4main", NULL },
	{ "main", NULL },
	{ "", NULL },
	{ "_", NULL },
	{ "_Z", NULL },
	{ "_ZN", NULL },
	{ "_ZNE", NULL },
	{ "_ZN0E", NULL },
	{ "_ZN4shop4open", NULL },
	{ "_ZN4shop9openEi", NULL },
	{ "_ZN99999999999999999999999openEi", NULL },
	{ "_ZN4shop1", NULL },
	{ "_ZN3BoxI", NULL },
	{ "_ZN3BoxIL", NULL },
	{ "_ZN3BoxIT", NULL },
	{ "_ZNS_4openEi", NULL },
	{ "_ZNC1Ev", NULL },
};

static const struct {
	const char *pattern, *symbol;
	int match;
} patterns[] = {
	{ "shop::open", "_ZN4shop4openEi", 1 },
	{ "shop::open", "_ZN4shop5inner4openEi", 0 },
	{ "shop::*", "_ZN4shop5inner4openEi", 1 },
	{ "*::open", "_ZN4shop5inner4openEi", 1 },
	{ "*::open", "_Z4openi", 0 },
	{ "::open", "_Z4openi", 1 },
	{ "::open", "open", 0 }, /* one of C has its raw name */
	{ "::open", "_ZN4shop4openEi", 0 },
	{ "::*", "_ZN4shop4openEi", 1 },
	{ "shop::Cart::?dd", "_ZN4shop4Cart3addEi", 1 },
	{ "shop::Cart::[!a]*", "_ZN4shop4Cart3addEi", 0 },
	{ "shop::open", "shop::open", 1 },
	{ "_ZN4shop*", "_ZN4shop4openEi", 1 },
	{ "shop:open", "_ZN4shop4openEi", 0 },
	{ "*operator<<", "_ZlsRSoi", 0 },
	{ "*::operator<<", "_ZStlsIcEvT_", 1 },
	{ "::operator<<", "_ZlsRSoi", 1 },
	{ "operator new", "_Znwm", 1 },
	{ "operator new", "_Znam", 0 },
	{ "operator new*", "_Znam", 1 },
	{ "operator new*", "new_heap", 0 },
	{ "(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEv", 1 },
	{ "::operator new", "_Znwm", 1 },
	{ "operator<<", "_ZlsRSoi", 1 },
	{ "operator<<", "_ZStlsIcEvT_", 0 }, /* std::operator<< */
	{ "operator*", "operator_of", 1 },   /* a pattern for C */
	{ "operator*", "_ZmlRK1AS1_", 0 },
	{ "::operator*", "_ZmlRK1AS1_", 1 },
#define STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"
	{ "std::string::append", "_Z" STRING "6appendEPKc", 1 },
	{ "::std::string::*", "_Z" STRING "6appendEPKc", 1 },
	{ "std::basic_string::append", "_Z" STRING "6appendEPKc", 0 },
	{ "std::__cxx11::basic_string::append", "_Z" STRING "6appendEPKc", 1 },
	{ "std::string::append", "_ZNSs6appendEPKc", 1 },
	{ "std::string::basic_string", "_Z" STRING "C1Ev", 1 },
	{ "std::chrono::system_clock::now", "_ZNSt6chrono3_V212system_clock3nowEv", 1 },
	{ "std::filesystem::path::clear", "_ZNSt10filesystem7__cxx114path5clearEv", 1 },
	{ "my::string::append", "_ZN2my12basic_string6appendEv", 0 },
	{ "my::f", "_ZN2my7__cxx111fEv", 0 },
	{ "std::x::f", "_ZNSt1x9not_x__1_1fEv", 0 },
};

static const struct {
	const char *text;
	int length;
} words[] = {
	{ "malloc free", 6 },
	{ "malloc", 6 },
	{ "", 0 },
	{ "operator new free", 12 },
	{ "operator new", 12 },
	{ "operator new[]\tfree", 14 },
	{ "a::b::operator delete* free", 22 },
	{ "operator new@libx.so free", 20 },
	{ "operator new_heap", 8 },
	{ "operator free", 8 },
	{ "operator== free", 10 },
	{ "my_operator new", 11 },
	{ "a::(anonymous namespace)::f g", 27 },
	{ "(anonymous space)", 10 },
	{ "*::operator co_await x", 20 },
};

/* Whatever a symbol is, it is read once, and no byte behind its end. At the end of a page a step too far is fatal. */
static void spoiled(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), name[CXX_NAME_SIZE];
	int whole = 0;
	unsigned seed = 1;

	if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE))
		bail("no page");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (size_t n = 0; n <= strlen(names[i].symbol); n++)
			for (int round = 0; round < 200; round++) {
				char *at = page + 4096 - n - 1;
				memcpy(at, names[i].symbol, n);
				at[n] = '\0';
				/* The first round has it as it is, to there; the others change a character or two. */
				for (int k = 0; k < round % 3 && n > 2; k++) {
					seed = seed * 1103515245 + 12345;
					at[2 + (seed >> 8) % (n - 2)] = "NILSTEDCXZ_0149az."[(seed >> 20) % 18];
				}
				name[CXX_NAME_SIZE - 1] = 'x';
				whole += cxx_name(at, name) && strnlen(name, CXX_NAME_SIZE) < 3;
			}
	is_int(whole, 0, "no spoiled symbol has an empty name, or is read behind its end");
	munmap(page, 8192);
}

static void long_names(void)
{
	char symbol[1024], name[CXX_NAME_SIZE];

	/* "::" and 253 characters are all that there is room for. */
	for (int length = 252; length <= 255; length++) {
		int n = snprintf(symbol, sizeof(symbol), "_Z%d", length);
		memset(symbol + n, 'x', (size_t)length);
		snprintf(symbol + n + length, 2, "v");
		is_int(cxx_name(symbol, name), length <= 253, "a name of %d characters %s", length,
			length <= 253 ? "has room" : "has none");
	}
}

int main(void)
{
	char name[CXX_NAME_SIZE];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int is = cxx_name(names[i].symbol, name);
		is_str(is ? name : "none", names[i].name ? names[i].name : "none", "'%s'", names[i].symbol);
	}
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		const struct rules_pattern pattern = { .function = patterns[i].pattern };
		is_int(rules_match(&pattern, patterns[i].symbol, "/lib/x", NULL), patterns[i].match, "%s %s %s",
			patterns[i].pattern, patterns[i].match ? "is" : "is not", patterns[i].symbol);
	}
	ok(cxx_is_pattern("a::b") && !cxx_is_pattern("a:b"), "a pattern for such names has a ::");
	ok(cxx_has_more("a::b(int)") && cxx_has_more("a<int>::b") && !cxx_has_more("a::b"), "parameters are seen");
	ok(!cxx_has_more("a::operator()") && !cxx_has_more("a::operator<"), "but not in the names of operators");
	ok(cxx_is_pattern("operator new") && cxx_is_pattern("operator==") && !cxx_is_pattern("operators"),
		"so it is if it begins with an operator's name");
	ok(cxx_has_more("operator new(unsigned long)") && cxx_has_more("a::operator()(int)") &&
			cxx_has_more("a::my_operator()") && cxx_has_more("f(int)") &&
			!cxx_has_more("a::operator new") && !cxx_has_more("(anonymous namespace)::f"),
		"parameters behind those are seen");
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		is_int((long long)cxx_word(words[i].text, strlen(words[i].text)), words[i].length,
			"the first word of '%s'", words[i].text);
	spoiled();
	long_names();
	return done_testing();
}
