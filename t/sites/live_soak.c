/* SPDX-License-Identifier: MIT */
/*
 * 10 000 sites are switched on and off from inside, again and again. Meanwhile 8 threads call their functions at full
 * speed; each thread gets SIGPROF each millisecond, and its handler calls the functions, too; and processes are forked
 * in the middle of batches. 3 s in mode count and 3 s in mode ring, with XAUDIT_SOAK=1 a minute each.
 *
 * Each thread knows which of its calls may be counted: it notes when a call begins and when it is done. Calls that
 * began after a batch had switched all sites on, and were done before the next batch, must be counted. Calls that were
 * done before the first of these batches, or began after the second, must not.
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "format/places.h"
#include "runtime/process/process.h"
#include "runtime/record/recorder.h"
#include "t/lib/core.h"
#include "t/lib/live_load.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define XRAY_FUNCTIONS	2500
#define NOP_FUNCTIONS	3500
#define HOT_FUNCTIONS	1500
#define FUNCTIONS	(XRAY_FUNCTIONS + NOP_FUNCTIONS + HOT_FUNCTIONS)
#define COUNTED_IDS	8192 /* more than the number of ids */
#define SITES		(2 * XRAY_FUNCTIONS + NOP_FUNCTIONS + HOT_FUNCTIONS)
/* Bytes of each function: an odd number, so that some sites cross ends of cache lines and pages. */
#define SPACE		41
#define FILE_SIZE	((16ul + FUNCTIONS * SPACE + 64 + 4095) & ~4095ul)
#define THREADS		8
#define CALLS_OF_SIGNAL 5
#define QUIET		300000 /* us, after the last batch */

_Static_assert(SITES == 10000, "as many as the claim says");

static void make_load(void)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/libcode%d.so", core_folder(), (int)getpid());
	load_begin(FILE_SIZE, FUNCTIONS, SITES);
	char(*names)[20] = load_array(FUNCTIONS, sizeof(*names));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		/*
		 * XRay functions have even addresses; other heads may lie anywhere but over the end of 8 bytes, where
		 * no compiler puts them.
		 */
		uint64_t at = 16 + i * SPACE;
		char *name = names[i];
		snprintf(name, sizeof(*names), "function_%u", i);
		if (i < XRAY_FUNCTIONS)
			load_add(CODE_XRAY, name, (at + 1) & ~1ull);
		else
			load_add(i < XRAY_FUNCTIONS + NOP_FUNCTIONS ? CODE_NOP5 : CODE_HOT, name,
				at % 8 == 7 ? at + 1 : at);
	}
	load_map(path);
}

/* ---- callers ---- */

/* Written by one thread, or by the signal handlers on it; read by all. */
struct tally {
	uint64_t begun, done;
};

struct caller {
	struct tally own, handled;
	uint32_t tid, next; /* function with which the next signal's handler begins */
	uint64_t wrong;	    /* results */
	uint64_t low, high; /* calls that must, and may, have been counted */
} __attribute__((aligned(64)));

/* The last one is the thread that switches: only its signal handlers call. */
static struct caller caller[THREADS + 1];
static __thread struct caller *self;
static int stop;

/*
 * Relaxed: a call is a barrier for the compiler, x86 keeps the order of stores, and a core-sync is a barrier for all
 * threads.
 */
static uint64_t get(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static void set(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
}

static uint64_t call(struct tally *tally, uint32_t function)
{
	long n = (long)tally->begun;

	set(&tally->begun, tally->begun + 1);
	long r = ((function_type *)(uintptr_t)(text + functions[function].address))(n);
	set(&tally->done, tally->done + 1);
	return r != n + 1;
}

static void handler(int number)
{
	int keep = errno;
	struct caller *me = self;

	(void)number;
	for (int i = 0; me && i < CALLS_OF_SIGNAL; i++) {
		if (call(&me->handled, me->next))
			__atomic_fetch_add(&me->wrong, 1, __ATOMIC_RELAXED);
		me->next = (me->next + 1013) % FUNCTIONS;
	}
	errno = keep;
}

static timer_t start_timer(struct caller *me)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
	struct itimerspec time = { .it_interval = { .tv_nsec = 1000000 }, .it_value = { .tv_nsec = 1000000 } };
	timer_t timer;

	me->tid = (uint32_t)syscall(SYS_gettid);
	event.sigev_notify_thread_id = (pid_t)me->tid;
	self = me;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &time, NULL))
		_exit(97);
	return timer;
}

static void *run(void *argument)
{
	struct caller *me = argument;
	timer_t timer = start_timer(me);

	for (uint32_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i = i + 1 < FUNCTIONS ? i + 1 : 0)
		if (call(&me->own, i))
			__atomic_fetch_add(&me->wrong, 1, __ATOMIC_RELAXED);
	timer_delete(timer);
	return NULL;
}

struct moment {
	uint64_t own[THREADS + 1], handled[THREADS + 1];
};

static void begun(struct moment *m)
{
	for (int i = 0; i <= THREADS; i++) {
		m->own[i] = get(&caller[i].own.begun);
		m->handled[i] = get(&caller[i].handled.begun);
	}
}

static void done(struct moment *m)
{
	for (int i = 0; i <= THREADS; i++) {
		m->own[i] = get(&caller[i].own.done);
		m->handled[i] = get(&caller[i].handled.done);
	}
}

static uint64_t more(uint64_t to, uint64_t from)
{
	return to > from ? to - from : 0;
}

/* ---- what was recorded ---- */

/* A place of the calling process, in its own mapping, where its own places are accessible. */
static void *own_place(uint32_t place)
{
	const struct trace_head *head = process_head();

	return (char *)(uintptr_t)head + ((int64_t)place - head->process) * (int64_t)head->place_size;
}

/* The next place after `at` whose own head says that it is `what`; *n becomes its thread record. 0: there is none. */
static uint32_t next_own(uint32_t at, enum trace_place what, unsigned *n)
{
	const struct trace_head *head = process_head(), *first = head ? own_place(0) : NULL;

	for (uint32_t i = at + 1; first && i < first->places; i++) {
		const struct trace_directory directory = trace_directory_of(first);
		uint64_t word = *(const uint64_t *)(const void *)((const char *)first + trace_word_at(&directory, i));
		*n = (uint32_t)word;
		if (word == TRACE_PLACE(what, head->process, *n))
			return i;
	}
	return 0;
}

/* Adds the counters of a run up, if it is thread record n's. */
static void add_counts(const struct trace_counts *counts, unsigned n, int64_t *sum, uint32_t *tid)
{
	if (counts->magic != TRACE_COUNTS_MAGIC || counts->thread != n)
		return;
	*sum = *sum < 0 ? 0 : *sum;
	*tid = counts->tid;
	const uint64_t *count = (const uint64_t *)(counts + 1), ids = (counts->size - sizeof(*counts)) / 8;
	/* Counters after these were never stored to. */
	for (size_t id = 0; id < COUNTED_IDS && id < ids; id++)
		*sum += (int64_t)count[id];
}

/* Sum of the counters of thread record n; -1: it has none. *tid: the thread's. Calls no malloc. */
static int64_t counted(unsigned n, uint32_t *tid)
{
	const struct trace_head *head = process_head();
	int64_t sum = -1;
	unsigned of;

	if (head)
		add_counts((const void *)((const char *)head + head->place_size / 2), n, &sum, tid);
	for (uint32_t i = 0; (i = next_own(i, TRACE_PLACE_COUNTS, &of));)
		if (of == n)
			add_counts(own_place(i), n, &sum, tid);
	return sum;
}

static uint64_t hash_chunk(uint64_t hash, uint32_t place)
{
	const uint64_t *word = own_place(place), size = process_head()->place_size;

	for (size_t k = size / 16; k < size / 8; k++)
		hash = (hash ^ word[k]) * 1099511628211ull;
	return hash;
}

/* A hash of everything that the process has recorded in memory; *places: the number of places, its head's too. */
static uint64_t fingerprint(unsigned *places)
{
	const struct trace_head *head = process_head();
	uint64_t hash = hash_chunk(14695981039346656037ull ^ head->stream_bytes, head->process);
	unsigned n;

	*places = 1;
	for (uint32_t i = 0; (i = next_own(i, TRACE_PLACE_CHUNK, &n)); ++*places)
		hash = hash_chunk(hash, i);
	for (uint32_t i = 0; (i = next_own(i, TRACE_PLACE_COUNTS, &n)); ++*places) {
		const uint64_t *word = own_place(i);
		for (size_t k = 0; k < COUNTED_IDS; k++)
			hash = (hash ^ word[k]) * 1099511628211ull;
	}
	return hash;
}

/* ---- a process that is forked in the middle of a batch ---- */

static int apply_locked(int on)
{
	struct process_held held;

	process_lock(&held);
	int r = apply(on, "*");
	process_unlock(&held);
	return r;
}

static int all_are(int on)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		if (load_code_is_on(&load, i) != on)
			return 0;
	return 1;
}

static uint64_t call_each(void)
{
	static struct tally tally;
	uint64_t bad = 0;

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		bad += call(&tally, i);
	return bad;
}

/*
 * Whatever was on at the fork, the child can call and switch all functions. Returns the number of the failed step, or
 * 0.
 */
static int child(enum trace_mode mode)
{
	uint32_t tid;
	int64_t first, second;

	if (call_each())
		return 1;
	if (apply_locked(1))
		return 2;
	if (!all_are(1))
		return 9;
	first = counted(0, &tid);
	if (call_each())
		return 3;
	second = counted(0, &tid);
	if (mode == TRACE_MODE_COUNT && (first > FUNCTIONS || second - (first < 0 ? 0 : first) != FUNCTIONS))
		return 4;
	if (apply_locked(0))
		return 5;
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		if (load_code_is_on(&load, i))
			return 6;
	if (call_each())
		return 7;
	if (mode == TRACE_MODE_COUNT && counted(0, &tid) != second)
		return 8;
	return 0;
}

/* ---- a run ---- */

/* Results of a run. */
struct outcome {
	enum trace_mode mode;
	unsigned seconds;
	uint64_t rounds, calls, signals, switcher_signals, low, traced, high, wrong, lost;
	uint64_t failed, partial, outside; /* batches; threads whose calls are not within their bounds */
	uint64_t forks, forks_failed, fork_status;
	uint64_t settled, later_calls, fingerprints[3], files, all_off, executable;
};

static struct outcome *outcome;

static void *run_forks(void *argument)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		int status = 0;
		usleep(100000);
		pid_t pid = fork();
		if (!pid) {
			alarm(60);
			_exit(child(outcome->mode));
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
			outcome->forks_failed++;
			outcome->fork_status = (uint64_t)status;
		}
		outcome->forks++;
	}
	return argument;
}

static void round_of_two(unsigned n)
{
	struct moment before, first, last, after;

	done(&before);
	outcome->failed += apply_locked(1) != 0;
	outcome->partial += result.changed != SITES;
	begun(&first);
	usleep(n % 4 == 3 ? 40000 : n % 4 * 500);
	done(&last);
	outcome->failed += apply_locked(0) != 0;
	outcome->partial += result.changed != SITES;
	begun(&after);
	for (int i = 0; i <= THREADS; i++) {
		caller[i].low += more(last.own[i], first.own[i]) + more(last.handled[i], first.handled[i]);
		caller[i].high += more(after.own[i], before.own[i]) + more(after.handled[i], before.handled[i]);
	}
	usleep(n % 3 * 500);
}

/* Waits until each call that was open at the last batch has ended. */
static int settle(void)
{
	struct moment at, now;
	uint64_t end = core_now_ns() + 60000000000ull;
	int open = 1;

	begun(&at);
	while (open && core_now_ns() < end) {
		usleep(1000);
		done(&now);
		open = 0;
		for (int i = 0; i <= THREADS; i++)
			open += now.own[i] < at.own[i] || now.handled[i] < at.handled[i];
	}
	return !open;
}

static uint64_t all_calls(void)
{
	struct moment m;
	uint64_t sum = 0;

	done(&m);
	for (int i = 0; i <= THREADS; i++)
		sum += m.own[i] + m.handled[i];
	return sum;
}

static void judge_counts(void)
{
	for (unsigned n = 0; n < THREADS + 2; n++) {
		uint32_t tid;
		int64_t calls = counted(n, &tid);
		if (calls < 0)
			continue;
		outcome->traced += (uint64_t)calls;
		for (int i = 0; i <= THREADS; i++)
			if (caller[i].tid == tid &&
				((uint64_t)calls < caller[i].low || (uint64_t)calls > caller[i].high))
				outcome->outside++;
	}
}

/* Was there enough of all for a test? */
static int is_enough(void)
{
	uint64_t low = 0, signals = 0;

	for (int i = 0; i <= THREADS; i++) {
		low += caller[i].low;
		signals += get(&caller[i].handled.done) / CALLS_OF_SIGNAL;
	}
	return outcome->rounds >= 3 && low > 1000 && signals > 20 * outcome->seconds && get(&outcome->forks) > 0;
}

static int soak(void *argument)
{
	const struct recorder_options recorder = { .mode = outcome->mode };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	pthread_t thread[THREADS], forker;
	unsigned files;

	(void)argument;
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	recorder_init(&recorder);
	make_load();
	sigaction(SIGPROF, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, &caller[i]))
			return 98;
	timer_t timer = start_timer(&caller[THREADS]);
	if (pthread_create(&forker, NULL, run_forks, NULL))
		return 98;
	uint64_t end = core_now_ns() + outcome->seconds * 1000000000ull;
	while (core_now_ns() < end || (core_now_ns() < end + 60000000000ull && !is_enough()))
		round_of_two((unsigned)outcome->rounds++);

	outcome->settled = (uint64_t)settle();
	outcome->all_off = 1;
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		outcome->all_off &= !load_code_is_on(&load, i);
	uint64_t calls = all_calls();
	outcome->fingerprints[0] = fingerprint(&files);
	/* Waits long enough for calls of all threads; on a busy machine that takes a while. */
	for (int tries = 0; tries < 200 && (!tries || all_calls() - calls <= 1000); tries++)
		usleep(QUIET);
	outcome->fingerprints[1] = fingerprint(&files);
	outcome->later_calls = all_calls() - calls;
	timer_delete(timer);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_join(forker, NULL);
	outcome->fingerprints[2] = fingerprint(&files);
	outcome->files = files;
	outcome->executable = !strcmp(core_protection(load.start), "r-xp");
	outcome->calls = all_calls();
	for (int i = 0; i <= THREADS; i++) {
		outcome->low += caller[i].low;
		outcome->high += caller[i].high;
		outcome->wrong += caller[i].wrong;
		outcome->signals += caller[i].handled.done / CALLS_OF_SIGNAL;
	}
	outcome->switcher_signals = caller[THREADS].handled.done / CALLS_OF_SIGNAL;
	if (outcome->mode == TRACE_MODE_COUNT)
		judge_counts();
	outcome->lost = process_head()->lost;
	return 0;
}

static void test(enum trace_mode mode, const char *name, unsigned seconds)
{
	typedef unsigned long long number;

	outcome = core_shared(sizeof(*outcome));
	outcome->mode = mode;
	outcome->seconds = seconds;
	is_int(core_child(soak, NULL, seconds + 240), 0, "%s: the program runs to its end", name);
	diag("%s: %llu rounds, %llu calls, %llu signals (%llu on the thread that switches), %llu forks", name,
		(number)outcome->rounds, (number)outcome->calls, (number)outcome->signals,
		(number)outcome->switcher_signals, (number)outcome->forks);
	ok(outcome->rounds >= 3 && !outcome->failed, "%s: %llu batches have all succeeded", name,
		2 * (number)outcome->rounds);
	is_int((long long)outcome->partial, 0, "%s: each changed all 10 000 sites", name);
	is_int((long long)outcome->wrong, 0, "%s: every call has the right result", name);
	ok(outcome->signals > 20 * seconds, "%s: signals came", name);
	ok(outcome->forks > 0 && !outcome->forks_failed,
		"%s: children that were forked meanwhile can call all, and switch all (%llu of %llu can't, 0x%llx)",
		name, (number)outcome->forks_failed, (number)outcome->forks, (number)outcome->fork_status);
	if (mode == TRACE_MODE_COUNT) {
		ok(outcome->low > 1000 && outcome->low <= outcome->traced && outcome->traced <= outcome->high,
			"%s: %llu traced calls are within what the program counted, %llu to %llu", name,
			(number)outcome->traced, (number)outcome->low, (number)outcome->high);
		is_int((long long)outcome->outside, 0, "%s: and those of each thread are within its own bounds", name);
		is_int((long long)outcome->lost, 0, "%s: none is lost", name);
	}
	ok(outcome->settled && outcome->all_off && outcome->executable,
		"%s: in the end all is off, and the text is protected as before", name);
	ok(outcome->later_calls > 1000, "%s: the threads go on calling", name);
	ok(outcome->files >= THREADS && outcome->fingerprints[0] == outcome->fingerprints[1] &&
			outcome->fingerprints[0] == outcome->fingerprints[2],
		"%s: and there is no event any more, in none of %llu places", name, (number)outcome->files);
}

int main(void)
{
	const char *soaking = getenv("XAUDIT_SOAK");
	unsigned seconds = soaking && !strcmp(soaking, "1") ? 60 : 3;

	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer keeps the addresses of mirrors for itself, and signals back until a system "
			 "call");
	core_folder();
	test(TRACE_MODE_COUNT, "mode count", seconds);
	test(TRACE_MODE_RING, "mode ring", seconds);
	return done_testing();
}
