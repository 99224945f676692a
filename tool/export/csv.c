/* SPDX-License-Identifier: MIT */
#include "tool/export/csv.h"

#include <inttypes.h>

static void put_text(FILE *to, const char *text)
{
	putc_unlocked('"', to);
	for (; *text; text++) {
		if (*text == '"')
			putc_unlocked('"', to);
		putc_unlocked(*text, to);
	}
	putc_unlocked('"', to);
}

static void begin(struct export *export)
{
	fputs("pid,tid,track,depth,start_ns,duration_ns,self_ns,function,library\r\n", export->out.file);
}

static void leave(struct export *export, const struct export_call *is)
{
	const struct xaudit_read_call *call = is->call;
	FILE *to = export->out.file;

	fprintf(to, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",",
		xaudit_read_process_info(call->process)->pid, call->tid, is->track->number, is->depth,
		export_after(export, is->start));
	if (is->known)
		fprintf(to, "%" PRIu64, export_duration(export, call));
	fprintf(to, ",%" PRIu64 ",", call->self);
	put_text(to, call->function->name);
	putc_unlocked(',', to);
	put_text(to, call->function->object->path);
	fputs("\r\n", to);
}

const struct export_format export_csv = {
	.name = "csv",
	.help = "a row per call, for spreadsheets and databases",
	.text = true,
	.begin = begin,
	.leave = leave,
};
