/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/report_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/base/json.h"
#include "tool/check/finding.h"
#include "tool/check/report.h"
#include "tool/check/stack.h"
#include "tool/check/state.h"
#include "tool/check/suppress.h"
#include "tool/show/term/names.h"

static void put_frame(FILE *to, const struct check_frame *frame)
{
	fprintf(to, "{\"address\":\"0x%" PRIx64 "\",\"function\":", frame->address);
	json_string(to, frame->function);
	names_json(to, frame->function);
	if (frame->object)
		fprintf(to, ",\"offset\":%" PRIu64, frame->offset);
	fputs(",\"object\":", to);
	json_string(to, frame->object);
	if (frame->file) {
		fputs(",\"file\":", to);
		json_string(to, frame->file);
		fprintf(to, ",\"line\":%d", frame->line);
	}
	putc('}', to);
}

static void put_finding(FILE *to, const struct check_finding *f)
{
	fprintf(to,
		"{\"kind\":\"%s\",\"severity\":\"%s\",\"possible\":%s,\"times\":%u,\"text\":", check_kind_name[f->kind],
		f->severity == CHECK_NOTE ? "note" : "error", f->possible ? "true" : "false", f->times);
	json_string(to, f->text);
	fputs(",\"more\":", to);
	json_string(to, f->more);
	fputs(",\"library\":", to);
	json_string(to, f->library);
	fprintf(to, ",\"process\":%d,\"name\":", (int)f->pid);
	json_string(to, f->process);
	fprintf(to, ",\"thread\":%d,\"details\":[", (int)f->tid);
	for (size_t i = 0; i < f->details; i++) {
		if (i)
			putc(',', to);
		json_string(to, f->detail[i]);
	}
	fputs("],\"stacks\":[", to);
	for (int i = 0; i < CHECK_STACKS && f->title[i]; i++) {
		fputs(i ? ",{\"title\":" : "{\"title\":", to);
		json_string(to, f->title[i]);
		fputs(",\"frames\":[", to);
		for (size_t k = 0; k < f->stack[i].count; k++) {
			if (k)
				putc(',', to);
			put_frame(to, &f->stack[i].frame[k]);
		}
		fputs("]}", to);
	}
	fputs("]", to);
	if (check_options.generate) {
		char *text = NULL;
		size_t size = 0;
		FILE *block = open_memstream(&text, &size);

		if (block) {
			check_suppress_put(block, f);
			fclose(block);
			fputs(",\"suppression\":", to);
			json_string(to, text);
			free(text);
		}
	}
	putc('}', to);
}

static void put_end(FILE *to, const char **note, size_t notes, const struct check_sums *sums)
{
	(void)sums; /* readers of the findings can count them */
	fprintf(to, "{\"unloads\":%u,\"processes\":%u,\"suppressed\":%u,", check_counts.unloads, check_counts.processes,
		check_counts.suppressed);
	check_suppress_json(to);
	fputs(",\"notes\":[", to);
	for (size_t i = 0; i < notes; i++) {
		if (i)
			putc(',', to);
		json_string(to, note[i]);
	}
	fputs("],\"findings\":[", to);
	for (const struct check_finding *f = check_findings; f; f = f->next) {
		fputs(f == check_findings ? "\n" : ",\n", to);
		put_finding(to, f);
	}
	fputs("]}\n", to);
}

const struct check_form check_json = { .end = put_end };
