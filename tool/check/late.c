/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/late.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/check/finding.h"
#include "tool/check/report.h"
#include "tool/check/stack.h"
#include "tool/check/tasks.h"
#include "tool/show/term/names.h"

#define STACK_KEEP (256u << 10)

/*
 * Between its unmapping and the module's word of that, a library counts as unloaded when its memory is gone: until
 * then, whatever faulted there, it was not that.
 */
static const struct check_unload *find(struct check_process *process, uint64_t address)
{
	for (size_t i = process->unloads; i-- > 0;) {
		const struct check_unload *u = process->unload[i];
		char byte;

		if (address >= u->at.start && address < u->at.end)
			return u->when || !check_read(process, address, &byte, 1) ? u : NULL;
	}
	return NULL;
}

/* "close_plugins (host.c:42)", or an address. */
static char *describe(const struct check_frame *frame)
{
	if (!frame)
		return NULL;
	if (frame->function && frame->file)
		return memory_format("%s (%s:%d)", names_shown(frame->function), check_base(frame->file), frame->line);
	if (frame->function)
		return memory_format("%s of %s", names_shown(frame->function), check_base(frame->object));
	if (frame->object)
		return memory_format("%s+0x%" PRIx64, check_base(frame->object), frame->offset);
	return memory_format("0x%" PRIx64, frame->address);
}

void check_late(struct check_task *task, uint64_t address)
{
	struct check_process *process = task->process;
	uint64_t now = tool_now();
	struct check_snapshot *s = check_snapshot(task, STACK_KEEP);

	if (!s)
		return;
	const struct check_unload *called = find(process, s->regs[REMOTE_DWARF_PC]),
				  *used = called ? called : find(process, address);
	if (!used) {
		check_snapshot_free(s);
		return;
	}
	struct check_names *names = check_names_begin(process, used);
	struct check_frame place;
	struct check_finding *f;
	char *who = NULL;

	uint64_t at = called ? s->regs[REMOTE_DWARF_PC] : address;
	check_name(names, at, true, &place);
	char *name = place.function
			     ? memory_format("%s", names_shown(place.function))
			     : memory_format("offset 0x%" PRIx64, at - used->at.base);
	if (used->by) {
		struct check_stack stack;

		check_unwind(names, used->by, &stack);
		check_stack_name(names, &stack);
		who = describe(check_stack_culprit(&stack));
		check_stack_free(&stack);
	}
	uint64_t ms = used->when ? (now - used->when) / 1000000 : 0;
	if (called)
		f = check_finding(CHECK_LATE_CALL, process, task->tid, used->path,
			place.function && place.offset ? "return into %s of %s" : "call into %s of %s", name,
			check_base(used->path));
	else
		f = check_finding(CHECK_LATE_ACCESS, process, task->tid, used->path, "use of %s of %s", name,
			check_base(used->path));
	f->more = memory_format("unloaded %" PRIu64 " ms ago%s%s", ms, who ? " by " : "", who ? who : "");
	check_finding_stack(f, names, s, called ? "entered by" : "used by");
	if (used->by)
		check_finding_closer(f, names, used->by, "unloaded by");
	check_found(f);
	free(who);
	free(name);
	check_frame_free(&place);
	check_names_end(names);
	check_snapshot_free(s);
}
