/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/sched/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/read/damage/memory.h"
#include "tool/read/folder.h"
#include "tool/read/sched/records.h"
#include "tool/read/trace_file.h"

#define BLOCK	    (256u << 10)
#define DATA_FIRST  32
#define RECORD_MOST 4096 /* bytes of a record, or the head: no version will need more */

static void damage(struct read_sched *sched, uint64_t offset, const char *what)
{
	read_damage_add(&sched->folder->damage, sched->folder->path, SCHED_NAME, offset, what);
}

/* ---- threads ---- */

static uint32_t find(const struct read_sched *sched, uint32_t pid, uint32_t tid)
{
	return HASH_FIND(i, &sched->by_tid, hash_key(pid, tid),
		sched->thread[i].pid == pid && sched->thread[i].tid == tid);
}

const struct sched_thread *sched_find(const struct read_sched *sched, uint32_t pid, uint32_t tid)
{
	uint32_t found = find(sched, pid, tid);

	return found != HASH_NONE ? &sched->thread[found] : NULL;
}

/* NULL: there is no memory. */
static struct sched_thread *thread_of(struct read_sched *sched, uint32_t pid, uint32_t tid)
{
	struct read_damage *damage = &sched->folder->damage;
	uint32_t found = find(sched, pid, tid);

	if (found != HASH_NONE)
		return &sched->thread[found];
	if (!read_memory_grow(damage, &sched->thread, sched->threads, sizeof(*sched->thread)) ||
		!read_memory_hash(damage, &sched->by_tid, hash_key(pid, tid), sched->threads))
		return NULL;
	struct sched_thread *thread = &sched->thread[sched->threads++];
	*thread = (struct sched_thread){ .pid = pid, .tid = tid, .last = sched->head.start };
	return thread;
}

static bool add_to_thread(struct read_sched *sched, const struct sched_record *record)
{
	struct sched_thread *thread = thread_of(sched, record->pid, record->tid);

	if (!thread)
		return false;
	if (thread->room - thread->size < 10) {
		size_t room = thread->room ? thread->room * 2 : DATA_FIRST;
		if (!read_memory_resize(&sched->folder->damage, &thread->data, room, 1))
			return false;
		thread->room = room;
	}
	/* Clocks of processors may differ by some ns. What takes longer than centuries is damage. */
	uint64_t passed = record->time > thread->last ? record->time - thread->last : 0;
	if (passed >> (63 - SCHED_WHAT_BITS)) {
		damage(sched, READ_DAMAGE_NOWHERE, "a time that can't be");
		return true;
	}
	uint64_t word = passed << SCHED_WHAT_BITS | record->what;
	for (; word >> 7; word >>= 7)
		thread->data[thread->size++] = (uint8_t)(word | 0x80);
	thread->data[thread->size++] = (uint8_t)word;
	thread->last += passed;
	return true;
}

/* ---- stretches ---- */

static bool add_stretch(struct read_sched *sched, uint64_t since, uint64_t time)
{
	struct sched_stretch *last = sched->losses ? &sched->loss[sched->losses - 1] : NULL;

	/* Of one loss after another there may be many, so they are joined here already. */
	if (last && since >= last->since && since <= last->time) {
		last->time = time > last->time ? time : last->time;
		return true;
	}
	if (!read_memory_grow(&sched->folder->damage, &sched->loss, sched->losses, sizeof(*sched->loss)))
		return false;
	sched->loss[sched->losses++] = (struct sched_stretch){ since, time };
	return true;
}

static int by_since(const void *a, const void *b)
{
	const struct sched_stretch *x = a, *y = b;

	return x->since < y->since ? -1 : x->since > y->since;
}

static void join_stretches(struct read_sched *sched)
{
	size_t kept = 0;

	qsort(sched->loss, sched->losses, sizeof(*sched->loss), by_since);
	for (size_t i = 0; i < sched->losses; i++) {
		const struct sched_stretch *next = &sched->loss[i];
		struct sched_stretch *last = kept ? &sched->loss[kept - 1] : NULL;

		if (last && next->since <= last->time)
			last->time = next->time > last->time ? next->time : last->time;
		else
			sched->loss[kept++] = *next;
	}
	sched->losses = kept;
}

/* ---- the file ---- */

/* known: of the last SCHED_KNOWN. */
static bool take(struct read_sched *sched, const struct sched_record *record, uint64_t *known)
{
	struct sched_thread *thread;

	switch (record->what) {
	case SCHED_OUT:
	case SCHED_PREEMPTED:
		sched->facts.switches++;
		sched->facts.preempted += record->what == SCHED_PREEMPTED;
		/* fall through */
	case SCHED_IN:
	case SCHED_BEGIN:
	case SCHED_EXIT:
		return add_to_thread(sched, record);
	case SCHED_LOST:
		sched->facts.lost += record->count;
		sched->facts.losses++;
		return record->since >= record->time || add_stretch(sched, record->since, record->time);
	case SCHED_KNOWN:
		*known = record->time > *known ? record->time : *known;
		break;
	case SCHED_TOTAL:
		thread = thread_of(sched, record->pid, record->tid);
		if (!thread)
			return false;
		/* Numbers are used again: of another thread. */
		thread->total += record->time;
		break;
	}
	return true;
}

static bool take_head(struct sched_head *head, struct read_file *file)
{
	return read_file_read(file, head, sizeof(*head), 0, NULL) == sizeof(*head) &&
	       !memcmp(head->magic, SCHED_MAGIC, sizeof(head->magic));
}

bool read_sched_peek(struct read_folder *folder, struct sched_head *head)
{
	const char *why;
	struct read_file *file = read_file_open(&folder->files, ".", SCHED_NAME, NULL, &why);
	bool taken = file && take_head(head, file);

	read_file_close(file);
	return taken;
}

/* Returns false where nothing of the file can be used. */
static bool read_head(struct read_sched *sched, struct read_file *file)
{
	struct sched_head *head = &sched->head;

	if (!take_head(head, file))
		damage(sched, 0, "no context switches");
	else if (head->version != SCHED_VERSION)
		damage(sched, offsetof(struct sched_head, version), "context switches of an unknown version");
	else if (head->head_size < sizeof(*head) || head->head_size > RECORD_MOST || head->head_size % 8 ||
		 head->record_size < sizeof(struct sched_record) || head->record_size > RECORD_MOST ||
		 head->record_size % 8 ||
		 (head->clock != TRACE_CLOCK_TSC && head->clock != TRACE_CLOCK_MONOTONIC))
		damage(sched, offsetof(struct sched_head, head_size), "an impossible head");
	else
		return true;
	return false;
}

/* Returns false if there is no memory. */
static bool read_records(struct read_sched *sched, struct read_file *file, uint8_t *block, uint64_t *known)
{
	size_t size = sched->head.record_size, whole = BLOCK - BLOCK % size, n;
	int error = 0;

	for (uint64_t at = sched->head.head_size;; at += n) {
		/* Our files have no holes; one that was damaged may have, of any size. */
		uint64_t data = read_file_data(file, at);
		if (data == UINT64_MAX)
			break;
		at += (data > at ? data - at : 0) / size * size;
		n = read_file_read(file, block, whole, at, &error);
		n -= n % size;
		if (!n)
			break;
		for (size_t i = 0; i < n; i += size) {
			struct sched_record record;
			memcpy(&record, block + i, sizeof(record));
			if (!take(sched, &record, known))
				return false;
		}
	}
	if (error)
		damage(sched, READ_DAMAGE_NOWHERE, strerror(error));
	return true;
}

static bool fill(struct read_sched *sched, struct read_file *file)
{
	struct read_damage *memory = &sched->folder->damage;
	uint8_t *block = read_memory_zeroed(memory, BLOCK, 1);
	uint64_t known;
	bool filled = false;

	if (!block)
		return false;
	if (read_head(sched, file)) {
		known = sched->head.start;
		sched->facts.holds = sched->head.holds;
		sched->facts.error = sched->head.error;
		sched->facts.paranoid = sched->head.paranoid;
		filled = read_records(sched, file, block, &known) && add_stretch(sched, 0, sched->head.start) &&
			 add_stretch(sched, known, UINT64_MAX);
	} else {
		filled = add_stretch(sched, 0, UINT64_MAX);
	}
	free(block);
	if (filled)
		join_stretches(sched);
	sched->facts.threads = sched->threads;
	sched->facts.cut = sched->facts.holds == SCHED_SWITCHES && sched->folder->record && !sched->folder->status;
	return filled;
}

struct read_sched *read_sched_open(struct read_folder *folder)
{
	struct read_damage *memory = &folder->damage;
	struct trace_pair pair[sizeof(folder->pair) / sizeof(*folder->pair)];
	const char *why = NULL;
	struct read_file *file = read_file_open(&folder->files, ".", SCHED_NAME, NULL, &why);
	struct read_sched *sched;

	if (!file) {
		memory->no_memory |= errno == ENOMEM;
		if (why && errno != ENOMEM)
			read_damage_add(memory, folder->path, SCHED_NAME, READ_DAMAGE_NOWHERE, why);
		return NULL;
	}
	sched = read_memory_zeroed(memory, 1, sizeof(*sched));
	if (sched) {
		sched->folder = folder;
		memcpy(pair, folder->pair, sizeof(pair));
		read_clock_setup(&sched->clock, TRACE_CLOCK_TSC, pair, folder->pairs, false);
		if (!fill(sched, file)) {
			read_sched_close(sched);
			sched = NULL;
		}
	}
	read_file_close(file);
	return sched;
}

void read_sched_close(struct read_sched *sched)
{
	if (!sched)
		return;
	for (uint32_t i = 0; i < sched->threads; i++)
		free(sched->thread[i].data);
	free(sched->thread);
	hash_free(&sched->by_tid);
	free(sched->loss);
	free(sched);
}

const struct read_sched_facts *read_sched_facts(const struct read_sched *sched)
{
	return &sched->facts;
}
