/* SPDX-License-Identifier: MIT */
/*
 * What other processes of a family store to its shared memory: whatever that is, and whenever it comes, the recorder
 * stores to its own places alone, comes to an end, and no signal comes.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/files/pool.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/record/chunk.h"
#include "runtime/record/recorder.h"
#include "runtime/record/recorder_words.h"
#include "runtime/record/throttle.h"
#include "t/lib/core.h"
#include "t/lib/sanitizers.h"
#include "t/lib/scribble.h"
#include "t/lib/tap.h"
#include "x86_64/sys.h"

#define SHARED (64ull << 20) /* of the file that is scribbled on: more than is ever taken here */

static struct {
	uint64_t rounds, events;
	unsigned changed;
	int ready; /* the second child of at_once() records */
} *told;

static const uint64_t all = ~0ull;
static uint64_t canaries;
static const char *where;

static uint64_t shared_start(void)
{
	return (uint64_t)(uintptr_t)pool_address(0);
}

/* The part that is accessible: steps of 16 MiB from the start on. */
static uint64_t shared_end(void)
{
	uint64_t end = shared_start();
	unsigned char there;

	while (end < shared_start() + SHARED && !mincore((void *)(uintptr_t)end, SCRIBBLE_PAGE, &there) &&
		sys_call(__NR_rt_sigprocmask, 0, 0, (long)end, 8, 0, 0) != -EFAULT)
		end += 1ull << 20;
	return end;
}

static void begin(void)
{
	core_start(where, TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	throttle_init(30);
	recorder_write(thread_get(), NULL, TRACE_WORD(TRACE_POINT, 1));
	canaries = scribble_canaries();
	if (!canaries)
		_exit(90);
}

/* All that a thread does with shared memory, some of each. */
static void do_all(uint64_t *state)
{
	struct thread *thread = thread_get();
	struct process_held held;
	uint8_t data[TRACE_CUSTOM_MAX] = { 0 };
	uint64_t before;

	for (uint32_t n = (uint32_t)(random_number(state) % 6000); n; n--)
		recorder_write(thread, NULL, TRACE_WORD(n % 2 ? TRACE_ENTRY : TRACE_EXIT, random_number(state) % 9));
	for (int i = 0; i < 4; i++)
		recorder_custom(NULL, TRACE_TYPE_MARK, data,
			(uint32_t)(random_number(state) % (TRACE_CUSTOM_MAX + 1)), NULL);
	sys_set_signals(&all, &before);
	chunk_next(thread, random_number(state) % 4 ? TRACE_MODE_STREAM : TRACE_MODE_RING, clock_now(), 7);
	sys_set_signals(&before, NULL);
	/* The counters that there are, as trampolines count. */
	if (thread->hot.counts)
		((uint64_t *)(uintptr_t)thread->hot.counts)[thread->hot.count_limit - 1]++;
	tramp_slow_count(random_number(state) % 200000);
	process_lock(&held);
	struct trace_change change = { .head = { .type = TRACE_REC_CHANGE }, .what = TRACE_CHANGE_STARTED };
	process_append(&change.head, sizeof(change), data, random_number(state) % sizeof(data));
	recorder_set_recording(0);
	recorder_set_recording(1);
	process_unlock(&held);
	process_clock();
	/* Of a time when `xaudit record` takes chunks, and of one when it does not. */
	((struct trace_head *)pool_address(0))->drain_beat = random_number(state) % 2 * random_number(state);
}

/* In between: each state that a store can leave. */
static int in_turn(void *argument)
{
	uint64_t state = RANDOM_BEGIN + (uint64_t)(uintptr_t)argument;

	begin();
	for (int round = 0; round < (WITH_TSAN || WITH_ASAN ? 20 : 60); round++) {
		/* Not always in all of it: then nothing would be recorded at all. */
		uint64_t end = shared_end(), from = random_number(&state) % 3 ? shared_start() : end - (1ull << 20);
		scribble(from, end, &state, canaries);
		if (random_number(&state) % 2)
			((struct trace_head *)pool_address(0))->places = 40 + (uint32_t)(random_number(&state) % 400);
		for (int i = 0; i < 4; i++)
			do_all(&state);
		told->rounds++;
		told->changed += scribble_changed(canaries);
	}
	return 0;
}

static void *work(void *argument)
{
	uint64_t state = RANDOM_BEGIN + 99 + (uint64_t)(uintptr_t)argument;
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		do_all(&state);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec < 3);
	return NULL;
}

static void scribble_on(void)
{
	uint64_t state = RANDOM_BEGIN + 5;

	for (;;) {
		scribble(shared_start(), shared_end(), &state, canaries);
		struct trace_head *head = pool_address(0);
		/* What helps the others to go on now and then. */
		head->places = 40 + (uint32_t)(random_number(&state) % 400);
		usleep(500);
	}
}

/* A child that records. Returns its id when it has a place in meta: with a spoiled directory there may be none. */
static pid_t fork_worker(void)
{
	pid_t child = fork();

	if (!child) {
		__atomic_store_n(&told->ready, thread_get() ? 1 : -1, __ATOMIC_RELAXED); /* relaxed: a flag alone */
		if (told->ready > 0)
			work((void *)(uintptr_t)7);
		_exit(told->ready < 0 || scribble_changed(canaries));
	}
	for (int i = 0; child > 0 && i < 30000 && !__atomic_load_n(&told->ready, __ATOMIC_RELAXED); i++)
		usleep(1000); /* relaxed, as above */
	return child;
}

/* At the same time: by a forked child, while two threads and another child go on. */
static int at_once(void *argument)
{
	pid_t child[2];
	pthread_t thread[2];
	int status, bad = 0;

	(void)argument;
	begin();
	child[1] = fork_worker();
	child[0] = fork();
	if (child[0] < 0 || child[1] < 0)
		return 91;
	if (!child[0])
		scribble_on();
	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			return 92;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	kill(child[0], SIGKILL);
	waitpid(child[0], &status, 0);
	waitpid(child[1], &status, 0);
	bad = status != 0;
	told->changed += scribble_changed(canaries);
	told->rounds++;
	return bad;
}

int main(void)
{
	told = core_shared(sizeof(*told));
	where = core_folder();
	for (uintptr_t seed = 0; seed < 4; seed++)
		is_int(core_child(in_turn, (void *)seed, 100), 0, "in between, %d: it goes on", (int)seed);
	is_int((long long)told->rounds, 4 * (WITH_TSAN || WITH_ASAN ? 20 : 60), "all rounds were done");
	is_int(told->changed, 0, "and no canary was touched");
	/* Two threads may have one place then (runtime/files/pool.h), which is a race. */
	if (WITH_TSAN)
		skip(1, "at the same time: TSan sees that two threads store to one place");
	else
		is_int(core_child(at_once, NULL, 100), 0, "at the same time: threads and another child go on");
	is_int(told->changed, 0, "and no canary was touched");
	return done_testing();
}
