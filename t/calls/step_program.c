#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * The program that t/calls/step.c steps through: calls with every register known, and a handler that makes traced
 * calls.
 */
#include "t/calls/step.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/process/thread.h"
#include "runtime/record/chunk.h"
#include "t/lib/core.h"
#include "t/lib/probe_window.h"
#include "t/lib/values.h"

struct registers {
	uint64_t general[16];
	uint64_t xmm[32];
};

struct registers step_before, step_inside, step_result, step_after;
uint64_t step_target, step_tail_target, step_xray_entry, step_xray_exit, step_xray_tail;
uint64_t step_probe_stub, step_handler_stub, step_flags, step_flags_inside;
extern const char step_probe[], step_probe_back[], step_handler_probe[], step_handler_probe_back[];
extern const char step_body[], step_tail[], step_xray[], step_xray_jump[], step_xray_handler[];

struct shared *step_shared;
const struct plan *step_plan;

static struct traced function[10];

static long handler_inner(long x)
{
	return x + 1;
}

static long handler_outer(long x)
{
	long r = CALL(long (*)(long), function[6])(x);

	((void (*)(void))(uintptr_t)step_handler_probe)();
	((void (*)(void))(uintptr_t)step_xray_handler)();
	return r + 1;
}

static uint64_t chunks_begun(void)
{
	const struct thread *thread = thread_self();

	return thread ? thread->next_chunk : 0;
}

/* Has the handler filled enough? More than one chunk: the last of them nearly, too. */
static bool is_through(uint64_t chunks)
{
	uint32_t more = step_shared->cross;

	return chunks_begun() >= chunks + more &&
	       (more < 2 || (tramp_self->cursor & (step_plan->chunk_size - 1)) > step_plan->chunk_size - 2048);
}

static void call_as_handler(void)
{
	step_shared->handled++;
	if (CALL(long (*)(long), function[5])(40) != 42)
		step_shared->wrong++;
}

/* In a child, which nobody traces: its call is over, or it died in the middle of it. */
static void on_end(int signal)
{
	(void)signal;
	_exit(step_after.general[0] == step_result.general[0] ? 0 : 1);
}

/* Returns true in the child. */
static bool fork_first(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGTRAP, on_end);
		return true;
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		step_shared->wrong++;
	return false;
}

static sigjmp_buf behind; /* the call */

void step_on_signal(int signal)
{
	uint64_t chunks = chunks_begun();

	(void)signal;
	if (step_plan->forks) {
		if (fork_first())
			return;
	} else if (step_plan->jumps && !step_shared->mark) {
		call_as_handler();
		siglongjmp(behind, 1);
	} else {
		do
			call_as_handler();
		while (!is_through(chunks));
	}
	if (step_shared->mark)
		((void (*)(void))(uintptr_t)step_handled)();
}

static void fill_registers(void)
{
	for (unsigned i = 0; i < 16; i++) {
		step_before.general[i] = 0x1111111111111111ull * i + 0x80000000f0000000ull;
		step_result.general[i] = 0x0101010101010101ull * i + 0x7000000000000000ull;
	}
	for (unsigned i = 0; i < 32; i++) {
		step_before.xmm[i] = 0xa5a5000000000000ull + i;
		step_result.xmm[i] = 0x5a5a000000000000ull + i;
	}
}

static bool is_kept(unsigned general)
{
	return general == 3 || general == 5 || general >= 12; /* rbx, rbp, r12 to r15 */
}

static void check_register(uint64_t got, uint64_t expected, unsigned number)
{
	if (got != expected) {
		step_shared->wrong++;
		step_shared->wrong_register = number;
	}
}

static bool is_probe(enum call call)
{
	return call == PROBE || call >= PROBE_VALUES;
}

/* Wrong registers are reported by number: at the body 0 to 31, after the call 100 to 131; xmm from 16 on. */
static void check_registers(enum call call)
{
	bool is_xray = call == XRAY || call == XRAY_TAIL || call == VALUES_XRAY;

	for (unsigned i = 0; i < 16; i++) {
		if (i == 4 || (is_xray && i == 10)) /* rsp; the sled's own */
			continue;
		check_register(step_inside.general[i], step_before.general[i], i);
		if (!(is_xray && call != XRAY_TAIL && i == 10))
			check_register(step_after.general[i],
				is_kept(i) ? step_before.general[i] : step_result.general[i], 100 + i);
	}
	for (unsigned i = 0; i < 32; i++) {
		check_register(step_inside.xmm[i], step_before.xmm[i], 16 + i / 2);
		check_register(step_after.xmm[i], step_result.xmm[i], 116 + i / 2);
	}
	/* Those of results, and the direction flag: number 200. */
	if (is_probe(call))
		check_register(step_flags_inside & 0xcd5, step_flags & 0xcd5, 200);
}

/*
 * Values of functions 1, 2, 5 and 7: rdi, and 4 bytes of rsi, at the entry; rax at the end, and rdi where C keeps it.
 */
static void make_values(enum call call)
{
	static const uint32_t with[] = { 0, 1, 4, 6 };

	begin_plan(7);
	for (int i = 0; i < 4; i++) {
		struct plan_function *f = &made.head.function[with[i]];
		if (call == VALUES_FOUND) {
			f->entry = PART(2, ARGUMENT1, VALUES_KEEP, 2, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2,
				VALUES_UNSIGNED, 4,
				VALUES_PUT, 4);
			f->end = PART(2, RESULT, VALUES_PUT, 8, VALUES_KEPT_WORD, 2, VALUES_PUT, 8);
		} else {
			f->entry = PART(2, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_PUT, 4);
			f->end = PART(1, RESULT, VALUES_PUT, 8);
		}
	}
	made.head.function[2].flags = PLAN_PROBE;
	made.head.function[2].entry = call == PROBE_FOUND
					      ? PART(2, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_UNSIGNED, 4,
							VALUES_PUT, 4)
				      : call == PROBE_REGISTERS
					      ? PART(2, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_PUT, 8)
					      : PART(2, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_PUT, 4);
	if (call == VALUES_LEFT_OUT)
		made.head.function[0].end = PART(1, RESULT, VALUES_BYTE, 5, VALUES_EQUAL, VALUES_UNLESS, RESULT,
			VALUES_PUT, 8);
	end_plan();
	for (int i = 0; i < 4; i++)
		bind_values(with[i], true);
	bind_values(2, false);
	tramp_table[7] |= TRAMP_HAS_VALUES;
	if (call == VALUES_XRAY)
		tramp_checks |= TRAMP_CHECK_VALUES;
	function[1].cell->word |= TRAMP_WORD_VALUES;
	function[2].cell->word |= TRAMP_WORD_VALUES;
	function[5].cell->word |= TRAMP_WORD_VALUES;
}

/*
 * The stub of a probe that is right before `back`, in the middle of a window that the test jumps to in its stead.
 * first: the word of another one that is there, and comes first; 0: there is none.
 */
static uint64_t make_probe(const char *back, uint32_t first, uint32_t word)
{
	const uint64_t gate = (uint64_t)(uintptr_t)tramp_gate_probe;
	const struct probe_event both[] = { { .word = first, .gate = gate }, { .word = word, .gate = gate } };
	const struct probe_event *event = first ? both : both + 1;
	const uint64_t stub = step_shared->stubs_end;
	struct made_window window;

	window_begin(&window, (uint64_t)(uintptr_t)back - PROBE_JUMP_SIZE, PROBE_WAY_JUMP);
	for (int events = first ? 2 : 1; events; events--)
		window_event(&window);
	window_code(&window, "\x0f\x1f\x44\0\0", PROBE_JUMP_SIZE);
	window_end(&window);
	if (!probe_check(&window.window, &window, sizeof(window)) ||
		!probe_write(&window.window, &window, 0, stub, event, (uint8_t *)(uintptr_t)stub, PROBE_CODE_MAX))
		_exit(97);
	step_shared->stubs_end += PROBE_CODE_MAX;
	return stub;
}

static void make_probes(enum call call)
{
	/* Within reach of the text. */
	uint64_t at = ((uint64_t)(uintptr_t)step_code_start & ~4095ul) - (2ul << 20);
	void *p = MAP_FAILED;

	for (unsigned i = 0; p == MAP_FAILED && i < 256; i++)
		p = mmap((void *)(uintptr_t)(at - i * (1ul << 20)), 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == MAP_FAILED)
		_exit(96);
	step_shared->stubs = step_shared->stubs_end = (uint64_t)(uintptr_t)p;
	step_probe_stub = make_probe(step_probe_back, call == PROBE_TWO ? TRACE_WORD(TRACE_PROBE, 8) : 0,
		TRACE_WORD(TRACE_PROBE, 3) | (call == PROBE ? 0 : TRAMP_WORD_VALUES));
	step_handler_stub = make_probe(step_handler_probe_back, 0, TRACE_WORD(TRACE_PROBE, 4));
}

static void make_functions(enum call call)
{
	static struct stub_pages sleds;
	uint64_t text = (uint64_t)(uintptr_t)step_code_start & ~4095ul;

	if (core_stubs(&sleds, text - (1ul << 20), text, text + 8192, 7, 0))
		_exit(99);
	step_xray_entry = stub_xray(&sleds, 0);
	step_xray_exit = stub_xray(&sleds, 1);
	step_xray_tail = stub_xray(&sleds, 2);
	function[5] = core_traced(TRAMP_INTERCEPT, 5, handler_outer);
	function[6] = core_traced(TRAMP_POINT, 6, handler_inner);
	function[1] = core_traced(call == POINT	   ? TRAMP_POINT
				  : call == LANDED ? TRAMP_LANDED
						   : TRAMP_INTERCEPT,
		1, call == TAIL || call == TAIL_POINT || call == TAIL_CALLER || call == VALUES_TAIL ? step_tail
												     : step_body);
	function[2] = core_traced(call == TAIL_POINT    ? TRAMP_POINT
				  : call == TAIL_CALLER ? TRAMP_CALLER
							: TRAMP_INTERCEPT,
		2, step_body);
	step_tail_target = function[2].call;
	step_target = function[1].call;
	if (call == XRAY || call == VALUES_XRAY)
		step_target = (uint64_t)(uintptr_t)step_xray;
	if (call == XRAY_TAIL)
		step_target = (uint64_t)(uintptr_t)step_xray_jump;
	if (is_probe(call))
		step_target = (uint64_t)(uintptr_t)step_probe;
	make_probes(call);
	if (call >= VALUES)
		make_values(call);
}

static void make_call(int stepped)
{
	memset(&step_inside, 0, sizeof(step_inside));
	memset(&step_after, 0, sizeof(step_after));
	step_shared->made++;
	if (stepped)
		((void (*)(void))(uintptr_t)step_begin)();
	const int jumped = step_plan->jumps && sigsetjmp(behind, 1);
	if (jumped)
		step_shared->jumped++;
	else
		step_call();
	if (stepped)
		((void (*)(void))(uintptr_t)step_end)();
	if (jumped)
		return;
		/* The first call goes through much C, and the sanitizers' runtime uses vector registers. */
#ifdef XAUDIT_ASAN
	if (!stepped)
		return;
#endif
	check_registers(step_plan->call);
}

/* Fills the first chunk to its end and maps a page after it, where the file has none. */
static uint8_t *fill_chunk(void)
{
	const struct thread *thread = thread_self();
	uint64_t end = (uint64_t)(uintptr_t)thread->chunk + thread->chunk->size;

	/* Makes calls as the handler does while another whole one has room; then marks the rest as passed over. */
	while (thread->next_chunk == 1 && end - tramp_self->cursor >= 8 * 8) /* 8 words: with a sync, at most */
		call_as_handler();
	/* Fills the rest as if it held other events that the cursor has not passed yet. */
	for (uint64_t at = tramp_self->cursor; at < end; at += 8)
		*(uint64_t *)(uintptr_t)at = CHUNK_CLOSED;
	tramp_self->cursor = end;
	void *p = mmap((void *)(uintptr_t)end, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p != (void *)(uintptr_t)end) {
		step_shared->unusable = 1;
		return NULL;
	}
	return p;
}

/* The innermost open call of the stack that the thread used last. */
static uint64_t top(void)
{
	return tramp_self && tramp_self->stack ? tramp_self->stack->top : 0;
}

static ucontext_t main_context, call_context;

static void run_calls(void)
{
	const uint8_t *guard = NULL;

	if (!step_plan->cold) {
		make_call(0);
		call_as_handler();
	}
	if (step_plan->fill)
		guard = fill_chunk();
	if (step_shared->unusable)
		return;
	step_shared->top_before = top();
	do
		make_call(1);
	while (step_shared->go);
	for (unsigned i = 0; guard && i < 4096; i++)
		step_shared->spoilt += guard[i] != 0;
	make_call(0);
	call_as_handler(); /* an intercepted call, so that the recorder is on this stack again */
	step_shared->top_after = top();
}

static uint8_t *map_stack(size_t size)
{
	/* With an inaccessible page below: else adjacent stacks would become one mapping. */
	uint8_t *p = mmap(NULL, size + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + 4096, size, PROT_READ | PROT_WRITE))
		_exit(98);
	return p + 4096;
}

#define STACK_SIZE (256ul << 10)

void step_program(void)
{
	uint8_t *first = map_stack(STACK_SIZE), *second = map_stack(STACK_SIZE);
	uint8_t *low = first < second ? first : second, *high = first < second ? second : first;
	uint8_t *handlers = step_plan->place == STACK_ABOVE ? high : low, *mine = handlers == low ? high : low;
	stack_t stack = {.ss_sp = handlers, .ss_size = STACK_SIZE};
	struct sigaction action = {.sa_handler = step_on_signal};

	if (step_plan->place != SAME_STACK) {
		sigaltstack(&stack, NULL);
		action.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGUSR1, &action, NULL);
	core_coarse = step_plan->coarse;
	core_start(core_folder(), step_plan->chunk_size, step_plan->clock);
	make_functions(step_plan->call);
	fill_registers();
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(77);
	raise(SIGSTOP);
	getcontext(&call_context);
	call_context.uc_stack.ss_sp = mine;
	call_context.uc_stack.ss_size = STACK_SIZE;
	call_context.uc_link = &main_context;
	makecontext(&call_context, run_calls, 0);
	swapcontext(&main_context, &call_context);
	_exit(0);
}
