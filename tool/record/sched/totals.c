/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/sched/totals.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/base/hash.h"
#include "tool/base/proc.h"
#include "tool/record/sched/sched_file.h"

/* A thread, or, tid 0, a process. */
struct total {
	uint32_t pid, tid;
	uint64_t ran;	 /* ns */
	uint64_t number; /* of its record in the file */
	bool gone;	 /* its number may be another's from now on */
	bool seen;	 /* in this pass */
};

static struct {
	struct total *total;
	uint32_t count, total_room;
	struct hash by_tid; /* of total[]'s pid and tid */
	uint64_t records;
	uint32_t *pid; /* processes that were there in the last pass */
	uint32_t pids, room;
} totals;

/* Where it is, made if it is new; NULL: there is no memory. */
static struct total *total_of(uint32_t pid, uint32_t tid)
{
	uint32_t hash = hash_key(pid, tid);
	uint32_t found =
		HASH_FIND(i, &totals.by_tid, hash, totals.total[i].pid == pid && totals.total[i].tid == tid);

	if (found != HASH_NONE)
		return &totals.total[found];
	if (totals.count == totals.total_room) {
		uint32_t room = totals.total_room ? totals.total_room * 2 : 128;
		struct total *more = reallocarray(totals.total, room, sizeof(*more));
		if (!more)
			return NULL;
		totals.total = more;
		totals.total_room = room;
	}
	if (!hash_add(&totals.by_tid, hash, totals.count))
		return NULL;
	/* It is gone: so the first reading makes its record. */
	totals.total[totals.count] = (struct total){ .pid = pid, .tid = tid, .gone = true };
	return &totals.total[totals.count++];
}

static void put(uint32_t pid, uint32_t tid, uint64_t ran)
{
	struct total *total = total_of(pid, tid);

	if (!total)
		return;
	bool new = total->gone || ran < total->ran;
	if (new)
		*total = (struct total){ .pid = pid, .tid = tid, .number = totals.records++ };
	total->seen = true;
	if (!new && ran == total->ran)
		return;
	total->ran = ran;
	sched_file_place(total->number,
		&(struct sched_record){ .what = SCHED_TOTAL, .pid = pid, .tid = tid, .time = ran });
}

/* Adds a process, once. */
static void add(uint32_t pid)
{
	for (uint32_t i = 0; i < totals.pids; i++)
		if (totals.pid[i] == pid)
			return;
	if (totals.pids == totals.room) {
		uint32_t room = totals.room ? totals.room * 2 : 64;
		uint32_t *more = reallocarray(totals.pid, room, sizeof(*more));
		if (!more)
			return;
		totals.pid = more;
		totals.room = room;
	}
	totals.pid[totals.pids++] = pid;
}

/* Reads /proc/PID/task/NAME: all of it, if it fits. */
static bool read_task(uint32_t pid, const char *tid, const char *name, char *text, size_t size)
{
	return proc_read(text, size, "/proc/%u/task/%s/%s", pid, tid, name) >= 0;
}

/* Returns false if there is no such process any more. */
static bool look(uint32_t pid)
{
	char path[32], text[16384];
	struct timespec ran;
	clockid_t clock;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	for (struct dirent *e; (e = readdir(dir));) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (read_task(pid, e->d_name, "schedstat", text, sizeof(text)))
			put(pid, (uint32_t)strtoul(e->d_name, NULL, 10), strtoull(text, NULL, 10));
		char *at = read_task(pid, e->d_name, "children", text, sizeof(text)) ? text : NULL;
		for (unsigned long child; at && (child = strtoul(at, &at, 10));)
			add((uint32_t)child);
	}
	closedir(dir);
	if (!clock_getcpuclockid((pid_t)pid, &clock) && !clock_gettime(clock, &ran))
		put(pid, 0, (uint64_t)ran.tv_sec * 1000000000 + (uint64_t)ran.tv_nsec);
	return true;
}

void sched_totals_begin(pid_t pid)
{
	add((uint32_t)pid);
}

void sched_totals_pass(void)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < totals.count; i++)
		totals.total[i].seen = false;
	/* Children are added behind, and looked at in the same pass. */
	for (uint32_t i = 0; i < totals.pids; i++) {
		uint32_t pid = totals.pid[i];
		if (!look(pid))
			totals.pid[i] = 0;
	}
	for (uint32_t i = 0; i < totals.pids; i++)
		if (totals.pid[i])
			totals.pid[kept++] = totals.pid[i];
	totals.pids = kept;
	for (uint32_t i = 0; i < totals.count; i++)
		totals.total[i].gone |= !totals.total[i].seen;
}

void sched_totals_end(void)
{
	free(totals.total);
	free(totals.pid);
	hash_free(&totals.by_tid);
	totals.total = NULL;
	totals.pid = NULL;
	totals.count = totals.total_room = totals.pids = totals.room = 0;
}
