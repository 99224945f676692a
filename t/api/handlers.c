#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* Handlers of the program: their arguments, when they are called, and how they are removed. */
#include "t/lib/tap.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "runtime/handlers/events.h"
#include "runtime/handlers/handlers.h"
#include "runtime/handlers/objects.h"
#include "runtime/record/filter.h"
#include "t/lib/flow.h"
#include "t/lib/flow_xray.h"

/* ---- the events of which handlers were told, as text ---- */

#define TOLD 4000

static char *told; /* shared */

static void tell(const struct handlers_event *event, void *argument)
{
	static const char letter[] = "EXTUACYPLM";
	size_t length = strlen(told);

	(void)argument;
	if (length < TOLD - 20)
		sprintf(told + length, "%s%c%u", length ? " " : "", letter[event->type], event->id);
}

static void tell_all(void)
{
	static const enum handlers_type types[] = {HANDLERS_ENTRY, HANDLERS_EXIT, HANDLERS_TAIL, HANDLERS_UNWIND};

	for (size_t i = 0; i < 4; i++)
		expect(handlers_set(types[i], tell, NULL, 0), 0);
}

/* Handlers are called for the events that are recorded, in the same order; points count as entries. */
static void check_told(int (*scenario)(void *), const char *what, const char *recorded, const char *wanted)
{
	told = core_shared(TOLD);
	check(scenario, what, recorded);
	is_str(told, wanted, "%s: so the handlers are told", what);
}

/* ---- kinds of calls ---- */

static jmp_buf env;

static long call_3(long x)
{
	return KEEP(F(3)(x));
}

static long call_2(long x)
{
	return KEEP(F(2)(x)) + KEEP(F(4)(x));
}

static long jump(long x)
{
	longjmp(env, (int)x);
}

extern const char tail_2[], tail_3[], just_return[];
uint64_t tail_target;

__asm__("	.text\n"
	"tail_2:	jmp *tail_target(%rip)\n"
	"just_return:	ret\n");

static int kinds(void *argument)
{
	(void)argument;
	start_xray();
	tell_all();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, call_2);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, call_3);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, leaf);
	f[4] = core_traced(TRAMP_POINT, 4, leaf);
	f[5] = core_traced(TRAMP_INTERCEPT, 5, tail_2);
	tail_target = f[3].call;
	expect(F(1)(5), 12);
	expect(F(5)(5), 6);
	xray_body = f[3].call;
	xray_target = f[3].call;
	expect(xray_function(5), 6);
	expect(xray_tail_function(5), 6);
	return 0;
}

#define KINDS "E1 E2 E3 X3 X2 %c4 X1 E5 T5 E3 X3 E20 E3 X3 X20 E21 T21 E3 X3"

static int jumps(void *argument)
{
	(void)argument;
	start();
	tell_all();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, call_2);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, call_3);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, jump);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	if (!setjmp(env))
		F(1)(1);
	expect(F(4)(1), 2);
	return 0;
}

static int counted(void *argument)
{
	(void)argument;
	start();
	filter_init(&(struct filter_options){.depth = 1});
	tell_all();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, call_2);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, leaf);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	filter_count_only(4);
	expect(F(1)(5), 12);
	expect(F(4)(5), 6);
	return 0;
}

static int too_short(void *argument)
{
	(void)argument;
	start();
	filter_init(&(struct filter_options){.time = 100000000});
	tell_all();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, call_2);
	f[2] = core_traced(TRAMP_POINT, 2, leaf);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	expect(F(1)(5), 12);
	return 0;
}

static int others(void *argument)
{
	(void)argument;
	start();
	for (int type = HANDLERS_CUSTOM; type < HANDLERS_TYPES; type++)
		expect(handlers_set((enum handlers_type)type, tell, NULL, 0), 0);
	handlers_loaded(HANDLERS_LOAD, 7, 4096);
	handlers_custom("a", 1);
	handlers_typed(5, "ab", 2);
	handlers_loaded(HANDLERS_UNLOAD, 7, 4096);
	expect(handlers_set(HANDLERS_TYPES, tell, NULL, 0), -EINVAL);
	expect(handlers_set(HANDLERS_ENTRY, NULL, NULL, 0), -EINVAL);
	expect(handlers_set(HANDLERS_ENTRY, tell, NULL, 2), -EINVAL);
	expect(handlers_remove(HANDLERS_ENTRY), -ENOENT);
	return 0;
}

/* ---- what an event says ---- */

static struct handlers_event last[HANDLERS_TYPES];
static struct tramp_registers registers[HANDLERS_TYPES];
static double number[HANDLERS_TYPES];
static int frames[HANDLERS_TYPES]; /* index of the caller in the backtrace; -1: not in it */
static long argument_sum;

static void note(const struct handlers_event *event, void *argument)
{
	void *trace[64];
	uint8_t value[64];
	int n = backtrace(trace, 64);

	argument_sum += (long)(intptr_t)argument;
	last[event->type] = *event;
	if (event->registers)
		registers[event->type] = *event->registers;
	if (handlers_vector(event, 0, value) >= 16)
		memcpy(&number[event->type], value, sizeof(double));
	frames[event->type] = -1;
	for (int i = 0; i < n; i++)
		if ((uint64_t)(uintptr_t)trace[i] == event->caller)
			frames[event->type] = i;
}

static double half(long a, long b, long c, double x)
{
	return x / 2 + (double)(a + b + c);
}

static int content(void *argument)
{
	void *warm[4];
	long sum = 0;

	(void)argument;
	start_xray();
	without_asan();
	backtrace(warm, 4); /* loads the libraries that it needs */
	handlers_name_ids(1, 11);
	handlers_name_ids(3, 12);
	for (enum handlers_type type = HANDLERS_ENTRY; type <= HANDLERS_ARGUMENTS; type++)
		expect(handlers_set(type, note, (void *)(intptr_t)(type + 1), 0), 0);
	f[1] = core_traced(TRAMP_INTERCEPT, 1, half);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, leaf);
	double r = CALL(double (*)(long, long, long, double), f[1])(10, 20, 30, 5.0);
	__asm__ volatile("" : "+x"(r));
	expect((long)(10 * r), 625);
	static const enum handlers_type types[] = {HANDLERS_ENTRY, HANDLERS_ARGUMENTS, HANDLERS_EXIT};
	for (size_t i = 0; i < 3; i++) {
		const struct handlers_event *e = &last[types[i]];
		expect(e->id, 1);
		expect(e->object, 11);
		expect(e->size, sizeof(*e));
		expect(e->type, types[i]);
		expect(e->clock != 0, 1);
		expect(e->address == (types[i] == HANDLERS_EXIT ? 0 : (uint64_t)(uintptr_t)half), 1);
		expect(e->caller - (uint64_t)(uintptr_t)content < 8192, 1);
		expect(e->data == NULL, 1);
		expect(frames[types[i]] > 0, 1);
		sum += types[i] + 1;
	}
	expect(argument_sum, sum);
	expect(last[HANDLERS_ENTRY].clock < last[HANDLERS_EXIT].clock, 1);
	expect((long)registers[HANDLERS_ARGUMENTS].rdi, 10);
	expect((long)registers[HANDLERS_ARGUMENTS].rsi, 20);
	expect((long)registers[HANDLERS_ARGUMENTS].rdx, 30);
	expect(registers[HANDLERS_EXIT].rsp == registers[HANDLERS_ENTRY].rsp + 8, 1);
	expect(registers[HANDLERS_EXIT].rbx == registers[HANDLERS_ENTRY].rbx, 1);
	expect((long)number[HANDLERS_ARGUMENTS], 5);
	expect((long)(10 * number[HANDLERS_EXIT]), 625);
	expect(F(3)(41), 42);
	expect((long)registers[HANDLERS_ENTRY].rdi, 41);
	expect((long)registers[HANDLERS_EXIT].rax, 42);
	expect(last[HANDLERS_EXIT].object, 12);
	memset(frames, 0, sizeof(frames));
	xray_body = (uint64_t)(uintptr_t)leaf;
	xray_target = xray_body;
	expect(xray_function(51), 52);
	expect((long)registers[HANDLERS_ENTRY].rdi, 51);
	expect((long)registers[HANDLERS_EXIT].rax, 52);
	expect(last[HANDLERS_EXIT].id, 20);
	expect(last[HANDLERS_ENTRY].address - (uint64_t)(uintptr_t)xray_function < 64, 1);
	expect(last[HANDLERS_ENTRY].caller - (uint64_t)(uintptr_t)content < 8192, 1);
	expect(last[HANDLERS_EXIT].caller - (uint64_t)(uintptr_t)content < 8192, 1);
	expect(frames[HANDLERS_EXIT] > 0, 1);
	expect(xray_tail_function(61), 62);
	expect(last[HANDLERS_TAIL].id, 21);
	expect((long)registers[HANDLERS_TAIL].rdi, 61);
	for (enum handlers_type type = HANDLERS_ENTRY; type <= HANDLERS_ARGUMENTS; type++)
		expect(handlers_remove(type), 0);
	expect(tramp_checks, 0);
	expect(F(3)(1), 2);
	expect((long)registers[HANDLERS_ENTRY].rdi, 61);
	return 0;
}

/* ---- times ---- */

enum style { QUICK, ANY, RAISING };

static struct times {
	unsigned n;
	uint64_t told[64];
} *times;
static enum style style;

__attribute__((target("general-regs-only"))) static void keep_time(const struct handlers_event *event, void *argument)
{
	(void)argument;
	if (times->n < 64)
		times->told[times->n++] = event->clock;
	if (style == RAISING)
		F(4)(1);
}

static int take_times(void *argument)
{
	static const enum handlers_type types[] = {HANDLERS_ENTRY, HANDLERS_EXIT, HANDLERS_TAIL};

	(void)argument;
	start_xray();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, leaf);
	f[2] = core_traced(TRAMP_POINT, 2, leaf);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	f[5] = core_traced(TRAMP_INTERCEPT, 5, tail_2);
	tail_target = f[1].call;
	xray_body = xray_target = (uint64_t)(uintptr_t)leaf;
	expect(F(4)(1), 2); /* makes the chunk */
	for (size_t i = 0; i < 3; i++)
		expect(handlers_set(types[i], keep_time, NULL, style == ANY ? 0 : HANDLERS_GENERAL), 0);
	expect(F(1)(1), 2);
	expect(F(2)(1), 2);
	expect(xray_function(1), 2);
	expect(xray_tail_function(1), 2);
	expect(F(5)(1), 2);
	return 0;
}

/* A handler gets the event's time in the trace, or an earlier time; times in the trace ascend. */
static void check_times(enum style wanted, enum trace_clock clock, const char *what)
{
	struct reading reading;
	unsigned told_events = 0, same = 0, before = 0, descents = 0;
	uint64_t last = 0;

	style = wanted;
	flow_clock = clock;
	times = core_shared(sizeof(*times));
	reading = run(take_times, what);
	for (size_t i = 0; i < reading.count; i++) {
		const struct event *e = &reading.event[i];
		descents += e->clock < last;
		last = e->clock;
		if (e->id == 4)
			continue;
		if (told_events < times->n) {
			same += e->clock == times->told[told_events];
			before += e->clock > times->told[told_events];
		}
		told_events++;
	}
	flow_clock = TRACE_CLOCK_TSC;
	is_int(descents, 0, "%s: times ascend", what);
	is_int(times->n, 11, "%s: the handlers are called", what);
	is_int(told_events, 11, "%s: as often as there are events", what);
	/* For intercepted calls, ends by a jump and the entries after them have times of their own. */
	if (clock == TRACE_CLOCK_TSC) {
		is_int(same,
			wanted == QUICK ? 9
			: wanted == ANY ? 4
					: 0,
			"%s: so many events have the time that handlers were told", what);
		is_int(before, 11 - same, "%s: the others a later one", what);
	} else {
		is_int(same + before, 11, "%s: events have the time that handlers were told, or a later one", what);
	}
	core_forget(&reading);
}

/* ---- events inside of handlers ---- */

static void call_inside(const struct handlers_event *event, void *argument)
{
	tell(event, argument);
	expect(F(4)(1), 2);
	expect(xray_function(1), 2);
}

static int recursion(void *argument)
{
	(void)argument;
	start_xray();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, leaf);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	f[5] = core_traced(TRAMP_INTERCEPT, 5, tail_2);
	tail_target = f[1].call;
	xray_body = (uint64_t)(uintptr_t)leaf;
	expect(handlers_set(HANDLERS_ENTRY, tell, NULL, 0), 0);
	expect(handlers_set(HANDLERS_EXIT, call_inside, NULL, 0), 0);
	expect(F(1)(1), 2);
	expect((long)handlers_nested(), 4);
	expect(xray_function(1), 2);
	expect((long)handlers_nested(), 8);
	return 0;
}

static void on_signal(int signal)
{
	(void)signal;
	expect(F(4)(1), 2);
}

static void interrupted(const struct handlers_event *event, void *argument)
{
	tell(event, argument);
	if (event->id == 1)
		raise(SIGUSR1);
}

static int signals(void *argument)
{
	(void)argument;
	start();
	signal(SIGUSR1, on_signal);
	f[1] = core_traced(TRAMP_INTERCEPT, 1, leaf);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	expect(handlers_set(HANDLERS_ENTRY, interrupted, NULL, 0), 0);
	expect(handlers_set(HANDLERS_EXIT, tell, NULL, 0), 0);
	expect(F(1)(1), 2);
	expect((long)handlers_nested(), 2);
	raise(SIGUSR1); /* raised outside of handlers */
	expect((long)handlers_nested(), 2);
	return 0;
}

/* ---- leaving handlers ---- */

static sigjmp_buf out;

static void leap(const struct handlers_event *event, void *argument)
{
	tell(event, argument);
	if (event->id == 1)
		siglongjmp(out, 1);
}

static int leaps(void *argument)
{
	(void)argument;
	start();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, leaf);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	expect(handlers_set(HANDLERS_ENTRY, leap, NULL, 0), 0);
	expect(handlers_set(HANDLERS_EXIT, leap, NULL, 0), 0);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(out, 1))
			F(1)(1);
	expect((long)handlers_nested(), 0);
	expect(F(4)(1), 2);
	expect(handlers_remove(HANDLERS_ENTRY), 0);
	if (!sigsetjmp(out, 1))
		F(1)(1); /* left from the exit's handler */
	expect(handlers_remove(HANDLERS_EXIT), 0);
	expect(F(4)(1), 2);
	expect(tramp_checks, 0);
	return 0;
}

static int removed[2];

static void remove_self(const struct handlers_event *event, void *argument)
{
	tell(event, argument);
	removed[0] = handlers_remove(HANDLERS_ENTRY);
	removed[1] = handlers_remove(HANDLERS_ENTRY);
}

static int deferred(void *argument)
{
	(void)argument;
	start();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, leaf);
	expect(handlers_set(HANDLERS_ENTRY, remove_self, NULL, 0), 0);
	expect(handlers_set(HANDLERS_EXIT, tell, NULL, 0), 0);
	expect(F(1)(1), 2);
	expect(removed[0], HANDLERS_DEFERRED);
	expect(removed[1], -ENOENT);
	expect(F(1)(1), 2);
	expect(handlers_remove(HANDLERS_EXIT), 0);
	expect(tramp_checks, 0);
	return 0;
}

static int stay, came;

static void stay_inside(const struct handlers_event *event, void *argument)
{
	(void)event, (void)argument;
	__atomic_store_n(&came, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&stay, __ATOMIC_ACQUIRE))
		usleep(1000);
}

static void *one_call(void *argument)
{
	expect(F(1)(1), 2);
	return argument;
}

static int busy(void *argument)
{
	pthread_t thread;

	(void)argument;
	start();
	stay = 1;
	f[1] = core_traced(TRAMP_INTERCEPT, 1, leaf);
	expect(handlers_set(HANDLERS_ENTRY, stay_inside, NULL, 0), 0);
	pthread_create(&thread, NULL, one_call, NULL);
	while (!__atomic_load_n(&came, __ATOMIC_ACQUIRE))
		usleep(1000);
	uint64_t before = core_now_ns();
	expect(handlers_remove(HANDLERS_ENTRY), -EBUSY);
	uint64_t took = core_now_ns() - before;
	expect(took >= HANDLERS_WAIT, 1);
	came = 0;
	expect(F(1)(1), 2);
	expect(came, 0);
	__atomic_store_n(&stay, 0, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	/* The handler's memory is unmapped: handlers that lie there are removed, no others. */
	expect(handlers_set(HANDLERS_ENTRY, tell, NULL, 0), 0);
	expect(handlers_set(HANDLERS_EXIT, tell, told + 8, 0), 0);
	expect(handlers_forget((uint64_t)(uintptr_t)told, (uint64_t)(uintptr_t)told + 8, 1), 0);
	expect(F(1)(1), 2);
	expect(handlers_forget((uint64_t)(uintptr_t)told, (uint64_t)(uintptr_t)told + 9, 1), 0);
	expect(F(1)(1), 2);
	expect(handlers_forget((uint64_t)(uintptr_t)tell, (uint64_t)(uintptr_t)tell + 1, 1), 0);
	expect(F(1)(1), 2);
	expect(tramp_checks, 0);
	return 0;
}

/* ---- fork ---- */

static pid_t child;

static void fork_inside(const struct handlers_event *event, void *argument)
{
	(void)event, (void)argument;
	if (child)
		return;
	child = fork();
	if (!child) {
		expect(F(4)(1), 2);
		expect((long)handlers_nested(), 2);
		expect(handlers_remove(HANDLERS_EXIT), HANDLERS_DEFERRED);
		child = -1;
	}
}

static int forks(void *argument)
{
	int status = 0;

	(void)argument;
	start();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, leaf);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	for (int i = 0; i < 2; i++) {
		child = 0;
		expect(handlers_set(HANDLERS_ENTRY, i ? tell : fork_inside, NULL, 0), 0);
		expect(handlers_set(HANDLERS_EXIT, i ? fork_inside : tell, NULL, 0), 0);
		expect(F(1)(1), 2);
		if (child < 0) {
			expect(F(1)(1), 2);
			expect((long)handlers_nested(), 2);
			expect(handlers_remove(HANDLERS_ENTRY), 0);
			expect(handlers_remove(HANDLERS_EXIT), -ENOENT);
			expect(tramp_checks, 0);
			_exit(outcome->wrong != 0);
		}
		waitpid(child, &status, 0);
		expect(status, 0);
		expect((long)handlers_nested(), 0);
	}
	child = 1;
	expect(handlers_remove(HANDLERS_ENTRY), 0);
	expect(handlers_remove(HANDLERS_EXIT), 0);
	return 0;
}

int main(void)
{
	char wanted[200], recorded[200];

	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer keeps the addresses of mirrors for itself");
	core_folder();
	snprintf(recorded, sizeof(recorded), KINDS, 'P');
	snprintf(wanted, sizeof(wanted), KINDS, 'E');
	check_told(kinds, "each kind of call", recorded, wanted);
	check_told(jumps, "longjmp out of calls", "E1 E2 E3 U3 U2 U1 E4 X4", "E1 E2 E3 U3 U2 U1 E4 X4");
	check_told(counted, "calls that are left out", "E1 X1", "E1 X1");
	check_told(too_short, "calls that are too short, or have no time", "", "E1 E2 E4 X4 X1");
	told = core_shared(TOLD);
	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(others, NULL, 60), 0, "loads and custom events: the program runs to its end");
	is_int(outcome->wrong, 0, "loads and custom events: answers are right");
	is_str(told, "L0 C0 Y0 M0", "loads and custom events: so the handlers are told");
	check(content, "content of events", "E1 X1 E3 X3 E20 X20 E21 T21 E3 X3");
	check_times(QUICK, TRACE_CLOCK_TSC, "times with quick handlers");
	check_times(ANY, TRACE_CLOCK_TSC, "times with handlers that need not be quick");
	check_times(RAISING, TRACE_CLOCK_TSC, "times with handlers that raise events");
	check_times(QUICK, TRACE_CLOCK_MONOTONIC, "quick handlers and CLOCK_MONOTONIC");
	check_times(ANY, TRACE_CLOCK_MONOTONIC, "other handlers and CLOCK_MONOTONIC");
	check_times(RAISING, TRACE_CLOCK_MONOTONIC, "handlers that raise events and CLOCK_MONOTONIC");
	check_told(
		recursion, "calls inside of a handler", "E1 E4 X4 E20 X20 X1 E20 E4 X4 E20 X20 X20", "E1 X1 E20 X20");
	check_told(signals, "a signal inside of a handler", "E4 X4 E1 X1 E4 X4", "E1 X1 E4 X4");
	check_told(leaps, "siglongjmp out of a handler", "E4 X4 E1 U1 E4 X4", "E1 E1 E1 E4 X4 X1");
	check_told(deferred, "a handler that removes itself", "E1 X1 E1 X1", "E1 X1 X1");
	check_told(forks, "fork inside of handlers", "E1 X1 E1 X1", "X1 E1 E1");
	told = core_shared(TOLD);
	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(busy, NULL, 60), 0, "a thread that stays in a handler: the program runs to its end");
	is_int(outcome->wrong, 0, "a thread that stays in a handler: answers are right");
	is_str(told, "E1 X1 E1", "removed with the memory that they lie in: so the handlers are told");
	return done_testing();
}
