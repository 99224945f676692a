/* SPDX-License-Identifier: MIT */
#include "tool/show/term/simple.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/show/term/cxx_text.h"

#define GIVEN_MOST     3
#define ARGUMENTS_MOST 6 /* one more than any template in the table has */

/*
 * Templates of the standard library: how many arguments have no default, and the defaults of the rest, as they are when
 * they are simple. \1, \2: the first, the second argument.
 */
#define ALLOCATOR "std::allocator<\1>"
#define TRAITS	  "std::char_traits<\1>"
static const struct {
	const char *name;
	unsigned needed;
	const char *given[GIVEN_MOST];
} templates[] = {
	{ "vector", 1, { ALLOCATOR } },
	{ "deque", 1, { ALLOCATOR } },
	{ "list", 1, { ALLOCATOR } },
	{ "forward_list", 1, { ALLOCATOR } },
	{ "set", 1, { "std::less<\1>", ALLOCATOR } },
	{ "multiset", 1, { "std::less<\1>", ALLOCATOR } },
	{ "map", 2, { "std::less<\1>", "std::allocator<std::pair<\1 const, \2>>" } },
	{ "multimap", 2, { "std::less<\1>", "std::allocator<std::pair<\1 const, \2>>" } },
	{ "unordered_set", 1, { "std::hash<\1>", "std::equal_to<\1>", ALLOCATOR } },
	{ "unordered_multiset", 1, { "std::hash<\1>", "std::equal_to<\1>", ALLOCATOR } },
	{ "unordered_map", 2,
		{ "std::hash<\1>", "std::equal_to<\1>", "std::allocator<std::pair<\1 const, \2>>" } },
	{ "unordered_multimap", 2,
		{ "std::hash<\1>", "std::equal_to<\1>", "std::allocator<std::pair<\1 const, \2>>" } },
	{ "stack", 1, { "std::deque<\1>" } },
	{ "queue", 1, { "std::deque<\1>" } },
	{ "priority_queue", 1, { "std::vector<\1>", "std::less<\1>" } },
	{ "unique_ptr", 1, { "std::default_delete<\1>" } },
	{ "basic_string", 1, { TRAITS, ALLOCATOR } },
	{ "basic_string_view", 1, { TRAITS } },
	{ "basic_ios", 1, { TRAITS } },
	{ "basic_streambuf", 1, { TRAITS } },
	{ "basic_istream", 1, { TRAITS } },
	{ "basic_ostream", 1, { TRAITS } },
	{ "basic_iostream", 1, { TRAITS } },
	{ "basic_filebuf", 1, { TRAITS } },
	{ "basic_ifstream", 1, { TRAITS } },
	{ "basic_ofstream", 1, { TRAITS } },
	{ "basic_fstream", 1, { TRAITS } },
	{ "basic_stringbuf", 1, { TRAITS, ALLOCATOR } },
	{ "basic_istringstream", 1, { TRAITS, ALLOCATOR } },
	{ "basic_ostringstream", 1, { TRAITS, ALLOCATOR } },
	{ "basic_stringstream", 1, { TRAITS, ALLOCATOR } },
	{ "basic_syncbuf", 1, { TRAITS, ALLOCATOR } },
	{ "basic_osyncstream", 1, { TRAITS, ALLOCATOR } },
	{ "istreambuf_iterator", 1, { TRAITS } },
	{ "ostreambuf_iterator", 1, { TRAITS } },
	{ "istream_iterator", 1, { "char", "std::char_traits<char>", "long" } },
	{ "ostream_iterator", 1, { "char", "std::char_traits<char>" } },
	{ "num_get", 1, { "std::istreambuf_iterator<\1>" } },
	{ "num_put", 1, { "std::ostreambuf_iterator<\1>" } },
	{ "money_get", 1, { "std::istreambuf_iterator<\1>" } },
	{ "money_put", 1, { "std::ostreambuf_iterator<\1>" } },
	{ "time_get", 1, { "std::istreambuf_iterator<\1>" } },
	{ "time_put", 1, { "std::ostreambuf_iterator<\1>" } },
	{ "moneypunct", 1, { "false" } },
	{ "moneypunct_byname", 1, { "false" } },
	{ "basic_regex", 1, { "std::regex_traits<\1>" } },
	{ "match_results", 1, { "std::allocator<std::sub_match<\1>>" } },
	{ "ratio", 1, { "1l" } },
	{ "chrono::duration", 1, { "std::ratio<1l>" } },
};

/* std::basic_NAME<char> has a name of its own, and so has that of wchar_t, with a w. */
static const char *const basic[] = { "string", "string_view", "ios", "streambuf", "istream", "ostream", "iostream",
	"filebuf", "ifstream", "ofstream", "fstream", "stringbuf", "istringstream", "ostringstream", "stringstream",
	"regex" };
#define BASIC_STRINGS 2 /* the first ones: of other characters, too */

/* A bracket that is open. Places are those in the text that is written. */
struct bracket {
	size_t name, begin; /* where the name before it begins, and it */
	size_t argument[ARGUMENTS_MOST];
	unsigned arguments; /* more than ARGUMENTS_MOST: too many to be looked at */
};

struct simple {
	struct cxx_text text;
	char *to;
	size_t length;
	size_t name;   /* where the name begins that is being written */
	size_t closed; /* the length when > was written last, as a bracket, or what stands for arguments; 0: not yet */
	struct bracket bracket[CXX_TEXT_DEPTH];
};

static void put(struct simple *simple, const char *piece, size_t length)
{
	memcpy(simple->to + simple->length, piece, length);
	simple->length += length;
}

/* ---- arguments of templates ---- */

/* A part of what was written. */
struct part {
	const char *text;
	size_t length;
};

static struct part argument(const struct simple *simple, const struct bracket *bracket, unsigned number)
{
	size_t begin = bracket->argument[number];
	size_t end = number + 1 < bracket->arguments ? bracket->argument[number + 1] - 2 : simple->length;

	return (struct part){ simple->to + begin, end - begin };
}

static bool is_text(struct part part, const char *text)
{
	return part.length == strlen(text) && !memcmp(part.text, text, part.length);
}

/* Is an argument the default that this pattern says, with the first two arguments in it? */
static bool is_default(struct part part, const char *pattern, const struct part *first)
{
	for (; *pattern; pattern++) {
		struct part here = *pattern > 2 ? (struct part){ pattern, 1 } : first[*pattern - 1];

		if (part.length < here.length || memcmp(part.text, here.text, here.length))
			return false;
		part.text += here.length;
		part.length -= here.length;
	}
	return !part.length;
}

/* Takes the arguments at the end away that are the template's defaults. */
static void leave_out(struct simple *simple, struct bracket *bracket)
{
	const struct part name = { simple->to + bracket->name, bracket->begin - bracket->name };
	struct part first[2];
	size_t row = 0, rows = sizeof(templates) / sizeof(*templates);

	if (name.length < 5 || memcmp(name.text, "std::", 5) || bracket->arguments > ARGUMENTS_MOST)
		return;
	while (row < rows && !is_text((struct part){ name.text + 5, name.length - 5 }, templates[row].name))
		row++;
	while (row < rows && bracket->arguments > templates[row].needed) {
		unsigned last = bracket->arguments - 1, number = last - templates[row].needed;
		const char *given = number < GIVEN_MOST ? templates[row].given[number] : NULL;

		first[0] = argument(simple, bracket, 0);
		first[1] = argument(simple, bracket, last ? 1 : 0);
		if (!given || !is_default(argument(simple, bracket, last), given, first))
			return;
		simple->length = bracket->argument[last] - 2;
		bracket->arguments--;
	}
}

/* Writes a short name in place of a template with arguments, if that has one. */
static void name_basic(struct simple *simple, const struct bracket *bracket)
{
	static const char *const characters[] = { "char", "wchar_t", "char8_t", "char16_t", "char32_t" };
	static const char *const prefixes[] = { "", "w", "u8", "u16", "u32" };
	const size_t prefix = strlen("std::basic_");
	struct part name = { simple->to + bracket->name, bracket->begin - bracket->name };
	struct part of = { simple->to + bracket->begin + 1, simple->length - bracket->begin - 2 };
	size_t i = 0, c = 0;

	if (bracket->arguments != 1 || name.length < prefix || memcmp(name.text, "std::basic_", prefix))
		return;
	while (c < 5 && !is_text(of, characters[c]))
		c++;
	name.text += prefix;
	name.length -= prefix;
	while (i < sizeof(basic) / sizeof(*basic) && !is_text(name, basic[i]))
		i++;
	if (c == 5 || i == sizeof(basic) / sizeof(*basic) || (c > 1 && i >= BASIC_STRINGS))
		return;
	simple->length = bracket->name;
	put(simple, "std::", 5);
	put(simple, prefixes[c], strlen(prefixes[c]));
	put(simple, basic[i], strlen(basic[i]));
}

/* Does what was written end in the name of an operator? Its > would be taken for a bracket, as the one behind it. */
static bool ends_in_operator(const struct simple *simple)
{
	const size_t word = strlen("operator");
	size_t at = simple->length;

	while (at && strchr("<=>-", simple->to[at - 1]))
		at--;
	return at < simple->length && at >= word && !memcmp(simple->to + at - word, "operator", word);
}

static void close_arguments(struct simple *simple, struct bracket *bracket)
{
	size_t before = simple->length;

	if (simple->closed && simple->closed == simple->length - 1 && simple->to[simple->closed] == ' ')
		simple->length--;
	leave_out(simple, bracket);
	/* The blank in X<&A::operator> > is needed. */
	if (simple->length < before && ends_in_operator(simple))
		put(simple, " ", 1);
	put(simple, ">", 1);
	name_basic(simple, bracket);
	simple->closed = simple->length;
}

/* ---- pieces ---- */

static void open_bracket(struct simple *simple)
{
	struct bracket *bracket = &simple->bracket[simple->text.depth - 1];

	*bracket = (struct bracket){ .name = simple->name, .begin = simple->length, .arguments = 1 };
	put(simple, simple->text.piece, 1);
	bracket->argument[0] = simple->name = simple->length;
}

static void close_bracket(struct simple *simple)
{
	struct bracket *bracket = &simple->bracket[simple->text.depth];

	if (*simple->text.piece == '>')
		close_arguments(simple, bracket);
	else
		put(simple, simple->text.piece, 1);
	simple->name = bracket->name;
}

static void put_sign(struct simple *simple)
{
	const struct cxx_text *text = &simple->text;
	struct bracket *bracket = text->depth ? &simple->bracket[text->depth - 1] : NULL;

	put(simple, text->piece, 1);
	simple->name = simple->length;
	if (*text->piece != ',' || !bracket)
		return;
	/* Behind another comma than the demangler's it is not known where an argument begins. */
	if (bracket->arguments >= ARGUMENTS_MOST || text->at == text->end || *text->at != ' ')
		bracket->arguments = ARGUMENTS_MOST + 1;
	else
		bracket->argument[bracket->arguments++] = simple->length + 1;
}

/* Is the word the name of an inline namespace of the standard library? The colons behind it are read then. */
static bool skip_inline(struct simple *simple)
{
	static const char *const names[] = { "__cxx11", "__1", "_V2" };
	struct cxx_text *text = &simple->text;
	const struct part word = { text->piece, text->length };

	if (text->before != CXX_TEXT_COLONS || text->end - text->at < 2 || memcmp(text->at, "::", 2) ||
		simple->length - simple->name < 5 || memcmp(simple->to + simple->name, "std::", 5))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is_text(word, names[i])) {
			cxx_text_next(text);
			return true;
		}
	return false;
}

static void put_word(struct simple *simple)
{
	const struct cxx_text *text = &simple->text;

	if (text->before != CXX_TEXT_COLONS)
		simple->name = simple->length;
	if (text->what == CXX_TEXT_OPERATOR || !skip_inline(simple))
		put(simple, text->piece, text->length);
}

static void put_colons(struct simple *simple)
{
	enum cxx_text_what before = simple->text.before;

	if (before != CXX_TEXT_WORD && before != CXX_TEXT_OPERATOR && before != CXX_TEXT_CLOSE &&
		before != CXX_TEXT_TAG && before != CXX_TEXT_COLONS)
		simple->name = simple->length;
	put(simple, simple->text.piece, 2);
}

/* Returns whether all of the name could be read. */
static bool run(struct simple *simple)
{
	for (;;) {
		switch (cxx_text_next(&simple->text)) {
		case CXX_TEXT_END:
			return true;
		case CXX_TEXT_WRONG:
			return false;
		case CXX_TEXT_WORD:
		case CXX_TEXT_OPERATOR:
			put_word(simple);
			break;
		case CXX_TEXT_COLONS:
			put_colons(simple);
			break;
		case CXX_TEXT_OPEN:
			open_bracket(simple);
			break;
		case CXX_TEXT_CLOSE:
			close_bracket(simple);
			break;
		case CXX_TEXT_SIGN:
			put_sign(simple);
			break;
		case CXX_TEXT_TAG:
			break;
		}
	}
}

char *simple_name(const char *name)
{
	size_t length = strlen(name);
	struct simple *simple = memory_zeroed(1, sizeof(*simple));
	char *text = simple->to = memory_zeroed(length + 1, 1);

	simple->text.at = name;
	simple->text.end = name + length;
	bool same = !run(simple) || (simple->length == length && !memcmp(text, name, length));
	text[simple->length] = '\0';
	free(simple);
	if (!same)
		return text;
	free(text);
	return NULL;
}
