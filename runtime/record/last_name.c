/* SPDX-License-Identifier: MIT */
#include "runtime/record/last_name.h"

#include "format/trace.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

struct name {
	uint64_t half[2];
};
_Static_assert(sizeof(struct name) == sizeof(((struct trace_chunk *)0)->comm), "all of a name");
_Static_assert(sizeof(struct name) == sizeof(((struct trace_counts *)0)->comm), "all of a name");
_Static_assert(offsetof(struct trace_chunk, comm) % 8 == 0, "stores of 8 bytes");
_Static_assert(offsetof(struct trace_counts, comm) % 8 == 0, "stores of 8 bytes");

static void store(char *comm, const struct name *name)
{
	uint64_t *to = (uint64_t *)(void *)comm;

	/* Relaxed, both: a reader takes whatever it sees; nothing depends on it. */
	__atomic_store_n(&to[0], name->half[0], __ATOMIC_RELAXED);
	__atomic_store_n(&to[1], name->half[1], __ATOMIC_RELAXED); /* relaxed: see above */
}

void last_name_note(struct thread *thread)
{
	struct name name = { { 0, 0 } };
	uint64_t before;

	if (confined())
		return;
	sys_block_signals(&before);
	uint32_t tid = (uint32_t)sys_gettid();
	/* Not of a child that shares our memory; and a handler may have forked before, and this be the child. */
	if (thread->tid == tid && !sys_thread_name(&name)) {
		/* chunk_bit: the chunk is not finished, so nobody else has it yet. */
		if (thread->chunk && thread->hot.chunk_bit && thread->chunk->tid == tid)
			store(thread->chunk->comm, &name);
		if (thread->counts && thread->counts->tid == tid)
			store(thread->counts->comm, &name);
	}
	sys_set_signals(&before, NULL);
}
