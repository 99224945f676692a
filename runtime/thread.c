/* SPDX-License-Identifier: MIT */
#include "runtime/thread.h"

#include <errno.h>    /* ESRCH */
#include <sys/mman.h> /* MADV_WIPEONFORK */

#include "runtime/process.h"
#include "runtime/recorder.h"
#include "runtime/sys.h"

#define RECORD_SIZE  256 /* two pairs of cache lines: no two threads share one */
#define SLAB_SIZE    (64ul << 10)
#define SLAB_RECORDS (SLAB_SIZE / RECORD_SIZE)
#define MAX_SLABS    4096 /* a million threads at once */

_Static_assert(sizeof(struct thread) <= RECORD_SIZE, "a record fits");

__thread struct tramp_state *tramp_self;

static uint8_t *slabs[MAX_SLABS]; /* survive fork; the records in them don't. Process lock. */

static struct thread *record(unsigned n)
{
	return (struct thread *)(slabs[n / SLAB_RECORDS] + n % SLAB_RECORDS * RECORD_SIZE);
}

static int is_gone(uint32_t pid, uint32_t tid)
{
	return sys_call(__NR_tgkill, (long)pid, (long)tid, 0, 0, 0, 0) == -ESRCH;
}

/* A free record, or one whose thread is gone. Lock held. */
static struct thread *find(uint32_t pid, uint32_t tid)
{
	static unsigned start; /* where the last one was found: the ones before are likely in use */
	unsigned total = 0;

	while (total < MAX_SLABS * SLAB_RECORDS && slabs[total / SLAB_RECORDS])
		total += SLAB_RECORDS;
	for (unsigned i = 0; i < total; i++) {
		unsigned n = (start + i) % total;
		struct thread *thread = record(n);
		/* A record with our own tid that is not ours: its thread died and the kernel gave us its number. */
		if (!thread->tid || thread->tid == tid || is_gone(pid, thread->tid)) {
			start = n;
			return thread;
		}
	}
	if (total == MAX_SLABS * SLAB_RECORDS)
		return NULL;
	uint8_t *slab = sys_mmap(NULL, SLAB_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(slab))
		return NULL;
	if (sys_madvise(slab, SLAB_SIZE, MADV_WIPEONFORK)) {
		sys_munmap(slab, SLAB_SIZE);
		return NULL;
	}
	slabs[total / SLAB_RECORDS] = slab;
	start = total;
	return record(total);
}

struct thread *thread_get(void)
{
	struct process_held held;
	struct thread *thread = thread_self();

	if (thread)
		return thread;
	if (process_state() == PROCESS_OFF)
		return NULL;
	process_lock(&held);
	/* Signals are blocked now. A handler may have made the record in between. */
	thread = thread_self();
	if (!thread && process_start() == PROCESS_ON) {
		uint32_t tid = (uint32_t)sys_gettid();
		thread = find(process_pid(), tid);
		if (thread) {
			int again = thread->tid != 0;
			thread->tid = tid;
			thread->stack = NULL;
			thread->hot.stack_low = thread->hot.stack_size = thread->hot.top = 0;
			if (again)
				recorder_thread_changed(thread);
			tramp_self = &thread->hot;
		}
	}
	process_unlock(&held);
	return thread;
}
