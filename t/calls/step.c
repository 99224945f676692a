#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * Signals at every instruction of the trampolines: a tracer steps through traced calls and has a signal handler that
 * makes traced calls itself run between any two instructions. Registers and results must be right, and the trace too.
 */
#include "t/lib/tap.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/core.h"
#include "t/lib/sanitizers.h"
#include "t/calls/step.h"

static const struct {
	const char *name;
	const char *events; /* of one call: letters as below, functions 1 and 2, XRay functions 7 and 8 */
} calls[CALLS] = {
	[INTERCEPT] = {"an intercepted call", "E1X1"},
	[POINT] = {"a call recorded at its entry", "P1"},
	[XRAY] = {"XRay entry and exit", "E7X7"},
	[XRAY_TAIL] = {"XRay entry and tail", "E8T8"},
	[TAIL] = {"a tail call", "E1T1E2X2"},
	[TAIL_POINT] = {"a tail call recorded at its entry", "E1P2X1"},
	[TAIL_CALLER] = {"a tail call of what asks who called it", "E1T1"},
	[LANDED] = {"a landing pad's call", ""},
	[PROBE] = {"a probe", "R3"},
	[VALUES] = {"a call with values of registers", "E1X1"},
	[VALUES_FOUND] = {"a call with values that are found", "E1X1"},
	[VALUES_XRAY] = {"XRay entry and exit with values", "E7X7"},
	[VALUES_LEFT_OUT] = {"a call that its result leaves out", "E1X1"},
	[VALUES_TAIL] = {"a tail call with values", "E1T1E2X2"},
	[PROBE_VALUES] = {"a probe with values of registers", "R3"},
	[PROBE_REGISTERS] = {"a probe with two registers", "R3"},
	[PROBE_FOUND] = {"a probe with values that are found", "R3"},
	[PROBE_TWO] = {"two probes at one instruction", "R8R3"},
};

/* Handlers use functions 5 and 6, probe 4, and XRay function 9. */
static const char handler_events[] = "E5P6R4E9X9X5";

/* ---- the tracer ---- */

#define MAX_PLACES 2000

/* Addresses of instructions outside of the test's own code that a call executed, each once. */
struct places {
	uint64_t rip[MAX_PLACES];
	uint32_t count;
	uint64_t after_look; /* the first one that follows the look at the room for an event */
};

/* Where the program is: before or after its call, in it, in a handler, or just returning from one. */
enum state { FREE, STEPPING, INJECTED, HANDLING, RETURNING };

struct tracer {
	pid_t pid;
	enum state state;
	uint64_t interrupted;	  /* address */
	uint64_t broken;	  /* address of our breakpoint; 0: none */
	long original;		  /* the original byte */
	uint32_t steps, injected; /* of this call */
	int was_look;
};

static pid_t bounded;

static void on_alarm(int signal)
{
	(void)signal;
	if (bounded > 0)
		kill(bounded, SIGKILL);
}

static long peek(struct tracer *tracer, uint64_t address)
{
	return ptrace(PTRACE_PEEKTEXT, tracer->pid, (void *)(uintptr_t)address, NULL);
}

static void poke(struct tracer *tracer, uint64_t address, long word)
{
	ptrace(PTRACE_POKETEXT, tracer->pid, (void *)(uintptr_t)address, (void *)word);
}

static void set_break(struct tracer *tracer, uint64_t address)
{
	tracer->broken = address;
	tracer->original = peek(tracer, address);
	poke(tracer, address, (tracer->original & ~0xffl) | 0xcc);
}

static void clear_break(struct tracer *tracer)
{
	if (tracer->broken)
		poke(tracer, tracer->broken, tracer->original);
	tracer->broken = 0;
}

/* The program is after our breakpoint: removes it, and moves the program back to the instruction. */
static int is_at_break(struct tracer *tracer, struct user_regs_struct *regs)
{
	if (!tracer->broken || regs->rip != tracer->broken + 1)
		return 0;
	regs->rip = tracer->broken;
	ptrace(PTRACE_SETREGS, tracer->pid, NULL, regs);
	clear_break(tracer);
	return 1;
}

/* Is the program in the core, not in the test, libc or the vDSO? */
static int is_core(uint64_t rip)
{
	extern const char __executable_start[], etext[];

	if (rip >= step_shared->stubs && rip < step_shared->stubs_end)
		return 1;
	return rip >= (uint64_t)(uintptr_t)__executable_start && rip < (uint64_t)(uintptr_t)etext &&
	       !(rip >= (uint64_t)(uintptr_t)step_code_start && rip < (uint64_t)(uintptr_t)step_code_end);
}

static void note_place(struct tracer *tracer, struct places *places, uint64_t rip)
{
	uint32_t i = 0;

	if (tracer->was_look && !places->after_look)
		places->after_look = rip;
	tracer->was_look = (peek(tracer, rip) & 0xffffff) == 0x518548; /* test %rdx, ...(%rcx) */
	while (i < places->count && places->rip[i] != rip)
		i++;
	if (i == places->count && i < MAX_PLACES)
		places->rip[places->count++] = rip;
}

/* Goes on to the program's next stop. 0: it has ended, or is not ours any more. */
static int resume(struct tracer *tracer, int step, int signal, int *status, struct user_regs_struct *regs)
{
	if (ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, tracer->pid, NULL, (void *)(long)signal) && errno != ESRCH)
		return 0;
	if (waitpid(tracer->pid, status, 0) != tracer->pid || !WIFSTOPPED(*status))
		return 0;
	return !ptrace(PTRACE_GETREGS, tracer->pid, NULL, regs);
}

static int is_mark(const struct user_regs_struct *regs, const char *mark)
{
	return regs->rip == (uint64_t)(uintptr_t)mark + 1;
}

/*
 * Takes the program through its next call, with a signal before each instruction (only == 0), or before the one at
 * `only` when the program first comes there. places: where to note the instructions; NULL: nowhere, and no steps.
 * Returns 1, or 0 when the program ended, with its status.
 */
static int next_call(struct tracer *tracer, uint64_t only, struct places *places, int *status)
{
	struct user_regs_struct regs;
	int signal = 0;

	tracer->steps = tracer->injected = 0;
	tracer->state = FREE;
	step_shared->mark = places != NULL;
	for (;;) {
		int step = places && (tracer->state == STEPPING || tracer->state == INJECTED);
		if (!resume(tracer, step, signal, status, &regs))
			return 0;
		signal = 0;
		if (WSTOPSIG(*status) == SIGUSR1) {
			/*
			 * The signal was blocked when it was sent, and is delivered now, perhaps before the breakpoint
			 * is reached.
			 */
			clear_break(tracer);
			tracer->interrupted = regs.rip;
			tracer->state = INJECTED;
			signal = SIGUSR1;
		} else if (WSTOPSIG(*status) != SIGTRAP) {
			signal = WSTOPSIG(*status); /* so this is the program's own death */
			tracer->state = FREE;
		} else if (is_mark(&regs, step_begin)) {
			tracer->state = STEPPING;
			if (only)
				set_break(tracer, only);
		} else if (is_mark(&regs, step_end)) {
			clear_break(tracer);
			return 1;
		} else if (is_mark(&regs, step_handled)) {
			tracer->state = RETURNING;
			set_break(tracer, tracer->interrupted);
		} else if (tracer->state == INJECTED && regs.rip == (uint64_t)(uintptr_t)step_on_signal) {
			tracer->state = HANDLING;
			tracer->injected++;
		} else if (is_at_break(tracer, &regs)) {
			if (tracer->state != RETURNING) {
				tracer->injected++;
				signal = SIGUSR1;
			}
			tracer->state = STEPPING;
		} else if (is_core(regs.rip)) {
			tracer->state = STEPPING;
			tracer->steps++;
			note_place(tracer, places, regs.rip);
			if (!only) {
				tracer->interrupted = regs.rip;
				tracer->state = INJECTED;
				signal = SIGUSR1;
			}
		} else {
			tracer->state = STEPPING;
		}
	}
}

/* Starts the program of the plan, up to its first stop. */
static struct tracer start(const struct plan *plan)
{
	struct tracer tracer = {0};
	int status;

	memset(step_shared, 0, sizeof(*step_shared));
	step_shared->go = 1;
	step_plan = plan;
	fflush(stdout);
	tracer.pid = fork();
	if (tracer.pid < 0)
		bail("fork: %s", strerror(errno));
	if (!tracer.pid)
		step_program();
	step_shared->pid = bounded = tracer.pid;
	alarm(60);
	if (waitpid(tracer.pid, &status, 0) != tracer.pid || !WIFSTOPPED(status))
		skip_all("this system allows no ptrace");
	return tracer;
}

/* Lets the program end. Returns its status as core_child() does. */
static int finish(struct tracer *tracer, int running, int status)
{
	step_shared->go = 0;
	while (running && next_call(tracer, 0, NULL, &status))
		;
	alarm(0);
	bounded = 0;
	if (WIFSTOPPED(status)) {
		kill(tracer->pid, SIGKILL);
		waitpid(tracer->pid, &status, 0);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* ---- what must be in the trace ---- */

struct pattern {
	const char *events, *at;
	uint64_t rounds, strange;
};

/* may_leave: a handler may jump away between two of the events. */
static void match(struct pattern *pattern, const struct event *event, bool may_leave)
{
	if (!*pattern->events) {
		pattern->strange++;
		return;
	}
	if (may_leave && event->id == (uint32_t)(pattern->events[1] - '0'))
		pattern->at = pattern->events;
	if ("?EXTUPR"[event->type] != pattern->at[0] || event->id != (uint32_t)(pattern->at[1] - '0')) {
		if (!pattern->strange++)
			diag("instead of %.2s came %c%u in round %llu", pattern->at, "?EXTUPR"[event->type],
				event -> id, (unsigned long long)pattern -> rounds);
		return;
	}
	pattern->at += 2;
	if (!*pattern->at) {
		pattern->at = pattern->events;
		pattern->rounds++;
	}
}

/* The values that the event must have (step_program.c). Of the handlers' calls, function 5 has 40, and comes to 42. */
static bool has_values(const struct plan *plan, const struct event *event)
{
	const uint64_t rdi = 0x1111111111111111ull * 7 + 0x80000000f0000000ull,
		       rsi = 0x1111111111111111ull * 6 + 0x80000000f0000000ull, rax = 0x7000000000000000ull;
	bool handlers = event->id == 5, entry = event->type == TRACE_ENTRY || event->type == TRACE_PROBE;

	if (event->flawed || event->value[0] != (handlers ? (entry ? 40 : 42) : entry ? rdi : rax))
		return false;
	if (entry)
		return event->words == 2 && (handlers || (uint32_t)event->value[1] == (uint32_t)rsi);
	return plan->call == VALUES_FOUND ? event->words == 2 && event->value[1] == (handlers ? 40 : rdi)
					  : event->words == 1;
}

/* Each event that is to have values has the right ones. */
static void check_values(const struct plan *plan, const struct reading *reading, const char *what)
{
	uint64_t wrong = 0, without = 0;

	for (size_t i = 0; i < reading->count; i++) {
		const struct event *event = &reading->event[i];
		bool asked = event->id == 5 || (plan->call == VALUES_XRAY ? event->id == 7 : event->id <= 3);
		if (plan->call == VALUES_LEFT_OUT && event->type == TRACE_EXIT && event->id == 1)
			continue; /* its code has found no values */
		if (event->type == TRACE_TAIL || !asked)
			continue;
		if (!event->layout)
			without++;
		else
			wrong += !has_values(plan, event);
	}
	is_int((long long)wrong, 0, "%s: no value is wrong", what);
	is_int((long long)without, 0, "%s: and none is missing", what);
}

static void check_trace(const struct plan *plan, const char *what)
{
	static const uint32_t with[] = { 1, 2, 5, 7 };
	struct pattern program = {calls[plan->call].events, calls[plan->call].events, 0, 0};
	struct pattern handlers = {handler_events, handler_events, 0, 0};
	struct reading reading;
	uint64_t back = 0;

	for (int i = 0; i < 4; i++) {
		core_layouts[1 + 2 * i] = TRACE_WORD(TRACE_ENTRY, with[i]);
		core_layouts[2 + 2 * i] = TRACE_WORD(TRACE_EXIT, with[i]);
	}
	core_layouts[9] = TRACE_WORD(TRACE_PROBE, 3);
	if (core_read(core_folder(), step_shared->pid, 0, plan->chunk_size, &reading))
		memset(&reading, 0, sizeof(reading));
	for (size_t i = 0; i < reading.count; i++) {
		uint32_t id = reading.event[i].id;
		bool of_handler = id == 4 || id == 5 || id == 6 || id == 9;
		match(of_handler ? &handlers : &program, &reading.event[i], plan->jumps && !of_handler);
		back += i && (int64_t)(reading.event[i].clock - reading.event[i - 1].clock) < 0;
	}
	is_str(reading.damage, NULL, "%s: the file keeps to the format", what);
	is_int((long long)(program.strange + handlers.strange + reading.lost), 0,
		"%s: nothing is lost, doubled or out of order", what);
	if (plan->place != SAME_STACK)
		is_int((long long)back, 0, "%s: no event is earlier than the one before", what);
	/* A call that was left out is there where its entry was in an earlier chunk when it ended. */
	if (plan->call == VALUES_LEFT_OUT)
		ok(program.rounds < step_shared->made, "%s: of %u calls, %llu are there", what, step_shared->made,
			(unsigned long long)program.rounds);
	else if (plan->jumps)
		ok(program.rounds >= step_shared->made - step_shared->jumped && program.rounds <= step_shared->made,
			"%s: of %u, of which %u were left, %llu are there", what, step_shared->made,
			step_shared->jumped, (unsigned long long)program.rounds);
	else if (*program.events)
		is_int((long long)program.rounds, step_shared->made, "%s: all %u calls are there", what,
			step_shared->made);
	is_int((long long)handlers.rounds, step_shared->handled, "%s: all %u of handlers are there", what,
		step_shared->handled);
	if (plan->call >= VALUES)
		check_values(plan, &reading, what);
	core_forget(&reading);
	core_empty();
}

static void check_end(const struct plan *plan, const char *what, int status)
{
	is_int(status, 0, "%s: the program runs to its end", what);
	if (!ok(!step_shared->wrong, "%s: registers and results are right", what))
		diag("%u were wrong, the last one was register %u", step_shared->wrong, step_shared->wrong_register);
	if (!plan->cold)
		ok(step_shared->top_before == step_shared->top_after, "%s: no call is left open", what);
	check_trace(plan, what);
}

/* ---- the tests ---- */

static const char *name_of(const struct plan *plan, const char *more)
{
	static char name[200];
	static const char *const places[] = {
		[SAME_STACK] = "",
		[STACK_ABOVE] = ", handlers on a stack above",
		[STACK_BELOW] = ", handlers on a stack below",
	};

	snprintf(name, sizeof(name), "%s%s%s%s%s", calls[plan->call].name,
		plan->forks   ? ", handlers fork"
		: plan->jumps ? ", handlers jump"
			      : "",
		plan->clock == TRACE_CLOCK_MONOTONIC ? ", CLOCK_MONOTONIC"
		: plan->coarse			     ? ", a coarse clock"
						     : "",
		places[plan->place], more);
	return name;
}

/* A signal before each instruction of one call. Notes the instructions. */
static void test_every(const struct plan *plan, struct places *places)
{
	const char *what = name_of(plan, plan->cold ? ", the first of all" : "");
	struct tracer tracer = start(plan);
	int status = 0, running;

	memset(places, 0, sizeof(*places));
	running = next_call(&tracer, 0, places, &status);
	uint32_t steps = tracer.steps, injected = tracer.injected;
	status = finish(&tracer, running, status);
	/* Blocked signals wait; code that blocks them is longer with AddressSanitizer. */
	ok(steps >= 10 && injected >= (plan->cold ? 50 : steps / (WITH_ASAN ? 3 : 2)),
		"%s: %u signals at %u instructions", what, injected, steps);
	check_end(plan, what, status);
}

/*
 * A signal before the same one instruction of two calls, each instruction in turn. cross: the handler goes on until so
 * many chunks have begun.
 */
static void test_each(const struct plan *plan, const struct places *places, int cross)
{
	static const char *const more[] = { ", each instruction", ", chunks change", ", chunks end" };
	const char *what = name_of(plan, more[cross]);
	struct tracer tracer = start(plan);
	uint32_t injected = 0, times = 0;
	int status = 0, running = 1;

	step_shared->cross = (uint32_t)cross;
	/* Slow paths are long, most of all under the sanitizers: only some of their instructions are tested. */
	uint32_t stride = cross > 1 ? 1 : places->count / 200 + 1;
	for (uint32_t i = 0; i < places->count && running; i += stride)
		for (int twice = 0; twice < 2 && running; twice++) {
			running = next_call(&tracer, places->rip[i], NULL, &status);
			injected += tracer.injected;
			times++;
			if (!running)
				diag("it ended at instruction %u, %s+%#llx", i, "the program",
					(unsigned long long)(places->rip[i] -
							     (uint64_t)(uintptr_t)tramp_intercept_tsc));
		}
	step_shared->cross = 0;
	status = finish(&tracer, running, status);
	/*
	 * A call that is interrupted once executes fewer instructions than a call that is interrupted everywhere. With
	 * a longer slow path there are fewer signals for the other instructions.
	 */
	ok(injected * stride >= times / 10, "%s: %u signals in %u calls", what, injected, times);
	check_end(plan, what, status);
}

/*
 * The first chunk is full, and smaller than the next one. A call that found no room is interrupted, and the handler
 * begins the next chunk.
 */
static void test_boundary(const struct plan *plan, const struct places *places)
{
	const char *what = name_of(plan, ", end of the first chunk");
	uint32_t tried = 0;

	for (int filler = 0; filler < 6 && !tried; filler++) {
		size_t size = (4 * TRACE_CHUNK_MIN) * (1 + (size_t)filler);
		void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct tracer tracer = start(plan);
		int status = 0, running = next_call(&tracer, places->after_look, NULL, &status);
		uint32_t injected = tracer.injected;
		status = finish(&tracer, running, status);
		if (!step_shared->unusable) {
			tried = injected;
			is_int(step_shared->spoilt, 0, "%s: nothing is written behind it", what);
			check_end(plan, what, status);
		}
		munmap(p, size);
	}
	is_int(tried, 1, "%s: a signal behind the look at the room", what);
}

int main(void)
{
	static struct places places;
	struct sigaction action = {.sa_handler = on_alarm};

	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer keeps the addresses of mirrors for itself");
	core_folder();
	step_shared = core_shared(sizeof(*step_shared));
	sigaction(SIGALRM, &action, NULL);
	for (enum call call = 0; call < CALLS; call++) {
		struct plan plan = {.call = call, .clock = TRACE_CLOCK_MONOTONIC, .chunk_size = TRACE_CHUNK_MIN};
		test_every(&plan, &places);
		test_each(&plan, &places, 1);
		plan.clock = TRACE_CLOCK_TSC;
		test_every(&plan, &places);
		test_each(&plan, &places, 1);
		plan.place = STACK_ABOVE;
		test_each(&plan, &places, 0);
		plan.place = STACK_BELOW;
		test_each(&plan, &places, 0);
		plan.place = SAME_STACK;
		plan.coarse = 1;
		test_every(&plan, &places);
		test_each(&plan, &places, 1);
		plan.place = STACK_BELOW;
		test_each(&plan, &places, 0);
		plan.place = SAME_STACK;
		plan.coarse = 0;
		plan.forks = 1;
		test_every(&plan, &places);
		test_each(&plan, &places, 0);
		plan.forks = 0;
		if (call == PROBE || call >= PROBE_VALUES) {
			plan.jumps = 1;
			test_every(&plan, &places);
			test_each(&plan, &places, 0);
			plan.jumps = 0;
		}
		/* There are two places: that of the call has another chunk by then. */
		if (call == VALUES_LEFT_OUT)
			test_each(&plan, &places, 2);
	}
	struct plan boundary = {
		.call = INTERCEPT, .clock = TRACE_CLOCK_TSC, .chunk_size = 2 * (4 * TRACE_CHUNK_MIN), .fill = 1};
	struct plan cold = {.call = INTERCEPT, .clock = TRACE_CLOCK_TSC, .chunk_size = TRACE_CHUNK_MIN};
	test_every(&cold, &places);
	test_boundary(&boundary, &places);
	cold.cold = 1;
	test_every(&cold, &places);
	return done_testing();
}
