/* SPDX-License-Identifier: MIT */
#include "tool/values/contexts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

#define REGISTERS 6 /* of arguments */
#define FLOATS	  8

static const char *word_of(enum values_type type, uint8_t size)
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
		bool floating = is_float(&of->parameter[i]);
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

static char *add(char *list, const char *between, char *more)
{
	char *both = memory_format("%s%s%s", list ? list : "", list ? between : "", more);

	free(list);
	free(more);
	return both;
}

/* The argument itself, or what it points to. */
static char *add_argument(char *list, const struct prototype *of, uint32_t number, bool contents)
{
	const struct prototype_value *value = &of->parameter[number];
	bool is_out = value->marks & PROTOTYPE_OUT, reads = contents && !(value->marks & PROTOTYPE_SECRET);
	char at[16], size[16];

	place(of, number, at);
	const char *bytes = value->bytes && reads ? size_of(of, value->bytes, size) : NULL;
	if (bytes)
		return add(list, ",", memory_format("%sbytes:%s:%s:%s", is_out ? "out:" : "", bytes, value->name, at));
	if (is_out && value->type == VALUES_TYPE_TEXT)
		return add(list, ",", memory_format("out:string:%s:%s", value->name, at));
	if (is_out && value->to_type && !value->bytes)
		return add(list, ",", memory_format("out:%s:%s:+0(%s)", word_of(value->to_type, value->to_size),
					      value->name, at));
	return add(list, ",", memory_format("%s:%s:%s", word_of(value->type, value->size), value->name, at));
}

char *contexts_of(const struct prototype *of, bool arguments, bool result, bool contents)
{
	char *list = NULL;

	for (uint32_t i = 0; arguments && i < of->parameters; i++)
		list = add_argument(list, of, i, contents);
	if (result && of->result.type)
		list = add(list, ",", memory_format("%s:ret:%s", word_of(of->result.type, of->result.size),
					      is_float(&of->result) ? "fret" : "ret"));
	return list;
}
