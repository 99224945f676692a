/* SPDX-License-Identifier: MIT */
/*
 * Samples of memory: intervals have the exponential distribution, calls are samples with the probability that their
 * size says, blocks are found as long as they are live, by C and by the trampolines, and one of several threads takes
 * each. What is random has bounds of five standard deviations, which one run in a million exceeds.
 */
#include "runtime/values/sample.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/core.h"
#include "t/lib/sanitizers.h"
#include "t/lib/tap.h"

#define INTERVAL 4096

static bool is_near(double got, double expected, double deviation, const char *sentence)
{
	if (ok(fabs(got - expected) <= 5 * deviation, "%s", sentence))
		return true;
	diag("%f, expected %f, with a standard deviation of %f", got, expected, deviation);
	return false;
}

/* ---- intervals ---- */

#define DRAWS 200000

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void test_draws(uint64_t interval)
{
	static uint64_t draws[DRAWS];
	uint64_t state = 0, bits = 0;
	double sum = 0, apart = 0, squares = 0;

	for (unsigned i = 0; i < DRAWS; i++) {
		/* As of a clock that goes on by few ticks. */
		uint64_t random = sample_random(&state, 1000 + 40 * i);
		bits += (uint64_t)__builtin_popcountll(random);
		draws[i] = sample_draw(random, interval);
		sum += (double)draws[i];
		squares += (double)draws[i] * (double)draws[i];
	}
	is_near((double)bits, 32.0 * DRAWS, sqrt(16.0 * DRAWS), "half of all random bits are set");
	/* Rounded up it is a geometric distribution, with this probability at each byte. */
	const double t = (double)interval, n = DRAWS, p = -expm1(-1 / t);
	is_near(sum / n, 1 / p, sqrt((1 - p) / n) / p, "the mean of intervals is what was asked for");
	const double fourth = (24 - 36 * p + 14 * p * p - p * p * p) / pow(p, 4), second = (2 - p) / (p * p);
	is_near(squares / n, second, sqrt((fourth - second * second) / n), "so is that of their squares");
	qsort(draws, DRAWS, sizeof(*draws), by_size);
	for (unsigned i = 0; i < DRAWS; i++) {
		/* At an integer, all of them up to it are counted. */
		if (i + 1 < DRAWS && draws[i + 1] == draws[i])
			continue;
		apart = fmax(apart, fabs((i + 1) / n + expm1(-(double)draws[i] / t)));
	}
	/* Kolmogorov's bound for one of a million. */
	ok(apart < 2.7 / sqrt(n), "they have the exponential distribution (%f of %f apart)", apart, 2.7 / sqrt(n));
}

static void test_ends(void)
{
	uint64_t before = 0, x = 1, y = 1;
	bool falls = true;

	is_int((long long)sample_draw(UINT64_MAX, 1 << 20), 1, "the largest number draws the shortest interval");
	is_int((long long)sample_draw(0, 1 << 20), (long long)(64 * log(2) * (1 << 20)) + 1,
		"0 draws the longest one: 64 ln 2 times the mean");
	ok(sample_draw(0, 1ull << 40) < 1ull << 46, "of the largest mean, too");
	for (int bit = 63; bit >= 0; bit--) {
		uint64_t drawn = sample_draw(1ull << bit, 1000000);
		falls &= drawn > before && drawn - before >= 693146 - 1 && drawn - before <= 693148 + 1;
		before = drawn;
	}
	/* (2^63 + 1) / 2^64 is the first. */
	ok(falls, "half the number draws ln 2 times the mean more, at each bit");
	ok(sample_random(&x, 5) != sample_random(&y, 6) && x != y, "two clocks part equal states");
	x = 0;
	sample_random(&x, 0);
	ok(x != 0, "a state is not 0, whatever the clock is");
}

/* ---- calls ---- */

static double weight_of(double size)
{
	return -1 / expm1(-size / INTERVAL);
}

static bool enter(uint8_t kind, uint64_t rdi, uint64_t rsi, uint64_t rdx, struct sample_call *call)
{
	const struct tramp_registers registers = { .rdi = rdi, .rsi = rsi, .rdx = rdx };
	uint64_t interval = 1;

	bool due = sample_enter(call, kind, &registers, false, &interval);
	if (interval != (call->sampled ? INTERVAL : 0))
		bail("a call has an interval of %llu", (unsigned long long)interval);
	return due;
}

static void test_probability(void)
{
	static const uint64_t sizes[] = { 1, 40, 1000, 4096, 20000, 1 << 20 };
	const unsigned count = sizeof(sizes) / sizeof(*sizes), calls = 300000;
	double bytes = 0, estimate = 0, variance = 0;
	unsigned sampled[6] = { 0 };
	struct sample_call call;

	for (unsigned i = 0; i < calls; i++) {
		/* In an order that the ways are not in step with. */
		unsigned which = (i * 2654435761u >> 8) % count;
		double size = (double)sizes[which], weight = weight_of(size);
		bool due = enter(VALUES_SAMPLE_MALLOC, sizes[which], 0, 0, &call);
		sampled[which] += due;
		bytes += size;
		estimate += due ? size * weight : 0;
		variance += size * size * (weight - 1);
	}
	is_near(estimate, bytes, sqrt(variance), "weighted bytes of samples are those of all calls");
	for (unsigned i = 0; i < count; i++) {
		double p = 1 / weight_of((double)sizes[i]), n = 1.0 * calls / count;
		/* How many calls there were of a size is known to some. */
		is_near(sampled[i], n * p, sqrt(n * p * (1 - p)) + 1, "calls of each size are samples as it says");
	}
}

/* The first call of a thread, whose way has not begun: by this process's thread, made as new. */
static void test_first(void)
{
	const unsigned calls = 100000;
	const struct tramp_registers registers = { .rdi = INTERVAL };
	unsigned sampled = 0, counted = 0;
	double p = -expm1(-1);
	struct sample_call call;
	uint64_t interval;

	for (unsigned i = 0; i < calls; i++) {
		tramp_sample = (struct tramp_sample){ 0, 0 };
		sampled += enter(VALUES_SAMPLE_MALLOC, INTERVAL, 0, 0, &call);
		tramp_sample = (struct tramp_sample){ (uint64_t)-INTERVAL, 0 };
		counted += sample_enter(&call, VALUES_SAMPLE_MALLOC, &registers, true, &interval);
	}
	is_near(sampled, calls * p, sqrt(calls * p * (1 - p)), "so is the first call of a thread");
	is_near(counted, calls * p, sqrt(calls * p * (1 - p)), "also if a trampoline has counted its size");
}

static void test_sizes(void)
{
	struct sample_call call;
	const uint64_t large = 1ull << 40; /* always a sample */

	ok(enter(VALUES_SAMPLE_CALLOC, 1 << 20, 1 << 20, 0, &call) && call.sampled, "calloc has a product");
	ok(!enter(VALUES_SAMPLE_CALLOC, 1ull << 40, 1ull << 40, 0, &call), "one that is too large is none");
	ok(enter(VALUES_SAMPLE_ALIGNED_ALLOC, 64, large, 0, &call), "aligned_alloc's size comes second");
	ok(enter(VALUES_SAMPLE_POSIX_MEMALIGN, 8, 64, large, &call), "posix_memalign's third");
	ok(enter(VALUES_SAMPLE_REALLOC, 0, large, 0, &call), "realloc's second");
	ok(enter(VALUES_SAMPLE_REALLOCARRAY, 0, 1 << 20, 1 << 20, &call), "reallocarray's is a product");
	ok(!enter(VALUES_SAMPLE_REALLOC | VALUES_SAMPLE_RELAYS, 0, large, 0, &call) &&
			!enter(VALUES_SAMPLE_ALIGNED_ALLOC | VALUES_SAMPLE_RELAYS, 16, large, 0, &call) &&
			!enter(VALUES_SAMPLE_POSIX_MEMALIGN | VALUES_SAMPLE_RELAYS, 8, 16, large, &call) &&
			!enter(VALUES_SAMPLE_REALLOCARRAY | VALUES_SAMPLE_RELAYS, 8, 1, large, &call),
		"what goes on as malloc counts there");
	ok(enter(VALUES_SAMPLE_REALLOC | VALUES_SAMPLE_RELAYS, 8, large, 0, &call) &&
			enter(VALUES_SAMPLE_ALIGNED_ALLOC | VALUES_SAMPLE_RELAYS, 32, large, 0, &call),
		"and nothing else does");
	ok(!enter(VALUES_SAMPLE_NOTHING, large, large, large, &call), "nothing is nothing");
	uint64_t left = tramp_sample.left;
	ok(!enter(VALUES_SAMPLE_MALLOC, UINT64_MAX - 5, 0, 0, &call) && tramp_sample.left == left,
		"a size that can't be changes nothing");
	const struct tramp_registers registers = { .rdi = UINT64_MAX - 5 };
	uint64_t interval;
	tramp_sample.left -= registers.rdi;
	ok(!sample_enter(&call, VALUES_SAMPLE_MALLOC, &registers, true, &interval) && tramp_sample.left == left,
		"if a trampoline has counted it, that is taken back");
}

static void test_blocks(void)
{
	struct sample_call call;
	uint64_t place = 0x1230;

	enter(VALUES_SAMPLE_MALLOC, 1 << 30, 0, 0, &call);
	sample_leave(&call, 0x1000);
	tramp_sample.left = 1 << 30;
	enter(VALUES_SAMPLE_MALLOC, 8, 0, 0, &call);
	sample_leave(&call, 0x2000);
	ok(!enter(VALUES_SAMPLE_FREE, 0x2000, 0, 0, &call), "a block that is no sample is freed unseen");
	ok(!enter(VALUES_SAMPLE_REALLOC, 0x2000, 8, 0, &call), "and made larger");
	ok(enter(VALUES_SAMPLE_REALLOC, 0x1000, 8, 0, &call) && !call.sampled && call.old == 0x1000,
		"realloc frees a sample, and gives none");
	sample_leave(&call, 0);
	ok(enter(VALUES_SAMPLE_REALLOC, 0x1000, 8, 0, &call), "if it fails, it has freed none");
	sample_leave(&call, 0x3000);
	ok(!sample_take(0x3000) && !sample_take(0x1000), "else it has");
	sample_add(0x1000);
	ok(enter(VALUES_SAMPLE_REALLOC, 0x1000, 0, 0, &call), "a block of no bytes");
	sample_leave(&call, 0);
	ok(!sample_take(0x1000), "is none, and that is no failure");
	sample_add(0x1000);
	ok(enter(VALUES_SAMPLE_FREE, 0x1000, 0, 0, &call) && !enter(VALUES_SAMPLE_FREE, 0x1000, 0, 0, &call),
		"a sample is freed once");
	sample_leave(&call, 0x7777);
	ok(!sample_take(0x7777), "what free leaves in its register is no block");
	enter(VALUES_SAMPLE_POSIX_MEMALIGN, (uint64_t)(uintptr_t)&place, 64, 1 << 30, &call);
	sample_leave(&call, 12);
	ok(!sample_take(0x1230), "posix_memalign that fails has stored no block");
	enter(VALUES_SAMPLE_POSIX_MEMALIGN, (uint64_t)(uintptr_t)&place, 64, 1 << 30, &call);
	sample_leave(&call, 0);
	ok(sample_take(0x1230), "else it has");
	sample_add(0x5000);
	sample_add(0x5000);
	ok(sample_take(0x5000) && !sample_take(0x5000), "one that is there already is there once");
}

/* ---- the set ---- */

#define BUCKETS ((1u << TRAMP_SAMPLED_BITS) + (1u << TRAMP_SAMPLED_BITS_2) + (1u << TRAMP_SAMPLED_BITS_3) + \
	(1u << TRAMP_SAMPLED_BITS_4))

static bool is_empty(void)
{
	const struct tramp_bucket zeros = { 0, 0, { 0 } };

	for (unsigned i = 0; i < BUCKETS; i++) {
		const struct tramp_bucket *bucket = i < 1u << TRAMP_SAMPLED_BITS
							    ? &tramp_sampled[i]
							    : &tramp_sampled_more[i - (1u << TRAMP_SAMPLED_BITS)];
		if (memcmp(bucket, &zeros, sizeof(zeros)) != 0)
			return false;
	}
	return true;
}

static uint64_t block(uint64_t n)
{
	return 0x7f0000000000 + 16 * n * 31;
}

static void test_small(void)
{
	unsigned stored = 0;

	while (sample_add(block(stored)))
		stored++;
	ok(stored > (1u << TRAMP_SAMPLED_BITS) && stored <= TRAMP_BUCKET << TRAMP_SAMPLED_BITS,
		"without more memory the set is small (%u blocks)", stored);
	for (unsigned i = 0; i < stored; i++)
		sample_take(block(i));
	sample_begin(INTERVAL);
	ok(is_empty(), "all is taken out, with its counts");
}

/* Through a stub: rdi is freed. What is taken for a sample adds 1. All registers are kept, which is counted. */
static unsigned changed;
void sample_taken(void), sample_body(void);
__asm__(".text\n"
	"sample_taken: lock incq sample_takes(%rip); lea 16(%rsp), %rsp; jmp *-16(%rsp)\n"
	"sample_body: ret\n"
	".bss; .p2align 3; sample_takes: .quad 0; .text\n");
extern uint64_t sample_takes __attribute__((visibility("hidden")));

static bool is_seen(uint64_t freed, const struct traced *by)
{
	const uint64_t taken = sample_takes, before = freed;
	uint64_t a = 0x1111, c = 0x2222, d = 0x3333, si = 0x4444;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "call *%[function]\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : "+a"(a), "+c"(c), "+d"(d), "+S"(si), "+D"(freed)
			 : [function] "r"(by->call)
			 : "memory", "cc");
	changed += a != 0x1111 || c != 0x2222 || d != 0x3333 || si != 0x4444 || freed != before;
	return sample_takes != taken;
}

static void test_large(void)
{
	const uint64_t most = 3000000;
	struct traced frees = core_traced(TRAMP_INTERCEPT, 1, (void *)(uintptr_t)sample_body);
	uint64_t stored = 0, found = 0, wrong = 0;

	frees.cell->gate = (uint64_t)(uintptr_t)tramp_sample_free;
	dispatch_table[TRAMP_INTERCEPT] = sample_taken;
	ok(is_seen(block(0), &frees), "while nothing is recorded all goes the usual way");
	tramp_sampling = 1;
	ok(!is_seen(block(0), &frees), "then only samples do");
	while (stored < most && sample_add(block(stored)))
		stored++;
	ok(stored > 800000 && stored < most, "the set takes so many blocks, and no more (%llu)",
		(unsigned long long)stored);
	for (uint64_t i = 0; i < stored; i++)
		found += is_seen(block(i), &frees);
	is_int((long long)found, (long long)stored, "trampolines find all of them");
	for (uint64_t i = stored; i < 2 * stored; i++)
		wrong += is_seen(block(i), &frees);
	is_int((long long)wrong, 0, "and no others");
	ok(!is_seen(0, &frees), "nor that of free(NULL)");
	for (uint64_t i = 0; i < stored; i += 2)
		wrong += !sample_take(block(i));
	for (uint64_t i = 0; i < stored; i++)
		wrong += is_seen(block(i), &frees) != (i & 1);
	is_int((long long)wrong, 0, "when half of them are freed, the others are found");
	is_int(changed, 0, "and registers are kept");
	for (uint64_t i = 1; i < stored; i += 2)
		wrong += !sample_take(block(i));
	ok(!wrong && is_empty(), "when all are, the set is empty, with its counts");
}

/* ---- threads, and a child ---- */

#define THREADS 4
#define EACH	(WITH_TSAN || WITH_ASAN ? 20000u : 100000u)

static uint64_t handed[THREADS]; /* so many blocks of each thread are stored */
static uint64_t won[THREADS];
static pthread_barrier_t together;

static void *add_and_take(void *argument)
{
	const uint64_t own = (uint64_t)(uintptr_t)argument;

	pthread_barrier_wait(&together);
	for (uint64_t i = 0; i < EACH; i++) {
		if (!sample_add(block(THREADS * i + own)))
			break;
		__atomic_store_n(&handed[own], i + 1, __ATOMIC_RELEASE); /* pairs with the load below */
		/* All threads want that which is the last one of the next thread. */
		uint64_t other = (own + i) % THREADS;
		uint64_t last = __atomic_load_n(&handed[other], __ATOMIC_ACQUIRE); /* pairs with the store above */
		if (last && sample_take(block(THREADS * (last - 1) + other)))
			won[own]++;
	}
	pthread_barrier_wait(&together);
	/* All of them, at once. */
	for (uint64_t i = 0; i < (uint64_t)THREADS * EACH; i++)
		won[own] += sample_take(block(i));
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread[THREADS];
	uint64_t all = 0;

	pthread_barrier_init(&together, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, add_and_take, (void *)i))
			bail("no thread");
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		all += won[i];
	}
	is_int((long long)all, THREADS * EACH, "each block is taken by one of four threads");
	ok(is_empty(), "and the set is empty then, with its counts");
}

static void test_fork(void)
{
	int status;

	for (unsigned i = 0; i < 2000; i++)
		sample_add(block(i));
	pid_t pid = fork();
	if (!pid) {
		for (unsigned i = 0; i < 2000; i++)
			if (!sample_take(block(i)))
				_exit(1);
		_exit(is_empty() ? 0 : 2);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "a child has the blocks of its parent");
	unsigned found = 0;
	for (unsigned i = 0; i < 2000; i++)
		found += sample_take(block(i));
	is_int(found, 2000, "which has them still");
}

int main(void)
{
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	tramp_sampling = 0;
	test_draws(1 << 19);
	test_draws(1);
	test_draws(1ull << 40);
	test_ends();
	test_small();
	test_probability();
	test_first();
	test_sizes();
	test_blocks();
	test_large();
	test_threads();
	test_fork();
	return done_testing();
}
