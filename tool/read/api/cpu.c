/* SPDX-License-Identifier: MIT */
#include "tool/read/api/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/api/api.h"
#include "tool/read/api/trace.h"
#include "tool/read/damage/memory.h"
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

/* ---- one state after another ---- */

struct xaudit_read_runs {
	const struct read_clock *clock;
	struct read_sched_cursor cursor;
	uint64_t from, to;	    /* ticks: of the process's life */
	struct xaudit_read_run run; /* that comes next; state 0: none is known yet */
	bool ended;
};

struct xaudit_read_runs *xaudit_read_runs(
	struct xaudit_read_process *process, uint32_t tid, struct xaudit_read_error *error)
{
	const struct read_sched *sched = read_api_sched(process->trace);
	struct xaudit_read_runs *runs = read_memory_zeroed(&process->trace->folder->damage, 1, sizeof(*runs));

	if (!runs) {
		read_api_error(error, XAUDIT_READ_NO_MEMORY, "out of memory");
		return NULL;
	}
	runs->clock = &process->read->clock;
	runs->ended = !sched;
	if (sched) {
		read_sched_begin(&runs->cursor, sched, process->read, tid);
		read_sched_life(process->trace->folder, process->read, &runs->from, &runs->to);
	}
	return runs;
}

static int state_of(uint32_t state)
{
	static const int states[] = { [READ_SCHED_ON] = XAUDIT_READ_RUN_ON, [READ_SCHED_WAITS] = XAUDIT_READ_RUN_WAITS,
		[READ_SCHED_READY] = XAUDIT_READ_RUN_PREEMPTED, [READ_SCHED_UNKNOWN] = XAUDIT_READ_RUN_UNKNOWN };

	return states[state];
}

/* The next part of the cursor's that belongs to the process, and has a length. Its state is 0: the thread is none. */
static bool next_part(struct xaudit_read_runs *runs, struct xaudit_read_run *run)
{
	struct read_sched_run next;

	while (!runs->ended && read_sched_next(&runs->cursor, &next)) {
		uint64_t from = next.from > runs->from ? next.from : runs->from;
		uint64_t to = next.to < runs->to ? next.to : runs->to;
		/* Before the first record that there may be, nothing is known, and that is told by nothing. */
		if (from >= to || (!next.from && next.state == READ_SCHED_UNKNOWN))
			continue;
		run->from = read_clock_time(runs->clock, from);
		run->to = read_clock_time(runs->clock, to);
		run->state = next.state == READ_SCHED_NONE ? 0 : state_of(next.state);
		if (run->from < run->to)
			return true;
	}
	runs->ended = true;
	return false;
}

int xaudit_read_next_run(struct xaudit_read_runs *runs, struct xaudit_read_run *run)
{
	struct xaudit_read_run next;

	while (next_part(runs, &next)) {
		bool more = runs->run.state == next.state;
		*run = runs->run;
		if (more)
			runs->run.to = next.to;
		else
			runs->run = next;
		if (!more && run->state)
			return 1;
	}
	*run = runs->run;
	runs->run = (struct xaudit_read_run){ 0 };
	return run->state != 0;
}

void xaudit_read_runs_close(struct xaudit_read_runs *runs)
{
	free(runs);
}
