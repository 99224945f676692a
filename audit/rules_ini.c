/* SPDX-License-Identifier: MIT */
/*
 * inih cuts lines after its buffer (200 bytes) and section names after 50, and says nothing of either. So our reader, which
 * hands it the lines, keeps each line whole: it reads section lines itself (inih sees "[s]" in their place; a glob such as
 * lib[ab].so* would end at its first ']' too), and where a value was cut, it is taken from the whole line.
 */
#include "audit/rules_ini.h"

#include <ini.h>

#include "runtime/sys.h" /* sys_write */

#define KIND_WORD(number, NAME, word) word ", "
#define KINDS_ALLOWED		      TRACE_KINDS(KIND_WORD) "none"
#define SECTIONS_ALLOWED	      "[trace], [library GLOB], [program]"

enum where { NOWHERE, IN_TRACE, IN_SECTION };
enum key { KEY_OUTPUT, KEY_BUFFER, KEY_CLOCK, KEY_FOLLOW, KEY_KINDS, KEY_FUNCTIONS, KEY_EXCLUDE, KEY_UNKNOWN };

struct parser {
	struct arena *arena;
	struct rules_text *out;
	char *next, *end;
	/* The line that inih has now. */
	const char *line;
	size_t line_length;
	int number;
	int cut;       /* inih got less than the whole line */
	int continues; /* it begins with a blank and belongs to the key before it */

	enum where where;
	int has_key; /* there is a key that a line may continue */
	struct rules_section *section, **last_section;
	struct rules_pattern **last_function, **last_exclude;
	int kinds_given, none_given;

	/* The first error that we found ourselves: 'b' is quoted between a and c. */
	int failed;
	const char *a, *b, *c;
	size_t b_length;
};

static int is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int is_word(const char *p, size_t length, const char *word)
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

void rules_complain(const char *name, int line, const char *a, const char *b, size_t b_length, const char *c)
{
	char text[1024], digits[12];
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
		{ a, sys_length(a), 200 },
		{ "'", b ? 1 : 0, 1 },
		{ b, b ? b_length : 0, 120 },
		{ "'", b ? 1 : 0, 1 },
		{ c, c ? sys_length(c) : 0, 200 },
	};

	for (int value = line; value; value /= 10)
		digits[sizeof(digits) - ++d] = (char)('0' + value % 10);
	part[3].p = digits + sizeof(digits) - d;
	part[3].length = d;
	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
		for (size_t k = 0; k < part[i].length && k < part[i].most; k++) {
			unsigned char byte = (unsigned char)part[i].p[k];
			text[n++] = byte < ' ' || byte == 127 ? '?' : (char)byte;
		}
	text[n++] = '\n';
	(void)sys_write(2, text, n);
}

static int fail(struct parser *parser, const char *a, const char *b, size_t b_length, const char *c)
{
	if (!parser->failed) {
		parser->failed = parser->number;
		parser->a = a;
		/* b may point into inih's buffer, which is gone when we speak. */
		parser->b = b ? arena_string(parser->arena, b, b_length) : NULL;
		parser->b_length = parser->b ? b_length : 0;
		parser->c = c;
	}
	return -1;
}

static int no_memory(struct parser *parser)
{
	return fail(parser, "no memory for the rules", NULL, 0, NULL);
}

/* Steps over blanks on both sides and over a comment: ';' at the start or behind a blank. */
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

static int begin_section(struct parser *parser, const char *p, size_t length)
{
	const char *glob = NULL;
	size_t glob_length = 0, word = 0;

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
	if (is_word(p, word, "library")) {
		glob_length = length - word;
		glob = trim(p + word, &glob_length);
		if (!glob_length)
			return fail(parser,
				"section [library] without a pattern; allowed: [library GLOB], as in [library libfoo.so*]",
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
	parser->where = IN_SECTION;
	return 0;
}

/* ---- values ---- */

static int add_kind(struct parser *parser, const char *word, size_t length)
{
	static const char mixed[] =
		"kind 'none' beside other kinds; allowed: none alone, or any of xray, patchable, plt, calls";
	int kind = rules_kind(word, length);

	if (!parser->kinds_given)
		parser->section->kinds = 0;
	if (is_word(word, length, "none")) {
		if (parser->section->kinds)
			return fail(parser, mixed, NULL, 0, NULL);
		parser->none_given = 1;
	} else if (kind < 0) {
		return fail(parser, "unknown kind ", word, length, "; allowed: " KINDS_ALLOWED);
	} else if (parser->none_given) {
		return fail(parser, mixed, NULL, 0, NULL);
	} else {
		parser->section->kinds |= 1u << kind;
	}
	parser->kinds_given = 1;
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
	**last = pattern;
	*last = &pattern->next;
	return 0;
}

static int add_word(struct parser *parser, enum key key, const char *word, size_t length)
{
	/* Who indents keys writes continuations without knowing it; this is where that shows. */
	if (parser->continues && (is_word(word, length, "[trace]") || is_word(word, length, "[program]") ||
					 is_word(word, length, "[library")))
		return fail(parser, "section ", word, length,
			" on a line that begins with a blank continues the key before it; start sections in column 1");
	if (holds(word, length, '='))
		return fail(parser, "'=' in ", word, length,
			parser->continues
				? ": a line that begins with a blank continues the key before it; start keys in column 1"
				: "; allowed: names and patterns, with blanks between them");
	if (key == KEY_KINDS)
		return add_kind(parser, word, length);
	return add_pattern(parser, key == KEY_FUNCTIONS ? &parser->last_function : &parser->last_exclude, word, length);
}

static int add_words(struct parser *parser, enum key key, const char *value, size_t length)
{
	for (size_t i = 0, end; i < length; i = end) {
		if (is_blank(value[i]) || (key == KEY_KINDS && value[i] == ',')) {
			end = i + 1;
			continue;
		}
		end = i;
		while (end < length && !is_blank(value[end]) && !(key == KEY_KINDS && value[end] == ','))
			end++;
		if (add_word(parser, key, value + i, end - i) < 0)
			return -1;
	}
	return 0;
}

static int set_trace(struct parser *parser, enum key key, const char *name, const char *value, size_t length)
{
	static const char *const clock[] = {
		[RULES_CLOCK_AUTO] = "auto", [RULES_CLOCK_TSC] = "tsc", [RULES_CLOCK_MONOTONIC] = "monotonic"
	};
	struct rules_text *out = parser->out;
	char *copy;

	if (parser->continues)
		return fail(parser, "this line begins with a blank and so continues ", name, sys_length(name),
			", which takes one line; start keys in column 1");
	if (key == KEY_OUTPUT   ? out->output != NULL
		: key == KEY_BUFFER ? out->buffer != 0
		: key == KEY_CLOCK  ? out->has_clock
				    : out->has_follow)
		return fail(parser, "key ", name, sys_length(name), " given twice in [trace]; allowed: once");
	copy = arena_string(parser->arena, value, length);
	if (!copy)
		return no_memory(parser);
	switch (key) {
	case KEY_OUTPUT:
		out->output = copy;
		return 0;
	case KEY_BUFFER:
		out->buffer = rules_size(copy);
		if (!out->buffer)
			return fail(parser, "bad size ", value, length,
				" for key 'buffer'; allowed: a power of two from 64k to 1G, as in 4M");
		return 0;
	case KEY_FOLLOW:
		out->has_follow = 1;
		out->follow = is_word(value, length, "yes");
		if (!out->follow && !is_word(value, length, "no"))
			return fail(parser, "bad value ", value, length, " for key 'follow'; allowed: yes, no");
		return 0;
	default:
		for (size_t i = 0; i < sizeof(clock) / sizeof(*clock); i++)
			if (is_word(value, length, clock[i])) {
				out->clock = (enum rules_clock)i;
				out->has_clock = 1;
				return 0;
			}
		return fail(parser, "unknown clock ", value, length, "; allowed: auto, tsc, monotonic");
	}
}

/* ---- inih's side ---- */

/* Gives inih the next line: whole, or the start of it, or "[s]" for a section. */
static char *read_line(char *buffer, int size, void *stream)
{
	struct parser *parser = stream;
	size_t room = (size_t)size - 1, n = 0, blanks = 0;
	char *p = parser->next;

	if (parser->failed || p >= parser->end)
		return NULL;
	while (p + n < parser->end && p[n] != '\n')
		n++;
	parser->next = p + n + 1;
	parser->line = p;
	parser->line_length = n;
	parser->number++;
	if (holds(p, n, '\0')) {
		fail(parser, "a NUL byte; allowed: text", NULL, 0, NULL);
		return NULL;
	}
	while (blanks < n && is_blank(p[blanks]))
		blanks++;
	parser->continues = blanks && blanks < n && parser->has_key;
	if (blanks < n && p[blanks] == '[' && !parser->continues) {
		if (begin_section(parser, p + blanks, n - blanks) < 0)
			return NULL;
		sys_copy(buffer, "[s]", 4);
		return buffer;
	}
	parser->cut = n > room;
	if (parser->cut) {
		if (blanks >= room && blanks < n) {
			fail(parser, "too many blanks before the text; allowed: a hundred", NULL, 0, NULL);
			return NULL;
		}
		n = room;
	}
	sys_copy(buffer, p, n);
	buffer[n] = '\0';
	return buffer;
}

static enum key find_key(enum where where, const char *name)
{
	static const char *const word[] = { [KEY_OUTPUT] = "output",
		[KEY_BUFFER] = "buffer",
		[KEY_CLOCK] = "clock",
		[KEY_FOLLOW] = "follow",
		[KEY_KINDS] = "kinds",
		[KEY_FUNCTIONS] = "functions",
		[KEY_EXCLUDE] = "exclude" };
	int key = where == IN_TRACE ? KEY_OUTPUT : KEY_KINDS;
	int last = where == IN_TRACE ? KEY_FOLLOW : KEY_EXCLUDE;

	for (; key <= last; key++)
		if (is_word(name, sys_length(name), word[key]))
			return (enum key)key;
	return KEY_UNKNOWN;
}

/* inih calls this for each "name = value" and for each continuation of one. Returns 1, or 0 on error. */
static int take(void *user, const char *section, const char *name, const char *value)
{
	struct parser *parser = user;
	size_t length = sys_length(value);
	enum key key;

	(void)section; /* begin_section() knows better */
	if (parser->cut) {
		/* As inih finds it: behind the first '=' or ':'; a continuation is all value. */
		value = parser->line;
		length = parser->line_length;
		while (!parser->continues && length) {
			char c = *value++;
			length--;
			if (c == '=' || c == ':')
				break;
		}
	}
	value = trim(value, &length);
	parser->has_key = 1;
	if (parser->where == NOWHERE)
		return !fail(parser, "key ", name, sys_length(name),
			" before any section; allowed first: " SECTIONS_ALLOWED);
	key = find_key(parser->where, name);
	if (key == KEY_UNKNOWN)
		return !fail(parser, "unknown key ", name, sys_length(name),
			parser->where == IN_TRACE ? " in [trace]; allowed: output, buffer, clock, follow"
						  : "; allowed in [library] and [program]: kinds, functions, exclude");
	if (!length) {
		if (parser->continues)
			return 1;
		return !fail(parser, "no value for key ", name, sys_length(name),
			key == KEY_KINDS    ? "; allowed: " KINDS_ALLOWED
			: key == KEY_BUFFER ? "; allowed: a power of two from 64k to 1G, as in 4M"
			: key == KEY_CLOCK  ? "; allowed: auto, tsc, monotonic"
			: key == KEY_FOLLOW ? "; allowed: yes, no"
			: key == KEY_OUTPUT ? "; allowed: the path of a folder"
					    : "; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB");
	}
	if (parser->where == IN_TRACE)
		return set_trace(parser, key, name, value, length) == 0;
	return add_words(parser, key, value, length) == 0;
}

int rules_parse(struct arena *arena, struct rules_text *out, char *text, size_t length)
{
	struct parser parser = { .arena = arena, .out = out, .next = text, .end = text + length };
	int line;

	parser.last_section = &out->sections;
	if (length >= 3 && sys_same(text, "\xef\xbb\xbf", 3))
		parser.next += 3;
	line = ini_parse_stream(read_line, &parser, take, &parser);
	if (!line && !parser.failed)
		return 0;
	/* inih reports the number of its first bad line; ours may have come after it or be the same. */
	if (line < 0) {
		rules_complain(out->name, 0, "no memory for the rules", NULL, 0, NULL);
	} else if (line && (!parser.failed || line < parser.failed)) {
		const char *p = text;
		size_t n = 0;

		for (int i = 1; i < line; p++)
			i += *p == '\n';
		while (p + n < text + length && p[n] != '\n')
			n++;
		rules_complain(out->name, out->numbered ? line : 0, "no '=' in ", p, n,
			"; allowed: KEY = VALUE, [SECTION], a comment behind ';' or '#'");
	} else {
		rules_complain(
			out->name, out->numbered ? parser.failed : 0, parser.a, parser.b, parser.b_length, parser.c);
	}
	return -1;
}
