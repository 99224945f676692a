#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * Unwinders that begin at any instruction of a probe's trampolines find the function that has the probe, at the
 * instruction that the probe is at, with its stack pointer, and then its caller. A function runs in single steps; each
 * step within our code walks the stack.
 */
#include "t/lib/tap.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include "runtime/record/dispatch.h"
#include "t/lib/core.h"
#include "t/lib/probe_window.h"
#include "t/lib/sanitizers.h"
#include "t/lib/values.h"

/* A function with the probe's jump, by way of memory, and 48 bytes of its own on the stack; then single steps end. */
__asm__("	.text\n"
	"	.type	walked, @function\n"
	"walked:\n"
	"	.cfi_startproc\n"
	"	lea	-48(%rsp), %rsp\n"
	"	.cfi_adjust_cfa_offset 48\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov	walked_trap(%rip), %eax\n"
	"	or	%eax, (%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	jmp	*walked_stub(%rip)\n"
	"walked_back:\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	andl	$~0x100, (%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	lea	48(%rsp), %rsp\n"
	"	.cfi_adjust_cfa_offset -48\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	walked, . - walked\n");
void walked(long first, long second);
extern const char walked_back[];
uint64_t walked_stub;
uint32_t walked_trap; /* 0x100: single steps */

static uint8_t stubs[4096] __attribute__((aligned(4096)));

static struct {
	uint64_t resume, caller, cfa; /* expected: addresses in both functions, the stack pointer after the call */
	bool found; /* in this walk: the frame before is the function's */
	uint32_t steps, wrong;
	uint64_t wrong_at;
} walk;

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *good)
{
	const uint64_t at = (uint64_t)_Unwind_GetIP(context);

	if (walk.found) {
		*(bool *)good = at == walk.caller && (uint64_t)_Unwind_GetCFA(context) == walk.cfa;
		return _URC_NORMAL_STOP;
	}
	walk.found = at == walk.resume;
	return _URC_NO_REASON;
}

/* A stub has no rules for unwinders, nor is walked() of interest. */
static void on_step(int signal, siginfo_t *info, void *context)
{
	const uint64_t at = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	bool good = false;

	(void)signal;
	(void)info;
	if (at - (uint64_t)(uintptr_t)stubs < sizeof(stubs) ||
		at - (uint64_t)(uintptr_t)walked < (uint64_t)(uintptr_t)walked_back + 64 - (uint64_t)(uintptr_t)walked)
		return;
	walk.found = false;
	walk.steps++;
	_Unwind_Backtrace(on_frame, &good);
	if (!good) {
		walk.wrong++;
		walk.wrong_at = at;
	}
}

/* GetCFA() of a caller's frame is the stack pointer that it has after the call. */
__attribute__((noinline)) static void call_walked(void)
{
	__asm__ volatile("lea	-256(%%rsp), %%rsp\n\t"
			 "lea	1f(%%rip), %%rax\n\t"
			 "mov	%%rax, %0\n\t"
			 "mov	%%rsp, %1\n\t"
			 "mov	$1, %%edi\n\t"
			 "mov	$2, %%esi\n\t"
			 "call	walked\n"
			 "1:	lea	256(%%rsp), %%rsp"
			 : "=m"(walk.caller), "=m"(walk.cfa)
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

enum way { BARE, MONO, REGISTERS, FOUND, COUNTED, IDLE, TWO, WAYS };

static const char *const names[] = { "with the TSC", "with CLOCK_MONOTONIC", "with two registers", "with values by C",
	"counted", "with nothing recorded", "of two probes at the instruction" };
static const uint32_t least[] = { 50, 60, 80, 300, 25, 3, 100 };

static bool make_stub(enum way way)
{
	const uint32_t id = way == REGISTERS ? 1 : way == FOUND ? 2 : 3;
	const uint64_t gate = (uint64_t)(uintptr_t)tramp_gate_probe;
	const struct probe_event event[] = {
		{ .word = TRACE_WORD(TRACE_PROBE, id) | (id < 3 ? TRAMP_WORD_VALUES : 0), .gate = gate },
		{ .word = TRACE_WORD(TRACE_PROBE, 4), .gate = gate } };
	struct made_window window;

	window_begin(&window, (uint64_t)(uintptr_t)walked_back - PROBE_JUMP_SIZE, PROBE_WAY_JUMP);
	window_event(&window);
	if (way == TWO)
		window_event(&window);
	window_code(&window, "\x0f\x1f\x44\0\0", PROBE_JUMP_SIZE);
	window_end(&window);
	walk.resume = window.window.address + 1;
	walked_stub = (uint64_t)(uintptr_t)stubs;
	return probe_write(&window.window, &window, 0, walked_stub, event, stubs, PROBE_CODE_MAX) > 0;
}

static struct results {
	uint32_t steps, wrong;
	uint64_t wrong_at;
} *results;

/* In a child. */
static int walk_all(void *argument)
{
	const enum way way = *(const enum way *)argument;
	const struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

	core_start(core_folder(), 1ul << 20, way == MONO ? TRACE_CLOCK_MONOTONIC : TRACE_CLOCK_TSC);
	begin_plan(2);
	made.head.function[0].flags = made.head.function[1].flags = PLAN_PROBE;
	made.head.function[0].entry = PART(2, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_PUT, 8);
	made.head.function[1].entry = PART(2, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_UNSIGNED, 4, VALUES_PUT, 4);
	end_plan();
	bind_values(0, false);
	bind_values(1, false);
	dispatch_use(way == COUNTED ? DISPATCH_COUNT : way == IDLE ? DISPATCH_IDLE : DISPATCH_RECORD,
		way == MONO ? TRACE_CLOCK_MONOTONIC : TRACE_CLOCK_TSC);
	if (mprotect(stubs, sizeof(stubs), PROT_READ | PROT_WRITE | PROT_EXEC) || !make_stub(way) ||
		sigaction(SIGTRAP, &action, NULL))
		return 1;
	for (int i = 0; i < 8; i++)
		call_walked(); /* what is done once blocks signals */
	walked_trap = 0x100;
	call_walked();
	*results = (struct results){ walk.steps, walk.wrong, walk.wrong_at };
	return 0;
}

int main(void)
{
	if (WITH_ASAN || WITH_TSAN)
		skip_all("the sanitizers have frames of their own");
	core_folder();
	results = core_shared(sizeof(*results));
	for (enum way way = 0; way < WAYS; way++) {
		int status = 1000 + SIGTRAP;
		/* A step with signals blocked is the end: where the clock's span changes, the trace is locked. */
		for (int i = 0; i < 50 && status == 1000 + SIGTRAP; i++) {
			core_empty();
			status = core_child(walk_all, &way, 20);
		}
		is_int(status, 0, "%s: it runs", names[way]);
		ok(results->steps >= least[way] && !results->wrong, "at all %u steps (%u wrong, the last at %#llx)",
			results->steps, results->wrong, (unsigned long long)results->wrong_at);
		*results = (struct results){ 0 };
	}
	core_empty();
	return done_testing();
}
