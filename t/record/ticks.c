#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* The clock of events: both kinds, pairs that convert it, and events that carry it. */
#include "t/lib/tap.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "t/lib/core.h"
#include "t/lib/sanitizers.h"

static uint64_t get_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Pairs taken between two readings of all clocks lie between these. */
static void check_pairs(const char *name)
{
	unsigned outside = 0, backward = 0;
	uint64_t last = 0;

	for (int i = 0; i < 1000; i++) {
		struct trace_pair pair;
		uint64_t ticks = clock_now(), mono = get_ns(CLOCK_MONOTONIC), real = get_ns(CLOCK_REALTIME);
		clock_pair(&pair);
		outside += pair.ticks < ticks || pair.ticks > clock_now();
		outside += pair.mono < mono || pair.mono > get_ns(CLOCK_MONOTONIC);
		outside += pair.real < real || pair.real > get_ns(CLOCK_REALTIME);
		backward += pair.ticks < last;
		last = pair.ticks;
	}
	is_int(outside, 0, "%s: 1000 pairs lie between readings before and after", name);
	is_int(backward, 0, "%s: their ticks never step back", name);
}

/* Two pairs convert times between them. */
static void check_conversion(const char *name)
{
	struct trace_pair first, last;
	uint64_t ticks[20], mono[20], worst = 0;

	clock_pair(&first);
	for (int i = 0; i < 20; i++) {
		/* The tightest of some tries: the system may interrupt us between two clocks. */
		uint64_t best = UINT64_MAX;
		usleep(5000);
		for (int j = 0; j < 20; j++) {
			uint64_t before = get_ns(CLOCK_MONOTONIC), now = clock_now(), after = get_ns(CLOCK_MONOTONIC);
			if (after - before < best) {
				best = after - before;
				ticks[i] = now;
				mono[i] = before + best / 2;
			}
		}
	}
	clock_pair(&last);
	double rate = (double)(last.mono - first.mono) / (double)(last.ticks - first.ticks);
	for (int i = 0; i < 20; i++) {
		uint64_t converted = first.mono + (uint64_t)((double)(ticks[i] - first.ticks) * rate);
		uint64_t error = converted > mono[i] ? converted - mono[i] : mono[i] - converted;
		if (error > worst)
			worst = error;
	}
	diag("%s: %.4f ns per tick, converted times are within %llu ns", name, rate, (unsigned long long)worst);
	/* 100 ppm of the 0.1 s that lie between the pairs. */
	ok(worst < 10000, "%s: times that two pairs convert are right within 100 ppm", name);
}

static long body(long x)
{
	return x + 1;
}

struct outcome {
	pid_t pid;
	uint64_t before, after;
	int wrong;
};

static enum trace_clock wanted;

static int record_some(void *argument)
{
	struct outcome *outcome = argument;

	core_start(core_folder(), TRACE_CHUNK_MIN, wanted);
	struct traced function = core_traced(TRAMP_INTERCEPT, 7, body);
	struct traced point = core_traced(TRAMP_POINT, 8, body);
	outcome->pid = getpid();
	outcome->before = clock_now();
	for (long i = 0; i < 100; i++) {
		outcome->wrong += CALL(long (*)(long), function)(i) != i + 1;
		outcome->wrong += CALL(long (*)(long), point)(i) != i + 1;
		usleep(100);
	}
	outcome->after = clock_now();
	return 0;
}

static void check_events(const char *name, enum trace_clock clock)
{
	struct outcome *outcome = core_shared(sizeof(*outcome));
	struct reading reading;
	struct trace_head head;
	unsigned outside = 0, backward = 0, slow = 0;
	uint64_t last = 0;

	wanted = clock;
	is_int(core_child(record_some, outcome, 60), 0, "%s: 200 calls are traced", name);
	is_int(outcome->wrong, 0, "%s: and return what they should", name);
	if (core_read(core_folder(), outcome->pid, 0, TRACE_CHUNK_MIN, &reading) ||
		core_read_head(core_folder(), outcome->pid, &head))
		bail("no trace");
	is_str(reading.damage, NULL, "%s: the thread file keeps to the format", name);
	is_int(head.clock, clock, "%s: meta names the clock", name);
	for (size_t i = 0; i < reading.count; i++) {
		const struct event *event = &reading.event[i];
		outside += event->clock < outcome->before || event->clock > outcome->after;
		backward += event->clock < last;
		slow += event->type == TRACE_EXIT && event->clock - last > (outcome->after - outcome->before) / 20;
		last = event->clock;
	}
	is_int((long long)reading.count, CORE_HAS_MIRROR ? 300 : 200, "%s: all their events are there", name);
	is_int(outside, 0, "%s: their times lie between readings before and after", name);
	is_int(backward, 0, "%s: and never step back", name);
	/* The system may interrupt some calls. */
	ok(slow <= 20, "%s: few calls of an empty function take a twentieth of the whole time", name);
	core_forget(&reading);
}

struct without {
	enum trace_clock clock[2];
	uint64_t before, ticks, pair, after;
	uint64_t ns; /* 12345 ns in ticks */
};

/* The kernel's own time: libc's function reads the TSC. */
static uint64_t kernel_ns(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int start_without_tsc(void *argument)
{
	struct without *without = argument;
	struct trace_pair pair;

	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		return 1;
	without->clock[0] = clock_init(TRACE_CLOCK_TSC, clock_gettime);
	without->clock[1] = clock_source();
	without->before = kernel_ns();
	without->ticks = clock_now();
	clock_pair(&pair);
	without->pair = pair.ticks == pair.mono ? pair.mono : 0;
	without->after = kernel_ns();
	without->ns = clock_ticks(12345);
	return 0;
}

static void check_without_tsc(void)
{
	struct without *w = core_shared(sizeof(*w));

	is_int(core_child(start_without_tsc, w, 60), 0, "where the TSC is disabled, nothing reads it");
	ok(w->clock[0] == TRACE_CLOCK_MONOTONIC && w->clock[1] == TRACE_CLOCK_MONOTONIC,
		"and the clock is CLOCK_MONOTONIC, whatever was asked for");
	ok(w->before <= w->ticks && w->ticks <= w->pair && w->pair <= w->after, "which the kernel tells");
	is_int((long long)w->ns, 12345, "and whose ticks are ns");
}

/* A time that is long beside that since the clock began, and neither small in ticks. */
static int measure_long(void *argument)
{
	uint64_t *ticks = argument;

	clock_init(TRACE_CLOCK_TSC, clock_gettime);
	usleep(2000000);
	ticks[0] = clock_ticks(1000000000);
	ticks[1] = clock_ticks(20000000000);
	return 0;
}

static void check_long(void)
{
	uint64_t *ticks = core_shared(2 * sizeof(*ticks));

	is_int(core_child(measure_long, ticks, 60), 0, "two seconds pass");
	is_int((long long)((ticks[1] + ticks[0] / 2) / ticks[0]), 20, "20 seconds are 20 times as many ticks as one");
}

/* ---- the latest pair ---- */

static sigjmp_buf env;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(env, 1);
}

struct latest {
	uint64_t jumps, before, after;
	uint32_t seq;
};

/* Signal handlers leave process_clock() by a jump, again and again, anywhere in it. */
static int leave_clock(void *argument)
{
	struct latest *latest = argument;
	struct sigaction action = {.sa_handler = jump};
	volatile unsigned n = 0;

	core_start(core_folder(), 2 * TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	CALL(void (*)(void), core_traced(TRAMP_POINT, 1, core_now_ns))();
	sigaction(SIGALRM, &action, NULL);
	while (n < 2000) {
		if (sigsetjmp(env, 1)) {
			latest->jumps++;
			continue;
		}
		n++;
		const struct itimerval soon = {{0, 0}, {0, 50 + n % 40}};
		setitimer(ITIMER_REAL, &soon, NULL);
		for (uint64_t end = core_now_ns() + 1000000000; core_now_ns() < end;)
			process_clock();
	}
	latest->before = clock_now();
	process_clock();
	latest->after = process_head()->last.ticks;
	latest->seq = process_head()->last_seq;
	return 0;
}

static int take_pairs(void *unused)
{
	for (;;)
		process_clock();
	(void)unused;
	return 0;
}

/* A task that shares the memory is killed, again and again, anywhere in process_clock(). */
static int kill_in_clock(void *argument)
{
	struct latest *latest = argument;
	char *stack = malloc(1 << 16);

	core_start(core_folder(), 2 * TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	CALL(void (*)(void), core_traced(TRAMP_POINT, 1, core_now_ns))();
	for (unsigned n = 0; stack && n < 1000; n++) {
		pid_t pid = clone(take_pairs, stack + (1 << 16), CLONE_VM | SIGCHLD, NULL);
		for (uint64_t end = core_now_ns() + 50000 + 1000 * (n % 97); core_now_ns() < end;)
			;
		kill(pid, SIGKILL);
		if (waitpid(pid, NULL, 0) != pid)
			return 1;
		latest->before = clock_now();
		process_clock();
		latest->jumps += process_head()->last.ticks >= latest->before && !(process_head()->last_seq & 1);
	}
	return 0;
}

static void check_killed(void)
{
	struct latest *latest = core_shared(sizeof(*latest));

	if (WITH_TSAN) {
		skip(2, "ThreadSanitizer takes two tasks with one thread pointer for one thread");
		return;
	}
	is_int(core_child(kill_in_clock, latest, 300), 0, "a task is killed in the taking of pairs");
	is_int((long long)latest->jumps, 1000, "1000 times; each time pairs are taken afterwards, whole");
}

static void check_latest(void)
{
	struct latest *latest = core_shared(sizeof(*latest));

	is_int(core_child(leave_clock, latest, 60), 0, "handlers jump out of the taking of pairs");
	is_int((long long)latest->jumps, 2000, "2000 times");
	ok(latest->after >= latest->before, "pairs are taken as ever afterwards");
	is_int(latest->seq & 1, 0, "and readers find the latest one whole");
}

int main(void)
{
	core_folder();
	check_without_tsc();
	check_long();
	check_latest();
	check_killed();
	ok(clock_init(0, clock_gettime) == clock_kind(), "clock_init returns the clock that it chose");
	is_int(clock_init(TRACE_CLOCK_MONOTONIC, clock_gettime), TRACE_CLOCK_MONOTONIC,
		"a clock that is asked for is used");
	uint64_t before = get_ns(CLOCK_MONOTONIC), now = clock_now(), slow = tramp_clock();
	ok(before <= now && now <= slow && slow <= get_ns(CLOCK_MONOTONIC),
		"CLOCK_MONOTONIC's ticks are its nanoseconds");
	check_pairs("CLOCK_MONOTONIC");
	check_conversion("CLOCK_MONOTONIC");
	check_events("CLOCK_MONOTONIC", TRACE_CLOCK_MONOTONIC);
	is_int(clock_init(TRACE_CLOCK_TSC, clock_gettime), TRACE_CLOCK_TSC, "the TSC can be asked for");
	check_pairs("TSC");
	check_events("TSC", TRACE_CLOCK_TSC);
	if (clock_init(0, clock_gettime) == TRACE_CLOCK_TSC)
		check_conversion("TSC");
	else
		skip(1, "the TSC of this machine is not invariant");
	return done_testing();
}
