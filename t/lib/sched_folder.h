/* SPDX-License-Identifier: MIT */
/*
 * For tests of DIR/sched: a folder that has no other file, a process whose ticks are ns, and how the reader answers.
 * Include it in the one file that holds main(), after _GNU_SOURCE. One thread.
 */
#ifndef XAUDIT_T_LIB_SCHED_FOLDER_H
#define XAUDIT_T_LIB_SCHED_FOLDER_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "t/lib/tap.h"
#include "tool/read/folder.h"
#include "tool/read/process.h"
#include "tool/read/sched/sched_cursor.h"

#define PID 10

static char dir[] = "/tmp/xaudit-sched-XXXXXX";
static int at; /* that folder */
static struct read_folder folder;
static struct read_process process;

static const struct read_clock ticks_are_ns = {
	.source = TRACE_CLOCK_TSC, .valid = true, .mult = 1ull << READ_CLOCK_SHIFT };

static void begin_folder(void)
{
	at = mkdtemp(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (at < 0)
		bail("no temporary folder");
	folder.files.at = at;
	folder.path = dir;
	process.head.pid = PID;
	process.clock = ticks_are_ns;
}

static void remove_folder(void)
{
	unlinkat(at, SCHED_NAME, 0);
	close(at);
	rmdir(dir);
}

static struct sched_head head_of(enum sched_holds holds, uint32_t clock, uint64_t start)
{
	return (struct sched_head){
		.magic = SCHED_MAGIC,
		.version = SCHED_VERSION,
		.head_size = sizeof(struct sched_head),
		.record_size = sizeof(struct sched_record),
		.holds = (uint32_t)holds,
		.clock = clock,
		.start = start,
	};
}

/* Ticks of a thread on processors in a stretch; -1: not known. */
static long on_between(const struct read_sched *sched, uint32_t tid, uint64_t from, uint64_t to)
{
	struct read_sched_cursor cursor;

	read_sched_begin(&cursor, sched, &process, tid);
	uint64_t before = read_sched_on(&cursor, from), after = read_sched_on(&cursor, to);
	return read_sched_unknown(&cursor) > from ? -1 : (long)(after - before);
}

#endif
