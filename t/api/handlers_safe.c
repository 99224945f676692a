#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* Handlers that overwrite every register, and handlers whose code is unmapped as soon as they are removed. */
#include "t/lib/tap.h"

#include <cpuid.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/handlers/events.h"
#include "runtime/handlers/handlers.h"
#include "runtime/process/epoch.h"
#include "runtime/record/recorder.h"
#include "t/lib/flow.h"
#include "t/lib/flow_xray.h"
#include "x86_64/vectors.h"

/* ---- registers ---- */

#define AREA 16384

/* x87 to AVX-512, as far as the processor has it. */
#define STATE 0xe7

uint8_t state_in[AREA] __attribute__((aligned(64))), state_out[AREA] __attribute__((aligned(64)));
uint8_t other_state[AREA] __attribute__((aligned(64)));
/* rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 ... r15 */
uint64_t general_in[15], general_out[15], call_target;
uint64_t flags_out;
uint32_t state_mask;
static long ways_taken[2]; /* whole, quick */

/*
 * Loads all registers, calls call_target, and stores them. On a processor that has only fxsave, less is compared: see
 * main().
 */
void call_with_state(void);
extern const char just_return[], tail_1[], lose[], drop_frame[], raise_custom[], raise_typed[];
void write_over_all(void);
uint64_t lost_call, next_call, tail_target;

__asm__("	.text\n"
	"just_return:	ret\n"
	"tail_1:	jmp *tail_target(%rip)\n"
	"call_with_state:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	sub $8, %rsp\n"
	"	stmxcsr (%rsp); fnstcw 4(%rsp)\n"
	"	mov state_mask(%rip), %eax; xor %edx, %edx\n"
	"	lea state_in(%rip), %rdi\n"
	"	xrstor64 (%rdi)\n"
	"	lea general_in(%rip), %rax\n"
	"	mov 8(%rax), %rbx; mov 16(%rax), %rcx; mov 24(%rax), %rdx; mov 32(%rax), %rsi; mov 40(%rax), %rdi\n"
	"	mov 48(%rax), %rbp; mov 56(%rax), %r8; mov 64(%rax), %r9; mov 72(%rax), %r10; mov 80(%rax), %r11\n"
	"	mov 88(%rax), %r12; mov 96(%rax), %r13; mov 104(%rax), %r14; mov 112(%rax), %r15; mov (%rax), %rax\n"
	"	call *call_target(%rip)\n"
	"	mov %rax, general_out(%rip); lea general_out(%rip), %rax\n"
	"	mov %rbx, 8(%rax); mov %rcx, 16(%rax); mov %rdx, 24(%rax); mov %rsi, 32(%rax); mov %rdi, 40(%rax)\n"
	"	mov %rbp, 48(%rax); mov %r8, 56(%rax); mov %r9, 64(%rax); mov %r10, 72(%rax); mov %r11, 80(%rax)\n"
	"	mov %r12, 88(%rax); mov %r13, 96(%rax); mov %r14, 104(%rax); mov %r15, 112(%rax)\n"
	"	pushfq; pop flags_out(%rip)\n"
	"	mov state_mask(%rip), %eax; xor %edx, %edx\n"
	"	lea state_out(%rip), %rdi\n"
	"	xsave64 (%rdi)\n"
	"	cld; fninit; ldmxcsr (%rsp); fldcw 4(%rsp)\n"
	"	add $8, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n"
	/* Overwrites everything that a function may, with flags and the direction too. */
	"write_over_all:\n"
	"	mov state_mask(%rip), %eax; xor %edx, %edx\n"
	"	lea other_state(%rip), %rdi\n"
	"	xrstor64 (%rdi)\n"
	"	mov $0x77, %rax; mov %rax, %rcx; mov %rax, %rdx; mov %rax, %rsi; mov %rax, %rdi\n"
	"	mov %rax, %r8; mov %rax, %r9; mov %rax, %r10; mov %rax, %r11\n"
	"	stc; std\n"
	"	ret\n"
	/* A call that never returns, and the next one. */
	"lose:	sub $8, %rsp; call *lost_call(%rip)\n"
	"lost:	call *next_call(%rip)\n"
	"	add $8, %rsp; ret\n"
	"drop_frame:	lea 8(%rsp), %rsp; jmp lost\n"
	/* Calls functions of C, and keeps everything that these may overwrite. */
	".macro	RAISE function, data, size, type\n"
	"	push %rax; push %rcx; push %rdx; push %rsi; push %rdi; push %r8; push %r9; push %r10; push %r11\n"
	"	lea state_mask(%rip), \\data; mov $4, \\size; mov \\type\n"
	"	call \\function\n"
	"	pop %r11; pop %r10; pop %r9; pop %r8; pop %rdi; pop %rsi; pop %rdx; pop %rcx; pop %rax\n"
	"	ret\n"
	".endm\n"
	"raise_custom:	RAISE handlers_custom, %rdi, %rsi, \"%rax, %rax\"\n"
	"raise_typed:	RAISE handlers_typed, %rsi, %rdx, \"$70000, %rdi\"\n");

static uint32_t place(unsigned component, uint32_t *size)
{
	uint32_t b, c, d;

	__cpuid_count(0xd, component, *size, b, c, d);
	return b;
}

static int is_looked_at = 1; /* handlers_vector() finds components at their real place */

/* Checks what the handler gets of vector register n: bytes first to end must be those of state_in at `at`. */
static void expect_shown(const uint8_t *value, size_t first, size_t end, size_t at)
{
	expect(memcmp(value + first, state_in + at, end - first), 0);
}

static void expect_vectors(const struct handlers_event *event)
{
	uint32_t size, avx = place(2, &size), high = place(6, &size), more = place(7, &size);
	uint8_t value[64];

	for (unsigned n = 0; n < 32; n++) {
		size_t got = handlers_vector(event, n, value);
		expect((long)got, state_mask & 0x80 ? 64 : n > 15 ? 0 : state_mask & 4 ? 32 : 16);
		if (n > 15 && got)
			expect_shown(value, 0, 64, more + 64 * (n - 16));
		if (n > 15)
			continue;
		expect_shown(value, 0, 16, 160 + 16 * n);
		if (got >= 32)
			expect_shown(value, 16, 32, avx + 16 * n);
		if (got == 64)
			expect_shown(value, 32, 64, high + 32 * n);
	}
}

static void spoil(const struct handlers_event *event, void *argument)
{
	const struct tramp_saved *saved = event->vectors;

	if (is_looked_at)
		expect_vectors(event);
	outcome->result[(intptr_t)argument]++;
	ways_taken[tramp_vectors.quick && saved->is_quick]++;
	write_over_all();
	/* The direction flag stays as it was left: the caller has to put it back. */
}

/*
 * Components of a state in use, in addition to the general registers and SSE. STILL: x87's stack is empty as most
 * programs have it. FULL: it has the same top, and no room.
 */
enum use { ALL, NO_X87, NO_X87_NO_AVX, PENDING, STILL, FULL, USES };

static const unsigned components[] = {2, 5, 6, 7};

/* A state in which all bytes of all registers differ. wanted: the components that are in use. */
static void make_state(uint8_t *area, uint8_t seed, enum use use, uint64_t wanted)
{
	uint64_t mask = use == NO_X87_NO_AVX ? 3 : state_mask & (wanted | 3);

	memset(area, 0, AREA);
	for (unsigned i = 0; i < 256; i++)
		area[160 + i] = (uint8_t)(seed + 7 * i);
	for (unsigned i = 0; i < 8; i++) { /* doubles of x87: a mantissa with its high bit, an exponent near 1 */
		for (unsigned k = 0; k < 7; k++)
			area[32 + 16 * i + k] = (uint8_t)(seed + 16 * i + k);
		area[32 + 16 * i + 7] = (uint8_t)(0x80 | i);
		area[32 + 16 * i + 8] = (uint8_t)(0xf0 + i);
		area[32 + 16 * i + 9] = 0x3f;
	}
	const uint16_t control = use == PENDING ? 0x0f40 : seed & 1 ? 0x0f7f : 0x027f;
	/* An exception that the next instruction of x87 would raise. Or: top is 5; inexact, invalid. */
	const uint16_t status = use == PENDING ? 0x8081 : use >= STILL ? 0x20 : seed & 1 ? 0x2821 : 0;
	const uint32_t mxcsr = seed & 1 ? 0x5f80 : 0x9fc0;
	memcpy(area, &control, 2);
	memcpy(area + 2, &status, 2);
	area[4] = use == FULL ? 0xff : use != ALL ? 0 : seed & 1 ? 0xe0 : 0xff; /* which of them are in use */
	memcpy(area + 24, &mxcsr, 4);
	memcpy(area + 512, &mask, 8);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t size, at;
		if (!(mask & 1u << components[i]))
			continue;
		at = place(components[i], &size);
		for (uint32_t k = 0; k < size; k++)
			area[at + k] = (uint8_t)(seed + components[i] + 13 * k);
	}
}

static bool is_kept(const char *what, size_t at, size_t size)
{
	if (!memcmp(state_in + at, state_out + at, size))
		return 1;
	printf("# %s differs\n", what);
	fflush(stdout);
	return 0;
}

/*
 * Calls the target with all registers set; are they all the same after it? skip: a register of general_in that may
 * change.
 */
static void expect_state_kept(enum use use, uint64_t target, int skipped)
{
	call_target = target;
	for (unsigned i = 0; i < 15; i++)
		general_in[i] = 0x1111111111111111ull * (i + 1) + 5;
	memset(state_out, 0, AREA);
	call_with_state();
	for (int i = 0; i < 15; i++) {
		if (general_in[i] != general_out[i] && i != skipped)
			printf("# general register %d: %#lx\n", i, (unsigned long)general_out[i]);
		expect(general_in[i] == general_out[i] || i == skipped, 1);
	}
	expect(flags_out & 0x400, 0); /* the direction */
	state_in[3] &= 0xb8; /* no function keeps the condition codes of x87 */
	state_out[3] &= 0xb8;
	expect(is_kept("x87 control and status", 0, 6), 1);
	expect(is_kept("mxcsr", 24, 4), 1);
	/* st0 is the one that status says; the area has them from there on. */
	for (size_t i = 0; i < 8; i++)
		if (state_in[4] & 1u << ((i + (state_in[3] >> 3)) & 7))
			expect(is_kept("an x87 register", 32 + 16 * i, 10), 1);
	expect(is_kept("xmm", 160, 256), 1);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t size, at;
		if (!(state_mask & 1u << components[i]))
			continue;
		at = place(components[i], &size);
		expect(is_kept("an extended register", at, size), 1);
	}
	/* Unused upper halves are unused again: checks what xsave tells of them. */
	if (use == NO_X87_NO_AVX)
		expect(state_out[512] & 4, 0);
}

#define STATES (USES * USES + 2)

static void expect_kept_in(enum use use, uint64_t wanted, uint64_t target, int skipped)
{
	make_state(state_in, 1, use, wanted);
	expect_state_kept(use, target, skipped);
}

/* expect_state_kept() with and without registers in use that the quick way does not know. */
static void expect_kept(uint64_t target, int skipped)
{
	for (enum use use = ALL; use < USES; use++)
		for (enum use others = ALL; others < USES; others++) {
			make_state(other_state, 0x40, others, ~0ull);
			expect_kept_in(use, ~0ull, target, skipped);
		}
	/* A handler that changes only the stack of x87: it fills that. */
	make_state(other_state, 1, NO_X87, ~0ull);
	other_state[4] = 0xff;
	expect_kept_in(NO_X87, ~0ull, target, skipped);
	make_state(other_state, 1, FULL, ~0ull);
	expect_kept_in(STILL, ~0ull, target, skipped);
}

#define COMBINATIONS (16 * 16)

/* The n-th set of components. */
static uint64_t set_of(unsigned n)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < 4; i++)
		if (n & 1u << i)
			set |= 1ull << components[i];
	return set & state_mask;
}

#define SINGLES (16 + 8 + 16 + 16)

/* Only one bit of one register is in use, of all that are no SSE registers. */
static void expect_singles_kept(uint64_t target)
{
	make_state(other_state, 0x40, STILL, ~0ull);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t size, at = place(components[i], &size), registers = components[i] == 5 ? 8 : 16;
		for (unsigned n = 0; n < registers; n++) {
			make_state(state_in, 1, STILL, 1ull << components[i]);
			if (state_mask & 1u << components[i]) {
				memset(state_in + at, 0, size);
				state_in[at + (n + 1) * (size / registers) - 1] = 0x80;
			}
			expect_state_kept(STILL, target, -1);
		}
	}
}

/*
 * Each set of components in use when the handler is called, with each set that the handler uses. A component that
 * neither uses stays unused.
 */
static void expect_combinations_kept(uint64_t target)
{
	for (unsigned in = 0; in < 16; in++)
		for (unsigned others = 0; others < 16; others++) {
			make_state(other_state, 0x40, STILL, set_of(others));
			expect_kept_in(STILL, set_of(in), target, -1);
			uint8_t out = state_out[512];
			if (!(set_of(in) & 0x44))
				expect(out & 0x44, 0);
			expect(out & 0xa0 & ~set_of(in) & ~set_of(others), 0);
		}
}

static int all_registers(void *argument)
{
	(void)argument;
	start_xray();
	without_asan();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, just_return);
	f[2] = core_traced(TRAMP_POINT, 2, just_return);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, drop_frame);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, tail_1);
	lost_call = f[3].call;
	next_call = tail_target = f[1].call;
	xray_body = xray_target = (uint64_t)(uintptr_t)just_return;
	for (enum handlers_type type = HANDLERS_ENTRY; type <= HANDLERS_TYPED; type++) {
		uint64_t targets[] = { f[1].call, f[2].call, f[4].call, (uint64_t)(uintptr_t)lose,
			(uint64_t)(uintptr_t)xray_function, (uint64_t)(uintptr_t)xray_tail_function,
			(uint64_t)(uintptr_t)raise_custom, (uint64_t)(uintptr_t)raise_typed };
		/* intercept, point, tail, lose, xray, xray tail, custom, typed */
		static const uint8_t events[HANDLERS_TYPED + 1][8] = {
			[HANDLERS_ENTRY] = {1, 1, 2, 2, 1, 1, 0, 0},
			[HANDLERS_EXIT] = {1, 0, 1, 1, 1, 0, 0, 0},
			[HANDLERS_TAIL] = {0, 0, 1, 0, 0, 1, 0, 0},
			[HANDLERS_UNWIND] = {0, 0, 0, 1, 0, 0, 0, 0},
			[HANDLERS_ARGUMENTS] = {1, 1, 2, 2, 1, 1, 0, 0},
			[HANDLERS_CUSTOM] = {0, 0, 0, 0, 0, 0, 1, 0},
			[HANDLERS_TYPED] = {0, 0, 0, 0, 0, 0, 0, 1},
		};
		expect(handlers_set(type, spoil, (void *)(intptr_t)0, 0), 0);
		for (size_t i = 0; i < 8; i++) {
			outcome->result[0] = 0;
			expect_kept(targets[i], i == 4 || i == 5 ? 9 : -1);
			if (outcome->result[0] != STATES * events[type][i])
				printf("# type %d, call %zu: %ld events\n", type, i, outcome->result[0]);
			expect(outcome->result[0], STATES * events[type][i]);
		}
		expect(handlers_remove(type), 0);
	}
	expect(ways_taken[0] > 0, 1);
	expect(ways_taken[1] > 0, tramp_vectors.quick != TRAMP_QUICK_NONE);
	return 0;
}

/*
 * All checks: by each quick way that the processor has; and as on processors without xsavec, without xsave, and with
 * registers that the quick way does not know (here AVX's and x87's count as unknown).
 */
static int ways(void *argument)
{
	uint32_t a, b, c, d, rounds = 0, combinations = 0;

	(void)argument;
	start_xray();
	without_asan();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, just_return);
	expect(handlers_set(HANDLERS_ENTRY, spoil, (void *)(intptr_t)0, 0), 0);
	expect(handlers_set(HANDLERS_EXIT, spoil, (void *)(intptr_t)0, 0), 0);
	/* The best quick way that the processor's flags allow is the one that was chosen. */
	int has_zmm =
		(state_mask & 0xe4) == 0xe4 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
	expect(tramp_vectors.quick, has_zmm ? TRAMP_QUICK_ZMM : state_mask & 4 ? TRAMP_QUICK_YMM : TRAMP_QUICK_NONE);
	__cpuid_count(0xd, 1, a, b, c, d);
	int tells_use = a >> 2 & 1;
	for (; tramp_vectors.quick != TRAMP_QUICK_NONE; tramp_vectors.quick--) {
		/* The way that knows only AVX does not know the processor's components of AVX-512. */
		uint32_t more = tramp_vectors.quick == TRAMP_QUICK_YMM ? state_mask & 0xe0 : 0;
		for (tramp_vectors.pushes = 0; tramp_vectors.pushes < 2; tramp_vectors.pushes++)
			for (uint32_t also = 3; also < 8; also++) {
				if ((also > 3 || more) && !tells_use)
					continue;
				tramp_vectors.more = more | (also > 3 ? also : 0);
				ways_taken[0] = ways_taken[1] = 0;
				expect_kept(f[1].call, -1);
				rounds++;
				expect(ways_taken[0] > 0, 1);
				expect(ways_taken[1] > 0, also <= 4 ? 1 : ways_taken[1] > 0);
				if (also > 3)
					continue;
				ways_taken[0] = ways_taken[1] = 0;
				expect_combinations_kept(f[1].call);
				combinations++;
				expect_singles_kept(f[1].call);
				expect(ways_taken[1], 2 * (more ? 16 * 2 + 16 : COMBINATIONS + SINGLES));
			}
	}
	ways_taken[1] = 0;
	expect_kept(f[1].call, -1);
	expect_combinations_kept(f[1].call);
	expect_singles_kept(f[1].call);
	is_looked_at = 0;
	__cpuid_count(0xd, 0, a, b, c, d);
	tramp_vectors.way = TRAMP_XSAVE;
	tramp_vectors.size = c;
	expect_kept(f[1].call, -1);
	expect(ways_taken[1], 0);
	tramp_vectors.way = TRAMP_FXSAVE;
	tramp_vectors.size = 576; /* and room for spoil()'s look */
	state_mask = 3;
	expect_kept(f[1].call, -1);
	expect(outcome->result[0], 2l * STATES * (rounds + 3) + 2l * (COMBINATIONS + SINGLES) * (combinations + 1));
	return 0;
}

__attribute__((target("general-regs-only"))) static void only_general(
	const struct handlers_event *event, void *argument)
{
	expect(event->vectors == NULL, 1);
	outcome->result[(intptr_t)argument]++;
	__asm__ volatile("mov $0x99, %%eax" : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
}

static int general(void *argument)
{
	(void)argument;
	start_xray();
	without_asan();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, just_return);
	f[2] = core_traced(TRAMP_POINT, 2, just_return);
	xray_body = (uint64_t)(uintptr_t)just_return;
	expect(handlers_set(HANDLERS_ENTRY, only_general, (void *)(intptr_t)0, HANDLERS_GENERAL), 0);
	expect(handlers_set(HANDLERS_EXIT, only_general, (void *)(intptr_t)1, HANDLERS_GENERAL), 0);
	expect_kept(f[1].call, -1);
	expect_kept(f[2].call, -1);
	expect_kept((uint64_t)(uintptr_t)xray_function, 9);
	expect(outcome->result[0], 3 * STATES);
	expect(outcome->result[1], 2 * STATES);
	return 0;
}

/* ---- removing ---- */

#define THREADS 8

/* One way of removing. */
struct removing {
	const char *what;
	long rounds, seconds;
	/* after so many calls a thread yields the processor, so that few are interrupted in the handler; 0: never */
	unsigned calls_at_once;
	int is_fenced;		/* as where membarrier is refused */
};

#define FEW 20 /* rounds, at least, however busy the machine is */

static int stop;
static const struct removing *removing;
static uint8_t *code; /* the handler's code, in a page of its own */

/* Counts, in memory that stays mapped, and takes a while. */
static const uint8_t handler_code[] = {
	0xf0, 0x48, 0xff, 0x06,		    /* lock incq (%rsi) */
	0xb8, 0x14, 0x00, 0x00, 0x00,	    /* mov $20, %eax */
	0xff, 0xc8, 0x75, 0xfc,		    /* 1: dec %eax; jne 1b */
	0xc3,
};

static void *calls(void *argument)
{
	for (unsigned n = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		expect(F(1)(1), 2);
		expect(F(2)(1), 2);
		if (removing->calls_at_once && n % removing->calls_at_once == 0)
			sched_yield();
	}
	return argument;
}

static int removals(void *argument)
{
	pthread_t thread[THREADS];
	long before = 0, called = 0;

	start_xray();
	removing = argument;
	expect(epoch_init(removing->is_fenced), removing->is_fenced);
	recorder_init(&(struct recorder_options){.mode = TRACE_MODE_RING});
	f[1] = core_traced(TRAMP_INTERCEPT, 1, leaf);
	f[2] = core_traced(TRAMP_POINT, 2, leaf);
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, handler_code, sizeof(handler_code));
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, calls, NULL))
			_exit(97);
	uint64_t end = core_now_ns() + (uint64_t)removing->seconds * 1000000000ull;
	for (long i = 0; i < removing->rounds && (core_now_ns() < end || i < FEW); i++) {
		enum handlers_type type = i & 1 ? HANDLERS_EXIT : HANDLERS_ENTRY;
		mprotect(code, 4096, PROT_READ | PROT_EXEC);
		expect(handlers_set(type, (handlers_function *)(uintptr_t)code, &outcome->result[0],
			       i & 2 ? HANDLERS_GENERAL : 0),
			0);
		for (int spin = 0; spin < 30000 && __atomic_load_n(&outcome->result[0], __ATOMIC_RELAXED) == before;
			spin++)
			if (spin > 10000)
				usleep(1000);
			else if (spin > 100)
				sched_yield();
		expect(handlers_remove(type), 0);
		mprotect(code, 4096, PROT_NONE);
		called += __atomic_load_n(&outcome->result[0], __ATOMIC_RELAXED) != before;
		before = outcome->result[0];
		outcome->result[1] = i + 1;
	}
	outcome->result[2] = called;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	expect(outcome->result[0], before);
	expect(tramp_checks, 0);
	return 0;
}

static void check_kept(int (*scenario)(void *), const char *what)
{
	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(scenario, NULL, 60), 0, "%s: the program runs to its end", what);
	is_int(outcome->wrong, 0, "%s: each register is as before", what);
}

static void check_removals(const struct removing *wanted)
{
	const char *what = wanted->what;

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(removals, (void *)(uintptr_t)wanted, (unsigned)wanted->seconds + 200), 0,
		"%s: the program runs to its end", what);
	is_int(outcome->wrong, 0, "%s: results and answers are right", what);
	ok(outcome->result[1] >= FEW, "%s: %ld rounds", what, outcome->result[1]);
	ok(outcome->result[2] > outcome->result[1] / 2, "%s: in %ld rounds it was called, %ld times in all", what,
		outcome->result[2], outcome->result[0]);
}

int main(void)
{
	uint32_t a, b, c, d;

	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer keeps the addresses of mirrors for itself");
	__cpuid(1, a, b, c, d);
	if (!(c & 1u << 27))
		skip_all("the processor has no xsave, by which this test compares");
	__asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	state_mask = a & STATE;
	diag("components of the processor's state: %#x", state_mask);
	core_folder();
	check_kept(all_registers, "handlers that write over all registers");
	check_kept(ways, "each way that the processor has, without xsavec, and without xsave");
	check_kept(general, "handlers of general registers only");

	const char *soak = getenv("XAUDIT_SOAK"), *all = getenv("XAUDIT_ALL");
	int is_long = soak && !strcmp(soak, "1"), is_all = all && !strcmp(all, "1");
	long rounds = is_long || is_all ? 100000 : 20000, interrupted = is_long ? 100000 : is_all ? 1000 : 200;
	const struct removing ways_of_removing[] = {
		{ "handlers that go at once, under eight threads", rounds, is_long ? 3000 : 30, 10, 0 },
		{ "the same where membarrier is refused", rounds, is_long ? 3000 : 20, 10, 1 },
		{ "under eight threads that are interrupted in them", interrupted, is_long ? 3000 : 15, 0, 0 },
		{ "the same where membarrier is refused", interrupted, is_long ? 3000 : 15, 0, 1 },
	};
	for (size_t i = 0; i < sizeof(ways_of_removing) / sizeof(*ways_of_removing); i++)
		check_removals(&ways_of_removing[i]);
	return done_testing();
}
