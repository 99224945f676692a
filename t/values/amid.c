/* SPDX-License-Identifier: MIT */
/*
 * A handler comes when the first word of an event with values is stored, and its payload is not. Its own calls fill the
 * chunk's place anew, which no thread had used before: with values of 0, that look as the place did then.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "runtime/record/chunk.h"
#include "t/lib/core.h"
#include "t/lib/tap.h"
#include "t/lib/values.h"

#define STEP	0x100 /* the flag that has each instruction trapped */
#define TRIES	5
#define PLACES	4 /* at most, that a thread fills in turn */
#define PER_CHUNK (TRACE_CHUNK_MIN / 32)

static struct traced calls, handled;
static volatile int has_come;

/* What values the call has. */
static enum kind { TWO, LONG, TEXT } is;
static pid_t *pid;
static char its_text[128] = "text"; /* in the called load, as it seems */

static __attribute__((noinline)) long add(int a, int b)
{
	return a + b;
}

static __attribute__((noinline)) long length(const char *text, int b)
{
	return (long)strlen(text) + b;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	const struct thread *thread = thread_self();
	const struct trace_chunk *chunk = thread->chunk;
	const uint64_t *at = (const uint64_t *)(uintptr_t)thread->hot.cursor;
	bool others = false;

	(void)signal;
	(void)info;
	if (has_come || at[0] == thread->hot.token || at[1] != thread->hot.token ||
		(is == LONG && at[2] == thread->hot.token))
		return;
	has_come = thread->hot.token ? 2 : 1;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~STEP;
	for (int i = 0; i < 2 * PLACES * (int)PER_CHUNK; i++) {
		CALL(long (*)(int, int), handled)(0, 0);
		others |= thread->chunk != chunk;
		if (others && thread->chunk == chunk && thread->hot.cursor > (uint64_t)(uintptr_t)(at + 16))
			return;
	}
	has_come = 3;
}

#define STEP_ON	 __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc")
#define STEP_OFF __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc")

static int interrupted(void *unused)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	struct values_place place = { .segments = 1 };
	long got;

	(void)unused;
	*pid = getpid();
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	begin_plan(2);
	made.head.function[0].entry = PART(2, ARGUMENT1, VALUES_PUT, 4, ARGUMENT2, VALUES_PUT, 4);
	if (is == LONG)
		made.head.function[0].entry = PART(2, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_PUT, 4);
	if (is == TEXT)
		made.head.function[0].entry = PART(1, ARGUMENT1, VALUES_PUT_TEXT, TRAMP_TEXT_MOST, 0);
	made.head.function[1].entry = PART(2, ARGUMENT1, VALUES_PUT, 4, ARGUMENT2, VALUES_PUT, 4);
	made.head.function[0].end = made.head.function[1].end = PART(1, RESULT, VALUES_PUT, 8);
	end_plan();
	place.segment[0].low = (uint64_t)(uintptr_t)its_text;
	place.segment[0].high = place.segment[0].low + sizeof(its_text);
	values_set_place(sets, &place);
	calls = traced(0, TRAMP_INTERCEPT, is == TEXT ? (void *)length : (void *)add);
	handled = traced(1, TRAMP_INTERCEPT, add);
	CALL(long (*)(int, int), handled)(0, 0);
	if (sigaction(SIGTRAP, &action, NULL))
		return 1;
	STEP_ON;
	got = is == TEXT ? CALL(long (*)(const char *, int), calls)(its_text, 3)
			 : CALL(long (*)(int, int), calls)(4, 3);
	STEP_OFF;
	return got != 7 ? 2 : has_come != 1 ? 10 + has_come : 0;
}

static void test(enum kind kind, const char *name, uint64_t first)
{
	struct reading reading;
	long own = 0, strange = 0;
	int status = 1;

	is = kind;
	/* Where a slow way is taken meanwhile, which blocks signals, a step is the end of the program. */
	for (int i = 0; i < TRIES && status; i++) {
		core_empty();
		status = core_child(interrupted, NULL, 60);
	}
	is_int(status, 0, "%s: a handler comes amid the event, and fills the place anew", name);
	for (int i = 0; i < 2; i++) {
		core_layouts[2 * i + 1] = TRACE_WORD(TRACE_ENTRY, i + 1);
		core_layouts[2 * i + 2] = TRACE_WORD(TRACE_EXIT, i + 1);
	}
	if (core_read(core_folder(), *pid, 0, TRACE_CHUNK_MIN, &reading))
		bail("no events");
	for (size_t i = 0; i < reading.count; i++) {
		const struct event *e = &reading.event[i];
		uint64_t right = e->id == 2 ? 0 : e->type == TRACE_ENTRY ? first : 7;
		own += e->id == 1;
		strange += !e->words || e->value[0] != right || (e->words > 1 && e->value[1] != 3);
	}
	ok(!reading.damage, "%s: the chunks are sound", name);
	is_int(own, 2, "%s: the call that was interrupted is there", name);
	is_int(strange, 0, "%s: all values are right", name);
	core_forget(&reading);
	core_empty();
}

int main(void)
{
	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer has the addresses of the mirrors");
	pid = core_shared(sizeof(*pid));
	core_folder();
	test(TWO, "two integers", 4 | 3ull << 32);
	test(LONG, "integers of two words", 4);
	/* With its length before it. */
	test(TEXT, "a text", 0x747865740004);
	return done_testing();
}
