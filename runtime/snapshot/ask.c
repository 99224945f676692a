/* SPDX-License-Identifier: MIT */
#include "runtime/snapshot/ask.h"

#include <stdbool.h>
#include <time.h> /* struct timespec */

#include "runtime/base/identity.h"
#include "runtime/files/broker.h"
#include "runtime/files/pool.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/snapshot/snapshot.h"
#include "runtime/values/side.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

/* Number and row: lock; what threads read is there before the number is. */
static struct row {
	char name[TRACE_ASK_NAME];
	uint64_t at_most; /* ns */
	uint64_t last; /* clock of the last one that a thread took, of the process of that number; relaxed */
	uint32_t process;
} row[TRACE_ASKS];
static uint32_t rows;
static bool said, said_many, said_none;
static bool runs; /* there is a row of calls that have not returned: lock */
static struct running_block block;
static uint64_t described; /* clock of the last time; relaxed */

/* `xaudit record` has not seen the family yet, which takes it some milliseconds, but is about to. */
static bool is_about_to(void)
{
	struct output_place unused;

	/* Relaxed: an estimate. */
	return broker_place(&unused) &&
	       clock_now() - __atomic_load_n(&described, __ATOMIC_RELAXED) < clock_ticks(ASK_BEAT_OLD);
}

/* Does somebody look at the head? What stands there is a hint: a wrong one costs this snapshot. */
static bool is_beside(const struct trace_head *head)
{
	const uint64_t drain = pool_drain_beat(), copy = pool_copy_beat(), beat = drain > copy ? drain : copy;
	struct timespec now;

	if (!beat)
		return is_about_to();
	if (confined())
		return true;
	if (sys_call(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0))
		return true;
	int64_t since = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - head->time_offset - (int64_t)beat;
	return since < ASK_BEAT_OLD && since > -ASK_BEAT_OLD;
}

/* The program has asked for none yet: as in a head that is new. */
static void write_row(struct trace_head *head, uint32_t i)
{
	sys_copy(head->ask[i].name, row[i].name, sizeof(row[i].name));
	head->ask[i].at_most = row[i].at_most;
}

static bool is_same(uint32_t i, const struct running_wanted *wanted, size_t size)
{
	const struct running_row *a = &block.row[i], *b = &wanted->row;

	return row[i].at_most == wanted->at_most && a->longer == b->longer && a->every == b->every &&
	       a->once == b->once && size <= sizeof(row[i].name) && sys_same(row[i].name, wanted->name, size);
}

/* There is no room for it. */
static uint32_t refuse(const struct running_wanted *wanted)
{
	if (!said_many)
		process_say(wanted->row.longer ? "actions ask for snapshots of more than 8 names or limits: the last "
						 "ones, of calls that are running longer, are not made"
					       : "actions ask for snapshots of more than 8 names or limits: the last "
						 "ones have the first one's");
	said_many = true;
	return wanted->row.longer ? UINT32_MAX : 0;
}

/* Has others look at calls that have not returned. The process has a head. */
static void show_running(void)
{
	struct trace_head *head = process_head();

	block.side_size = sizeof(struct side);
	block.entry_size = sizeof(struct side_entry);
	block.stack_size = sizeof(struct stack);
	block.first = side_first();
	block.generation = identity_place();
	block.magic = RUNNING_MAGIC;
	head->running = (uint64_t)(uintptr_t)&block;
	/* Who is beside looks at the head. */
	pool_asked();
	if (!is_beside(head) && !said_none) {
		process_say("nobody watches calls for `running longer`: `xaudit ctl PID watch` does, or `xaudit "
			    "record`");
		said_none = true;
	}
}

uint32_t ask_number(const struct running_wanted *wanted)
{
	const size_t size = sys_length(wanted->name) + 1;

	for (uint32_t i = 0; i < rows; i++)
		if (is_same(i, wanted, size))
			return i;
	if (rows == TRACE_ASKS || size > sizeof(row[0].name))
		return refuse(wanted);
	sys_copy(row[rows].name, wanted->name, size);
	row[rows].at_most = wanted->at_most;
	block.row[rows] = wanted->row;
	if (process_head())
		write_row(process_head(), rows);
	if (wanted->row.longer) {
		runs = true;
		if (process_head())
			show_running();
	}
	return rows++;
}

void ask_describe(void)
{
	if (!process_head())
		return;
	/* Relaxed: an estimate. */
	__atomic_store_n(&described, clock_now(), __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < rows; i++)
		write_row(process_head(), i);
	if (runs)
		show_running();
}

static void say_once(void)
{
	struct process_held held;

	/* Relaxed: of several threads one says it. */
	if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	process_lock(&held);
	process_say("`xaudit record` is not beside: threads copy the snapshots that they ask for themselves, and wait "
		    "for that");
	process_unlock(&held);
}

/* By the thread itself: is it time? Of several threads one is told so. */
static bool is_time(struct row *r)
{
	const uint32_t process = identity_generation();
	/* Relaxed, all: who loses the race leaves it to the other one. */
	uint64_t last = __atomic_load_n(&r->last, __ATOMIC_RELAXED), now = clock_now();

	/* A forked child begins anew. Relaxed, as above. */
	if (last && __atomic_load_n(&r->process, __ATOMIC_RELAXED) == process && r->at_most &&
		now - last < clock_ticks(r->at_most))
		return false;
	__atomic_store_n(&r->process, process, __ATOMIC_RELAXED); /* relaxed, as above */
	return __atomic_compare_exchange_n(&r->last, &last, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void ask_snapshot(uint32_t number)
{
	struct trace_head *head = process_head();

	if (!head || number >= TRACE_ASKS)
		return;
	if (is_beside(head)) {
		/* Relaxed: pool_asked() comes behind it. */
		__atomic_fetch_add(&head->ask[number].asked, 1, __ATOMIC_RELAXED);
		pool_asked();
		return;
	}
	if (!is_time(&row[number]))
		return;
	say_once();
	snapshot_now(row[number].name);
}
