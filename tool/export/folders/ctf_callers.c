/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/ctf_callers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"
#include "tool/show/term/frames.h"

#define BYTES_MOST 16000 /* so that it fits in a packet */

static void put(FILE *to, char *text)
{
	fwrite(text, 1, text_clean(text) + 1, to);
}

static void put_frame(FILE *to, const struct xaudit_read_frame *frame)
{
	char *text;
	size_t size;
	FILE *line = memory_need(open_memstream(&text, &size));

	frames_print(line, frame);
	if (fclose(line))
		memory_failed();
	put(to, text);
	free(text);
}

static void make(struct ctf_callers_one *one, const struct xaudit_read_stack *stack)
{
	FILE *to = memory_need(open_memstream(&one->bytes, &one->size));
	uint16_t count = 0;

	fwrite(&count, sizeof(count), 1, to);
	for (uint32_t i = 0; i < stack->frames && ftell(to) < BYTES_MOST; i++, count++)
		put_frame(to, stack->frame[i]);
	if (stack->end != XAUDIT_READ_STACK_BOTTOM) {
		char *end = memory_format("(%s)", stack->end_text);

		put(to, end);
		free(end);
		count++;
	}
	if (fclose(to))
		memory_failed();
	memcpy(one->bytes, &count, sizeof(count));
}

const struct ctf_callers_one *ctf_callers(struct ctf_callers *callers, const struct xaudit_read_stack *stack)
{
	if (stack->number >= callers->room) {
		uint32_t room = stack->number < 32 ? 64 : stack->number * 2;

		callers->one = memory_resize(callers->one, room, sizeof(*callers->one));
		memset(&callers->one[callers->room], 0, (room - callers->room) * sizeof(*callers->one));
		callers->room = room;
	}
	if (!callers->one[stack->number].bytes)
		make(&callers->one[stack->number], stack);
	return &callers->one[stack->number];
}

void ctf_callers_free(struct ctf_callers *callers)
{
	for (uint32_t i = 0; i < callers->room; i++)
		free(callers->one[i].bytes);
	free(callers->one);
}
