/* SPDX-License-Identifier: MIT */
#include "tool/values/declaring.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

/* ---- words ---- */

/* Always false. */
bool declaring_fail(struct declaring *p, const char *before, const char *after)
{
	p->wrong->line = p->t.word_line;
	p->wrong->before = before;
	p->wrong->after = after;
	snprintf(p->wrong->part, sizeof(p->wrong->part), "%.*s", (int)p->t.length, p->t.word);
	return false;
}

void declaring_next(struct declaring *p)
{
	token_next(&p->t);
}

bool declaring_is(const struct declaring *p, const char *word)
{
	return strlen(word) == p->t.length && !strncmp(p->t.word, word, p->t.length);
}

bool declaring_take(struct declaring *p, const char *word)
{
	if (!declaring_is(p, word))
		return false;
	declaring_next(p);
	return true;
}

bool declaring_expect(struct declaring *p, const char *word, const char *message)
{
	return declaring_take(p, word) || declaring_fail(p, message, "");
}

bool declaring_is_name(const struct declaring *p)
{
	return p->t.length && token_letter(*p->t.word) && !isdigit((unsigned char)*p->t.word);
}

static const char *keep(struct declaring *p, const char *text, size_t length)
{
	struct declaring_words *to = p->words;

	to->word = memory_grow(to->word, to->words, sizeof(*to->word));
	return to->word[to->words++] = memory_text(text, length);
}

const char *declaring_keep(struct declaring *p, const char *word)
{
	return keep(p, word, strlen(word));
}

const char *declaring_word(struct declaring *p)
{
	const char *word = keep(p, p->t.word, p->t.length);

	declaring_next(p);
	return word;
}

bool declaring_number(struct declaring *p, int64_t *number)
{
	bool negative = declaring_take(p, "-");
	char text[32], *end;

	snprintf(text, sizeof(text), "%.*s", (int)p->t.length, p->t.word);
	*number = (int64_t)strtoull(text, &end, 0);
	if (!p->t.length || !isdigit((unsigned char)*text) || *end)
		return declaring_fail(p, "expected a number, not", "");
	*number = negative ? -*number : *number;
	declaring_next(p);
	return true;
}

/* ---- attributes ---- */

/* (NAME, NAME), to one word that lives as long as the prototypes; `any` to "". */
static bool libraries(struct declaring *p, const char **to)
{
	char list[256] = "";
	size_t n = 0;

	if (!declaring_expect(p, "(", "expected a bracket, not"))
		return false;
	do {
		if (!declaring_is_name(p) || n + p->t.length + 2 > sizeof(list))
			return declaring_fail(p, "expected the name of a library, not", "");
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%.*s ", (int)p->t.length, p->t.word);
		declaring_next(p);
	} while (declaring_take(p, ","));
	*to = keep(p, list, strcmp(list, "any ") ? n : 0);
	return declaring_expect(p, ")", "expected a bracket, not");
}

/* (NUMBER) */
static bool one_number(struct declaring *p, int64_t *number)
{
	return declaring_expect(p, "(", "expected a bracket, not") && declaring_number(p, number) &&
	       declaring_expect(p, ")", "expected a bracket, not");
}

/* (NAME, VALUE, VALUE...) */
static bool condition(struct declaring *p, struct declaring_attributes *a)
{
	if (!declaring_expect(p, "(", "expected a bracket, not"))
		return false;
	if (!declaring_is_name(p))
		return declaring_fail(p, "expected the name of a parameter, not", "");
	a->depends = declaring_word(p);
	while (declaring_take(p, ",")) {
		if (a->values == PROTOTYPE_VALUES)
			return declaring_fail(p, "a condition has more than 8 values:", "");
		if (!p->t.length || !(token_letter(*p->t.word) || declaring_is(p, "-")))
			return declaring_fail(p, "expected a name or a number, not", "");
		bool negative = declaring_take(p, "-");
		a->value[a->values] = declaring_word(p);
		a->negative[a->values++] = negative;
	}
	return a->values ? declaring_expect(p, ")", "expected a bracket, not")
			 : declaring_fail(p, "expected a comma and a value, not", "");
}

static bool attribute(struct declaring *p, struct declaring_attributes *a)
{
	static const struct {
		const char *word;
		uint8_t mark;
	} marks[] = { { "out", PROTOTYPE_OUT }, { "secret", PROTOTYPE_SECRET }, { "fd", PROTOTYPE_FD },
		{ "octal", PROTOTYPE_OCTAL }, { "reads", PROTOTYPE_READS } };

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (declaring_take(p, marks[i].word)) {
			a->marks |= marks[i].mark;
			return true;
		}
	if (declaring_take(p, "flags"))
		return a->are_flags = true;
	if (declaring_take(p, "packed"))
		return a->is_packed = true;
	if (declaring_take(p, "text"))
		return a->is_text = true;
	if (declaring_take(p, "address"))
		return a->is_address = true;
	if (declaring_take(p, "hex"))
		return a->is_hex = true;
	if (declaring_take(p, "null"))
		return a->has_fails = true;
	if (declaring_take(p, "fails")) {
		a->has_fails = true;
		return one_number(p, &a->fails);
	}
	if (declaring_take(p, "mask")) {
		a->has_mask = true;
		return one_number(p, &a->mask);
	}
	if (declaring_is(p, "if") || declaring_is(p, "unless")) {
		a->is_not = declaring_is(p, "unless");
		declaring_next(p);
		return condition(p, a);
	}
	if (declaring_take(p, "library"))
		return libraries(p, &a->libraries);
	const char **to = declaring_is(p, "bytes")   ? &a->bytes :
			  declaring_is(p, "array")   ? &a->array :
			  declaring_is(p, "names")   ? &a->names :
						       NULL;
	if (!to)
		return declaring_fail(p, "no attribute is called",
			"; there are out, bytes(SIZE), array(SIZE), text, address, secret, reads, names(ENUM), hex, "
			"octal, fd, flags, packed, fails(NUMBER), null, if(NAME, VALUE), unless(NAME, VALUE), "
			"mask(NUMBER), library(NAME)");
	declaring_next(p);
	if (!declaring_expect(p, "(", "expected a bracket, not"))
		return false;
	if (!p->t.length || !token_letter(*p->t.word))
		return declaring_fail(p, "expected a name or a number, not", "");
	*to = declaring_word(p);
	return declaring_expect(p, ")", "expected a bracket, not");
}

bool declaring_attributes(struct declaring *p, struct declaring_attributes *a)
{
	*a = (struct declaring_attributes){ 0 };
	while (declaring_take(p, "[[")) {
		do {
			if (!attribute(p, a))
				return false;
		} while (declaring_take(p, ","));
		if (!declaring_expect(p, "]]", "expected ]], not"))
			return false;
	}
	return true;
}
