/* SPDX-License-Identifier: MIT */
#include "tool/values/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/values/contexts.h"
#include "tool/values/expression.h"

#define WORDS_MOST 4096	 /* bytes of the words of a value: what is more has no word */
#define NAMES_MOST 16384 /* of all, but for some short ones: they stay below 65536 */

/* "NUMBER=WORD,NUMBER=WORD" */
static char *words_of(const struct prototype_names *names)
{
	char *text;
	size_t size, length = 0;
	FILE *to = memory_need(open_memstream(&text, &size));

	for (size_t i = 0; i < names->count; i++) {
		char mask[24] = "";
		if (names->are_flags && names->list[i].mask)
			snprintf(mask, sizeof(mask), "/%" PRIu64, names->list[i].mask);
		char *one = memory_format("%s%" PRId64 "%s=%s", i ? "," : "", (int64_t)names->list[i].value, mask,
			names->list[i].word);
		length += strlen(one);
		if (length < WORDS_MOST)
			fputs(one, to);
		free(one);
	}
	if (fclose(to))
		memory_failed();
	return text;
}

void *layout_make(const struct values_program *program, const struct contexts_list *of, size_t *size)
{
	struct trace_layout head = { .head.type = TRACE_REC_LAYOUT, .count = program->values };
	struct trace_value value[VALUES_MOST] = { 0 };
	char *names, *words;
	size_t length;
	FILE *to = memory_need(open_memstream(&names, &length));

	fputc('\0', to);
	for (uint32_t i = 0; i < program->values; i++) {
		const struct values_value *from = &program->value[i];
		fflush(to);
		value[i] = (struct trace_value){ .name = (uint32_t)length, .type = (uint8_t)from->type,
			.size = from->size, .role = from->role, .place = from->place, .marks = from->marks };
		fwrite(from->name, 1, strlen(from->name) + 1, to);
		if (from->role == VALUES_ROLE_RESULT && of->has_fails) {
			head.has_fails = 1;
			head.fails = of->fails;
		}
		if (from->when) {
			fflush(to);
			value[i].when = (uint16_t)length;
			fwrite(from->when, 1, strlen(from->when) + 1, to);
		}
		bool has = from->words ? strlen(from->words) < WORDS_MOST : from->names && from->names->count;
		if (!has || length > NAMES_MOST - WORDS_MOST)
			continue;
		fflush(to);
		value[i].words = (uint32_t)length;
		words = from->words ? memory_text(from->words, strlen(from->words)) : words_of(from->names);
		fwrite(words, 1, strlen(words) + 1, to);
		free(words);
	}
	if (fclose(to))
		memory_failed();
	head.names_size = (uint32_t)length;
	size_t values = program->values * sizeof(*value);
	*size = (sizeof(head) + values + length + 7) / 8 * 8;
	head.head.size = (uint32_t)*size;
	uint8_t *layout = memory_zeroed(*size, 1);
	memcpy(layout, &head, sizeof(head));
	memcpy(layout + sizeof(head), value, values);
	memcpy(layout + sizeof(head) + values, names, length);
	free(names);
	return layout;
}
