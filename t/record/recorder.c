#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * The recorder: every event is in the file exactly once and in order, whatever interrupts it and whichever thread makes
 * it.
 */
#include "t/lib/tap.h"

#include <pthread.h>
#include <signal.h> /* tgkill */
#include <stdint.h>
#include <unistd.h>

#include "t/lib/caller.h"
#include "t/lib/core.h"

#define CALLS	    (CORE_HAS_MIRROR ? 500000u : 100000u)
#define MAX_THREADS 8

struct outcome {
	pid_t pid;
	struct caller caller[MAX_THREADS];
};

static struct outcome *outcome;

/* Are all calls of caller in the files of the process, once and in order? */
static void check_calls(const char *name, const struct caller *caller, unsigned files, uint64_t chunk_size)
{
	struct caller_expected program = {.next = 1}, handlers = {.next = CALLER_HANDLER};
	uint64_t lost = 0, seen = 0, backward = 0, holes = 0, chunks = 0, last = 0;
	const char *damage = NULL;

	for (unsigned n = 0; n < files; n++) {
		struct reading reading;
		if (core_read(core_folder(), outcome->pid, n, chunk_size, &reading))
			continue;
		for (size_t i = 0; i < reading.count; i++) {
			const struct event *event = &reading.event[i];
			if (event->tid != caller->tid)
				continue;
			seen++;
			caller_expect(event->id < CALLER_HANDLER ? &program : &handlers, event);
			if (event->id < CALLER_HANDLER) {
				backward += event->clock < last;
				last = event->clock;
			}
		}
		lost += reading.lost;
		holes += reading.holes;
		chunks += reading.chunks;
		damage = damage ? damage : reading.damage;
		core_forget(&reading);
	}
	is_str(damage, NULL, "%s: files keep to the format", name);
	is_int((long long)seen, (long long)CALLER_EVENTS * (caller->made + caller->handled),
		"%s: all events of %u calls are there", name, caller->made + caller->handled);
	is_int((long long)program.strange, 0, "%s: those of the program once and in order", name);
	is_int((long long)program.next - 1, caller->made, "%s: up to its last call", name);
	is_int((long long)handlers.strange, 0, "%s: those of signal handlers once and in order", name);
	is_int((long long)(handlers.next - CALLER_HANDLER), caller->handled, "%s: up to their last of %u calls", name,
		caller->handled);
	is_int((long long)backward, 0, "%s: the program's times never step back", name);
	is_int((long long)lost, 0, "%s: no event is lost", name);
	is_int(caller->wrong, 0, "%s: all calls return what they should", name);
	/* At each chunk's end; and where a handler came before the cursor was moved. */
	ok(holes <= chunks + caller->handled, "%s: %llu chunks have %llu holes, at most one for each handler", name,
		(unsigned long long)chunks, (unsigned long long)holes);
}

/* ---- one thread ---- */

static uint64_t chunk_size;

static int million(void *argument)
{
	(void)argument;
	core_start(core_folder(), chunk_size, TRACE_CLOCK_TSC);
	outcome->pid = getpid();
	caller_prepare(&outcome->caller[0]);
	caller_run(&outcome->caller[0], CALLS, 0);
	return 0;
}

static int million_signals(void *argument)
{
	(void)argument;
	core_start(core_folder(), chunk_size, TRACE_CLOCK_TSC);
	outcome->pid = getpid();
	caller_prepare(&outcome->caller[0]);
	caller_self = &outcome->caller[0];
	caller_start_timer(100);
	caller_run(&outcome->caller[0], CALLS, 3000);
	caller_stop_timer();
	return 0;
}

static void test_one_thread(void)
{
	struct reading reading;

	outcome = core_shared(sizeof(*outcome));
	chunk_size = TRACE_CHUNK_MIN;
	is_int(core_child(million, NULL, 60), 0, "a program makes %u calls", CALLS);
	check_calls("one thread", &outcome->caller[0], 2, chunk_size);
	is_int(outcome->caller[0].made, CALLS, "one thread: so many calls were made");
	if (core_read(core_folder(), outcome->pid, 0, chunk_size, &reading))
		bail("no thread file");
	uint64_t per_chunk = (TRACE_CHUNK_MIN - sizeof(struct trace_chunk)) / 8;
	uint64_t words = reading.count + 2 * reading.syncs + reading.holes;
	/* If two words belong together, the first is never the last word of a chunk. */
	ok(reading.chunks - (words + per_chunk - 1) / per_chunk <= 1,
		"one thread: as many chunks as the events fill");
	core_forget(&reading);
	ok(core_read(core_folder(), outcome->pid, 1, chunk_size, &reading) < 0,
		"one thread: it has one file");

	memset(outcome, 0, sizeof(*outcome));
	is_int(core_child(million_signals, NULL, 60), 0, "and with signals up to 10000 times a second");
	check_calls("with signals", &outcome->caller[0], 1, chunk_size);
	ok(outcome->caller[0].handled >= 1000, "with signals: there were enough of them");

	caller_disturb = 1;
	memset(outcome, 0, sizeof(*outcome));
	is_int(core_child(million_signals, NULL, 60), 0, "and where the clock's span changes all the time");
	check_calls("changing span", &outcome->caller[0], 1, chunk_size);
	caller_disturb = 0;

	chunk_size = 8 * TRACE_CHUNK_MIN;
	memset(outcome, 0, sizeof(*outcome));
	is_int(core_child(million_signals, NULL, 60), 0, "and with larger chunks");
	check_calls("larger chunks", &outcome->caller[0], 1, chunk_size);
	chunk_size = TRACE_CHUNK_MIN;
}

/* ---- many threads ---- */

static pthread_barrier_t barrier;

static void *thread_main(void *argument)
{
	struct caller *caller = argument;

	caller_self = caller;
	pthread_barrier_wait(&barrier);
	caller_run(caller, CALLS / 10, 0);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static int eight_threads(void *argument)
{
	pthread_t thread[MAX_THREADS];

	(void)argument;
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	outcome->pid = getpid();
	pthread_barrier_init(&barrier, NULL, MAX_THREADS + 1);
	for (int i = 0; i < MAX_THREADS; i++)
		caller_prepare(&outcome->caller[i]);
	caller_start_timer(100);
	for (int i = 0; i < MAX_THREADS; i++)
		if (pthread_create(&thread[i], NULL, thread_main, &outcome->caller[i]))
			return 1;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	caller_stop_timer();
	for (int i = 0; i < MAX_THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void test_threads(void)
{
	struct trace_head head;
	char name[40];

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(eight_threads, NULL, 60), 0, "eight threads at once make %u calls each, with signals",
		CALLS / 10);
	for (int i = 0; i < MAX_THREADS; i++) {
		snprintf(name, sizeof(name), "thread %d of 8", i + 1);
		check_calls(name, &outcome->caller[i], MAX_THREADS, TRACE_CHUNK_MIN);
	}
	if (core_read_head(core_folder(), outcome->pid, &head))
		bail("no meta");
	is_int(head.threads, MAX_THREADS, "eight threads have eight files");
}

/* ---- threads that come and go ---- */

#define GENERATIONS 1000

struct generations {
	uint32_t tid[GENERATIONS];
	pid_t pid;
};

static struct generations *generations;
static struct traced generation, leaver;
static uint32_t wrong_results;

static long leave(long x)
{
	(void)x;
	pthread_exit(NULL);
}

static void *generation_main(void *argument)
{
	uint32_t n = (uint32_t)(uintptr_t)argument;

	generations->tid[n] = (uint32_t)gettid();
	for (int i = 0; i < 5; i++)
		caller_call(generation, 1 + n, &wrong_results);
	/* Every other one ends in the middle of a call. */
	leaver.cell->word = TRACE_WORD(TRACE_ENTRY, 1 + n);
	if (n % 2)
		CALL(long (*)(long), leaver)(0);
	return NULL;
}

static int come_and_go(void *argument)
{
	pthread_t thread;

	(void)argument;
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	generations->pid = getpid();
	struct caller caller;
	caller_prepare(&caller);
	generation = caller.function;
	leaver = core_traced(TRAMP_INTERCEPT, 1, leave);
	for (uintptr_t n = 0; n < GENERATIONS; n++)
		if (pthread_create(&thread, NULL, generation_main, (void *)n) || pthread_join(thread, NULL))
			return 1;
	return wrong_results != 0;
}

static void test_generations(void)
{
	static uint32_t entries[GENERATIONS], exits[GENERATIONS];
	uint64_t unwound = 0, strange = 0, foreign = 0, wrong = 0, taken = 0, total = 0, chunks = 0;
	const char *damage = NULL;
	struct trace_head head;

	generations = core_shared(sizeof(*generations));
	is_int(core_child(come_and_go, NULL, 60), 0,
		"1000 threads run one after another, every other one ends within a call");
	if (core_read_head(core_folder(), generations->pid, &head))
		bail("no meta");
	/* The kernel may know a joined thread for a moment longer, so some new threads find no free record. */
	ok(head.threads >= 1 && head.threads <= GENERATIONS / 5, "their records are taken over: they leave %u files",
		head.threads);
	for (unsigned n = 0; n < head.threads; n++) {
		struct reading reading;
		if (core_read(core_folder(), generations->pid, n, TRACE_CHUNK_MIN, &reading))
			continue;
		for (size_t i = 0; i < reading.count; i++) {
			const struct event *event = &reading.event[i];
			uint32_t g = event->id - 1;
			total++;
			if (g >= GENERATIONS) {
				strange++;
				continue;
			}
			foreign += event->tid != generations->tid[g];
			unwound += event->type == TRACE_UNWIND;
			entries[g] += event->type == TRACE_ENTRY || event->type == TRACE_POINT;
			exits[g] += event->type == TRACE_EXIT;
		}
		taken += reading.threads;
		chunks += reading.chunks;
		damage = damage ? damage : reading.damage;
		core_forget(&reading);
	}
	for (unsigned g = 0; g < GENERATIONS; g++)
		wrong += entries[g] != 5 + g % 2 || exits[g] != (CORE_HAS_MIRROR ? 5 : 0);
	is_str(damage, NULL, "the files of taken over records keep to the format");
	/* The call that a thread ends in is ended by the next one on that stack, which the last one does not have. */
	const long long left = CORE_HAS_MIRROR ? GENERATIONS / 2 - 1 : 0;
	is_int((long long)total, left + (CORE_HAS_MIRROR ? 10500 : 5500), "all events of all threads are there");
	is_int((long long)(strange + wrong), 0, "each thread has its calls and those that it finished");
	is_int((long long)foreign, left, "each event is of its thread, but ends of calls that were left");
	is_int((long long)unwound, left, "a thread ends the call that the one before it was left in, and no other");
	ok(taken < GENERATIONS && taken + chunks >= GENERATIONS,
		"each thread is announced: by its chunk or a TRACE_THREAD");
}

/* ---- a record is taken over near its chunk's end ---- */

#define NEAR	     6 /* words that are left there, at most */
#define FIRST_ID     1u
#define SECOND_ID    2u
#define SECOND_CALLS 3

static struct traced point[2];
static unsigned words_left;

static long twice(long x)
{
	return 2 * x;
}

/* Returns NULL where it can't be had. */
static void *fill_chunk(void *argument)
{
	static uint32_t done;

	generations->tid[0] = (uint32_t)gettid();
	(void)argument;
	/* In each chunk so many words are left once, unless a sync comes there. */
	for (uint64_t n = 0; n < 4 * TRACE_CHUNK_MIN / 8; n++) {
		CALL(long (*)(long), point[0])(1);
		/* A chunk's addresses have the bit, the next ones have not. */
		uint64_t cursor = tramp_self->cursor, bit = tramp_self->chunk_bit;
		if (!((cursor + 8 * words_left) & bit) && (!words_left || (cursor + 8 * words_left - 8) & bit))
			return &done;
	}
	return NULL;
}

static void *call_a_little(void *argument)
{
	(void)argument;
	generations->tid[1] = (uint32_t)gettid();
	for (int i = 0; i < SECOND_CALLS; i++)
		CALL(long (*)(long), point[1])(1);
	return NULL;
}

/* One thread leaves so many words of its chunk; when the kernel has forgotten it, another takes its record. */
static int take_near_end(void *argument)
{
	uint64_t end = core_now_ns() + 40000000000ull;
	pthread_t thread;
	void *filled;

	(void)argument;
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	generations->pid = getpid();
	point[0] = core_traced(TRAMP_POINT, FIRST_ID, twice);
	point[1] = core_traced(TRAMP_POINT, SECOND_ID, twice);
	if (pthread_create(&thread, NULL, fill_chunk, NULL) || pthread_join(thread, &filled) || !filled)
		return 1;
	while (!tgkill(getpid(), (pid_t)generations->tid[0], 0))
		if (core_now_ns() > end)
			return 2;
	if (pthread_create(&thread, NULL, call_a_little, NULL) || pthread_join(thread, NULL))
		return 3;
	return 0;
}

static void test_near_end(void)
{
	for (words_left = 0; words_left <= NEAR; words_left++) {
		uint64_t seen = 0, foreign = 0;
		struct reading reading;
		struct trace_head head;

		is_int(core_child(take_near_end, NULL, 60), 0, "a thread ends %u words before its chunk", words_left);
		if (core_read_head(core_folder(), generations->pid, &head) ||
			core_read(core_folder(), generations->pid, 0, TRACE_CHUNK_MIN, &reading))
			bail("no events");
		for (size_t i = 0; i < reading.count; i++) {
			seen += reading.event[i].id == SECOND_ID;
			foreign += reading.event[i].tid != generations->tid[reading.event[i].id - FIRST_ID];
		}
		is_int(head.threads, 1, "%u words: the next takes over its record", words_left);
		is_int((long long)seen, SECOND_CALLS, "%u words: and has its events there", words_left);
		is_int((long long)foreign, 0, "%u words: each event is of the thread that made it", words_left);
		is_str(reading.damage, NULL, "%u words: the file keeps to the format", words_left);
		is_int((long long)reading.lost, 0, "%u words: nothing is lost", words_left);
		core_forget(&reading);
	}
}

int main(void)
{
	core_folder();
	test_one_thread();
	test_threads();
	test_generations();
	test_near_end();
	return done_testing();
}
