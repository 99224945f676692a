/* SPDX-License-Identifier: MIT */
#include "audit/rules/values.h"

#include "runtime/base/arena.h"
#include "x86_64/sys.h" /* sys_copy */

#define PROBE RULES_VALUES_PROBE

struct rules_values_line {
	struct rules_values_line *next;
	size_t size;
	char probe; /* the first letter of a probe's key; 0: it is of none */
	char text[]; /* ends with a newline */
};

bool rules_values_is_key(const char *word, size_t length)
{
	static const char keys[] = RULES_CONTEXT_KEYS;

	for (const char *p = keys; *p;) {
		size_t n = 0;

		while (p[n] && p[n] != ',')
			n++;
		if (n == length && sys_same(p, word, n))
			return true;
		p += n + (p[n] ? 2 : 0);
	}
	return false;
}

struct rules_values_part rules_values_probe_key(const char *word, size_t length)
{
	static const struct rules_values_part keys[] = {
#define KEY(word) { PROBE word, sizeof(PROBE word) - 1 }
		KEY("at"), KEY("context"), KEY("if"), KEY("every"), KEY("then")
#undef KEY
	};
	const size_t front = sizeof(PROBE) - 1;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].length == front + length && sys_same(keys[i].text + front, word, length))
			return keys[i];
	return (struct rules_values_part){ 0 };
}

static char *put(char *to, const char *from, size_t size)
{
	sys_copy(to, from, size);
	return to + size;
}

int rules_values_add(struct rules_values *to, struct arena *arena, const char *name, int number,
	struct rules_values_part pattern, struct rules_values_part key, struct rules_values_part value)
{
	char digits[12];
	size_t name_length = sys_length(name), d = sizeof(digits);
	struct rules_values_line *line;

	for (int left = number; left; left /= 10)
		digits[--d] = (char)('0' + left % 10);
	if (number)
		digits[--d] = ':';
	line = arena_alloc(arena,
		sizeof(*line) + name_length + sizeof(digits) + pattern.length + key.length + value.length + 4);
	if (!line)
		return -1;
	char *p = put(put(line->text, name, name_length), digits + d, sizeof(digits) - d);
	/* A name with such a character would be more than one part. */
	for (char *c = line->text; c < p; c++)
		if (*c == '\t' || *c == '\n')
			*c = '?';
	p = put(put(p, "\t", 1), pattern.text, pattern.length);
	p = put(put(p, "\t", 1), key.text, key.length);
	p = put(put(put(p, "\t", 1), value.text, value.length), "\n", 1);
	line->size = (size_t)(p - line->text);
	line->probe = '\0';
	if (key.length > sizeof(PROBE) - 1 && sys_same(key.text, PROBE, sizeof(PROBE) - 1))
		line->probe = key.text[sizeof(PROBE) - 1];
	to->size += line->size;
	if (!to->last)
		to->last = &to->first;
	*to->last = line;
	to->last = &line->next;
	return 0;
}

/* Of a probe's place: that nothing is to be recorded there, though some places have values by themselves. */
static char *put_none(char *to, const struct rules_values_line *line)
{
	static const char none[] = PROBE "context\tnone\n";
	size_t n = 0;

	for (int tabs = 0; tabs < 2; n++)
		tabs += line->text[n] == '\t';
	return put(put(to, line->text, n), none, sizeof(none) - 1);
}

static char *put_all(char *to, const struct rules_values *lines, bool bare)
{
	for (const struct rules_values_line *line = lines->first; line; line = line->next) {
		if (bare && (!line->probe || line->probe == 'c'))
			continue;
		to = put(to, line->text, line->size);
		if (bare && line->probe == 'a')
			to = put_none(to, line);
	}
	return to;
}

int rules_values_join(const char **text, struct arena *arena, const struct rules_values *a,
	const struct rules_values *b, bool bare)
{
	/* What is put besides is as long as a line, and a few words: a line has tabs, a name and a key already. */
	size_t size = (a->size + b->size) * (bare ? 4 : 1);
	char *all = NULL;

	if (size && !(all = arena_alloc(arena, size + 1)))
		return -1;
	if (all && put_all(put_all(all, a, bare), b, bare) == all)
		all = NULL;
	*text = all;
	return 0;
}
