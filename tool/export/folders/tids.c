/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/tids.h"

#include <stdlib.h>

#include "tool/base/memory.h"

static uint32_t find(const struct tids *tids, uint32_t tid, bool process)
{
	return HASH_FIND(i, &tids->table, hash_key(tid, process),
		tids->one[i].tid == tid && tids->one[i].process == process);
}

static void add(struct tids *tids, uint32_t tid, bool process, const struct xaudit_read_process *owner, uint64_t over)
{
	tids->one = memory_grow(tids->one, tids->count, sizeof(*tids->one));
	tids->one[tids->count] = (struct tids_one){ tid, process, over, owner };
	memory_hash(&tids->table, hash_key(tid, process), tids->count++);
}

static uint32_t give(struct tids *tids, uint32_t wanted, bool process, struct xaudit_read_process *owner)
{
	const struct xaudit_read_process_info *info = xaudit_read_process_info(owner);
	uint32_t number = find(tids, wanted, process);

	if (number == HASH_NONE) {
		add(tids, wanted, process, owner, info->end);
		return wanted;
	}
	if (tids->one[number].owner != owner && tids->one[number].over <= info->start) {
		tids->one[number].owner = owner;
		tids->one[number].over = info->end;
		return wanted;
	}
	do
		wanted = TIDS_MADE + ++tids->made;
	while (find(tids, wanted, false) != HASH_NONE || find(tids, wanted, true) != HASH_NONE);
	add(tids, wanted, process, owner, info->end);
	return wanted;
}

uint32_t tids_track(struct tids *tids, const struct export_track *track)
{
	uint32_t pid = xaudit_read_process_info(track->process)->pid;

	/* The first thread of a process whose number was made up has that. */
	return give(tids, track->tid == pid ? tids_pid(tids, track->process) : track->tid, false, track->process);
}

void tids_begin(struct tids *tids, struct xaudit_read_trace *trace)
{
	uint32_t count = xaudit_read_trace_info(trace)->processes;

	tids->process = memory_zeroed(count + 1, sizeof(*tids->process));
	for (uint32_t i = 0; i < count; i++) {
		struct xaudit_read_process *process = xaudit_read_process(trace, i);

		tids->process[i].process = process;
		tids->process[i].pid = give(tids, xaudit_read_process_info(process)->pid, true, process);
		memory_hash(&tids->by_process, hash_key((uintptr_t)process, 0), tids->processes++);
	}
}

uint32_t tids_pid(const struct tids *tids, const struct xaudit_read_process *process)
{
	uint32_t number = HASH_FIND(i, &tids->by_process, hash_key((uintptr_t)process, 0),
		tids->process[i].process == process);

	return number == HASH_NONE ? 0 : tids->process[number].pid;
}

void tids_free(struct tids *tids)
{
	free(tids->one);
	free(tids->process);
	hash_free(&tids->table);
	hash_free(&tids->by_process);
}
