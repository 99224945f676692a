/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/timeouts.h"

#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/now.h"
#include "tool/base/proc.h"
#include "tool/ctl/process.h"
#include "tool/ctl/world.h"
#include "x86_64/remote.h"

#define TRIES 3	 /* to compare two clocks */
#define KEPT  20000000 /* ns: what that has told */
#define MS 1000000ull
#define S  1000000000ull

/* The number behind a key of a text such as /proc/PID/sched: "se.exec_start  :  123.456789", as ns, or a count. */
static bool number_of(const char *text, const char *key, uint64_t *number)
{
	const char *line = strstr(text, key), *colon = line ? strchr(line, ':') : NULL;
	uint64_t ms, ns;
	int n = colon ? sscanf(colon + 1, "%" SCNu64 ".%6" SCNu64, &ms, &ns) : 0;

	*number = n == 2 ? ms * MS + ns : n == 1 ? ms : 0;
	return n > 0;
}

/* What `sched` of a thread says. */
struct sched {
	uint64_t ran;		  /* when it ran last */
	uint64_t sleeps, preempted; /* how often it has gone to sleep, or had to give way */
};

static bool read_sched(const struct ctl_thread *thread, struct sched *sched)
{
	char text[4096];

	return proc_read(text, sizeof(text), "/proc/%d/task/%d/sched", (int)thread->pid, (int)thread->tid) > 0 &&
	       number_of(text, "\nse.exec_start", &sched->ran) &&
	       number_of(text, "\nnr_voluntary_switches", &sched->sleeps) &&
	       number_of(text, "\nnr_involuntary_switches", &sched->preempted);
}

/*
 * Ours less that of the processor where we are. The kernel says when it looked at that last while we ran, and we look
 * at ours afterwards: so this is never too little, but too much by what came in between, and by several ms where others
 * run on the processor. The least of some attempts. Too little would end waits early; too much makes them longer.
 */
static bool compare_clocks(int64_t *ahead)
{
	char text[4096];
	uint64_t ran;

	*ahead = INT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		sched_yield();
		if (proc_read(text, sizeof(text), "/proc/thread-self/sched") <= 0 ||
			!number_of(text, "\nse.exec_start", &ran))
			continue;
		int64_t found = (int64_t)(tool_now() - ran);
		*ahead = found < *ahead ? found : *ahead;
	}
	return *ahead != INT64_MAX;
}

/*
 * How far our clock is ahead of that of a processor. To go there and to run is to be told the time there. Not kept for
 * long: such a clock may stand still while the processor does other work than that of threads.
 */
static bool ahead_of(unsigned processor, int64_t *ahead)
{
	static struct {
		int64_t ahead;
		uint64_t at; /* 0: not known */
	} known[CPU_SETSIZE];
	cpu_set_t before, there;
	uint64_t now = tool_now();

	if (processor >= CPU_SETSIZE)
		return false;
	if (known[processor].at && now - known[processor].at < KEPT) {
		*ahead = known[processor].ahead;
		return true;
	}
	CPU_ZERO(&there);
	CPU_SET(processor, &there);
	if (sched_getaffinity(0, sizeof(before), &before) || sched_setaffinity(0, sizeof(there), &there))
		return false;
	bool done = compare_clocks(ahead);
	if (done) {
		known[processor].ahead = *ahead;
		known[processor].at = now;
	}
	sched_setaffinity(0, sizeof(before), &before);
	return done;
}

void timeouts_look(struct ctl_thread *thread)
{
	char text[1024];
	uint64_t argument[6];
	struct sched sched, again;
	int64_t ahead;
	long call;

	thread->waits.since = 0;
	if (proc_read(text, sizeof(text), "/proc/%d/task/%d/syscall", (int)thread->pid, (int)thread->tid) <= 0 ||
		sscanf(text, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &call, &argument[0],
			&argument[1], &argument[2], &argument[3], &argument[4]) != 6 ||
		!remote_has_timeout(call, &argument[2]) || !read_sched(thread, &sched))
		return;
	proc_read(text, sizeof(text), "/proc/%d/task/%d/stat", (int)thread->pid, (int)thread->tid);
	if (*proc_field(text, PROC_STATE) != 'S' ||
		!ahead_of((unsigned)strtoul(proc_field(text, PROC_PROCESSOR), NULL, 10), &ahead) ||
		!read_sched(thread, &again))
		return;
	/* Else it ran meanwhile, maybe on another processor, whose clock may differ by seconds. */
	if (again.sleeps != sched.sleeps || again.ran != sched.ran)
		return;
	thread->waits.sleeps = sched.sleeps;
	thread->waits.preempted = sched.preempted;
	thread->waits.since = sched.ran + (uint64_t)ahead;
}

void timeouts_take(const struct ctl_world *world, struct ctl_thread *thread)
{
	uint64_t now = tool_now(), value, at, wait = (uint64_t)(uintptr_t)world->process->block.wait;
	enum remote_timeout kind = remote_timeout(&thread->regs, &value);
	struct user_regs_struct regs = thread->regs;
	struct remote_waiting frame = { 0 };
	struct sched sched;
	int64_t asked[2];

	/* The stop itself is one. */
	if (!kind || !thread->waits.since || thread->waits.since > now || !read_sched(thread, &sched) ||
		sched.sleeps != thread->waits.sleeps + 1 || sched.preempted != thread->waits.preempted)
		return;
	uint64_t passed = now - thread->waits.since, left;
	if (kind == REMOTE_MS) {
		left = value * MS;
	} else {
		if (!ctl_read(world->process, value, asked, sizeof(asked)) || asked[0] < 0 || asked[1] < 0 ||
			asked[1] >= (int64_t)S)
			return;
		left = asked[0] > INT32_MAX ? UINT64_MAX : (uint64_t)asked[0] * S + (uint64_t)asked[1];
		if (left == UINT64_MAX)
			return;
	}
	/* It would have ended by itself, so its beginning is none: a thread that sleeps may be given to a processor. */
	if (passed > left)
		return;
	left -= passed;
	remote_wait_again(&regs, wait, kind, (left + MS - 1) / MS, &frame, &at);
	/* One that is there already has its frame. */
	if (remote_sp(&regs) == remote_sp(&thread->regs) && !ctl_read(world->process, at, &frame, sizeof(frame)))
		return;
	frame.timeout[0] = (int64_t)(left / S);
	frame.timeout[1] = (int64_t)(left % S);
	if (ctl_write(world->process, at, &frame, sizeof(frame)))
		thread->regs = regs;
}
