#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* The recorder over fork: each process has a place of its own in the file of its family. */
#include "t/lib/tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/caller.h"
#include "t/lib/core.h"

struct outcome {
	pid_t pid;
	struct caller caller[2];
	uint64_t figure[8];
};

static struct outcome *outcome;

static uint32_t forked_pid;

/* Forks inside a traced call; the child goes on, and returns from the call that it was born in. */
static long fork_inside(long calls)
{
	pid_t pid = fork();

	if (pid) {
		int status = 0;
		if (waitpid(pid, &status, 0) != pid || status)
			outcome->figure[2]++;
		outcome->figure[0] = (uint64_t)pid;
		return calls;
	}
	forked_pid = (uint32_t)getpid();
	caller_run(&outcome->caller[1], 20000, 0);
	return calls;
}

/* Of the chunk that the parent had begun. */
static uint64_t sum_chunk(pid_t pid)
{
	const uint8_t *chunk = (const uint8_t *)core_chunk(core_folder(), pid, 0, TRACE_CHUNK_MIN, 0, CORE_IN_PLACE);
	uint64_t sum = chunk ? 14695981039346656037ull : 0;

	for (size_t i = 0; chunk && i < TRACE_CHUNK_MIN; i++)
		sum = (sum ^ chunk[i]) * 1099511628211ull;
	return sum;
}

static int fork_child(void *argument)
{
	struct traced forker;

	(void)argument;
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	outcome->pid = getpid();
	caller_prepare(&outcome->caller[0]);
	caller_prepare(&outcome->caller[1]);
	forker = core_traced(TRAMP_INTERCEPT, 0x700000, fork_inside);
	caller_run(&outcome->caller[0], 1000, 0);
	outcome->figure[3] = (uint64_t)CALL(long (*)(long), forker)(1234);
	if (forked_pid) /* the child: its last events are its own */
		return outcome->figure[3] != 1234;
	caller_self = &outcome->caller[0];
	caller_run(&outcome->caller[0], 2000, 0);
	return 0;
}

/* As fork_inside(), with sums of the parent's chunk that the child takes before its first and after its last event. */
static int fork_untouched(void *argument)
{
	(void)argument;
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	pid_t parent = getpid();
	caller_prepare(&outcome->caller[0]);
	caller_prepare(&outcome->caller[1]);
	caller_run(&outcome->caller[0], 1000, 0);
	pid_t pid = fork();
	if (!pid) {
		outcome->figure[0] = sum_chunk(parent);
		caller_run(&outcome->caller[1], 20000, 0);
		outcome->figure[1] = sum_chunk(parent);
		_exit(0);
	}
	int status = 1;
	waitpid(pid, &status, 0);
	return status;
}

static void test_fork(void)
{
	struct reading reading;
	struct trace_head head;
	size_t n;

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(fork_untouched, NULL, 60), 0, "a forked child goes on calling");
	ok(outcome->figure[0] && outcome->figure[0] == outcome->figure[1], "and leaves the parent's chunk as it was");

	memset(outcome, 0, sizeof(*outcome));
	is_int(core_child(fork_child, NULL, 60), 0,
		"a program forks in the middle of a call, and parent and child return from it");
	is_int((long long)outcome->figure[2], 0, "the child ends as it should");
	pid_t parent = outcome->pid, child = (pid_t)outcome->figure[0];
	ok(!core_read_head(core_folder(), child, &head) && (pid_t)head.pid == child && (pid_t)head.ppid == parent,
		"the child has a head of its own");
	if (core_read(core_folder(), child, 0, TRACE_CHUNK_MIN, &reading))
		bail("the child has no events");
	n = reading.count;
	is_int((long long)n, 20000 * CALLER_EVENTS + (CORE_HAS_MIRROR ? 1 : 0),
		"the child's file holds its calls and the end of the one it was born in");
	if (CORE_HAS_MIRROR)
		ok(n && reading.event[n - 1].type == TRACE_EXIT && reading.event[n - 1].id == 0x700000,
			"that end is its last event");
	else
		skip(1, "no return is intercepted under ThreadSanitizer");
	struct caller_expected expected = {.next = 1};
	for (size_t i = 0; i < n; i++)
		if (reading.event[i].id < 0x700000)
			caller_expect(&expected, &reading.event[i]);
	is_int((long long)expected.strange, 0, "its calls are there once and in order");
	core_forget(&reading);

	if (core_read(core_folder(), parent, 0, TRACE_CHUNK_MIN, &reading))
		bail("the parent has no events");
	is_int((long long)reading.count, 2001 * CALLER_EVENTS, "the parent's file holds its calls alone");
	expected = (struct caller_expected){.next = 1};
	for (size_t i = 0; i < reading.count; i++)
		if (reading.event[i].id < 0x700000)
			caller_expect(&expected, &reading.event[i]);
	is_int((long long)expected.strange, 0, "once and in order");
	core_forget(&reading);
}

/* ---- a child that begins with a thread ---- */

static struct traced one;
static pthread_barrier_t barrier;

__attribute__((noinline)) static long add_one(long x)
{
	return x + 1;
}

static void call_one(int times)
{
	for (int i = 0; i < times; i++)
		CALL(long (*)(long), one)(i);
}

static void *second_thread(void *argument)
{
	call_one(50);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	call_one(50);
	return argument;
}

/*
 * In the child, a new thread has its first event before the thread that forked; the record of the latter was wiped, but
 * is still its own.
 */
static int fork_then_thread(void *argument)
{
	pthread_t thread;

	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	one = core_traced(TRAMP_INTERCEPT, 1, add_one);
	call_one(10);
	pid_t pid = fork();
	if (pid) {
		int status = 0;
		outcome->pid = pid;
		return waitpid(pid, &status, 0) != pid || status;
	}
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, second_thread, argument))
		return 1;
	pthread_barrier_wait(&barrier);
	call_one(70);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return 0;
}

static void test_thread(void)
{
	unsigned long calls[2] = {0, 0}, strangers = 0;

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(fork_then_thread, NULL, 60), 0, "a child that begins with a thread runs to its end");
	for (unsigned n = 0; n < 2; n++) {
		struct reading reading;
		if (core_read(core_folder(), outcome->pid, n, TRACE_CHUNK_MIN, &reading))
			continue;
		for (size_t i = 0; i < reading.count; i++) {
			calls[n] += reading.event[i].type == TRACE_ENTRY || reading.event[i].type == TRACE_POINT;
			strangers += reading.event[i].tid != reading.event[0].tid;
		}
		core_forget(&reading);
	}
	is_int((long long)calls[0], 100, "the new thread's calls are in its file");
	is_int((long long)calls[1], 70, "those of the thread that forked in another");
	is_int((long long)strangers, 0, "and each file is of one thread");
}

int main(void)
{
	core_folder();
	test_fork();
	test_thread();
	return done_testing();
}
