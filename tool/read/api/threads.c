/* SPDX-License-Identifier: MIT */
#include "tool/read/api/threads.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/api/api.h"
#include "tool/read/damage/memory.h"

/* HASH_NONE: it was not met. */
static uint32_t find(const struct xaudit_read_process *process, uint32_t tid)
{
	const struct xaudit_read_trace *trace = process->trace;

	return HASH_FIND(i, &trace->by_tid, hash_key(process->number, tid),
		trace->thread[i]->public.process == process && trace->thread[i]->public.tid == tid);
}

/* The thread's number, made if it is new; HASH_NONE: there is no memory. */
static uint32_t number_of(struct xaudit_read_process *process, uint32_t tid)
{
	struct xaudit_read_trace *trace = process->trace;
	struct read_damage *damage = &trace->folder->damage;
	uint32_t number = find(process, tid);
	struct read_api_thread *thread;

	if (number != HASH_NONE)
		return number;
	if (!read_memory_grow(damage, &trace->thread, trace->threads, sizeof(*trace->thread)) ||
		!(thread = read_memory_zeroed(damage, 1, sizeof(*thread))))
		return HASH_NONE;
	if (!read_memory_hash(damage, &trace->by_tid, hash_key(process->number, tid), trace->threads)) {
		free(thread);
		return HASH_NONE;
	}
	thread->public = (struct xaudit_read_thread){ process, tid, trace->threads, thread->name };
	trace->thread[trace->threads] = thread;
	return trace->threads++;
}

void read_api_thread(struct xaudit_read_process *process, uint32_t tid, const char comm[READ_API_COMM])
{
	uint32_t number = number_of(process, tid);

	if (number != HASH_NONE && comm[0])
		memcpy(process->trace->thread[number]->name, comm, READ_API_COMM);
}

const char *read_api_thread_name(const struct xaudit_read_process *process, uint32_t tid)
{
	uint32_t number = find(process, tid);

	return number == HASH_NONE ? "" : process->trace->thread[number]->name;
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
	hash_free(&trace->by_tid);
}
