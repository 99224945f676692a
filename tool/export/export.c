/* SPDX-License-Identifier: MIT */
/* xaudit export: a trace in the formats that other tools read. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/format.h"
#include "tool/export/pass.h"
#include "tool/show/calls/view.h"

struct own {
	struct view_options options;
	struct export_pass_options pass;
	const struct export_format *format;
	const char *output;
	const char *server; /* --to=URL; NULL */
	bool values;	    /* --values */
	struct event_formats events;
};

/* "chrome, perfetto or csv"; the caller frees it. */
static char *format_words(void)
{
	char *words = memory_text("", 0);

	for (unsigned i = 0; export_formats[i]; i++) {
		const char *between = !i ? "" : export_formats[i + 1] ? ", " : " or ";
		char *more = memory_format("%s%s%s", words, between, export_formats[i]->name);

		free(words);
		words = more;
	}
	return words;
}

static bool take_format(const struct options_given *given)
{
	struct own *own = given->context;
	char *words;

	for (unsigned i = 0; export_formats[i]; i++)
		if (!strcmp(given->value, export_formats[i]->name)) {
			own->format = export_formats[i];
			return true;
		}
	words = format_words();
	options_wrong(given, words);
	free(words);
	return false;
}

/* A time, as for other commands, or where to send rows. */
static bool take_to(const struct options_given *given)
{
	struct own *own = given->context;
	const char *wrong;

	if (strncmp(given->value, "http", 4))
		return options_span_end(given);
	wrong = export_rowbinary.server_wrong(given->value);
	if (wrong) {
		tool_error("export", "--to: %s", wrong);
		return false;
	}
	own->server = given->value;
	return true;
}

/* Prints the tables at once, since this is about no trace. */
static bool take_schema(const struct options_given *given)
{
	if (!export_rowbinary.schema(stdout, given->value))
		return options_wrong(given, "clickhouse or clickhouse-18, alone or with :CLUSTER");
	exit(tool_flush("export"));
}

static void list_formats(void)
{
	puts("\nFormats:");
	for (unsigned i = 0; export_formats[i]; i++)
		printf("  %-11s %s\n", export_formats[i]->name, export_formats[i]->help);
}

static const struct options_row rows[] = {
	{ 0, "format", "FORMAT", "one of the formats below", .take = take_format },
	{ 'o', "output", "FILE", "write there, not to standard output; of formats of several\nfiles a new folder",
		.take = options_text, .at = offsetof(struct own, output) },
	{ 0, "min", "TIME", "only calls that took as long", .take = options_span_end,
		.at = offsetof(struct own, pass.min), .allowed = OPTIONS_SPAN_END },
	{ 0, "event-format", "TYPE=FORMAT", "fields of the data of custom events, as for dump",
		.take = event_format_take, .at = offsetof(struct own, events), .wrong = "%o can't be '%v': %a" },
	SHOW_NO_VALUES,
	{ 0, "values", NULL, "with --to=URL: arguments and results, too, which else stay\nhere", .take = options_flag,
		.at = offsetof(struct own, values) },
	{ 0, "schema", "KIND", "print the tables for --to=URL: clickhouse, or clickhouse-18\nfor version 18.16; with "
		":CLUSTER for several servers", .take = take_schema },
	VIEW_CALLS_TO({ 0, "to", "TIME|URL", "only calls that began before that; or, as\n"
		"http://HOST:PORT/, load them into ClickHouse", .take = take_to,
		.at = offsetof(struct view_options, to), .allowed = OPTIONS_SPAN_END ", or a URL" }),
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "export",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit export --format=FORMAT [OPTION]... [DIR]\n"
		"Writes the calls of the trace in DIR (default: " TOOL_FOLDER ") in a format that\n"
		"other tools read.\n"
		"\n"
		"Options:\n",
	.more = list_formats,
	.prose = true,
};

static bool begin_output(struct export *export, const char *output)
{
	if (export->server)
		return true;
	if (!export->format->folder)
		return out_file_begin(&export->out, "export", output, export->format->text);
	export->path = output;
	export->folder = out_folder("export", output);
	return export->folder >= 0;
}

static bool is_complete(const struct own *own)
{
	char *words;

	if (own->server && (own->output || (own->format && own->format != &export_rowbinary))) {
		tool_error("export", "--to=URL sends rows of --format=rowbinary, and has no other output");
		return false;
	}
	if (own->values && !own->server) {
		tool_error("export", "--values is for --to=URL; a file has them, unless --no-values is given");
		return false;
	}
	if (!own->format) {
		words = format_words();
		tool_error("export", "--format is missing: %s", words);
		free(words);
		return false;
	}
	if ((!own->format->folder && !own->format->file) || (own->output && strcmp(own->output, "-")))
		return true;
	if (own->format->folder)
		tool_error("export", "--format=%s has several files: -o names a new folder for them",
			own->format->name);
	else
		tool_error("export", "--format=%s writes all over a file: -o names it", own->format->name);
	return false;
}

/* Writes the trace. Returns whether all of it was written. */
static bool write_trace(const struct own *own, struct xaudit_read_trace *trace)
{
	struct export export = { .trace = trace, .info = xaudit_read_trace_info(trace), .format = own->format,
		.folder = -1, .values = !own->options.show.no_values && (!own->server || own->values),
		.requests = !own->options.show.no_values, .server = own->server,
		.from = view_from(trace, &own->options), .to = view_to(trace, &own->options), .events = own->events };

	if (!begin_output(&export, own->output))
		return false;
	bool good = export_pass(&export, &own->pass);
	if (export.out.file)
		return out_file_end(&export.out, good || !export.failed) && good;
	if (export.folder >= 0)
		close(export.folder);
	return good;
}

int export_main(int argc, char **argv)
{
	struct own own = { 0 };
	int status = view_open_one(&own.options, &syntax, argc, argv);

	if (status < 0) {
		if (own.server && !own.format)
			own.format = &export_rowbinary;
		own.pass.tid = own.options.tid;
		status = !is_complete(&own) ? TOOL_USAGE :
			 write_trace(&own, own.options.many.trace[0]) ? TOOL_OK : TOOL_FAILED;
		status = view_close(&own.options, status);
	}
	event_format_free(&own.events);
	return status;
}
