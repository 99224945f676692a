/* SPDX-License-Identifier: MIT */
#include "tool/check/report_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool/base/tool.h"
#include "tool/check/finding.h"
#include "tool/check/report.h"
#include "tool/check/stack.h"
#include "tool/check/state.h"
#include "tool/check/suppress.h"
#include "tool/show/term/names.h"

static void put_frame(FILE *to, size_t number, const struct check_frame *frame, const char *library)
{
	fprintf(to, "    #%-2zu ", number);
	if (frame->function) {
		tool_text(to, names_shown(frame->function));
	} else if (frame->object) {
		tool_text(to, check_base(frame->object));
		fprintf(to, "+0x%" PRIx64, frame->offset);
	} else {
		fprintf(to, "0x%" PRIx64, frame->address);
	}
	if (frame->file) {
		fputs(" at ", to);
		tool_text(to, frame->file);
		fprintf(to, ":%d", frame->line);
	}
	if (frame->function && frame->object) {
		fputs(" in ", to);
		tool_text(to, check_base(frame->object));
	}
	if (frame->object && !strcmp(frame->object, library))
		fputs(" (unloaded)", to);
	putc('\n', to);
}

static const char *prefix(const struct check_finding *f)
{
	return f->possible ? "possible " : f->severity == CHECK_NOTE ? "note: " : "";
}

static void put_text(FILE *to, const struct check_finding *f)
{
	fprintf(to, "xaudit check: %s%s: ", prefix(f), check_kind_name[f->kind]);
	tool_text(to, f->text);
	if (f->more) {
		fputs(", ", to);
		tool_text(to, f->more);
	}
	fputs("\n  library ", to);
	tool_text(to, f->library);
	fprintf(to, "\n  process %d \"", (int)f->pid);
	tool_text(to, f->process);
	fputs("\"\n", to);
	for (size_t i = 0; i < f->details; i++) {
		fputs("  ", to);
		tool_text(to, f->detail[i]);
		putc('\n', to);
	}
	for (int i = 0; i < CHECK_STACKS && f->title[i]; i++) {
		fputs("  ", to);
		tool_text(to, f->title[i]);
		fputs(":\n", to);
		for (size_t k = 0; k < f->stack[i].count; k++)
			put_frame(to, k, &f->stack[i].frame[k], f->library);
		if (!f->stack[i].count)
			fputs("    (can't be unwound)\n", to);
	}
	if (check_options.generate)
		check_suppress_put(to, f);
}

static void put_end(FILE *to, const char **note, size_t notes, const struct check_sums *sums)
{
	for (const struct check_finding *f = check_findings; f; f = f->next) {
		if (f->times < 2)
			continue;
		fprintf(to, "xaudit check: %u times: %s%s: ", f->times, prefix(f), check_kind_name[f->kind]);
		tool_text(to, f->text);
		putc('\n', to);
	}
	for (size_t i = 0; i < notes; i++) {
		fputs("xaudit check: ", to);
		tool_text(to, note[i]);
		putc('\n', to);
	}
	fprintf(to, "xaudit check: %u finding%s", sums->errors, sums->errors == 1 ? "" : "s");
	if (sums->others)
		fprintf(to, ", %u note%s", sums->others, sums->others == 1 ? "" : "s");
	if (sums->possible)
		fprintf(to, ", %u possible", sums->possible);
	if (check_counts.suppressed)
		fprintf(to, ", %u suppressed", check_counts.suppressed);
	fprintf(to, "; %u unload%s in %u process%s checked\n", check_counts.unloads,
		check_counts.unloads == 1 ? "" : "s", check_counts.processes,
		check_counts.processes == 1 ? "" : "es");
}

const struct check_form check_text = { .finding = put_text, .end = put_end };
