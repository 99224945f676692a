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
	struct total *total; /* of a hash of pid and tid: linear; pid 0: free */
	uint32_t count, mask;
	uint64_t records;
	uint32_t *pid; /* processes that were there in the last pass */
	uint32_t pids, room;
} totals;

static uint32_t hash(uint32_t pid, uint32_t tid)
{
	return (pid * 2654435761u ^ tid * 2246822519u) >> 7;
}

/* Where it is, or would be. There is always a free one. */
static struct total *slot(uint32_t pid, uint32_t tid)
{
	uint32_t i = hash(pid, tid) & totals.mask;

	while (totals.total[i].pid && (totals.total[i].pid != pid || totals.total[i].tid != tid))
		i = (i + 1) & totals.mask;
	return &totals.total[i];
}

/* Makes room for one more. Returns false if there is no memory. */
static bool grow(void)
{
	struct total *old = totals.total;
	uint32_t size = old ? totals.mask + 1 : 0;

	if (totals.count + 1 < size / 2)
		return true;
	struct total *more = calloc(size ? (size_t)size * 2 : 256, sizeof(*more));
	if (!more)
		return false;
	totals.total = more;
	totals.mask = (size ? size * 2 : 256) - 1;
	for (uint32_t i = 0; i < size; i++)
		if (old[i].pid)
			*slot(old[i].pid, old[i].tid) = old[i];
	free(old);
	return true;
}

static void put(uint32_t pid, uint32_t tid, uint64_t ran)
{
	if (!grow())
		return;
	struct total *total = slot(pid, tid);
	bool new = !total->pid || total->gone || ran < total->ran;

	totals.count += !total->pid;
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

	for (uint32_t i = 0; totals.total && i <= totals.mask; i++)
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
	for (uint32_t i = 0; totals.total && i <= totals.mask; i++)
		totals.total[i].gone |= !totals.total[i].seen;
}

void sched_totals_end(void)
{
	free(totals.total);
	free(totals.pid);
	totals.total = NULL;
	totals.pid = NULL;
	totals.pids = 0;
}
