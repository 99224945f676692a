/* SPDX-License-Identifier: MIT */
/* The main thread uses what is in `sched` before the thread begins and after it has ended. */
#define _GNU_SOURCE
#include "tool/record/sched_thread.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "audit/match/match.h"
#include "runtime/files/output.h"
#include "tool/base/proc.h"
#include "tool/base/thread.h"
#include "tool/base/tool.h"
#include "tool/record/folder.h"
#include "tool/record/run.h"
#include "tool/record/sched/rings.h"
#include "tool/record/sched/sched_file.h"
#include "tool/record/sched/totals.h"
#include "x86_64/cpu.h"

#define PASS_EACH 100 /* ms, if no ring is half full before */

static struct {
	pthread_t thread;
	int end; /* readable when the thread shall end */
	bool made, running;
	enum trace_clock clock;
	struct sched_head head;
	struct pollfd *file; /* the rings' files, and then `end` */
} sched = { .end = -1 };

/* The clock that the module will take for events; readers can do with the other one, but less exactly. */
static enum trace_clock find_clock(const struct rules *rules)
{
	char name[16];

	if (rules->clock == RULES_CLOCK_MONOTONIC)
		return TRACE_CLOCK_MONOTONIC;
	if (rules->clock == RULES_CLOCK_TSC)
		return TRACE_CLOCK_TSC;
	proc_read(name, sizeof(name), "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	if (!strcmp(name, "tsc\n"))
		return TRACE_CLOCK_TSC;
	return cpu_ticks_are_steady() ? TRACE_CLOCK_TSC : TRACE_CLOCK_MONOTONIC;
}

void record_sched_make(const struct record_folder *folder, const struct rules *rules)
{
	long fd;
	int error;

	if (!rules->sched)
		return;
	fd = output_make_file(folder->fd, SCHED_NAME);
	error = fd < 0 ? (int)-fd : sched_file_begin((int)fd);
	sched.made = !error;
	sched.clock = find_clock(rules);
	if (error)
		record_error("context switches can't be recorded: %s/%s: %s", folder->path, SCHED_NAME,
			strerror(error));
}

/* What would give switches. */
static void say_refused(int error)
{
	if ((error == EACCES || error == EPERM) && sched.head.paranoid > 2)
		record_error(
			"the kernel refuses context switches (kernel.perf_event_paranoid is %" PRId32
			"), so --sched has only what each thread ran in all; `sysctl kernel.perf_event_paranoid=2`, or "
			"CAP_PERFMON, would give them", sched.head.paranoid);
	else if (error == EACCES || error == EPERM || error == ENOSYS)
		record_error(
			"context switches are refused (perf_event_open: %s), so --sched has only what each thread ran "
			"in all; a container whose seccomp filter lets perf_event_open pass would give them",
			strerror(error));
	else
		record_error(
			"context switches can't be had (perf_event_open: %s), so --sched has only what each thread ran "
			"in all", strerror(error));
}

static void serve_switches(void)
{
	unsigned rings = sched_rings_files(NULL);

	for (;;) {
		if (poll(sched.file, rings + 1, PASS_EACH) < 0 && errno != EINTR && errno != ENOMEM)
			return;
		/* No process is left that the ring could get events of: it would be ready for ever. */
		for (unsigned i = 0; i < rings; i++)
			if (sched.file[i].revents & (POLLHUP | POLLERR | POLLNVAL))
				sched.file[i].fd = -1;
		if (sched.file[rings].revents)
			return;
		sched_rings_pass();
	}
}

static void serve_totals(void)
{
	while (poll(sched.file, 1, PASS_EACH) <= 0)
		sched_totals_pass();
}

/*
 * Rings are full within 20 ms at worst, so this thread must not wait long for a processor; it needs it for little. What
 * it may not have is left: a priority takes rights, and kernels before 6.12 know no short turns.
 */
static void hurry(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} turn = { .size = sizeof(turn), .runtime = 100000 /* ns */ };

	setpriority(PRIO_PROCESS, 0, -10);
	turn.nice = getpriority(PRIO_PROCESS, 0);
	syscall(SYS_sched_setattr, 0, &turn, 0);
}

static void *serve(void *unused)
{
	hurry();
	if (sched.head.holds == SCHED_SWITCHES)
		serve_switches();
	else
		serve_totals();
	return unused;
}

/* 0, or an errno. */
static int start_thread(void)
{
	unsigned rings = sched_rings_files(NULL);
	int error;

	sched.file = calloc(rings + 1, sizeof(*sched.file));
	sched.end = eventfd(0, EFD_CLOEXEC);
	if (!sched.file || sched.end < 0)
		return sched.file ? errno : ENOMEM;
	sched_rings_files(sched.file);
	sched.file[rings] = (struct pollfd){ .fd = sched.end, .events = POLLIN };
	error = tool_thread(&sched.thread, serve, NULL);
	sched.running = !error;
	return error;
}

void record_sched_start(pid_t pid)
{
	char text[16];
	int error;

	if (!sched.made)
		return;
	sched.head = (struct sched_head){
		.magic = SCHED_MAGIC,
		.version = SCHED_VERSION,
		.head_size = sizeof(sched.head),
		.record_size = sizeof(struct sched_record),
		.clock = sched.clock,
		.paranoid = SCHED_PARANOID_UNKNOWN,
		.holds = SCHED_SWITCHES,
	};
	if (proc_read(text, sizeof(text), "/proc/sys/kernel/perf_event_paranoid") >= 0)
		sched.head.paranoid = (int32_t)strtol(text, NULL, 10);
	error = sched_rings_begin(pid, sched.clock, &sched.head);
	if (error) {
		sched.head.holds = SCHED_TOTALS;
		sched.head.error = (uint32_t)error;
		sched_totals_begin(pid);
		say_refused(error);
	}
	sched_file_head(&sched.head);
	error = start_thread();
	if (error)
		record_error("context switches can't be recorded: %s", strerror(error));
}

/* Ends the thread. What it wrote is then the main thread's to go on with. */
static void join(void)
{
	const uint64_t one = 1;

	if (sched.running && write(sched.end, &one, sizeof(one)) == sizeof(one))
		pthread_join(sched.thread, NULL);
	sched.running = false;
	if (sched.end >= 0)
		close(sched.end);
	sched.end = -1;
	free(sched.file);
	sched.file = NULL;
}

void record_sched_ended(pid_t pid)
{
	(void)pid;
	join();
	if (sched.made && sched.head.holds == SCHED_TOTALS)
		sched_totals_pass();
}

void record_sched_stop(void)
{
	join();
	if (!sched.made)
		return;
	sched.made = false;
	sched_rings_end();
	sched_totals_end();
	if (sched_rings_lost())
		record_error("%" PRIu64 " context switches were lost: times on processors are not known around "
			"them", sched_rings_lost());
	if (sched_file_error()) {
		sched.head.error = (uint32_t)sched_file_error();
		sched_file_head(&sched.head);
		record_error(
			"context switches could not be written, so times on processors are not known then: %s",
			strerror(sched_file_error()));
	}
	sched_file_end();
}
