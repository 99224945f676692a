/* SPDX-License-Identifier: MIT */
#include "runtime/process/process_counters.h"

#include <errno.h> /* EFBIG */
#include <stdbool.h>

#include "runtime/files/pool.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/process/state.h"
#include "x86_64/confined.h"

/* Here, since process.c stands on this file. */
struct process *process;

void process_count(uint64_t *counter, uint64_t n)
{
	/* Relaxed: a sum that orders nothing. */
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

void process_count_stream(uint64_t n)
{
	process_count(&process->stream_bytes, n);
	process_count(&process->head->stream_bytes, n);
}

uint64_t process_stream_bytes(void)
{
	return __atomic_load_n(&process->stream_bytes, __ATOMIC_RELAXED); /* relaxed, as above */
}

enum trace_lost process_cause(long error)
{
	switch (-error) {
	case ENOSPC:
	case EDQUOT:
		return TRACE_LOST_DISK;
	case EFBIG:
		return TRACE_LOST_FILE_SIZE;
	case PROCESS_FULL:
		return TRACE_LOST_SIZE_LIMIT;
	case EMFILE:
	case ENFILE:
		return TRACE_LOST_DESCRIPTORS;
	case EPERM:
		return confined() ? TRACE_LOST_FILTER : TRACE_LOST_RIGHTS;
	case EACCES:
	case EROFS:
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
	case ESTALE:
		return TRACE_LOST_RIGHTS;
	case ENOMEM:
		return TRACE_LOST_MEMORY;
	case ENOBUFS:
		return TRACE_LOST_PLACES;
	case EOVERFLOW:
		return TRACE_LOST_OVERFLOW;
	case EBUSY: /* all places have custom events that are being written */
		return TRACE_LOST_CUSTOM;
	}
	return TRACE_LOST_OTHER;
}

static void count_lost(struct trace_head *head, enum trace_lost cause, uint64_t n)
{
	process_count(&head->lost_by[cause], n);
	process_count(&head->lost, n);
}

/* What was lost before there was a head goes into it, once. */
void process_count_earlier(struct trace_head *head)
{
	for (int i = 0; i < TRACE_LOST_COUNT; i++) {
		/*
		 * Sequentially consistent, with the store of head before it: pairs with the addition in process_lose().
		 */
		uint64_t n = __atomic_exchange_n(&process->lost[i], 0, __ATOMIC_SEQ_CST);
		if (n)
			count_lost(head, (enum trace_lost)i, n);
	}
}

void process_lose(enum trace_lost cause)
{
	struct trace_head *head = process->head ? process->head : process->elsewhere;

	if (head) {
		count_lost(head, cause, 1);
		return;
	}
	/*
	 * A head that comes meanwhile has taken the sum with this in it, or is seen here: this pairs with
	 * process_count_earlier().
	 */
	__atomic_fetch_add(&process->lost[cause], 1, __ATOMIC_SEQ_CST);
	head = __atomic_load_n(&process->head, __ATOMIC_SEQ_CST); /* after the addition, as above */
	if (!head)
		/* as above; pairs with process_refuse() */
		head = __atomic_load_n(&process->elsewhere, __ATOMIC_SEQ_CST);
	if (head)
		process_count_earlier(head);
}

/* ---- the half of the head's place ---- */

long process_take_half(bool *backed)
{
	/* Acquire; pairs with the release in process_give_half(): where the place is was stored before. */
	uint32_t half = __atomic_exchange_n(&process->half, 0, __ATOMIC_ACQUIRE);

	*backed = half == 2;
	return half ? (long)process->place : -ENOENT;
}

void process_give_half(bool backed)
{
	__atomic_store_n(&process->half, backed ? 2 : 1, __ATOMIC_RELEASE); /* pairs with the acquire above */
}

/* ---- no place for a head ---- */

bool process_is_refused(void)
{
	return process->refused && clock_now() - process->refused < PROCESS_RETRY;
}

bool process_lose_refused(void)
{
	if (!process_is_refused())
		return false;
	process_lose((enum trace_lost)process->refused_cause);
	return true;
}

int process_refuse(long error)
{
	struct trace_head *first = pool_address(0);
	uint64_t before = process->refused;

	process->refused = clock_now();
	process->refused_cause = process_cause(error);
	if (before)
		return 0;
	first->lost_error = (uint32_t)-error;
	/* Sequentially consistent, as process->head: pairs with the addition in process_lose(). */
	__atomic_store_n(&process->elsewhere, first, __ATOMIC_SEQ_CST);
	process_count_earlier(first);
	/* Relaxed: a sum, of which each value is given once. */
	return !__atomic_fetch_add(&first->refused, 1, __ATOMIC_RELAXED);
}
