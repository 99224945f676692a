#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* Events that the filters of the rules leave out. */
#include "t/lib/tap.h"

#include "runtime/process/process.h"
#include "t/lib/flow_modes.h"

static int no_filter(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){0});
	chain();
	calls();
	return 0;
}

static int depth_two(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.depth = 2});
	chain();
	calls();
	return 0;
}

static int depth_one(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.depth = 1});
	chain();
	calls();
	return 0;
}

static int longer_than(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.time = LONG_NS});
	chain();
	calls();
	expect((long)process_head()->taken_back, 9);
	return 0;
}

/* quick_tail jumps to *tail_target, slow_tail after slow(). */
extern const char quick_tail[], slow_tail[];
uint64_t tail_target;
__attribute__((used)) long tail_slow(long x);

long tail_slow(long x)
{
	return slow(x) - 1;
}

__asm__(".text\n"
	"quick_tail:	jmp *tail_target(%rip)\n"
	"slow_tail:	sub $8, %rsp\n"
	"	call tail_slow\n"
	"	add $8, %rsp\n"
	"	mov %rax, %rdi\n"
	"	jmp *tail_target(%rip)\n");

static int longer_with_tails(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.time = LONG_NS});
	chain();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, quick_tail);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, slow_tail);
	f[6] = core_traced(TRAMP_POINT, 6, quick_tail);
	tail_target = f[3].call;
	expect(F(1)(5), 6);
	expect(F(2)(5), 6);
	expect(F(6)(5), 6);
	tail_target = f[4].call;
	expect(F(1)(5), 6);
	expect(F(2)(5), 6);
	tail_target = f[6].call;
	f[6].cell->body = (uint64_t)(uintptr_t)leaf;
	expect(F(1)(5), 6);
	expect(F(2)(5), 6);
	/* A function jumps to a function that jumps. */
	tail_target = f[1].call;
	f[1].cell->body = f[3].call;
	expect(F(1)(5), 6);
	expect(F(2)(5), 6);
	expect((long)process_head()->taken_back, 13);
	return 0;
}

static long quick_jump(long x)
{
	return KEEP(F(7)(x));
}

static long slow_jump(long x)
{
	return KEEP(F(7)(F(4)(x) - 1));
}

static int longer_and_jump(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.time = LONG_NS});
	chain();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, quick_jump);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, slow_jump);
	f[7] = core_traced(TRAMP_INTERCEPT, 7, jump);
	for (volatile int turn = 0; turn < 4; turn++) {
		int r = setjmp(env);
		if (r)
			expect(r, 5);
		else
			F(turn % 2 ? 2 : 1)(5);
		expect(F(3)(5), 6);
	}
	return 0;
}

static long leap(long x)
{
	/* As if it took 2^32 ticks of the clock, and a little more. */
	tramp_self->span -= 2;
	return x + 1;
}

static int much_longer(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.time = LONG_NS});
	chain();
	f[7] = core_traced(TRAMP_INTERCEPT, 7, leap);
	expect(F(7)(5), 6);
	expect((long)process_head()->taken_back, 0);
	return 0;
}

static int below_two(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.below = 1});
	filter_below(2);
	chain();
	calls();
	expect(F(2)(5), 6);
	expect(F(3)(5), 6);
	return 0;
}

static int below_xray(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.below = 1});
	filter_below(20);
	chain();
	calls();
	return 0;
}

static int below_and_tail(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.below = 1});
	filter_below(1);
	chain();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, quick_tail);
	f[6] = core_traced(TRAMP_INTERCEPT, 6, quick_tail);
	/* What 2 calls is below 1, whose place 2 took; and so it is where 1 is not the last that jumps. */
	tail_target = f[2].call;
	expect(F(1)(5), 6);
	expect(F(2)(5), 6);
	f[6].cell->body = f[2].call;
	tail_target = f[6].call;
	expect(F(1)(5), 6);
	expect(F(3)(5), 6);
	return 0;
}

/* An XRay function jumps to one that calls, then others come in the same place of the stack. */
static int below_xray_and_tail(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.below = 1});
	filter_below(21);
	chain();
	calls();
	calls();
	return 0;
}

static int below_and_jump(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.below = 1, .depth = 2});
	filter_below(1);
	chain();
	f[3] = core_traced(TRAMP_INTERCEPT, 3, jump);
	f[7] = core_traced(TRAMP_INTERCEPT, 7, leaf);
	for (int i = 0; i < 3; i++) {
		int r = setjmp(env);
		if (!r)
			F(1)(33);
		expect(r, 33);
		expect(F(7)(1), 2);
	}
	return 0;
}

static int few_levels_deep(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){.depth = 3});
	f[1] = core_traced(TRAMP_INTERCEPT, 1, call_2);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, call_3);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, xray_function);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	xray_body = f[4].call;
	for (int i = 0; i < 2; i++)
		expect(F(1)(1), 2);
	return 0;
}

int main(void)
{
	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer keeps the addresses of mirrors for itself");
	core_folder();
	flow_most = LONG_NS / 2;
	check(no_filter, "no filter", ALL);
	check(depth_two, "two levels", "E1 E2 X2 X1 P6 E20 E3 X3 X20 E21 T21 E3 X3 E5 E3 X3 E4 X4 X5");
	check(depth_one, "one level", "E1 X1 P6 E20 X20 E21 T21 E3 X3 E5 X5");
	check(longer_than, "longer than the limit", "E5 E4 X4 X5");
	check(longer_with_tails, "longer, and tail calls", "E2 T2 E4 X4 E2 T2 E4 X4 E2 X2 E2 T2");
	check(longer_and_jump, "longer, and longjmp", "E2 E4 X4 U2 E2 E4 X4 U2");
	check(much_longer, "longer than half a clock", "E7 X7");
	check(below_two, "below a function", "E2 E3 X3 X2 E2 E3 X3 X2");
	check(below_xray, "below an XRay function", "E20 E3 X3 X20");
	check(below_and_tail, "below a function that jumps to another one",
		"E1 T1 E2 E3 X3 X2 E1 T1 E6 T6 E2 E3 X3 X2");
	check(below_xray_and_tail, "below an XRay function that jumps to another one", "E21 T21 E3 X3 E21 T21 E3 X3");
	check(below_and_jump, "below a function, and longjmp", "E1 E2 U2 U1 E1 E2 U2 U1 E1 E2 U2 U1");
	check(few_levels_deep, "three levels of both kinds", "E1 E2 E3 X3 X2 X1 E1 E2 E3 X3 X2 X1");
	return done_testing();
}
