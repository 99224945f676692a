/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tool/read/api/api.h"
#include "tool/read/damage/memory.h"

#define SIZE_FIRST 16

static uint32_t hash(const struct xaudit_read_process *process, uint32_t tid)
{
	return (process->number * 0x9e3779b1u ^ tid) * 0x85ebca6bu >> 7;
}

/* Where the thread is in the table by process and tid: the index + 1; or 0, in the place for it. */
static uint32_t *find(const struct xaudit_read_trace *trace, const struct xaudit_read_process *process, uint32_t tid)
{
	uint32_t mask = trace->by_tid_size - 1, at = hash(process, tid) & mask;

	for (uint32_t *slot; *(slot = &trace->by_tid[at]); at = (at + 1) & mask) {
		const struct xaudit_read_thread *thread = &trace->thread[*slot - 1]->public;
		if (thread->process == process && thread->tid == tid)
			break;
	}
	return &trace->by_tid[at];
}

static bool grow(struct xaudit_read_trace *trace)
{
	uint32_t size = trace->by_tid_size ? trace->by_tid_size * 2 : SIZE_FIRST;
	struct read_damage *damage = &trace->folder->damage;
	uint32_t *table;

	if (!read_memory_resize(damage, &trace->thread, size / 2, sizeof(*trace->thread)) ||
		!(table = read_memory_zeroed(damage, size, sizeof(*table))))
		return false;
	free(trace->by_tid);
	trace->by_tid = table;
	trace->by_tid_size = size;
	for (uint32_t i = 0; i < trace->threads; i++)
		*find(trace, trace->thread[i]->public.process, trace->thread[i]->public.tid) = i + 1;
	return true;
}

void read_api_thread(struct xaudit_read_process *process, uint32_t tid, const char comm[READ_API_COMM])
{
	struct xaudit_read_trace *trace = process->trace;
	struct read_api_thread *thread;

	if (trace->threads * 2 >= trace->by_tid_size && !grow(trace))
		return;
	uint32_t *slot = find(trace, process, tid);
	if (!*slot) {
		thread = read_memory_zeroed(&trace->folder->damage, 1, sizeof(*thread));
		if (!thread)
			return;
		thread->public = (struct xaudit_read_thread){ process, tid, trace->threads, thread->name };
		trace->thread[trace->threads++] = thread;
		*slot = trace->threads;
	}
	thread = trace->thread[*slot - 1];
	if (comm[0])
		memcpy(thread->name, comm, READ_API_COMM);
}

uint32_t xaudit_read_threads(const struct xaudit_read_trace *trace)
{
	return trace->threads;
}

const struct xaudit_read_thread *xaudit_read_thread(const struct xaudit_read_trace *trace, uint32_t number)
{
	return number < trace->threads ? &trace->thread[number]->public : NULL;
}

void read_api_free_threads(struct xaudit_read_trace *trace)
{
	for (uint32_t i = 0; i < trace->threads; i++)
		free(trace->thread[i]);
	free(trace->thread);
	free(trace->by_tid);
}
