/* SPDX-License-Identifier: MIT */
#include "audit/match/cxx.h"

#include <stdbool.h>

#include "audit/match/match.h" /* rules_glob */
#include "x86_64/sys.h" /* sys_same */

/* <operator-name> of the Itanium C++ ABI, but for conversions. */
static const struct {
	char code[3], name[10];
} operators[] = {
	{ "nw", " new" }, { "na", " new[]" }, { "dl", " delete" }, { "da", " delete[]" }, { "aw", " co_await" },
	{ "ps", "+" }, { "ng", "-" }, { "ad", "&" }, { "de", "*" }, { "co", "~" }, { "pl", "+" }, { "mi", "-" },
	{ "ml", "*" }, { "dv", "/" }, { "rm", "%" }, { "an", "&" }, { "or", "|" }, { "eo", "^" }, { "aS", "=" },
	{ "pL", "+=" }, { "mI", "-=" }, { "mL", "*=" }, { "dV", "/=" }, { "rM", "%=" }, { "aN", "&=" }, { "oR", "|=" },
	{ "eO", "^=" }, { "ls", "<<" }, { "rs", ">>" }, { "lS", "<<=" }, { "rS", ">>=" }, { "eq", "==" },
	{ "ne", "!=" },
	{ "lt", "<" }, { "gt", ">" }, { "le", "<=" }, { "ge", ">=" }, { "ss", "<=>" }, { "nt", "!" }, { "aa", "&&" },
	{ "oo", "||" }, { "pp", "++" }, { "mm", "--" }, { "cm", "," }, { "pm", "->*" }, { "pt", "->" }, { "cl", "()" },
	{ "ix", "[]" },
};

/* Standard names that have a letter, and what their constructors are called. */
static const struct {
	char letter, name[22], last[16];
} standard[] = {
	{ 't', "::std", "" },
	{ 'a', "::std::allocator", "allocator" },
	{ 'b', "::std::basic_string", "basic_string" },
	{ 's', "::std::string", "basic_string" },
	{ 'i', "::std::istream", "basic_istream" },
	{ 'o', "::std::ostream", "basic_ostream" },
	{ 'd', "::std::iostream", "basic_iostream" },
};

/* A namespace without a name. */
static const char anonymous[] = "(anonymous namespace)";

struct reading {
	const char *at;
	char *name;
	size_t length;
	int bad;
	/* The last identifier, which constructors repeat. */
	const char *last;
	size_t last_length;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Of names. */
static bool is_letter(char c)
{
	return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Of operators such as <<=, but not of those with brackets. */
static bool is_sign(char c)
{
	for (const char *p = "+-*/%^&|~!=<>,"; *p; p++)
		if (*p == c)
			return true;
	return false;
}

static void put(struct reading *r, const char *text, size_t length)
{
	if (length >= CXX_NAME_SIZE - r->length) {
		r->bad = 1;
		return;
	}
	sys_copy(r->name + r->length, text, length);
	r->length += length;
	r->name[r->length] = '\0';
}

/* <source-name>: moves over it. */
static const char *take_identifier(struct reading *r, size_t *length)
{
	const char *begin;
	size_t n = 0;

	while (is_digit(*r->at) && n < 100000)
		n = n * 10 + (size_t)(*r->at++ - '0');
	begin = r->at;
	for (*length = 0; *length < n && *r->at; r->at++)
		++*length;
	r->bad |= !n || *length < n;
	return begin;
}

static void read_identifier(struct reading *r)
{
	static const char internal[] = "_GLOBAL_", hash[] = "17h";
	const char *begin = r->at;

	r->last = take_identifier(r, &r->last_length);
	if (r->bad)
		return;
	/* Rust: "17h", 16 digits, and the end. */
	if (sys_same(begin, hash, 3) && r->last_length == 17 && *r->at == 'E' && !r->at[1] && r->length)
		return;
	put(r, "::", 2);
	if (r->last_length > sizeof(internal) && sys_same(r->last, internal, sizeof(internal) - 1))
		put(r, anonymous, sizeof(anonymous) - 1);
	else
		put(r, r->last, r->last_length);
}

/* Moves over the rest of <seq-id> _, or of <number> _. */
static void skip_number(struct reading *r)
{
	while (is_digit(*r->at) || (*r->at >= 'A' && *r->at <= 'Z'))
		r->at++;
	if (*r->at == '_')
		r->at++;
	else
		r->bad = 1;
}

/* <substitution> */
static void skip_substitution(struct reading *r)
{
	r->at++;
	if (is_lower(*r->at))
		r->at++;
	else
		skip_number(r);
}

/* <expr-primary> behind its L, with its E; *depth: what is open, if what it holds can be skipped as others. */
static void skip_literal(struct reading *r, size_t *depth)
{
	size_t length;

	if (r->at[0] == '_' && r->at[1] == 'Z') {
		r->at += 2;
		++*depth;
		return;
	}
	/* Its type, an enum's perhaps. Others are rare. */
	if (is_digit(*r->at))
		take_identifier(r, &length);
	else if (is_lower(*r->at))
		r->at++;
	else if (r->at[0] == 'D' && r->at[1] == 'n')
		r->at += 2;
	else if (*r->at == 'N')
		for (r->at++; (is_digit(*r->at) || *r->at == 'S') && !r->bad;) {
			if (is_digit(*r->at))
				take_identifier(r, &length);
			else
				skip_substitution(r);
		}
	else
		r->bad = 1;
	/* That of an N has an E of its own. */
	if (!r->bad && *r->at == 'E' && (is_digit(r->at[1]) || r->at[1] == 'n'))
		r->at++;
	while (is_digit(*r->at) || is_lower(*r->at))
		r->at++;
	if (*r->at == 'E')
		r->at++;
	else
		r->bad = 1;
}

/* <template-args> behind the I, with their E: types and constants. What else there may be is given up. */
static void skip_arguments(struct reading *r)
{
	size_t length;

	for (size_t depth = 1; depth && !r->bad;) {
		char c = *r->at++, next = c ? *r->at : '\0';

		if (is_digit(c)) {
			r->at--;
			take_identifier(r, &length);
			continue;
		}
		switch (c) {
		case 'E':
			depth--;
			break;
		case 'I':
		case 'J':
		case 'N':
		case 'F':
			depth++;
			break;
		case 'L':
			skip_literal(r, &depth);
			break;
		case 'S':
			r->at--;
			skip_substitution(r);
			break;
		case 'T':
		case 'A':
			skip_number(r);
			break;
		case 'C': /* a constructor, or a complex number */
			if (next >= '1' && next <= '5')
				r->at++;
			break;
		case 'D':
			if (!is_digit(next) && !is_lower(next))
				r->bad = 1;
			if (next == 't' || next == 'v' || next == 'w')
				r->bad = 1;
			r->at += !r->bad;
			break;
		case 'P':
		case 'R':
		case 'O':
		case 'K':
		case 'V':
		case 'M':
		case 'G':
		case 'B':
			break;
		default: /* a type of one letter; or something rare */
			r->bad |= !is_lower(c);
		}
	}
}

static void read_operator(struct reading *r)
{
	put(r, "::operator", 10);
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		const char *name = operators[i].name;
		if (!sys_same(r->at, operators[i].code, 2))
			continue;
		put(r, name, sys_length(name));
		r->at += 2;
		return;
	}
	r->bad = 1; /* conversions, too: their names are types */
}

static void read_standard(struct reading *r)
{
	for (size_t i = 0; i < sizeof(standard) / sizeof(*standard); i++) {
		if (standard[i].letter != r->at[1])
			continue;
		put(r, standard[i].name, sys_length(standard[i].name));
		r->last = standard[i].last;
		r->last_length = sys_length(r->last);
		r->at += 2;
		return;
	}
	r->bad = 1; /* a substitution: at the beginning of a name there is nothing that it could stand for */
}

/* What a name has one after another. Returns 0 at its end. */
static int read_part(struct reading *r)
{
	char c = *r->at, next = c ? r->at[1] : '\0';
	size_t length;

	if (is_digit(c)) {
		read_identifier(r);
	} else if (c == 'I' && r->length) {
		r->at++;
		skip_arguments(r);
	} else if (c == 'B' && r->length) {
		r->at++;
		take_identifier(r, &length);
	} else if (c == 'L') {
		r->at++;
	} else if (c == 'S' && !r->length) {
		read_standard(r);
	} else if ((c == 'C' || c == 'D') && next >= '0' && next <= '5' && r->last_length) {
		put(r, c == 'C' ? "::" : "::~", c == 'C' ? 2 : 3);
		put(r, r->last, r->last_length);
		r->at += 2;
	} else if (is_lower(c)) {
		read_operator(r);
	} else {
		r->bad |= c != 'E';
		return 0;
	}
	return !r->bad;
}

/* Cold parts of functions have symbols of their own: they are no functions. */
static bool is_part_of_function(const char *symbol)
{
	for (; *symbol; symbol++)
		if (symbol[0] == '.' && sys_same(symbol + 1, "cold", 4))
			return true;
	return false;
}

int cxx_name(const char *symbol, char name[CXX_NAME_SIZE])
{
	struct reading r = { .at = symbol + 2, .name = name, .last = "" };

	name[0] = '\0';
	if (symbol[0] != '_' || symbol[1] != 'Z' || is_part_of_function(symbol))
		return 0;
	if (*r.at == 'N') {
		for (r.at++; *r.at == 'r' || *r.at == 'V' || *r.at == 'K' || *r.at == 'R' || *r.at == 'O'; r.at++)
			;
		while (read_part(&r))
			;
	} else {
		/* Not nested: what follows the name, and perhaps its arguments, are parameters. */
		while (*r.at == 'L')
			r.at++;
		if (r.at[0] == 'S' && r.at[1] == 't')
			read_standard(&r);
		if (is_digit(*r.at) || is_lower(*r.at))
			read_part(&r);
		else
			r.bad = 1;
	}
	return !r.bad && r.length;
}

/* Is there the word "operator", with the beginning of the text or no letter in front of it? */
static bool is_operator(const char *text, size_t at, size_t length)
{
	char before = at ? text[at - 1] : ' ', after;

	if (length - at < 8 || !sys_same(text + at, "operator", 8) || is_letter(before))
		return false;
	after = length - at > 8 ? text[at + 8] : ' ';
	return !is_letter(after);
}

bool cxx_names_operator(const char *pattern, size_t length)
{
	for (size_t n = 0; n < length; n++)
		if (is_operator(pattern, n, length))
			return true;
	return false;
}

bool cxx_is_pattern(const char *pattern)
{
	size_t length = sys_length(pattern);
	char after = length > 8 ? pattern[8] : '\0';

	if (is_operator(pattern, 0, length) && after && after != '*' && after != '?' && after != '[' && after != '\\')
		return true;
	for (; *pattern; pattern++)
		if (pattern[0] == ':' && pattern[1] == ':')
			return true;
	return false;
}

/* Bytes of a blank and the word behind it that are the name of an operator, as in "new*"; 0: they are none. */
static size_t named_operator(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		const char *name = operators[i].name;
		size_t n = 1;

		while (is_letter(name[n]))
			n++;
		if (name[0] == ' ' && length >= n && sys_same(text, name, n) && (length == n || !is_letter(text[n])))
			return n;
	}
	return 0;
}

static bool is_anonymous(const char *text, size_t length)
{
	return length >= sizeof(anonymous) - 1 && sys_same(text, anonymous, sizeof(anonymous) - 1);
}

size_t cxx_word(const char *text, size_t length)
{
	for (size_t n = 0; n < length; n++) {
		if (is_operator(text, n, length))
			n += 7 + named_operator(text + n + 8, length - n - 8);
		else if (is_anonymous(text + n, length - n))
			n += sizeof(anonymous) - 2;
		else if (text[n] == ' ' || (text[n] >= '\t' && text[n] <= '\r'))
			return n;
	}
	return length;
}

/* Takes so many bytes out of a text. */
static void take_out(char *at, size_t bytes)
{
	do
		at[0] = at[bytes];
	while (*at++);
}

/* What the standard library's inline namespaces are called. */
static size_t inline_length(const char *at)
{
	static const char names[][10] = { "__cxx11::", "__1::", "_V2::" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (sys_same(at, names[i], sys_length(names[i])))
			return sys_length(names[i]);
	return 0;
}

bool cxx_simple(char *name)
{
	static const char std[] = "::std::", basic[] = "basic_";
	char *class = name + sizeof(std) - 1;
	bool changed = false;

	if (!sys_same(name, std, sizeof(std) - 1))
		return false;
	for (char *at = class; *at; at++)
		/* Only a whole part of the name. */
		for (size_t bytes; at[-1] == ':' && (bytes = inline_length(at)); changed = true)
			take_out(at, bytes);
	if (sys_same(class, basic, sizeof(basic) - 1)) {
		take_out(class, sizeof(basic) - 1);
		changed = true;
	}
	return changed;
}

bool cxx_match(const char *pattern, const char *symbol)
{
	size_t skip = pattern[0] == ':' && pattern[1] == ':' ? 0 : 2;
	char name[CXX_NAME_SIZE];

	/* The symbol's first characters first: most have no such name. */
	if (symbol[0] != '_' || symbol[1] != 'Z' || !cxx_is_pattern(pattern) || !cxx_name(symbol, name))
		return false;
	return rules_glob(pattern, name + skip) || (cxx_simple(name) && rules_glob(pattern, name + skip));
}

bool cxx_has_more(const char *pattern)
{
	size_t length = sys_length(pattern);

	for (size_t n = 0; n < length; n++) {
		if (is_anonymous(pattern + n, length - n))
			n += sizeof(anonymous) - 1;
		if (is_operator(pattern, n, length)) {
			n += 8 + named_operator(pattern + n + 8, length - n - 8);
			if (pattern[n] == '(' && pattern[n + 1] == ')')
				n += 2;
			while (is_sign(pattern[n]))
				n++;
		}
		if (pattern[n] == '(' || pattern[n] == '<')
			return true;
	}
	return false;
}
