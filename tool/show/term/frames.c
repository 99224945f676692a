/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/term/frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/term/names.h"
#include "tool/show/term/srcline.h"

static const char *base_of(const struct xaudit_read_object *object)
{
	return *object->soname ? object->soname : tool_base(object->path);
}

static void write_frame(FILE *file, const struct xaudit_read_frame *frame)
{
	struct xaudit_read_symbol symbol;

	xaudit_read_frame_symbol(frame, &symbol);
	if (symbol.name) {
		tool_text(file, names_shown(symbol.name));
		fprintf(file, "+0x%" PRIx64, frame->offset - symbol.start);
	} else {
		fprintf(file, "0x%" PRIx64, frame->offset);
	}
	if (frame->object) {
		fputs(" [", file);
		tool_text(file, base_of(frame->object));
		putc(']', file);
	}
	if (frame->marks & XAUDIT_READ_FRAME_EXACT)
		fputs(" (signal)", file);
	if (srcline_wanted() && symbol.file) {
		putc(' ', file);
		tool_text(file, symbol.file);
		fprintf(file, ":%" PRIu32, symbol.line);
	}
}

/* What was written last, by number: a trace has the same frames millions of times. */
static struct kept {
	const struct xaudit_read_frame *frame; /* NULL: none */
	char *text;
	size_t size;
} kept[4096];

void frames_print(FILE *file, const struct xaudit_read_frame *frame)
{
	struct kept *own = &kept[frame->number % (sizeof(kept) / sizeof(*kept))];

	if (own->frame != frame) {
		free(own->text);
		FILE *to = memory_need(open_memstream(&own->text, &own->size));
		write_frame(to, frame);
		if (fclose(to))
			memory_failed();
		own->frame = frame;
	}
	fwrite(own->text, 1, own->size, file);
}

void frames_forget(void)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		free(kept[i].text);
		kept[i] = (struct kept){ 0 };
	}
}

char *frames_name(const struct xaudit_read_frame *frame)
{
	struct xaudit_read_symbol symbol;

	xaudit_read_frame_symbol(frame, &symbol);
	if (symbol.name)
		return memory_format("%s", names_full(symbol.name));
	if (frame->object)
		return memory_format("%s+0x%" PRIx64, base_of(frame->object), frame->offset);
	return memory_format("0x%" PRIx64, frame->offset);
}

void frames_lines(FILE *file, const struct xaudit_read_stack *stack, const char *before, const char *after)
{
	for (uint32_t i = 0; stack && i < stack->frames; i++) {
		fputs(before, file);
		frames_print(file, stack->frame[i]);
		fputs(after, file);
	}
	if (stack && stack->end != XAUDIT_READ_STACK_BOTTOM)
		fprintf(file, "%s(the backtrace ends here: %s)%s", before, stack->end_text, after);
}

static void frame_json(FILE *file, const struct xaudit_read_frame *frame, uint64_t address)
{
	struct xaudit_read_symbol symbol;

	xaudit_read_frame_symbol(frame, &symbol);
	fputs("{\"function\":", file);
	json_string(file, symbol.name);
	names_json(file, symbol.name);
	fputs(",\"library\":", file);
	json_string(file, frame->object ? frame->object->path : NULL);
	if (frame->object)
		fprintf(file, ",\"offset\":\"0x%" PRIx64 "\"", frame->offset);
	if (symbol.name)
		fprintf(file, ",\"start\":\"0x%" PRIx64 "\"", symbol.start);
	if (!frame->object || address)
		fprintf(file, ",\"address\":\"0x%" PRIx64 "\"", frame->object ? address : frame->offset);
	if (frame->marks & XAUDIT_READ_FRAME_EXACT)
		fputs(",\"exact\":true", file);
	if (frame->marks & XAUDIT_READ_FRAME_BY_FRAME)
		fputs(",\"by_frame_pointer\":true", file);
	if (srcline_wanted() && symbol.file) {
		fputs(",\"source\":", file);
		json_string(file, symbol.file);
		fprintf(file, ",\"line\":%" PRIu32, symbol.line);
	}
	putc('}', file);
}

void frames_json_frame(FILE *file, const struct xaudit_read_frame *frame)
{
	frame_json(file, frame, 0);
}

void frames_json_function(FILE *file, const struct xaudit_read_frame *frame)
{
	struct xaudit_read_symbol symbol;

	if (!xaudit_read_frame_symbol(frame, &symbol) || !symbol.name) {
		frame_json(file, frame, 0);
		return;
	}
	fputs("{\"function\":", file);
	json_string(file, symbol.name);
	names_json(file, symbol.name);
	fputs(",\"library\":", file);
	json_string(file, frame->object->path);
	putc('}', file);
}

void frames_json(FILE *file, const struct xaudit_read_stack *stack, const struct xaudit_read_values *values)
{
	if (!stack) {
		fputs("null", file);
		return;
	}
	fprintf(file, "{\"number\":%" PRIu32 ",\"frames\":[", stack->number);
	for (uint32_t i = 0; i < stack->frames; i++) {
		if (i)
			putc(',', file);
		frame_json(file, stack->frame[i], xaudit_read_stack_address(values, i));
	}
	fputs("],\"end\":", file);
	json_string(file, stack->end_text);
	putc('}', file);
}
