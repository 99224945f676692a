/* SPDX-License-Identifier: MIT */
#include "tool/values/contexts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/match/match.h"
#include "tool/base/memory.h"
#include "tool/values/parser.h"

#define REGISTERS 6 /* of arguments */
#define FLOATS	  8

const char *contexts_type(enum values_type type, uint8_t size)
{
	static const char *const with_sign[] = { [1] = "int8", [2] = "int16", [4] = "int32", [8] = "int64" },
				 *const without[] = { [1] = "uint8", [2] = "uint16", [4] = "uint32", [8] = "uint64" };

	switch (type) {
	case VALUES_TYPE_SIGNED:
		return with_sign[size];
	case VALUES_TYPE_UNSIGNED:
		return without[size];
	case VALUES_TYPE_HEX:
		return "hex";
	case VALUES_TYPE_FLOAT:
		return "float";
	case VALUES_TYPE_DOUBLE:
		return "double";
	case VALUES_TYPE_TEXT:
		return "string";
	default:
		return "ptr";
	}
}

static bool is_float(const struct prototype_value *value)
{
	return value->type == VALUES_TYPE_FLOAT || value->type == VALUES_TYPE_DOUBLE;
}

/* Where it is passed: "arg2", "farg1". */
static void place(const struct prototype *of, uint32_t number, char text[16])
{
	unsigned words = 0, floats = 0, on_stack = 0;

	for (uint32_t i = 0; i <= number; i++) {
		bool floating = i < of->parameters && is_float(&of->parameter[i]);
		unsigned *taken = floating ? &floats : &words;
		if (*taken == (floating ? FLOATS : REGISTERS))
			snprintf(text, 16, "arg%u", REGISTERS + ++on_stack);
		else
			snprintf(text, 16, "%s%u", floating ? "farg" : "arg", ++*taken);
	}
}

/* Where SIZE is: a number, `ret`, or the place of a parameter. NULL: no parameter has that name. */
static const char *size_of(const struct prototype *of, const char *bytes, char text[16])
{
	if (isdigit((unsigned char)*bytes) || !strcmp(bytes, "ret"))
		return bytes;
	for (uint32_t i = 0; i < of->parameters; i++)
		if (!strcmp(of->parameter[i].name, bytes)) {
			place(of, i, text);
			return text;
		}
	return NULL;
}

void contexts_add(struct contexts_list *list, char *text, uint8_t role, uint8_t place, uint8_t marks,
	const struct prototype_names *names)
{
	list->item = memory_grow(list->item, list->items, sizeof(*list->item));
	list->item[list->items++] = (struct contexts_item){ .text = text, .role = role, .place = place,
		.marks = marks, .names = names };
}

void contexts_fix(struct contexts_list *list, const char *name, uint8_t place, uint8_t marks,
	const struct prototype_names *names, const struct values_fixed *fixed)
{
	contexts_add(list, memory_text(name, strlen(name)), VALUES_ROLE_ARGUMENT, place, marks, names);
	list->item[list->items - 1].is_fixed = true;
	list->item[list->items - 1].fixed = *fixed;
}

void contexts_know(struct contexts_list *list, const char *name, const char *at, enum values_type type, uint8_t size,
	uint64_t about)
{
	struct values_word word = { .name = name, .type = type, .size = size, .about = about };

	if (!parser_push(at, &word.op, &word.operand))
		return;
	list->word = memory_grow(list->word, list->words, sizeof(*list->word));
	list->word[list->words++] = word;
}

bool contexts_secret(const struct contexts_wish *wish, const char *name)
{
	static const char *const never[] = { "*password*", "*passwd*", "*passphrase*", "*secret*", "*credential*",
		"*token", "*token[_0-9]*", "pin", "*_pin", "key", "*_key", "*[_.]key[0-9]", "*private*key*", NULL };
	char small[VALUES_NAME];
	size_t n = 0;

	for (; name[n] && n < sizeof(small) - 1; n++)
		small[n] = (char)tolower((unsigned char)name[n]);
	small[n] = '\0';
	for (size_t i = 0; never[i]; i++)
		if (rules_glob(never[i], small))
			return true;
	for (size_t i = 0; i < wish->secrets; i++)
		if (rules_glob(wish->secret[i], name))
			return true;
	return false;
}

static uint8_t marks_of(const struct prototype_value *value)
{
	return (uint8_t)((value->marks & PROTOTYPE_FD ? VALUES_MARK_FD : 0) |
			 (value->marks & PROTOTYPE_OCTAL ? VALUES_MARK_OCTAL : 0) |
			 (value->names && value->names->are_flags ? VALUES_MARK_FLAGS : 0));
}

/* ---- structures ---- */

/* What trace_value.words has of them. at_end: only what the function writes, and the first member. */
static char *structs_words(const struct prototype_value *value, bool at_end)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	fprintf(to, "%u%s", value->of->size, value->array ? "[]" : "");
	for (uint32_t i = 0; i < value->of->members; i++) {
		const struct prototype_member *member = &value->of->member[i];
		bool is_out = member->marks & PROTOTYPE_OUT;
		if (!(value->marks & PROTOTYPE_OUT) && (at_end ? !is_out && i : is_out))
			continue;
		const struct prototype_value as = { .marks = member->marks, .names = member->names };
		fprintf(to, ";%s,%u,%u,%u,%u", member->name, member->offset, member->type, member->size,
			marks_of(&as) | (at_end && is_out ? VALUES_MARK_OUT : 0));
		for (size_t k = 0; member->names && k < member->names->count; k++) {
			const struct prototype_name *name = &member->names->list[k];
			fprintf(to, ",%" PRId64, (int64_t)name->value);
			if (member->names->are_flags && name->mask)
				fprintf(to, "/%" PRIu64, name->mask);
			fprintf(to, "=%s", name->word);
		}
	}
	if (fclose(to))
		memory_failed();
	return text;
}

/* Structures that an argument points to: when the call begins, and what the function writes, when it ends. */
static void add_structs(struct contexts_list *list, const struct prototype *of, const struct prototype_value *value,
	uint32_t number, const char *at)
{
	bool is_out = value->marks & PROTOTYPE_OUT, has_out = false;
	char place_of[16];
	const char *count = value->array ? size_of(of, value->array, place_of) : "1";

	for (uint32_t i = 0; i < value->of->members; i++)
		has_out |= value->of->member[i].marks & PROTOTYPE_OUT;
	for (int at_end = 0; count && at_end < (has_out && !is_out ? 2 : 1); at_end++) {
		contexts_add(list, memory_format("%sarray:%u*%s%s:%s:%s", is_out || at_end ? "out:" : "",
				value->of->size, count, at_end ? "?ret" : "", value->name, at),
			VALUES_ROLE_ARGUMENT, (uint8_t)number,
			(uint8_t)((is_out ? VALUES_MARK_OUT : 0) |
				(at_end ? VALUES_MARK_OUT | VALUES_MARK_BESIDE : 0)), NULL);
		list->item[list->items - 1].words = structs_words(value, at_end);
	}
}

/* Has it a member that must not be recorded? Then none of its bytes are. */
static bool has_secret(const struct prototype_struct *of, const struct contexts_wish *wish)
{
	for (uint32_t i = 0; i < of->members; i++)
		if (of->member[i].type != VALUES_TYPE_POINTER &&
			(of->member[i].marks & PROTOTYPE_SECRET || contexts_secret(wish, of->member[i].name)))
			return true;
	return false;
}

/* The argument itself, or what it points to. */
static void add_argument(struct contexts_list *list, const struct prototype *of, const struct prototype_value *value,
	uint32_t number, const char *at, const struct contexts_wish *wish)
{
	bool secret = value->marks & PROTOTYPE_SECRET || contexts_secret(wish, value->name);
	bool is_out = value->marks & PROTOTYPE_OUT && !secret, is_address = !value->size || value->to_type ||
									    value->type == VALUES_TYPE_POINTER;
	char size[16], *text;
	uint8_t marks = marks_of(value);

	if (secret && !is_address)
		return;
	if (value->of && !secret && !has_secret(value->of, wish)) {
		add_structs(list, of, value, number, at);
		return;
	}
	const char *bytes = value->bytes && wish->contents && !secret ? size_of(of, value->bytes, size) : NULL;
	if (bytes)
		text = memory_format("%sbytes:%s:%s:%s", is_out ? "out:" : "", bytes, value->name, at);
	else if (is_out && value->type == VALUES_TYPE_TEXT)
		text = memory_format("out:string:%s:%s", value->name, at);
	else if (is_out && value->to_type && !value->bytes)
		text = memory_format("out:%s:%s:+0(%s)", contexts_type(value->to_type, value->to_size), value->name,
			at);
	else
		text = memory_format("%s:%s:%s", secret ? "ptr" : contexts_type(value->type, value->size), value->name,
			at);
	if (!strncmp(text, "out:", 4))
		marks |= VALUES_MARK_OUT;
	if (of->more && !of->optionals && number + 1 == of->parameters)
		marks |= VALUES_MARK_MORE;
	contexts_add(list, text, VALUES_ROLE_ARGUMENT, (uint8_t)number, marks, value->names);
	list->item[list->items - 1].trusts = wish->trust && value->marks & PROTOTYPE_READS && !is_out;
}

/* Those behind the dots. They are recorded of each call; readers are told of which they are. */
static void add_optional(struct contexts_list *list, const struct prototype *of, const struct contexts_wish *wish)
{
	for (uint32_t i = 0; i < of->optionals; i++) {
		const struct prototype_optional *optional = &of->optional[i];
		uint8_t size = of->parameter[optional->depends].size;
		uint64_t all = size < 8 ? (1ull << 8 * size) - 1 : UINT64_MAX;
		size_t items = list->items;
		char at[16];
		place(of, optional->place, at);
		add_argument(list, of, &optional->value, optional->place, at, wish);
		if (items == list->items)
			continue;
		char *when = memory_format("%s%u", optional->is_not ? "!" : "", optional->depends);
		for (uint8_t k = 0; k < optional->values; k++) {
			uint64_t is = (uint64_t)optional->is[k];
			uint64_t mask = optional->has_bits ? is : all;
			char *longer = memory_format("%s,%" PRIu64 "/%" PRIu64, when, is & mask, mask);
			free(when);
			when = longer;
		}
		list->item[items].when = when;
	}
}

void contexts_of(struct contexts_list *list, const struct prototype *of, const struct contexts_wish *wish)
{
	const struct prototype_value *result = &of->result;
	const char *at_end = is_float(result) ? "fret" : "ret";

	list->has_fails = of->has_fails;
	list->fails = of->fails;
	for (uint32_t i = 0; i < of->parameters; i++) {
		char at[16];
		place(of, i, at);
		contexts_know(list, of->parameter[i].name, at, of->parameter[i].type, of->parameter[i].size, 0);
		if (wish->arguments)
			add_argument(list, of, &of->parameter[i], i, at, wish);
	}
	if (wish->arguments)
		add_optional(list, of, wish);
	if (!result->type)
		return;
	contexts_know(list, NULL, at_end, result->type, result->size, 0);
	if (!wish->result)
		return;
	contexts_add(list, memory_format("%s:ret:%s", contexts_type(result->type, result->size), at_end),
		VALUES_ROLE_RESULT, 0, marks_of(result), result->names);
	if (of->has_fails)
		contexts_add(list, memory_text("errno", 5), VALUES_ROLE_ERRNO, 0, 0, NULL);
}

void contexts_free(struct contexts_list *list)
{
	for (size_t i = 0; i < list->items; i++) {
		free(list->item[i].text);
		free(list->item[i].when);
		free(list->item[i].words);
	}
	free(list->item);
	free(list->word);
	*list = (struct contexts_list){ 0 };
}
