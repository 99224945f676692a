/* SPDX-License-Identifier: MIT */
/*
 * The parser of rules: no more than lines of the form "[SECTION]", "KEY = VALUE" and their continuations, so it is all
 * here; the module needs no library for it, nor memory but the arena. A line is read where it lies in the text, however
 * long it is.
 */
#include "audit/rules/ini.h"

#include <stdbool.h>

#include "audit/match/cxx.h"
#include "audit/rules/keys.h"
#include "runtime/base/text.h"
#include "x86_64/sys.h" /* sys_write */

#define COMMA_WORD(NAME, word, ...) ", " word
#define KEYS_OF_TRACE "output" RULES_KEYS_BEHIND_OUTPUT(COMMA_WORD) ", request, trust"
#define NAME_KEY	 "name" /* of [context], beside those that RULES have */
#define SECTIONS_ALLOWED "[trace], [library GLOB], [program], [context PATTERN], [prototypes], [probe NAME]"

enum where { NOWHERE, IN_TRACE, IN_SECTION, IN_CONTEXT, IN_PROBE, IN_PROTOTYPES };

struct parser {
	struct rules *rules;
	struct arena *arena; /* the arena of rules */
	struct rules_text *out;
	int number;    /* of the line that is being parsed */
	int continues; /* it begins with a blank and belongs to the preceding key */

	enum where where;
	int has_key; /* a key precedes that a line may continue */
	enum rules_key_number key; /* that key */
	struct rules_section *section, **last_section;
	struct rules_name **last_name;
	struct rules_pattern **last_function, **last_exclude, **last_below, **last_copying;
	int kinds_given, none_given, fallback_given;
	unsigned given; /* keys of [trace]: mask of 1 << enum rules_key_number */
	/* Of [context], [probe]: pattern or name, and the key that precedes. They lie in the text. */
	struct rules_values_part pattern, context_key;

	/* The first error, and its line. */
	int failed;
	struct rules_error error;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(const char *p, size_t length, const char *word)
{
	return length == sys_length(word) && sys_same(p, word, length);
}

static int holds(const char *p, size_t length, char c)
{
	for (size_t i = 0; i < length; i++)
		if (p[i] == c)
			return 1;
	return 0;
}

void rules_complain(const char *name, int line, const struct rules_error *error)
{
	const struct rules_key *key = error->key;
	char text[1400], digits[12];
	size_t n = 0, d = 0;
	struct {
		const char *p;
		size_t length, most;
	} part[] = {
		{ "xaudit: ", 8, 8 },
		{ name, sys_length(name), 400 },
		{ ":", line ? 1 : 0, 1 },
		{ digits, 0, sizeof(digits) },
		{ ": ", 2, 2 },
		{ error->a, sys_length(error->a), 200 },
		{ "'", error->b ? 1 : 0, 1 },
		{ error->b, error->b ? error->b_length : 0, 120 },
		{ "'", error->b ? 1 : 0, 1 },
		{ error->c, error->c ? sys_length(error->c) : 0, 300 },
		{ " for key '", key ? 10 : 0, 10 },
		{ key ? key->word : NULL, key ? sys_length(key->word) : 0, 20 },
		{ "'; allowed: ", key ? 12 : 0, 12 },
		{ key ? key->allowed : NULL, key ? sys_length(key->allowed) : 0, 200 },
	};

	for (int value = line; value; value /= 10)
		digits[sizeof(digits) - ++d] = (char)('0' + value % 10);
	part[3].p = digits + sizeof(digits) - d;
	part[3].length = d;
	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
		for (size_t k = 0; k < part[i].length && k < part[i].most; k++)
			text[n++] = part[i].p[k] ? part[i].p[k] : '?';
	text[n] = '\0';
	n = text_clean(text);
	text[n++] = '\n';
	(void)sys_write(2, text, n);
}

static int fail(struct parser *parser, const char *a, const char *b, size_t b_length, const char *c)
{
	if (!parser->failed) {
		parser->failed = parser->number;
		parser->error = (struct rules_error){ .a = a, .b = b, .b_length = b ? b_length : 0, .c = c };
	}
	return -1;
}

/* The error: the key's value is wrong or missing. */
static int fail_value(struct parser *parser, enum rules_key_number number, const char *value, size_t length)
{
	int first = !parser->failed;

	fail(parser, value ? rules_key_bad(number) : "no value", value, length, NULL);
	if (first)
		parser->error.key = &rules_keys[number];
	return -1;
}

static int no_memory(struct parser *parser)
{
	return fail(parser, "no memory for the rules", NULL, 0, NULL);
}

/* Removes blanks on both sides, and a comment: from ';' at the start or after a blank. */
static const char *trim(const char *p, size_t *length)
{
	size_t n = 0;

	while (*length && is_blank(*p)) {
		p++;
		--*length;
	}
	while (n < *length && !(p[n] == ';' && (n == 0 || is_blank(p[n - 1]))))
		n++;
	while (n && is_blank(p[n - 1]))
		n--;
	*length = n;
	return p;
}

/* ---- sections ---- */

/* A section has ended: what follows from all of its keys. */
static void end_section(struct parser *parser)
{
	struct rules_section *section = parser->section;

	if (section && !parser->kinds_given && !parser->fallback_given && rules_name_functions(section->functions))
		section->fallback = 1u << TRACE_KIND_ENTRY;
	parser->section = NULL;
}

/* [context PATTERN]: the word is behind `context`. */
static int begin_context(struct parser *parser, const char *p, size_t length)
{
	size_t at = 0;

	p = trim(p, &length);
	while (at < length && p[at] != '@')
		at += p[at] == '\\' && at + 1 < length ? 2 : 1;
	if (!at || at + 1 == length)
		return fail(parser, "section [context] without a function in ", p, length,
			"; allowed: [context FUNCGLOB] or [context FUNCGLOB@LIBGLOB]");
	if (holds(p, length, '\t'))
		return fail(parser, "a tab in pattern ", p, length, "; allowed: names and patterns");
	parser->pattern = (struct rules_values_part){ p, length };
	parser->where = IN_CONTEXT;
	return 0;
}

/* [probe NAME]: the word is behind `probe`. */
static int begin_probe(struct parser *parser, const char *p, size_t length)
{
	p = trim(p, &length);
	if (!length)
		return fail(parser, "section [probe] without a name; allowed: [probe NAME], as in [probe slow]", NULL,
			0, NULL);
	if (holds(p, length, '\t'))
		return fail(parser, "a tab in the name ", p, length, "; allowed: any other characters");
	parser->pattern = (struct rules_values_part){ p, length };
	parser->where = IN_PROBE;
	return 0;
}

static int begin_section(struct parser *parser, const char *p, size_t length)
{
	const char *glob = NULL;
	size_t glob_length = 0, word = 0;

	end_section(parser);
	p = trim(p, &length);
	parser->has_key = 0;
	if (p[length - 1] != ']')
		return fail(parser, "no ']' at the end of ", p, length, "; allowed: " SECTIONS_ALLOWED);
	length -= 2;
	p = trim(p + 1, &length);
	while (word < length && !is_blank(p[word]))
		word++;

	if (is_word(p, length, "trace")) {
		parser->where = IN_TRACE;
		return 0;
	}
	if (is_word(p, length, "prototypes")) {
		parser->where = IN_PROTOTYPES;
		return 0;
	}
	if (is_word(p, word, "context"))
		return begin_context(parser, p + word, length - word);
	if (is_word(p, word, "probe"))
		return begin_probe(parser, p + word, length - word);
	if (is_word(p, word, "library")) {
		glob_length = length - word;
		glob = trim(p + word, &glob_length);
		if (!glob_length)
			return fail(parser,
				"section [library] without a pattern; allowed: [library GLOB], as in [library "
				"libfoo.so*]",
				NULL, 0, NULL);
	} else if (!is_word(p, length, "program")) {
		return fail(parser, "unknown section ", p, length, "; allowed: " SECTIONS_ALLOWED);
	}

	for (struct rules_section *s = parser->out->sections; s; s = s->next)
		if (glob ? s->library && is_word(glob, glob_length, s->library) : !s->library)
			return fail(parser, "a second section ", p, length, " would never be used; allowed: one");

	struct rules_section *section = arena_alloc(parser->arena, sizeof(*section));
	if (!section)
		return no_memory(parser);
	section->kinds = RULES_DEFAULT_KINDS;
	if (glob) {
		section->library = arena_string(parser->arena, glob, glob_length);
		if (!section->library)
			return no_memory(parser);
	}
	*parser->last_section = section;
	parser->last_section = &section->next;
	parser->section = section;
	parser->last_function = &section->functions;
	parser->last_exclude = &section->exclude;
	parser->kinds_given = 0;
	parser->none_given = 0;
	parser->fallback_given = 0;
	parser->where = IN_SECTION;
	return 0;
}

/* ---- values ---- */

static int add_kind(struct parser *parser, const char *word, size_t length)
{
	static const char mixed[] =
		"kind 'none' beside other kinds; allowed: none alone, or any of " TRACE_KIND_WORDS;
	int kind = rules_kind(word, length);

	if (!parser->kinds_given)
		parser->section->kinds = 0;
	if (is_word(word, length, "none")) {
		if (parser->section->kinds)
			return fail(parser, mixed, NULL, 0, NULL);
		parser->none_given = 1;
	} else if (kind < 0) {
		return fail(parser, "unknown kind ", word, length, "; allowed: " RULES_KINDS_ALLOWED);
	} else if (parser->none_given) {
		return fail(parser, mixed, NULL, 0, NULL);
	} else {
		parser->section->kinds |= 1u << kind;
	}
	parser->kinds_given = 1;
	return 0;
}

static int set_fallback(struct parser *parser, const char *word, size_t length)
{
	int entry = is_word(word, length, kind_rows[TRACE_KIND_ENTRY].word);

	if (!entry && !is_word(word, length, "none"))
		return fail_value(parser, RULES_KEY_FALLBACK, word, length);
	if (parser->fallback_given && entry != !!parser->section->fallback)
		return fail(parser, "fallback is both entry and none; allowed: one of them", NULL, 0, NULL);
	parser->section->fallback = entry ? 1u << TRACE_KIND_ENTRY : 0;
	parser->fallback_given = 1;
	return 0;
}

static int add_pattern(struct parser *parser, struct rules_pattern ***last, const char *word, size_t length)
{
	size_t at = 0;

	while (at < length && word[at] != '@')
		at += word[at] == '\\' && at + 1 < length ? 2 : 1;
	if (at > length)
		at = length;
	if (at == 0)
		return fail(parser, "no function in pattern ", word, length, "; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB");
	if (at + 1 == length)
		return fail(parser, "no library behind '@' in pattern ", word, length,
			"; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB");

	struct rules_pattern *pattern = arena_alloc(parser->arena, sizeof(*pattern));
	if (!pattern)
		return no_memory(parser);
	pattern->function = arena_string(parser->arena, word, at);
	if (at < length)
		pattern->library = arena_string(parser->arena, word + at + 1, length - at - 1);
	if (!pattern->function || (at < length && !pattern->library))
		return no_memory(parser);
	if (cxx_has_more(pattern->function))
		return fail(parser, "no function has the name ", word, length,
			": leave out parameters and template arguments, it stands for all overloads and instances");
	**last = pattern;
	*last = &pattern->next;
	return 0;
}

/* Adds any function of such a library. */
static int add_library(struct parser *parser, struct rules_pattern ***last, const char *word, size_t length)
{
	struct rules_pattern *pattern = arena_alloc(parser->arena, sizeof(*pattern));

	if (!pattern || !(pattern->library = arena_string(parser->arena, word, length)))
		return no_memory(parser);
	pattern->function = "*";
	**last = pattern;
	*last = &pattern->next;
	return 0;
}

static int add_word(struct parser *parser, enum rules_key_number key, const char *word, size_t length)
{
	char *copy;

	/* Indented keys are continuations, which the user may not know; here that becomes visible. */
	if (parser->continues && (is_word(word, length, "[trace]") || is_word(word, length, "[program]") ||
					 is_word(word, length, "[library")))
		return fail(parser, "section ", word, length,
			" on a line that begins with a blank continues the key before it; start sections in column 1");
	if (holds(word, length, '=') && !cxx_names_operator(word, length))
		return fail(parser, "'=' in ", word, length,
			parser->continues ? ": a line that begins with a blank continues the key before it; start keys "
					    "in column 1"
					  : "; allowed: names and patterns, with blanks between them");
	switch (key) {
	case RULES_KEY_KINDS:
		return add_kind(parser, word, length);
	case RULES_KEY_FALLBACK:
		return set_fallback(parser, word, length);
	case RULES_KEY_FUNCTIONS:
		return add_pattern(parser, &parser->last_function, word, length);
	case RULES_KEY_EXCLUDE:
		return add_pattern(parser, &parser->last_exclude, word, length);
	case RULES_KEY_BELOW:
		return add_pattern(parser, &parser->last_below, word, length);
	case RULES_KEY_STACK_COPYING:
		return add_library(parser, &parser->last_copying, word, length);
	default:
		copy = arena_string(parser->arena, word, length);
		if (!copy)
			return no_memory(parser);
		return rules_key_set(parser->rules, key, copy) < 0 ? fail_value(parser, key, word, length) : 0;
	}
}

static int add_words(struct parser *parser, enum rules_key_number key, const char *value, size_t length)
{
	int commas = key == RULES_KEY_KINDS || key == RULES_KEY_FALLBACK || key == RULES_KEY_SNAPSHOT;
	int patterns = key == RULES_KEY_FUNCTIONS || key == RULES_KEY_EXCLUDE || key == RULES_KEY_BELOW;

	for (size_t i = 0, end; i < length; i = end) {
		if (is_blank(value[i]) || (commas && value[i] == ',')) {
			end = i + 1;
			continue;
		}
		end = patterns ? i + cxx_word(value + i, length - i) : i;
		while (!patterns && end < length && !is_blank(value[end]) && !(commas && value[end] == ','))
			end++;
		if (add_word(parser, key, value + i, end - i) < 0)
			return -1;
	}
	return 0;
}

static int set_trace(struct parser *parser, enum rules_key_number key, const char *value, size_t length)
{
	const char *name = rules_keys[key].word;
	int first = !(parser->given & 1u << key);
	char *copy;

	parser->given |= 1u << key;
	if (rules_key_is_list(key)) {
		/* This list replaces the list of an earlier text. */
		if (first)
			rules_key_clear(parser->rules, key);
		return add_words(parser, key, value, length);
	}
	if (parser->continues)
		return fail(parser, "this line begins with a blank and so continues ", name, sys_length(name),
			", which takes one line; start keys in column 1");
	if (!first)
		return fail(parser, "key ", name, sys_length(name), " given twice in [trace]; allowed: once");
	copy = arena_string(parser->arena, value, length);
	if (!copy)
		return no_memory(parser);
	return rules_key_set(parser->rules, key, copy) < 0 ? fail_value(parser, key, value, length) : 0;
}

/* A line of [context], or of [prototypes]. */
static int add_value(struct parser *parser, struct rules_values_part key, const char *value, size_t length)
{
	struct rules_values *to = &parser->out->values;
	struct rules_values_part none = { 0 };

	if (rules_values_add(to, parser->arena, parser->out->name, parser->out->numbered ? parser->number : 0,
		    key.text ? parser->pattern : none, key, (struct rules_values_part){ value, length }) < 0)
		return no_memory(parser);
	if (to->size > RULES_VALUES_MAX)
		return fail(parser, "sections [context], [prototypes] and [probe] with too many lines; allowed: "
			    RULES_VALUES_MAX_TEXT " of them", NULL, 0, NULL);
	return 0;
}

/* name = NAME, of [context PATTERN]. */
static int add_name(struct parser *parser, const char *value, size_t length)
{
	struct rules_name *name = arena_alloc(parser->arena, sizeof(*name));

	parser->has_key = 0; /* it takes one line */
	value = trim(value, &length);
	if (!length)
		return fail(parser, "no value for key ", NAME_KEY, sizeof(NAME_KEY) - 1, "");
	if (holds(value, length, '\t'))
		return fail(parser, "a tab in the name ", value, length, "; allowed: any other characters");
	if (!name || !(name->name = arena_string(parser->arena, value, length)))
		return no_memory(parser);
	*parser->last_name = name;
	parser->last_name = &name->next;
	struct rules_pattern **pattern = &name->pattern;
	return add_pattern(parser, &pattern, parser->pattern.text, parser->pattern.length);
}

/* ---- lines ---- */

/* The value of parser->key: of its own line, or of one that continues it. */
static int take(struct parser *parser, const char *value, size_t length)
{
	value = trim(value, &length);
	const bool is_line = parser->where == IN_CONTEXT || parser->where == IN_PROBE;
	const size_t front = parser->where == IN_PROBE ? sizeof(RULES_VALUES_PROBE) - 1 : 0;
	if (!length && is_line)
		return parser->continues ? 0 : fail(parser, "no value for key ", parser->context_key.text + front,
						       parser->context_key.length - front, "");
	if (is_line)
		return add_value(parser, parser->context_key, value, length);
	if (!length)
		return parser->continues ? 0 : fail_value(parser, parser->key, NULL, 0);
	return parser->where == IN_TRACE ? set_trace(parser, parser->key, value, length)
					 : add_words(parser, parser->key, value, length);
}

/* request = FUNCTION[@LIBRARY]:CONTEXT, of [trace], which is the same as that key in a section of the function. */
static int take_request(struct parser *parser, struct rules_values_part key, const char *value, size_t length)
{
	size_t at = 0;

	parser->has_key = 0; /* it takes one line */
	value = trim(value, &length);
	/* `::` is of names of C++. */
	while (at < length && (value[at] != ':' || (at + 1 < length && value[at + 1] == ':')))
		at += value[at] == ':' ? 2 : 1;
	if (!at || at + 1 >= length || *value == '@' || value[at - 1] == '@')
		return fail(parser, "bad value ", value, length,
			" for key 'request'; allowed: FUNCTION:CONTEXT or FUNCTION@LIBRARY:CONTEXT, as in "
			"handle_request:arg1");
	parser->pattern = (struct rules_values_part){ value, at };
	return add_value(parser, key, value + at + 1, length - at - 1);
}

/* trust, of [trace]: of all functions. */
static int take_trust(struct parser *parser, struct rules_values_part key, const char *value, size_t length)
{
	parser->has_key = 0; /* it takes one line */
	value = trim(value, &length);
	if (!is_word(value, length, "arguments") && !is_word(value, length, "no"))
		return fail(parser, "bad value ", value, length, " for key 'trust'; allowed: arguments, no");
	parser->pattern = (struct rules_values_part){ "*", 1 };
	return add_value(parser, key, value, length);
}

/* "KEY = VALUE" or "KEY: VALUE"; begins with no blank. A comment may be behind it. */
static int take_key(struct parser *parser, const char *p, size_t length)
{
	size_t name = 0, n = 0;

	while (n < length && p[n] != '=' && p[n] != ':' && !(p[n] == ';' && n && is_blank(p[n - 1])))
		name = is_blank(p[n++]) ? name : n;
	if (n == length || p[n] == ';')
		return fail(parser, "no '=' in ", p, length,
			"; allowed: KEY = VALUE, [SECTION], a comment behind ';' or '#'");
	parser->has_key = 1;
	if (parser->where == NOWHERE)
		return fail(parser, "key ", p, name, " before any section; allowed first: " SECTIONS_ALLOWED);
	if (parser->where == IN_CONTEXT) {
		if (is_word(p, name, NAME_KEY))
			return add_name(parser, p + n + 1, length - n - 1);
		parser->context_key = (struct rules_values_part){ p, name };
		if (!rules_values_is_key(p, name))
			return fail(parser, "unknown key ", p, name, " in [context]; allowed: " RULES_CONTEXT_KEYS
				    ", " NAME_KEY);
		return take(parser, p + n + 1, length - n - 1);
	}
	if (parser->where == IN_PROBE) {
		parser->context_key = rules_values_probe_key(p, name);
		if (!parser->context_key.length)
			return fail(parser, "unknown key ", p, name, " in [probe]; allowed: " RULES_PROBE_KEYS);
		return take(parser, p + n + 1, length - n - 1);
	}
	if (parser->where == IN_TRACE && is_word(p, name, "request"))
		return take_request(parser, (struct rules_values_part){ p, name }, p + n + 1, length - n - 1);
	if (parser->where == IN_TRACE && is_word(p, name, "trust"))
		return take_trust(parser, (struct rules_values_part){ p, name }, p + n + 1, length - n - 1);
	parser->key = rules_key_find(parser->where == IN_TRACE, p, name);
	if (parser->key == RULES_KEYS)
		return fail(parser, "unknown key ", p, name,
			parser->where == IN_TRACE ? " in [trace]; allowed: " KEYS_OF_TRACE
						  : "; allowed in [library] and [program]: kinds, fallback, functions, "
						    "exclude");
	return take(parser, p + n + 1, length - n - 1);
}

static int take_line(struct parser *parser, const char *line, size_t length)
{
	size_t blanks = 0;

	if (holds(line, length, '\0'))
		return fail(parser, "a NUL byte; allowed: text", NULL, 0, NULL);
	while (blanks < length && is_blank(line[blanks]))
		blanks++;
	/* C, where a line may begin with the brackets of an attribute. */
	if (parser->where == IN_PROTOTYPES && blanks < length &&
		line[blanks] != ';' && line[blanks] != '#' &&
		(line[blanks] != '[' || (blanks + 1 < length && line[blanks + 1] == '[')))
		return add_value(parser, (struct rules_values_part){ 0 }, line + blanks, length - blanks);
	if (blanks == length || line[blanks] == ';' || line[blanks] == '#')
		return 0;
	parser->continues = blanks && parser->has_key;
	if (parser->continues)
		return take(parser, line, length);
	if (line[blanks] == '[')
		return begin_section(parser, line + blanks, length - blanks);
	return take_key(parser, line + blanks, length - blanks);
}

int rules_parse(struct rules *rules, struct rules_text *out, const char *text, size_t length)
{
	struct parser parser = { .rules = rules, .arena = &rules->arena, .out = out };
	const char *next = text, *end = text + length;

	parser.last_section = &out->sections;
	parser.last_name = &out->names;
	parser.last_below = &rules->below;
	parser.last_copying = &rules->stack_copying;
	if (length >= 3 && sys_same(text, "\xef\xbb\xbf", 3))
		next += 3;
	while (next < end) {
		const char *line = next;
		while (next < end && *next != '\n')
			next++;
		parser.number++;
		if (take_line(&parser, line, (size_t)(next++ - line)) < 0) {
			rules_complain(out->name, out->numbered ? parser.failed : 0, &parser.error);
			return -1;
		}
	}
	end_section(&parser);
	return 0;
}
