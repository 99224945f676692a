/* SPDX-License-Identifier: MIT */
/* The format csv of `xaudit export`: a row per call, times in ns (RFC 4180). One thread. */
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"
#include "tool/export/format.h"
#include "tool/export/rows/buffer.h"
#include "tool/show/term/names.h"
#include "tool/show/values.h"

struct csv {
	struct buffer row;
	struct buffers function; /* by number: its columns, with commas around them; empty: not yet made */
	const struct xaudit_read_process *process; /* whose columns these are: */
	struct buffer of_process;
	bool terminal; /* nothing may steer it */
};

/* In quotes. What is no UTF-8 becomes U+FFFD; on a terminal what would steer it, too. */
static void put_text(struct buffer *to, const char *text, bool terminal)
{
	const unsigned char *at = (const unsigned char *)text;

	buffer_char(to, '"');
	while (*at) {
		size_t length = text_utf8(at);

		if (!length || (terminal && text_is_control(at, length)))
			buffer_text(to, "\xef\xbf\xbd");
		else
			buffer_bytes(to, at, length);
		if (*at == '"')
			buffer_char(to, '"');
		at += length ? length : 1;
	}
	buffer_char(to, '"');
}

static void begin(struct export *export)
{
	struct csv *csv = export->state = memory_zeroed(1, sizeof(*csv));

	csv->terminal = export->out.file == stdout && isatty(STDOUT_FILENO);
	fputs("host,pid,tid,thread,track,id,parent,depth,time,start_ns,duration_ns,self_ns,cpu_ns,how,function,library,"
	      "request,values\r\n",
		export->out.file);
}

static void put_process(struct csv *csv, struct xaudit_read_process *process)
{
	const struct xaudit_read_process_info *info = xaudit_read_process_info(process);

	if (csv->process != process) {
		csv->process = process;
		csv->of_process.size = 0;
		char *host = export_host(process);
		put_text(&csv->of_process, host, csv->terminal);
		free(host);
		buffer_char(&csv->of_process, ',');
		buffer_number(&csv->of_process, info->pid);
		buffer_char(&csv->of_process, ',');
	}
	buffer_bytes(&csv->row, csv->of_process.data, csv->of_process.size);
}

static void put_function(struct csv *csv, const struct xaudit_read_function *function)
{
	struct buffer *columns = buffers_one(&csv->function, function->number);

	if (!columns->size) {
		put_text(columns, names_full(function->name), csv->terminal);
		buffer_char(columns, ',');
		put_text(columns, function->object->path, csv->terminal);
		buffer_char(columns, ',');
	}
	buffer_bytes(&csv->row, columns->data, columns->size);
}

static void put_times(struct export *export, struct buffer *row, const struct export_call *is)
{
	const struct xaudit_read_call *call = is->call;

	if (export->info->start_real)
		buffer_moment(row, export_real(export, is->start));
	buffer_char(row, ',');
	buffer_number(row, export_after(export, is->start));
	buffer_char(row, ',');
	if (is->known)
		buffer_number(row, export_duration(export, call));
	buffer_char(row, ',');
	buffer_number(row, call->self);
	buffer_char(row, ',');
	if (call->cpu != XAUDIT_READ_UNKNOWN)
		buffer_number(row, call->cpu);
	buffer_char(row, ',');
}

static void leave(struct export *export, const struct export_call *is)
{
	const struct xaudit_read_call *call = is->call;
	struct csv *csv = export->state;
	struct buffer *row = &csv->row;
	uint64_t parent = export_parent(call);
	char *values = export->values ? values_text(call) : NULL;

	put_process(csv, call->process);
	buffer_number(row, call->tid);
	buffer_char(row, ',');
	put_text(row, is->track->name, csv->terminal);
	buffer_char(row, ',');
	buffer_number(row, is->track->number);
	buffer_char(row, ',');
	buffer_number(row, export_id(call));
	buffer_char(row, ',');
	if (parent)
		buffer_number(row, parent);
	buffer_char(row, ',');
	buffer_number(row, is->depth);
	buffer_char(row, ',');
	put_times(export, row, is);
	buffer_text(row, export_how(call));
	buffer_char(row, ',');
	put_function(csv, call->function);
	if (call->request)
		put_text(row, call->request, csv->terminal);
	buffer_char(row, ',');
	if (values)
		put_text(row, values, csv->terminal);
	buffer_text(row, "\r\n");
	free(values);
	if (row->size >= 1u << 16)
		buffer_write(row, export->out.file);
}

static void end(struct export *export)
{
	struct csv *csv = export->state;

	buffer_write(&csv->row, export->out.file);
}

static void free_state(struct export *export)
{
	struct csv *csv = export->state;

	buffer_free(&csv->row);
	buffer_free(&csv->of_process);
	buffers_free(&csv->function);
	free(csv);
}

const struct export_format export_csv = {
	.name = "csv",
	.help = "a row per call, for spreadsheets and databases",
	.text = true,
	.begin = begin,
	.leave = leave,
	.end = end,
	.free_state = free_state,
};
