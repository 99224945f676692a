/* SPDX-License-Identifier: MIT */
#include "tool/show/probe_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/term/names.h"
#include "tool/show/term/srcline.h"
#include "tool/show/values.h"

bool probe_named(const char *word, const struct xaudit_read_probe *probe)
{
	return !strcmp(word, probe->name) || names_mean(word, probe->name, probe->object->path);
}

void probe_text(FILE *file, const struct xaudit_read_probe *probe, const struct xaudit_read_values *values)
{
	tool_text(file, probe->name);
	if (values)
		values_list(file, values, UINT32_MAX);
}

char *probe_place_text(const struct xaudit_read_probe *probe)
{
	struct xaudit_read_symbol symbol;

	xaudit_read_probe_symbol(probe, &symbol);
	if (symbol.name)
		return memory_format("%s+0x%" PRIx64, names_shown(symbol.name), probe->offset - symbol.start);
	return memory_format("0x%" PRIx64, probe->offset);
}

void probe_place(FILE *file, const struct xaudit_read_probe *probe)
{
	char *text = probe_place_text(probe);

	tool_text(file, text);
	free(text);
}

void probe_source(FILE *file, const struct xaudit_read_probe *probe)
{
	struct xaudit_read_symbol symbol;

	xaudit_read_probe_symbol(probe, &symbol);
	if (!srcline_wanted() || !symbol.file)
		return;
	putc(' ', file);
	tool_text(file, symbol.file);
	fprintf(file, ":%" PRIu32, symbol.line);
}

void probe_json(FILE *file, const struct xaudit_read_probe *probe)
{
	struct xaudit_read_symbol symbol;

	xaudit_read_probe_symbol(probe, &symbol);
	fputs("\"probe\":", file);
	json_string(file, probe->name);
	fputs(",\"function\":", file);
	json_string(file, symbol.name);
	names_json(file, symbol.name);
	fputs(",\"library\":", file);
	json_string(file, probe->object->path);
	fprintf(file, ",\"offset\":\"0x%" PRIx64 "\"", probe->offset);
	if (symbol.name)
		fprintf(file, ",\"start\":\"0x%" PRIx64 "\"", symbol.start);
	if (srcline_wanted() && symbol.file) {
		fputs(",\"source\":", file);
		json_string(file, symbol.file);
		fprintf(file, ",\"line\":%" PRIu32, symbol.line);
	}
}
