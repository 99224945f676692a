/* SPDX-License-Identifier: MIT */
/*
 * Commands of make_trace for DIR/sched, after the first process:
 *	sched tsc|mono START		begins it
 *	cpu in|out|preempted|begin|exit TIME PID TID
 *	cpu lost SINCE TIME COUNT
 *	cpu known TIME
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/sched.h"
#include "t/lib/make_trace.h"

static int fd = -1;
static uint64_t at;

static void begin(const char *clock, uint64_t start)
{
	const struct sched_head new = {
		.magic = SCHED_MAGIC,
		.version = SCHED_VERSION,
		.head_size = sizeof(new),
		.record_size = sizeof(struct sched_record),
		.holds = SCHED_SWITCHES,
		.clock = !strcmp(clock, "tsc") ? TRACE_CLOCK_TSC : TRACE_CLOCK_MONOTONIC,
		.start = start,
	};
	char path[4096];

	snprintf(path, sizeof(path), "%s/" SCHED_NAME, dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		fail("no file for it");
	write_at(fd, &new, sizeof(new), 0);
	at = sizeof(new);
}

static void put(struct sched_record record)
{
	if (fd < 0)
		fail("before sched");
	write_at(fd, &record, sizeof(record), at);
	at += sizeof(record);
}

bool sched_command(char **word, int words)
{
	static const char *const what[] = { "", "in", "out", "preempted", "begin", "exit", "lost", "known" };
	uint16_t n = 1;

	if (!strcmp(word[0], "sched") && words == 3) {
		begin(word[1], number(word[2]));
		return true;
	}
	if (strcmp(word[0], "cpu") || words < 3)
		return false;
	while (n < sizeof(what) / sizeof(*what) && strcmp(word[1], what[n]))
		n++;
	if (n == SCHED_KNOWN && words == 3)
		put((struct sched_record){ .what = n, .time = number(word[2]) });
	else if (n == SCHED_LOST && words == 5)
		put((struct sched_record){ .what = n, .since = number(word[2]), .time = number(word[3]),
			.count = (uint32_t)number(word[4]) });
	else if (n <= SCHED_EXIT && words == 5)
		put((struct sched_record){ .what = n, .time = number(word[2]), .pid = (uint32_t)number(word[3]),
			.tid = (uint32_t)number(word[4]) });
	else
		return false;
	return true;
}
