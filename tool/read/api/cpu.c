/* SPDX-License-Identifier: MIT */
#include "tool/read/api/cpu.h"

#include <string.h>

#include "tool/read/api/api.h"
#include "tool/read/sched/records.h"
#include "tool/read/sched/sched.h"
#include "tool/read/sched/sched_cursor.h"

struct read_sched *read_api_sched_file(struct xaudit_read_trace *trace)
{
	if (!trace->sched_known)
		trace->sched = read_sched_open(trace->folder);
	trace->sched_known = true;
	return trace->sched;
}

struct read_sched *read_api_sched(struct xaudit_read_trace *trace)
{
	return trace->info.sched ? read_api_sched_file(trace) : NULL;
}

int xaudit_read_sched(struct xaudit_read_trace *trace, struct xaudit_read_sched *to)
{
	const struct read_sched *sched = read_api_sched_file(trace);
	const struct read_sched_facts *facts = sched ? read_sched_facts(sched) : NULL;

	if (!facts)
		return 0;
	struct xaudit_read_sched own = {
		.size = to->size,
		.holds = (int)facts->holds,
		.error = (int)facts->error,
		.paranoid = facts->paranoid,
		.paranoid_known = facts->paranoid != SCHED_PARANOID_UNKNOWN,
		.cut = facts->cut,
		.switches = facts->switches,
		.preempted = facts->preempted,
		.lost = facts->lost,
		.losses = facts->losses,
	};
	memcpy(to, &own, to->size < sizeof(own) ? to->size : sizeof(own));
	return 1;
}

int xaudit_read_process_cpu(struct xaudit_read_process *process, uint32_t tid, uint64_t *ns)
{
	const struct read_sched *sched = read_api_sched_file(process->trace);

	*ns = 0;
	return sched && read_sched_total(sched, process->read, tid, ns);
}

uint32_t xaudit_read_process_thread(struct xaudit_read_process *process, uint32_t number)
{
	const struct read_sched *sched = read_api_sched_file(process->trace);

	for (uint32_t i = 0; sched && i < sched->threads; i++)
		if (sched->thread[i].pid == process->read->head.pid && sched->thread[i].tid && !number--)
			return sched->thread[i].tid;
	return 0;
}
