/* SPDX-License-Identifier: MIT */
#include "audit/start/loader_time.h"

#include "format/trace.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"

static struct {
	int open, unmaps;
	uint32_t tid;
	uint64_t begin, own;
} work;

void loader_time_begin(int unmaps)
{
	work.open = 1;
	work.unmaps = unmaps;
	work.tid = thread_number();
	work.own = 0;
	work.begin = clock_now();
}

uint64_t loader_time_pause(void)
{
	return work.open ? clock_now() : 0;
}

void loader_time_resume(uint64_t paused)
{
	if (paused)
		work.own += clock_now() - paused;
}

void loader_time_end(uint64_t now)
{
	struct trace_loader record = { .head = { .type = TRACE_REC_LOADER } };

	if (!work.open)
		return;
	work.open = 0;
	record.unmaps = (uint32_t)work.unmaps;
	record.tid = thread_number();
	record.begin = work.begin;
	record.end = now;
	record.own = work.own;
	if (record.tid == work.tid && process_head())
		process_append(&record.head, sizeof(record), NULL, 0);
}
