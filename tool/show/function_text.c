/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/function_text.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/show/term/term.h"

static void make(struct function_texts *texts, struct function_text *made, const struct xaudit_read_function *function)
{
	FILE *to = memory_need(open_memstream(&made->text, &made->length));

	texts->write(texts->user, to, function);
	if (fclose(to))
		memory_failed();
}

static struct function_text *place_of(struct function_texts *texts, const struct xaudit_read_function *function)
{
	const uint32_t number = function->number;

	if (number >= texts->functions) {
		const uint32_t functions = (number + 64) * 2;
		texts->function = memory_resize(texts->function, functions, sizeof(*texts->function));
		memset(texts->function + texts->functions, 0,
			(functions - texts->functions) * sizeof(*texts->function));
		texts->functions = functions;
	}
	return &texts->function[number];
}

const struct function_text *function_text_made(
	struct function_texts *texts, const struct xaudit_read_function *function)
{
	struct function_text *made = place_of(texts, function);

	if (!made->text)
		make(texts, made, function);
	return made;
}

const struct function_text *function_text_of(struct function_texts *texts, const struct xaudit_read_function *function)
{
	struct function_text *made = place_of(texts, function);

	if (!made->text) {
		if (term_columns())
			return NULL;
		make(texts, made, function);
	}
	return made->length <= FUNCTION_TEXT_MOST ? made : NULL;
}

void function_texts_free(struct function_texts *texts)
{
	for (uint32_t i = 0; i < texts->functions; i++)
		free(texts->function[i].text);
	free(texts->function);
	texts->function = NULL;
	texts->functions = 0;
}
