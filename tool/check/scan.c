/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/check/report.h"
#include "tool/check/stack.h"
#include "tool/check/tasks.h"
#include "tool/show/term/names.h"
#include "x86_64/libc.h"

bool check_scan_begin(struct check_scan *s, struct check_task *task, const struct check_unload *unload,
	const struct check_message *message)
{
	struct check_snapshot *snapshot = check_snapshot(task, 0);

	if (!snapshot)
		return false;
	*s = (struct check_scan){ .task = task, .unload = unload, .message = message };
	check_read(task->process, snapshot->thread + LIBC_GUARD, &s->guard, sizeof(s->guard));
	check_snapshot_free(snapshot);
	return true;
}

void check_scan_end(struct check_scan *s)
{
	free(s->told);
	if (s->made_names)
		check_names_end(s->made_names);
}

struct check_names *check_scan_names(struct check_scan *s)
{
	if (!s->made_names)
		s->made_names = check_names_begin(s->task->process, s->unload);
	return s->made_names;
}

bool check_scan_hit(const struct check_scan *s, uint64_t address)
{
	return address >= s->unload->at.text_start && address < s->unload->at.text_end;
}

uint64_t check_scan_demangle(const struct check_scan *s, uint64_t word)
{
	return libc_unmangle(word, s->guard);
}

bool check_scan_told(const struct check_scan *s, uint64_t at)
{
	for (size_t i = 0; i < s->tolds; i++)
		if (s->told[i] == at)
			return true;
	return false;
}

void check_scan_found(struct check_scan *s, enum check_kind kind, pid_t tid, const char *what, uint64_t at,
	uint64_t address, char *detail)
{
	struct check_names *names = check_scan_names(s);
	struct check_frame frame;

	check_name(names, address, true, &frame);
	char *name = frame.function ? memory_format("%s", names_shown(frame.function))
				    : memory_format("offset 0x%" PRIx64, address - s->unload->at.base);
	struct check_finding *f = check_finding(kind, s->task->process, tid, s->unload->path,
		"%s is %s of %s, which is unloaded", what, name, check_base(s->unload->path));
	if (detail)
		check_finding_detail(f, detail);
	if (s->unload->by)
		check_finding_closer(f, names, s->unload->by, "unloaded by");
	check_found(f);
	s->told = memory_resize(s->told, s->tolds + 1, sizeof(*s->told));
	s->told[s->tolds++] = at;
	free(name);
	check_frame_free(&frame);
}

bool check_is_libc(const char *file)
{
	static const char *const libc[] = {"libc.so.6", "libc-2.", "libpthread.so.0", "libpthread-2."};

	for (size_t i = 0; file && i < sizeof(libc) / sizeof(*libc); i++)
		if (!strncmp(file, libc[i], strlen(libc[i])))
			return true;
	return false;
}
