/* SPDX-License-Identifier: MIT */
#include "runtime/values/sample.h"

#include <stddef.h>
#include <sys/mman.h> /* PROT_READ */

#include "runtime/process/clock.h"
#include "runtime/process/process_counters.h"
#include "x86_64/confined.h"
#include "x86_64/cpu.h"
#include "x86_64/sys.h"

__thread struct tramp_sample tramp_sample;
struct tramp_bucket tramp_sampled[1 << TRAMP_SAMPLED_BITS] SYS_LARGE __attribute__((aligned(64)));
struct tramp_bucket *tramp_sampled_more;

static uint64_t process_interval; /* 0: none has begun */

#define LEVELS 4

/* ---- the set ---- */

static struct tramp_bucket *bucket_of(uint64_t block, unsigned level)
{
	static const uint8_t bits[LEVELS] = { TRAMP_SAMPLED_BITS, TRAMP_SAMPLED_BITS_2, TRAMP_SAMPLED_BITS_3,
		TRAMP_SAMPLED_BITS_4 };
	/* Acquire: pairs with the release in sample_begin(). */
	struct tramp_bucket *more = __atomic_load_n(&tramp_sampled_more, __ATOMIC_ACQUIRE);
	uint64_t number = block * TRAMP_SAMPLED_HASH;

	number = (number ^ number >> 32) * TRAMP_SAMPLED_HASH >> (64 - bits[level]);
	if (!level)
		return &tramp_sampled[number];
	for (unsigned before = 1; before < level; before++)
		number += 1ul << bits[before];
	return more ? &more[number] : NULL;
}

/* Relaxed, all of it: the header says why. */
static void count(uint32_t *number, uint32_t by)
{
	__atomic_fetch_add(number, by, __ATOMIC_RELAXED);
}

static bool exchange(uint64_t *at, uint64_t from, uint64_t to)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED) == from && /* relaxed, as above */
	       __atomic_compare_exchange_n(at, &from, to, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); /* as above */
}

/* Counts one more, or fewer, in all buckets that a block in this level has passed. */
static void count_further(uint64_t block, unsigned level, uint32_t by)
{
	while (level--)
		count(&bucket_of(block, level)->further, by);
}

bool sample_add(uint64_t block)
{
	struct tramp_bucket *bucket;
	unsigned level;

	/* One whose free was not seen may be there. */
	sample_take(block);
	for (level = 0; level < LEVELS && (bucket = bucket_of(block, level)); level++) {
		count(&bucket->here, 1);
		for (unsigned i = 0; i < TRAMP_BUCKET; i++)
			if (exchange(&bucket->block[i], 0, block))
				return true;
		count(&bucket->further, 1);
		count(&bucket->here, -1u);
	}
	count_further(block, level, -1u);
	return false;
}

bool sample_take(uint64_t block)
{
	struct tramp_bucket *bucket;

	for (unsigned level = 0; level < LEVELS && (bucket = bucket_of(block, level)); level++) {
		for (unsigned i = 0; i < TRAMP_BUCKET; i++)
			if (exchange(&bucket->block[i], block, 0)) {
				count(&bucket->here, -1u);
				count_further(block, level, -1u);
				return true;
			}
		if (!__atomic_load_n(&bucket->further, __ATOMIC_RELAXED)) /* relaxed, as above */
			break;
	}
	return false;
}

/* ---- intervals ---- */

#define LOG_BITS 24
#define LN_2	 0xb17217f8ull /* ln 2 * 2^32 */

/* -log2 of (random + 1) / 2^64, times 2^LOG_BITS; so 0 to 64. */
static uint64_t minus_log(uint64_t random)
{
	const unsigned zeros = random ? (unsigned)__builtin_clzll(random) : 63;
	/* The number is m * 2^(63 - zeros), 1 <= m < 2: m times 2^31. Squaring it doubles its logarithm. */
	uint64_t m = (random << zeros | 1ull << 63) >> 32, log = 0;

	for (unsigned i = 0; i < LOG_BITS; i++) {
		m = m * m >> 31;
		log = log << 1 | m >> 32;
		m >>= m >> 32;
	}
	return ((uint64_t)(zeros + 1) << LOG_BITS) - log;
}

uint64_t sample_draw(uint64_t random, uint64_t interval)
{
	/* At most 2^30 * 2^32, and an interval of 2^40. */
	return (uint64_t)((unsigned __int128)(minus_log(random) * LN_2) * interval >> (LOG_BITS + 32)) + 1;
}

uint64_t sample_random(uint64_t *state, uint64_t clock)
{
	uint64_t x = *state + clock;

	x = x ? x : 1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	/* Clocks that follow each other differ in a few bits: mixed, so that all bits depend on all. */
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint64_t draw(struct tramp_sample *sample)
{
	/* Relaxed: it was stored before the function had values. */
	return sample_draw(sample_random(&sample->state, clock_now()),
		__atomic_load_n(&process_interval, __ATOMIC_RELAXED));
}

void sample_begin(uint64_t interval)
{
	const size_t buckets =
		(1ul << TRAMP_SAMPLED_BITS_2) + (1ul << TRAMP_SAMPLED_BITS_3) + (1ul << TRAMP_SAMPLED_BITS_4);

	if (process_interval)
		return;
	__atomic_store_n(&process_interval, interval, __ATOMIC_RELAXED); /* relaxed, as in draw() */
	if (confined())
		return;
	/* 70 MiB of addresses, of which pages are used as far as there are samples. */
	void *more = sys_mmap(NULL, buckets * sizeof(struct tramp_bucket), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	/* Release: pairs with the acquire in bucket_of(). */
	if (!sys_is_error(more))
		__atomic_store_n(&tramp_sampled_more, more, __ATOMIC_RELEASE);
}

/* ---- calls ---- */

/* The size that the thread's way is shorter by; UINT64_MAX: it can't be, so the call fails. */
static uint64_t size_of(uint8_t kind, const struct tramp_registers *registers)
{
	uint64_t size;

	switch (kind) {
	case VALUES_SAMPLE_MALLOC:
		return registers->rdi;
	case VALUES_SAMPLE_CALLOC:
		return __builtin_mul_overflow(registers->rdi, registers->rsi, &size) ? UINT64_MAX : size;
	case VALUES_SAMPLE_POSIX_MEMALIGN:
		return registers->rdx;
	case VALUES_SAMPLE_REALLOCARRAY:
		return __builtin_mul_overflow(registers->rsi, registers->rdx, &size) ? UINT64_MAX : size;
	default:
		return registers->rsi;
	}
}

/* Does another function that is traced count it? */
static bool is_relayed(uint8_t kind, const struct tramp_registers *registers)
{
	switch (kind) {
	case VALUES_SAMPLE_ALIGNED_ALLOC | VALUES_SAMPLE_RELAYS:
		return registers->rdi <= TRAMP_SAMPLE_ALIGNED;
	case VALUES_SAMPLE_POSIX_MEMALIGN | VALUES_SAMPLE_RELAYS:
		return registers->rsi <= TRAMP_SAMPLE_ALIGNED;
	case VALUES_SAMPLE_REALLOC | VALUES_SAMPLE_RELAYS:
		return !registers->rdi;
	default:
		return kind == (VALUES_SAMPLE_REALLOCARRAY | VALUES_SAMPLE_RELAYS);
	}
}

/* Is the thread's way at its end with this block? Then the next one begins. */
static bool is_due(uint64_t size, bool counted)
{
	struct tramp_sample *sample = &tramp_sample;

	if (size > PTRDIFF_MAX) {
		/* It fails. */
		sample->left += counted ? size : 0;
		return false;
	}
	if (!counted)
		sample->left -= size;
	if (!sample->state)
		sample->left += draw(sample);
	if ((int64_t)sample->left > 0)
		return false;
	sample->left = draw(sample);
	return true;
}

static bool is_realloc(uint8_t kind)
{
	return kind == VALUES_SAMPLE_REALLOC || kind == VALUES_SAMPLE_REALLOCARRAY;
}

bool sample_enter(struct sample_call *to, uint8_t kind, const struct tramp_registers *registers, bool counted,
	uint64_t *interval)
{
	*to = (struct sample_call){ .kind = kind & (uint8_t)~VALUES_SAMPLE_RELAYS };
	const bool takes = to->kind == VALUES_SAMPLE_FREE || is_realloc(to->kind);

	*interval = 0;
	if (to->kind == VALUES_SAMPLE_NOTHING || (!counted && is_relayed(kind, registers)))
		return false;
	if (to->kind != VALUES_SAMPLE_FREE) {
		const uint64_t size = size_of(to->kind, registers);
		to->sampled = is_due(size, counted);
		to->fails = size;
	}
	/* Relaxed, as in draw(). */
	if (to->sampled)
		*interval = __atomic_load_n(&process_interval, __ATOMIC_RELAXED);
	if (takes && registers->rdi && sample_take(registers->rdi))
		to->old = registers->rdi;
	const bool due = to->sampled || to->old;
	if (to->kind == VALUES_SAMPLE_POSIX_MEMALIGN)
		to->old = registers->rdi;
	return due;
}

/* The block that a call has given; 0: none, or it is not known. */
static uint64_t given(const struct sample_call *call, uint64_t result)
{
	uint64_t block = 0;

	if (call->kind != VALUES_SAMPLE_POSIX_MEMALIGN)
		return call->kind == VALUES_SAMPLE_FREE ? 0 : result;
	return !(uint32_t)result && !confined() && sys_copy_asked(&block, call->old, sizeof(block)) ? block : 0;
}

void sample_leave(const struct sample_call *call, uint64_t result)
{
	uint64_t block = given(call, result);

	if (block)
		block = call->sampled ? block : 0;
	else if (is_realloc(call->kind) && call->fails)
		block = call->old;
	if (block && !sample_add(block))
		process_lose(TRACE_LOST_SAMPLES);
}
