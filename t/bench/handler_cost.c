/* SPDX-License-Identifier: MIT */
/*
 * handler_cost: prints, for ways of handling a call and its return, the nanoseconds of one call: the best of some
 * hundred runs of 2 000 calls; and the same of events of the program's own, beside one reading of the clock and copying
 * as many bytes. The ways take turns. The recorder writes to a flight recorder. Lines: "call NAME NS" and "event BYTES
 * NS-OF-TSC-AND-COPY NS". Bind it to one CPU.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/custom.h"
#include "runtime/handlers/handlers.h"
#include "runtime/handlers/objects.h"
#include "runtime/process/epoch.h"
#include "runtime/record/recorder.h"
#include "t/lib/core.h"

#define CALLS  2000
#define ROUNDS 400
#define RING   (4ul << 20)

static struct traced traced;
static unsigned long calls;

static __attribute__((noinline)) long add_one(long x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

__attribute__((target("general-regs-only"))) static void empty(const struct handlers_event *event, void *argument)
{
	(void)event;
	++*(unsigned long *)argument;
}

static double run(uint64_t function)
{
	uint64_t before = core_now_ns();

	for (long i = 0; i < CALLS; i++)
		((long (*)(long))(uintptr_t)function)(i);
	return (double)(core_now_ns() - before) / CALLS;
}

#define BIT(type) (1u << HANDLERS_##type)

/* What is set meanwhile. */
static const struct way {
	const char *name;
	unsigned types, flags;
} ways[] = {
	{"untraced", 0, 0},
	{"recorder", 0, 0},
	{"none of its type", BIT(CUSTOM) | BIT(UNWIND) | BIT(TAIL), 0},
	{"entry, general registers", BIT(ENTRY), HANDLERS_GENERAL},
	{"exit, general registers", BIT(EXIT), HANDLERS_GENERAL},
	{"entry and exit, general registers", BIT(ENTRY) | BIT(EXIT), HANDLERS_GENERAL},
	{"entry, all registers", BIT(ENTRY), 0},
	{"exit, all registers", BIT(EXIT), 0},
	{"entry and exit, all registers", BIT(ENTRY) | BIT(EXIT), 0},
	{"entry and exit, all, upper halves used", BIT(ENTRY) | BIT(EXIT), 0},
	{"entry and exit, all, x87 used", BIT(ENTRY) | BIT(EXIT), 0},
};

#define WAYS (sizeof(ways) / sizeof(*ways))

static double measure(size_t n)
{
	const struct way *way = &ways[n];
	double took;

	for (int type = 0; type < HANDLERS_TYPES; type++)
		if (way->types & 1u << type && handlers_set((enum handlers_type)type, empty, &calls, way->flags))
			printf("no handler\n");
	if (strstr(way->name, "upper") && __builtin_cpu_supports("avx"))
		__asm__ volatile("vpcmpeqd %%xmm15, %%xmm15, %%xmm15; vinsertf128 $1, %%xmm15, %%ymm15, %%ymm15"
				 :
				 :
				 : "xmm15");
	if (strstr(way->name, "x87"))
		__asm__ volatile("fld1");
	took = run(n ? traced.call : (uint64_t)(uintptr_t)add_one);
	if (strstr(way->name, "x87"))
		__asm__ volatile("fstp %st");
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroupper");
	for (int type = 0; type < HANDLERS_TYPES; type++)
		if (way->types & 1u << type)
			handlers_remove((enum handlers_type)type);
	return took;
}

#define EVENTS 100 /* most runs of so many stay in one chunk */

static const unsigned sizes[] = {16, 256, 4096};
static uint8_t data[4096], place[RING + 4096];
static size_t at;

static double run_event(unsigned size)
{
	uint64_t before = core_now_ns();

	for (long i = 0; i < EVENTS; i++)
		custom_event(data, size);
	return (double)(core_now_ns() - before) / EVENTS;
}

/*
 * What the cost of an event is compared with: a reading of the clock, and copying to where a flight recorder's memory
 * is as far from the processor.
 */
static double run_copy(unsigned size)
{
	uint64_t before = core_now_ns();

	for (long i = 0; i < EVENTS; i++) {
		uint32_t low, high;
		__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
		memcpy(place + at, data, size);
		__asm__ volatile("" : : "r"(place), "r"(low) : "memory");
		at = (at + size + 16) % RING;
	}
	return (double)(core_now_ns() - before) / EVENTS;
}

static void keep_least(double *least, double took)
{
	if (took < *least || !*least)
		*least = took;
}

int main(void)
{
	double best[WAYS] = {0}, copy[3] = {0}, event[3] = {0};

	core_start(core_folder(), 1ul << 20, TRACE_CLOCK_TSC);
	if (epoch_init(0))
		printf("membarrier is refused: each section pays for a fence\n");
	recorder_init(&(struct recorder_options){.mode = TRACE_MODE_RING});
	handlers_name_ids(1, 1);
	traced = core_traced(TRAMP_INTERCEPT, 1, add_one);
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t way = 0; way < WAYS; way++)
			keep_least(&best[way], measure(way));
		for (int i = 0; i < 3; i++)
			for (int n = 0; n < 20; n++) {
				keep_least(&copy[i], run_copy(sizes[i]));
				keep_least(&event[i], run_event(sizes[i]));
			}
	}
	for (size_t way = 0; way < WAYS; way++)
		printf("call %-40s %.2f\n", ways[way].name, best[way]);
	for (int i = 0; i < 3; i++)
		printf("event %u %.2f %.2f\n", sizes[i], copy[i], event[i]);
	return 0;
}
