#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* What a handler of the program is told of the values of its call, and that the trace does not change by that. */
#include "t/lib/tap.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "runtime/api/xaudit.h"
#include "runtime/calls/values_calls.h"
#include "runtime/event_values.h"
#include "runtime/record/filter.h"
#include "t/lib/flow.h"
#include "t/lib/flow_xray.h"
#include "t/lib/values.h"
#include "x86_64/cpu.h"

/* Like expect(), and says where. */
#define EXPECT(got, wanted) expect_at(__LINE__, (long)(got), (long)(wanted))

static void expect_at(int line, long is, long wanted)
{
	if (is != wanted)
		fprintf(stderr, "# line %d: %ld, not %ld\n", line, is, wanted);
	expect(is, wanted);
}

/* ---- handlers that ask ---- */

static struct xaudit_values got[2]; /* at an entry, and at an exit */
static int answer[2], asked[2];
static void (*in_between)(const struct handlers_event *event); /* what the handler does before; NULL: nothing */

__attribute__((target("general-regs-only"))) static void ask(const struct handlers_event *event, void *argument)
{
	const unsigned end = event->type == HANDLERS_EXIT;

	(void)argument;
	if (in_between)
		in_between(event);
	got[end].size = sizeof(got[end]);
	answer[end] = handlers_values(event, &got[end]);
	asked[end]++;
}

static void ask_all(unsigned flags)
{
	EXPECT(handlers_set(HANDLERS_ENTRY, ask, NULL, flags), 0);
	EXPECT(handlers_set(HANDLERS_EXIT, ask, NULL, flags), 0);
}

/* The i-th value that this part of the plan puts is such a one; names are "", "a" (1) and "text" (3). */
static void is_value(struct plan_part part, unsigned i, struct trace_value value)
{
	struct trace_layout *layout = (struct trace_layout *)(void *)(made.bytes + part.layout);

	layout->value[i] = value;
	memcpy(&layout->value[layout->count], "\0a\0text", 8);
}

#define IS(part, i, TYPE, bytes, ...)                                                                                  \
	is_value(part, i, (struct trace_value){ .type = VALUES_TYPE_##TYPE, .size = bytes, ##__VA_ARGS__ })

static void is_number(const struct xaudit_value *value, int64_t number, uint32_t size)
{
	EXPECT(value->state, XAUDIT_VALUE_WHOLE);
	EXPECT(value->integer, number);
	EXPECT(value->number, number);
	EXPECT(value->size, size);
	EXPECT(*value->text, 0);
}

static void is_text(const struct xaudit_value *value, uint32_t state, const char *text)
{
	EXPECT(value->state, state);
	EXPECT(value->size, strlen(text));
	EXPECT(strcmp(value->text, text), 0);
}

/* ---- each kind of value ---- */

static double six(int a, long b, const char *text, const char *none, const char *bad, double x, float y)
{
	return a + (double)b + x + (double)y + (text ? 1 : 0) + (none ? 1 : 0) + (bad ? 1 : 0);
}

static void spoil(const struct handlers_event *event)
{
	(void)event;
	__asm__ volatile("pcmpeqd %%xmm0, %%xmm0\npcmpeqd %%xmm1, %%xmm1" : : : "xmm0", "xmm1");
}

static bool is_quick; /* the handler uses general registers only */

static int contents(void *unused)
{
	char text[] = "a text";
	struct plan_part entry, end;

	(void)unused;
	start();
	without_asan();
	begin_plan(1);
	entry = PART(8, ARGUMENT1, VALUES_PUT, 4, ARGUMENT2, VALUES_PUT, 8, VALUES_REGISTER, VALUES_RDX,
		VALUES_PUT_TEXT, 64, 0, VALUES_FLOAT, 0, VALUES_PUT, 8, VALUES_FLOAT, 1, VALUES_PUT, 4,
		VALUES_REGISTER, VALUES_RCX, VALUES_PUT_TEXT, 64, 0, VALUES_REGISTER, VALUES_R8, VALUES_PUT_TEXT, 64, 0,
		VALUES_REGISTER, VALUES_RDX, VALUES_BYTE, 5, VALUES_PUT_BYTES, 3, 0, ARGUMENT1, VALUES_KEEP, 2);
	end = PART(2, VALUES_FLOAT, 0, VALUES_PUT, 8, VALUES_KEPT_WORD, 2, VALUES_PUT, 4);
	made.head.function[0].entry = entry;
	made.head.function[0].end = end;
	IS(entry, 0, SIGNED, 4, .name = 1, .role = VALUES_ROLE_ARGUMENT, .marks = VALUES_MARK_FD);
	IS(entry, 1, HEX, 8, .role = VALUES_ROLE_ARGUMENT, .place = 1);
	IS(entry, 2, TEXT, 0, .name = 3, .role = VALUES_ROLE_ARGUMENT, .place = 2);
	IS(entry, 3, DOUBLE, 8);
	IS(entry, 4, FLOAT, 4);
	IS(entry, 5, TEXT, 0);
	IS(entry, 6, TEXT, 0);
	IS(entry, 7, BYTES, 0);
	IS(end, 0, DOUBLE, 8, .role = VALUES_ROLE_RESULT);
	IS(end, 1, UNSIGNED, 4, .role = VALUES_ROLE_ARGUMENT, .marks = VALUES_MARK_OUT);
	end_plan();
	f[1] = traced(0, TRAMP_INTERCEPT, six);
	in_between = is_quick ? NULL : spoil;
	ask_all(is_quick ? HANDLERS_GENERAL : 0);
	double r = CALL(double (*)(int, long, const char *, const char *, const char *, double, float), f[1])(
		-5, 1l << 40, text, NULL, (const char *)1, 2.5, -0.75f);
	__asm__ volatile("" : "+x"(r));
	EXPECT(r == six(-5, 1l << 40, text, NULL, text, 2.5, -0.75f), 1);
	const struct xaudit_value *value = got[0].value;
	EXPECT(answer[0], 8);
	EXPECT(got[0].failed, 0);
	is_number(&value[0], -5, 4);
	EXPECT(strcmp(value[0].name, "a"), 0);
	EXPECT(value[0].role, XAUDIT_VALUE_ARGUMENT);
	EXPECT(value[0].marks, XAUDIT_VALUE_FD);
	is_number(&value[1], 1l << 40, 8);
	EXPECT(value[1].place, 1);
	is_text(&value[2], XAUDIT_VALUE_WHOLE, "a text");
	EXPECT(strcmp(value[2].name, "text"), 0);
	EXPECT((uintptr_t)value[2].text - (uintptr_t)&got[0] < sizeof(got[0]), 1);
	EXPECT(value[3].real == 2.5, 1);
	EXPECT(value[4].real == -0.75, 1);
	EXPECT(value[4].number, 0xbf400000);
	is_text(&value[5], XAUDIT_VALUE_NULL, "");
	is_text(&value[6], XAUDIT_VALUE_FAULT, "");
	is_text(&value[7], XAUDIT_VALUE_CUT, "a t");
	value = got[1].value;
	EXPECT(answer[1], 2);
	EXPECT(value[0].real == r, 1);
	is_number(&value[1], 0xfffffffb, 4);
	EXPECT(value[1].marks, XAUDIT_VALUE_OUT);
	return 0;
}

static long fails(long x)
{
	errno = ENOENT;
	return -x;
}

/* A result that means failure, with errno. */
static int failures(void *unused)
{
	struct plan_part end;

	(void)unused;
	start();
	values_errno = (int64_t)((uint64_t)(uintptr_t)&errno - cpu_thread());
	begin_plan(2);
	for (int i = 0; i < 2; i++) {
		made.head.function[i].end = end = i ? PART(1, RESULT, VALUES_PUT_TEXT, 8, 0)
			: PART(2, RESULT, VALUES_PUT, 4, VALUES_TASK, VALUES_TASK_ERRNO, VALUES_PUT, 4);
		struct trace_layout *layout = (struct trace_layout *)(void *)(made.bytes + end.layout);
		IS(end, 0, SIGNED, 4, .role = VALUES_ROLE_RESULT);
		if (i)
			IS(end, 0, TEXT, 0, .role = VALUES_ROLE_RESULT);
		else
			IS(end, 1, ERRNO, 4, .role = VALUES_ROLE_ERRNO);
		layout->fails = i ? 0 : -1;
		layout->has_fails = 1;
	}
	end_plan();
	f[1] = traced(0, TRAMP_INTERCEPT, fails);
	f[2] = traced(1, TRAMP_INTERCEPT, fails);
	ask_all(0);
	EXPECT(F(1)(1), -1);
	EXPECT(answer[0] * 10 + answer[1], 2);
	EXPECT(got[1].failed, 1);
	is_number(&got[1].value[0], -1, 4);
	is_number(&got[1].value[1], ENOENT, 4);
	EXPECT(got[1].value[1].role, XAUDIT_VALUE_ERROR);
	F(1)(2);
	EXPECT(got[1].failed, 0);
	is_number(&got[1].value[0], -2, 4);
	F(2)(0);
	EXPECT(got[1].failed, 1);
	is_text(&got[1].value[0], XAUDIT_VALUE_NULL, "");
	return 0;
}

/* As much as an event can have, and a layout that names more than the code puts. */
static int bounds(void *unused)
{
	static char text[2000]; /* in no segment of the plan's: the kernel is asked */
	struct plan_part entry;

	(void)unused;
	memset(text, 'x', sizeof(text) - 1);
	start();
	begin_plan(2);
	made.head.function[0].entry = entry = PART(1, ARGUMENT1, VALUES_PUT_TEXT, 1501 & 0xff, 1501 >> 8);
	IS(entry, 0, TEXT, 0);
	made.head.function[1].entry = entry = PART(3, ARGUMENT1, VALUES_PUT, 4, ARGUMENT1, VALUES_PUT, 4, ARGUMENT1,
		VALUES_PUT, 4);
	IS(entry, 0, UNSIGNED, 8);
	IS(entry, 1, UNSIGNED, 8);
	IS(entry, 2, TEXT, 0);
	end_plan();
	f[1] = traced(0, TRAMP_INTERCEPT, leaf);
	f[2] = traced(1, TRAMP_INTERCEPT, leaf);
	ask_all(0);
	memset(got, 0xee, sizeof(got));
	F(1)((long)(intptr_t)text);
	text[1501] = '\0';
	EXPECT(answer[0], 1);
	is_text(&got[0].value[0], XAUDIT_VALUE_CUT, text);
	EXPECT((uint8_t)got[0].bytes[XAUDIT_VALUES_BYTES - 1], 0xee);
	F(2)(0x1122334455667788);
	EXPECT(answer[0], 3);
	EXPECT(got[0].value[0].number, 0x5566778855667788);
	is_text(&got[0].value[1], XAUDIT_VALUE_FAULT, "");
	is_text(&got[0].value[2], XAUDIT_VALUE_FAULT, "");
	return 0;
}

/* ---- the trace stays as it is ---- */

static long nothing_more(long x)
{
	return KEEP(x);
}

/* Ids 1: a condition on the argument; 2: each second call; 3: the end needs the entry; 4: the result has to be 4. */
static bool asks;

static int left_out(void *unused)
{
	(void)unused;
	start();
	begin_plan(4);
	for (int i = 0; i < 4; i++) {
		made.head.function[i].entry = PART(1, ARGUMENT1, VALUES_PUT, 8, ARGUMENT1, VALUES_KEEP, 0);
		made.head.function[i].end = PART(1, VALUES_KEPT_WORD, 0, VALUES_PUT, 8);
	}
	made.head.function[0].entry = PART(1, ARGUMENT1, VALUES_BYTE, 2, VALUES_EQUAL, VALUES_UNLESS, ARGUMENT1,
		VALUES_PUT, 8, ARGUMENT1, VALUES_KEEP, 0);
	made.head.function[1].every = 2;
	made.head.function[3].end =
		PART(1, RESULT, VALUES_BYTE, 4, VALUES_EQUAL, VALUES_UNLESS, VALUES_KEPT_WORD, 0, VALUES_PUT, 8);
	for (int i = 0; i < 4; i++) {
		IS(made.head.function[i].entry, 0, UNSIGNED, 8);
		IS(made.head.function[i].end, 0, UNSIGNED, 8);
	}
	end_plan();
	for (uint32_t i = 0; i < 4; i++)
		f[i + 1] = traced(i, TRAMP_INTERCEPT, nothing_more);
	if (asks)
		ask_all(0);
	for (int n = 1; n < 5; n++)
		for (long x = 1; x < 5; x++) {
			EXPECT(F(n)(x), x);
			if (!asks)
				continue;
			EXPECT(answer[0] * 10 + answer[1], 11);
			is_number(&got[0].value[0], x, 8);
			/* Of calls that are left out at their entry, nothing was kept. */
			if (n > 2 || (n == 1 && x == 2) || (n == 2 && x % 2 == 1))
				is_number(&got[1].value[0], x, 8);
			else
				EXPECT(got[1].value[0].state, XAUDIT_VALUE_FAULT);
		}
	return 0;
}

/* ---- places ---- */

typedef long (*of_seven)(long, long, long, long, long, long, long);

static long seven(long a, long b, long c, long d, long e, long g, long h)
{
	return a + b + c + d + e + g + h;
}

static long call_seven(long a, long b, long c, long d, long e, long g, long h)
{
	return KEEP(CALL(of_seven, f[1])(a, b, c, d, e, g, h + 1));
}

/* An argument on the stack, and how many calls are open: of calls by their return, by sleds, and without an end. */
static int places(void *unused)
{
	(void)unused;
	start_xray();
	begin_plan(20);
	for (int i = 0; i < 20; i++) {
		made.head.function[i].entry =
			PART(2, VALUES_STACK, 0, VALUES_PUT, 8, VALUES_TASK, VALUES_TASK_CALLS, VALUES_PUT, 4);
		made.head.function[i].end = made.head.function[i].entry;
		IS(made.head.function[i].entry, 0, UNSIGNED, 8);
		IS(made.head.function[i].entry, 1, UNSIGNED, 4);
	}
	end_plan();
	f[1] = traced(0, TRAMP_INTERCEPT, seven);
	f[2] = traced(1, TRAMP_POINT, seven);
	f[3] = traced(2, TRAMP_INTERCEPT, call_seven);
	bind_values(19, true);
	ask_all(0);
	EXPECT(CALL(of_seven, f[1])(1, 2, 3, 4, 5, 6, 7), 28);
	for (int i = 0; i < 2; i++) {
		EXPECT(answer[i], 2);
		is_number(&got[i].value[0], 7, 8);
		is_number(&got[i].value[1], 1, 4);
	}
	EXPECT(CALL(of_seven, f[2])(1, 2, 3, 4, 5, 6, 8), 29);
	is_number(&got[0].value[0], 8, 8);
	is_number(&got[0].value[1], 0, 4);
	/* The last ones asked: entry of the inner, exit of the outer. */
	EXPECT(CALL(of_seven, f[3])(1, 2, 3, 4, 5, 6, 9), 31);
	is_number(&got[0].value[0], 10, 8);
	is_number(&got[0].value[1], 2, 4);
	is_number(&got[1].value[0], 9, 8);
	is_number(&got[1].value[1], 1, 4);
	/* Its sleds leave the stack as it is; the body finds another seventh argument. */
	xray_body = (uint64_t)(uintptr_t)leaf;
	f[4].call = (uint64_t)(uintptr_t)xray_function;
	EXPECT(CALL(of_seven, f[4])(1, 2, 3, 4, 5, 6, 11), 2);
	for (int i = 0; i < 2; i++) {
		EXPECT(answer[i], 2);
		is_number(&got[i].value[0], 11, 8);
		is_number(&got[i].value[1], 1, 4);
	}
	return 0;
}

/* ---- inside of calls of the handler, and of its signals ---- */

static const struct handlers_event *told;
static struct xaudit_values inside;

static long ask_inside(long x)
{
	inside.size = sizeof(inside);
	return KEEP(handlers_values(told, &inside) + x);
}

static void call_inside(const struct handlers_event *event)
{
	told = event;
	EXPECT(F(2)(10), 12);
	is_number(&inside.value[0], 77, 8);
	is_number(&inside.value[1], 1, 4);
}

/* Function 2 is the handler's: it has values, too, which its end needs. */
static void start_kept(const void *body)
{
	start();
	begin_plan(2);
	for (int i = 0; i < 2; i++) {
		made.head.function[i].entry = PART(2, ARGUMENT1, VALUES_PUT, 8, VALUES_TASK, VALUES_TASK_CALLS,
			VALUES_PUT, 4, ARGUMENT1, VALUES_KEEP, 0);
		made.head.function[i].end =
			PART(2, VALUES_KEPT_WORD, 0, VALUES_PUT, 8, VALUES_TASK, VALUES_TASK_CALLS, VALUES_PUT, 4);
		IS(made.head.function[i].entry, 0, UNSIGNED, 8);
		IS(made.head.function[i].entry, 1, UNSIGNED, 4);
		IS(made.head.function[i].end, 0, UNSIGNED, 8);
		IS(made.head.function[i].end, 1, UNSIGNED, 4);
	}
	end_plan();
	f[1] = traced(0, TRAMP_INTERCEPT, nothing_more);
	f[2] = traced(1, TRAMP_INTERCEPT, body);
}

/* It is open when it asks. */
static int deeper(void *unused)
{
	(void)unused;
	start_kept(ask_inside);
	in_between = call_inside;
	ask_all(0);
	EXPECT(F(1)(77), 77);
	EXPECT(asked[0] + asked[1], 2);
	is_number(&got[1].value[0], 77, 8);
	return 0;
}

static volatile int interruptions;

/* Makes calls that the side list keeps, too, and asks in the middle of asking. */
static void on_signal(int signal)
{
	static struct xaudit_values values;

	(void)signal;
	values.size = sizeof(values);
	EXPECT(handlers_values(told, &values), 2);
	is_number(&values.value[0], 77, 8);
	EXPECT(F(2)(5), 5);
	interruptions++;
}

static void ask_often(const struct handlers_event *event)
{
	const uint64_t end = core_now_ns() + 10000000000;

	told = event;
	interruptions = 0;
	signal(SIGALRM, on_signal);
	ualarm(100, 100);
	while (interruptions < 200 && core_now_ns() < end)
		for (int i = 0; i < 100; i++) {
			inside.size = sizeof(inside);
			EXPECT(handlers_values(event, &inside), 2);
			is_number(&inside.value[0], 77, 8);
			is_number(&inside.value[1], 1, 4);
		}
	ualarm(0, 0);
	EXPECT(interruptions >= 200, 1);
}

static int interrupted(void *unused)
{
	(void)unused;
	start_kept(nothing_more);
	in_between = ask_often;
	ask_all(0);
	EXPECT(F(1)(77), 77);
	EXPECT(asked[0] + asked[1], 2);
	return 0;
}

/* ---- wrong use ---- */

static int answer_elsewhere;
static sigjmp_buf out;

static void *ask_elsewhere(void *event)
{
	static struct xaudit_values values;

	values.size = sizeof(values);
	answer_elsewhere = handlers_values(event, &values);
	return NULL;
}

static void ask_wrongly(const struct handlers_event *event, void *argument)
{
	struct handlers_event copy = *event;
	static struct xaudit_values values;
	pthread_t thread;
	pid_t child;
	int status = -1;

	asked[0]++, told = event;
	memset(&values, 0xee, sizeof(values));
	values.size = sizeof(values) - 1;
	EXPECT(handlers_values(event, &values), -EINVAL);
	values.size = sizeof(values);
	EXPECT(handlers_values(&copy, &values), -EINVAL);
	EXPECT(handlers_values(NULL, &values), -EINVAL);
	EXPECT(values.count, 0xeeeeeeee);
	pthread_create(&thread, NULL, ask_elsewhere, (void *)(uintptr_t)event);
	pthread_join(thread, NULL);
	EXPECT(answer_elsewhere, -EINVAL);
	child = fork();
	if (!child)
		_exit(handlers_values(event, &values) != 1 || values.value[0].number != 5);
	waitpid(child, &status, 0);
	EXPECT(status, 0);
	EXPECT(handlers_values(event, &values), 1);
	is_number(&values.value[0], 5, 8);
	if (argument)
		siglongjmp(out, 1);
}

static void ask_for_nothing(const struct handlers_event *event, void *argument)
{
	static struct xaudit_values values;

	(void)argument;
	values.size = sizeof(values);
	values.count = 9;
	EXPECT(handlers_values(event, &values), 0);
	EXPECT(values.count, 0);
	asked[1]++;
}

/* The handler's frames lie below those of what asks after it, in the page that is known by the call's slot. */
static __attribute__((noinline)) void call_deep(void)
{
	_Alignas(4096) volatile char room[8192];

	F(1)(room[8191] = 5);
}

static int wrong_use(void *unused)
{
	static struct xaudit_values values;
	_Alignas(4096) volatile char room[1]; /* as in call_deep() */

	(void)unused;
	start();
	begin_plan(1);
	made.head.function[0].entry = PART(1, ARGUMENT1, VALUES_PUT, 8);
	IS(made.head.function[0].entry, 0, UNSIGNED, 8);
	end_plan();
	f[1] = traced(0, TRAMP_INTERCEPT, leaf);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, leaf);
	values.size = sizeof(values);
	EXPECT(handlers_values(NULL, &values), -EINVAL);
	EXPECT(handlers_set(HANDLERS_ARGUMENTS, ask_wrongly, NULL, 0), 0);
	EXPECT(F(1)(room[0] = 5), 6);
	EXPECT(handlers_values(told, &values), -EINVAL);
	EXPECT(handlers_set(HANDLERS_ARGUMENTS, ask_wrongly, &out, 0), 0);
	if (!sigsetjmp(out, 1))
		call_deep();
	EXPECT(handlers_values(told, &values), -EINVAL);
	EXPECT(asked[0], 2);
	EXPECT(handlers_remove(HANDLERS_ARGUMENTS), 0);
	/* Of functions without values, and of other events, there are none. */
	EXPECT(handlers_set(HANDLERS_ENTRY, ask_for_nothing, NULL, 0), 0);
	EXPECT(handlers_set(HANDLERS_EXIT, ask_for_nothing, NULL, 0), 0);
	EXPECT(handlers_set(HANDLERS_CUSTOM, ask_for_nothing, NULL, 0), 0);
	EXPECT(F(2)(5), 6);
	handlers_custom("a", 1);
	EXPECT(asked[1], 3);
	return 0;
}

#define LAYOUTS(...) layouts((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)
#define ENTRY(id) TRACE_WORD(TRACE_ENTRY, id)
#define EXIT(id)  TRACE_WORD(TRACE_EXIT, id)

static void layouts(const uint32_t *events, size_t count)
{
	memset(core_layouts, 0, sizeof(core_layouts));
	memcpy(core_layouts + 1, events, 4 * count);
}

/* Asking leaves the trace as it is. */
static void check_left_out(void)
{
	static const char wanted[] = "E1 X1 E2 X2 E2 X2 E3 X3 E3 X3 E3 X3 E3 X3 E4 X4";
	struct reading alone, reading;
	int differ = 0;

	LAYOUTS(ENTRY(1), EXIT(1), ENTRY(2), EXIT(2), ENTRY(3), EXIT(3), ENTRY(4), EXIT(4));
	alone = run(left_out, "calls that are left out, without handlers");
	is_str(as_text(&alone), wanted, "calls that are left out, without handlers: the events are right");
	asks = true;
	reading = run(left_out, "calls that are left out");
	is_str(as_text(&reading), wanted, "calls that are left out: the events are the same");
	for (size_t i = 0; i < alone.count && i < reading.count; i++)
		differ += reading.event[i].value[0] != alone.event[i].value[0];
	is_int(differ, 0, "calls that are left out: so are their values");
	core_forget(&alone);
	core_forget(&reading);
}

int main(void)
{
	struct reading reading;

	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer keeps the addresses of mirrors for itself");
	core_folder();
	LAYOUTS(ENTRY(1), EXIT(1));
	check(contents, "each kind of value, in a handler that spoils registers", "E1 X1");
	is_quick = true;
	check(contents, "each kind of value, in a quick handler", "E1 X1");
	LAYOUTS(EXIT(1), EXIT(2));
	check(failures, "results that mean failure", "E1 X1 E1 X1 E2 X2");
	LAYOUTS(ENTRY(1), ENTRY(2));
	check(bounds, "texts as long as can be, and damaged layouts", "E1 X1 E2 X2");
	check_left_out();
	LAYOUTS(ENTRY(1), EXIT(1), TRACE_WORD(TRACE_POINT, 2), ENTRY(3), EXIT(3), ENTRY(20), EXIT(20));
	check(places, "arguments on the stack, and open calls", "E1 X1 P2 E3 E1 X1 X3 E20 X20");
	LAYOUTS(ENTRY(1), EXIT(1), ENTRY(2), EXIT(2));
	check(deeper, "asked by a traced function inside", "E2 X2 E1 E2 X2 X1");
	reading = run(interrupted, "signals while a handler asks");
	is_int((long)reading.count % 2, 0, "signals while a handler asks: each call has both events");
	ok(reading.count >= 802, "signals while a handler asks: and all are there");
	core_forget(&reading);
	LAYOUTS(ENTRY(1));
	check(wrong_use, "wrong use", "E1 X1 E2 X2");
	return done_testing();
}
