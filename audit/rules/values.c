/* SPDX-License-Identifier: MIT */
#include "audit/rules/values.h"

#include "runtime/base/arena.h"
#include "x86_64/sys.h" /* sys_copy */

struct rules_values_line {
	struct rules_values_line *next;
	size_t size;
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
	to->size += line->size;
	if (!to->last)
		to->last = &to->first;
	*to->last = line;
	to->last = &line->next;
	return 0;
}

static char *put_all(char *to, const struct rules_values *lines)
{
	for (const struct rules_values_line *line = lines->first; line; line = line->next)
		to = put(to, line->text, line->size);
	return to;
}

int rules_values_join(
	const char **text, struct arena *arena, const struct rules_values *a, const struct rules_values *b)
{
	char *all = NULL;

	if (a->size + b->size && !(all = arena_alloc(arena, a->size + b->size + 1)))
		return -1;
	if (all)
		put_all(put_all(all, a), b);
	*text = all;
	return 0;
}
