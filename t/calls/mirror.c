#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* Open calls: nesting, tail calls, XRay sleds, and frames that longjmp leaves. */
#include "t/lib/tap.h"

#include <setjmp.h>

#include "t/lib/flow.h"
#include "t/lib/flow_xray.h"

/* ---- nesting ---- */

static long middle(long x)
{
	return F(3)(x) + F(3)(10 * x);
}

static long outer(long x)
{
	return 2 * F(2)(x);
}

static int nested(void *argument)
{
	(void)argument;
	start();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, outer);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, middle);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, leaf);
	expect(F(1)(5), 2 * (6 + 51));
	f[2].cell->gate = (uint64_t)(uintptr_t)tramp_gate_point;
	expect(F(1)(5), 2 * (6 + 51));
	return 0;
}

static long recurse(long n)
{
	return n ? F(1)(n - 1) + 1 : 0;
}

static int recursion(void *argument)
{
	(void)argument;
	start();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, recurse);
	expect(F(1)(9999), 9999);
	return 0;
}

static void check_depth(int (*scenario)(void *), const char *what, size_t deep, size_t times)
{
	struct reading reading = run(scenario, what);
	size_t wrong = 0;

	is_int((long long)reading.count, (long long)(2 * deep * times), "%s: all events are there", what);
	for (size_t i = 0; i < reading.count; i++)
		wrong += reading.event[i].type != (i / deep % 2 ? TRACE_EXIT : TRACE_ENTRY);
	is_int((long long)wrong, 0, "%s: all entries, then all exits", what);
	core_forget(&reading);
}

/* ---- longjmp ---- */

static jmp_buf env;

static long jump(long x)
{
	longjmp(env, (int)x);
}

static long call_3(long x)
{
	return KEEP(F(3)(x));
}

static long call_2(long x)
{
	return KEEP(F(2)(x));
}

static long catch_then_call(long x)
{
	int r = setjmp(env);

	if (!r)
		return KEEP(F(2)(x));
	return KEEP(F(4)(r));
}

static long catch_then_return(long x)
{
	int r = setjmp(env);

	if (!r)
		return KEEP(F(2)(x));
	return r;
}

static void trace_chain(void)
{
	f[1] = core_traced(TRAMP_INTERCEPT, 1, call_2);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, call_3);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, jump);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
}

static int jump_out(void *argument)
{
	(void)argument;
	start();
	trace_chain();
	int r = setjmp(env);
	if (!r)
		F(1)(17);
	expect(r, 17);
	expect(F(4)(1), 2);
	return 0;
}

static int jump_into_call(void *argument)
{
	(void)argument;
	start();
	trace_chain();
	f[1].cell->body = (uint64_t)(uintptr_t)catch_then_call;
	expect(F(1)(17), 18);
	return 0;
}

static int jump_into_return(void *argument)
{
	(void)argument;
	start();
	trace_chain();
	f[1].cell->body = (uint64_t)(uintptr_t)catch_then_return;
	expect(F(1)(17), 17);
	return 0;
}

static long jump_traced(long x)
{
	CALL(void (*)(struct __jmp_buf_tag *, int), f[5])(env, (int)x);
	return 0;
}

static long count_after_jump(long x)
{
	int r = setjmp(env);

	if (!r)
		return KEEP(F(2)(x));
	outcome->result[0] = events();
	return r;
}

/* A longjmp through a stub of its own is recorded at once. */
static int jump_told(void *argument)
{
	(void)argument;
	start();
	trace_chain();
	f[1].cell->body = (uint64_t)(uintptr_t)count_after_jump;
	f[3].cell->body = (uint64_t)(uintptr_t)jump_traced;
	f[5] = core_traced(TRAMP_JUMP, 5, longjmp);
	expect(F(1)(17), 17);
	expect(outcome->result[0], 5);
	return 0;
}

static long count_after_landing(long x)
{
	int r = setjmp(env);

	if (!r)
		return KEEP(F(2)(x));
	outcome->result[0] = events();
	expect(F(5)(r), 18);
	outcome->result[1] = events();
	expect(F(5)(r), 18);
	outcome->result[2] = events();
	return r;
}

static int landed(void *argument)
{
	(void)argument;
	start();
	trace_chain();
	f[1].cell->body = (uint64_t)(uintptr_t)count_after_landing;
	f[5] = core_traced(TRAMP_LANDED, 5, leaf);
	expect(F(5)(1), 2); /* before the first event */
	expect(tramp_self == NULL, 1);
	expect(F(1)(17), 17);
	expect(outcome->result[0], 3);
	expect(outcome->result[1], 5);
	expect(outcome->result[2], 5);
	return 0;
}

static void test_jumps(void)
{
	check(jump_out, "longjmp out of three calls", "E1 E2 E3 U3 U2 U1 E4 X4");
	check(jump_into_call, "longjmp into a call that calls", "E1 E2 E3 U3 U2 E4 X4 X1");
	check(jump_into_return, "longjmp into a call that returns", "E1 E2 E3 U3 U2 X1");
	check(jump_told, "longjmp that is itself watched", "E1 E2 E3 U3 U2 X1");
	check(landed, "a landing pad's first call", "E1 E2 E3 U3 U2 X1");
}

/* ---- tail calls ---- */

extern const char tail_2[], tail_3[], tail_down[];
uint64_t tail_target_2, tail_target_3, tail_target_self;

__asm__("	.text\n"
	"tail_2:	jmp *tail_target_2(%rip)\n"
	"tail_3:	jmp *tail_target_3(%rip)\n"
	"tail_down:	mov %rdi, %rax\n"
	"	dec %rdi\n"
	"	jz 1f\n"
	"	jmp *tail_target_self(%rip)\n"
	"1:	ret\n");

static int tails(void *argument)
{
	(void)argument;
	start();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, tail_2);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, tail_3);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, leaf);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, tail_2);
	tail_target_2 = f[2].call;
	tail_target_3 = f[3].call;
	expect(F(1)(5), 6);
	/* The last function's return is not intercepted. */
	f[3].cell->gate = (uint64_t)(uintptr_t)tramp_gate_point;
	expect(F(1)(5), 6);
	/* The tail call is within a call. */
	f[2].cell->gate = (uint64_t)(uintptr_t)tramp_gate_point;
	f[5] = core_traced(TRAMP_INTERCEPT, 5, middle);
	tail_target_3 = (uint64_t)(uintptr_t)leaf;
	f[3] = f[4];
	expect(CALL(long (*)(long), f[5])(1), 2 + 11);
	return 0;
}

/* What is on the top of its stack when it is called: where it returns to. */
extern const char who_calls[];

__asm__("who_calls:	mov (%rsp), %rax\n"
	"	ret\n");

static int is_label(long address)
{
	return address == (long)(uintptr_t)tramp_return_tsc || address == (long)(uintptr_t)tramp_return_mono;
}

/* A function that asks who called it is told of whoever called the one that jumped to it. */
static int tail_asked(void *argument)
{
	(void)argument;
	start();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, tail_2);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, tail_3);
	f[3] = core_traced(TRAMP_CALLER, 3, who_calls);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	tail_target_2 = (uint64_t)(uintptr_t)who_calls;
	expect(is_label(F(1)(0)), 1);
	tail_target_2 = f[3].call;
	expect(is_label(F(1)(0)), 0);
	/* Two have jumped; and none. */
	tail_target_2 = f[2].call;
	tail_target_3 = f[3].call;
	expect(is_label(F(1)(0)), 0);
	expect(is_label(F(3)(0)), 0);
	expect(F(4)(5), 6);
	return 0;
}

static int tail_loop(void *argument)
{
	(void)argument;
	start();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, tail_down);
	tail_target_self = f[1].call;
	expect(F(1)(5000), 1);
	return 0;
}

static void test_tails(void)
{
	struct reading reading;
	size_t wrong = 0;

	check(tails, "tail calls", "E1 T1 E2 T2 E3 X3 E1 T1 E2 P3 X2 E5 E4 P2 X4 E4 P2 X4 X5");
	check(tail_asked, "tail calls of a function that asks who called it", "E1 X1 E1 T1 E1 T1 E2 T2 E4 X4");
	reading = run(tail_loop, "5000 tail calls");
	is_int((long long)reading.count, 10000, "5000 tail calls: all events are there");
	for (size_t i = 0; i < reading.count; i++)
		wrong += reading.event[i].type != (i % 2 == 0 ? TRACE_ENTRY : i == 9999 ? TRACE_EXIT : TRACE_TAIL);
	is_int((long long)wrong, 0, "5000 tail calls: entry and tail in turn, an exit at the end");
	core_forget(&reading);
}

/* ---- XRay ---- */

static int xray(void *argument)
{
	(void)argument;
	start_xray();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, xray_function); /* two kinds on one slot */
	f[3] = core_traced(TRAMP_INTERCEPT, 3, leaf);
	xray_body = f[3].call;
	expect(xray_function(5), 6);
	expect(F(1)(5), 6);
	xray_target = (uint64_t)(uintptr_t)xray_function;
	expect(xray_tail_function(7), 8);
	xray_target = f[1].call;
	expect(xray_tail_function(7), 8);
	return 0;
}

static int xray_jump(void *argument)
{
	(void)argument;
	start_xray();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, xray_function);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, jump);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	xray_body = f[3].call;
	int r = setjmp(env);
	if (!r)
		F(1)(33);
	expect(r, 33);
	xray_body = f[4].call;
	expect(xray_function(1), 2);
	return 0;
}

int main(void)
{
	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer keeps the addresses of mirrors for itself");
	core_folder();
	check(nested, "nested calls", "E1 E2 E3 X3 E3 X3 X2 X1 E1 P2 E3 X3 E3 X3 X1");
	check_depth(recursion, "10000 calls deep", 10000, 1);
	test_jumps();
	test_tails();
	check(xray, "XRay sleds",
		"E20 E3 X3 X20 E1 E20 E3 X3 X20 X1 E21 T21 E20 E3 X3 X20 E21 T21 E1 E20 E3 X3 X20 X1");
	check(xray_jump, "longjmp out of XRay calls", "E1 E20 E3 U3 U20 U1 E20 E4 X4 X20");
	return done_testing();
}
