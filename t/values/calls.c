/* SPDX-License-Identifier: MIT */
/* Calls whose values are recorded: what is in the trace of them, with handlers in between, and what is left out. */
#include "runtime/calls/values_calls.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/record/chunk.h"
#include "runtime/record/filter.h"
#include "t/lib/core.h"
#include "t/lib/sanitizers.h"
#include "t/lib/tap.h"
#include "t/lib/values.h"

#define CALLS 20000
#define CHUNK TRACE_CHUNK_MIN
#define SILENT_BELOW 10 /* the test's conditions want arguments or results from here on */

#define AT_LEAST(what) what, VALUES_BYTE, SILENT_BELOW, VALUES_LESS, VALUES_NOT, VALUES_UNLESS

/* ---- functions ---- */

static struct traced adds, inner, handled;

static __attribute__((noinline)) long add(int a, long b)
{
	return a + b;
}

static __attribute__((noinline)) long call_inner(int a, long b)
{
	return CALL(long (*)(int, long), inner)(a, b) + 1;
}

static __attribute__((noinline)) double multiply(double a, double b)
{
	return a * b;
}

struct outcome {
	pid_t pid;
	uint32_t handled;
};

static struct outcome *outcome;

static void on_signal(int signal)
{
	(void)signal;
	if (CALL(long (*)(int, long), handled)(7, 8) == 15)
		outcome->handled++;
}

static void start(uint64_t time)
{
	core_start(core_folder(), CHUNK, TRACE_CLOCK_TSC);
	if (time && filter_init(&(struct filter_options){ .time = time }))
		_exit(92);
	outcome->pid = getpid();
}

static uint32_t number(uint32_t i)
{
	return i * 2654435761u;
}

/* ---- reading ---- */

static struct reading reading;

static void read_all(const uint32_t *layouts, size_t count)
{
	memset(core_layouts, 0, sizeof(core_layouts));
	for (size_t i = 0; i < count; i++)
		core_layouts[1 + i] = layouts[i];
	core_forget(&reading);
	if (core_read(core_folder(), outcome->pid, 0, CHUNK, &reading))
		bail("no events");
	is_str(reading.damage ? reading.damage : "sound", "sound", "the chunks are sound");
	is_int((long)reading.lost, 0, "nothing is lost");
	core_empty();
}

#define READ(...) read_all((const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4)
#define ENTRY(number) TRACE_WORD(TRACE_ENTRY, (number) + 1)
#define EXIT(number)  TRACE_WORD(TRACE_EXIT, (number) + 1)

static bool is_event(const struct event *event, uint32_t word, uint32_t words)
{
	return TRACE_WORD(event->type, event->id) == word && event->words == words && !event->flawed;
}

/* ---- scenarios ---- */

/* add() with both arguments and the result; a handler's function with the same. */
static void make_two(void)
{
	begin_plan(2);
	for (int i = 0; i < 2; i++) {
		made.head.function[i].entry = PART(2, ARGUMENT1, VALUES_PUT, 4, ARGUMENT2, VALUES_PUT, 8);
		made.head.function[i].end = PART(1, RESULT, VALUES_PUT, 8);
	}
	end_plan();
	adds = traced(0, TRAMP_INTERCEPT, add);
	handled = traced(1, TRAMP_INTERCEPT, add);
}

static int many(void *signals)
{
	start(0);
	make_two();
	if (signals) {
		signal(SIGALRM, on_signal);
		ualarm(100, 100);
	}
	for (uint32_t i = 0; i < CALLS || (signals && outcome->handled < 500 && i < 100 * CALLS); i++)
		if (CALL(long (*)(int, long), adds)((int)number(i), (long)i << 20) != (int)number(i) + ((long)i << 20))
			return 1;
	ualarm(0, 0);
	return 0;
}

static void test_many(int signals, const char *name)
{
	uint64_t strange = 0, handlers = 0;
	uint32_t next = 0;
	bool open = false;

	outcome->handled = 0;
	is_int(core_child(many, signals ? outcome : NULL, 60), 0, "%s: calls with two integers and a result", name);
	READ(ENTRY(0), EXIT(0), ENTRY(1), EXIT(1));
	for (size_t i = 0; i < reading.count; i++) {
		const struct event *e = &reading.event[i];
		long sum = (int)number(next) + ((long)next << 20);
		if (e->id == 2) {
			bool entry = e->type == TRACE_ENTRY;
			strange += e->value[0] != (entry ? 7 | 8ull << 32 : 15) || (entry && e->value[1]);
			handlers += entry;
			continue;
		}
		if (!open)
			strange += !is_event(e, ENTRY(0), 2) || (uint32_t)e->value[0] != number(next) ||
				   (e->value[0] >> 32 | e->value[1] << 32) != (uint64_t)next << 20;
		else
			strange += !is_event(e, EXIT(0), 1) || (long)e->value[0] != sum;
		next += open;
		open = !open;
	}
	is_int((long)strange, 0, "%s: each entry has both arguments, each exit the result", name);
	is_int((long)handlers, (long)outcome->handled, "%s: the handler's calls are there, each whole", name);
	ok(next >= CALLS && !open && reading.count == 2 * (next + handlers), "%s: and all calls, in order", name);
	ok(!signals || handlers >= 500, "%s: handlers came often enough", name);
	ok(reading.chunks > 5, "%s: they fill several chunks", name);
	core_forget(&reading);
}

/* Functions 0 to 3 leave calls out: by an argument, by the result, by time, all but one in three. 4 stays. */
static int left_out(void *argument)
{
	struct traced by[4];
	void *const body = argument ? (void *)call_inner : (void *)add;

	start(0);
	begin_plan(5);
	made.head.function[0].entry = PART(1, AT_LEAST(ARGUMENT1), ARGUMENT1, VALUES_PUT, 4);
	made.head.function[1].entry = PART(1, ARGUMENT1, VALUES_PUT, 4);
	made.head.function[1].end = PART(0, AT_LEAST(RESULT));
	made.head.function[2].entry = PART(1, ARGUMENT1, VALUES_PUT, 4);
	made.head.function[2].longer = 50000000;
	made.head.function[3].entry = PART(1, ARGUMENT1, VALUES_PUT, 4);
	made.head.function[3].every = 3;
	made.head.function[4].end = PART(1, RESULT, VALUES_PUT, 1);
	end_plan();
	for (uint32_t i = 0; i < 4; i++)
		by[i] = traced(i, TRAMP_INTERCEPT, body);
	inner = traced(4, TRAMP_INTERCEPT, add);
	for (int i = 0; i < 30; i++)
		for (int n = 0; n < 4; n++)
			if (CALL(long (*)(int, long), by[n])(i, 0) != i + (argument ? 1 : 0))
				return 1;
	return 0;
}

static long count(uint32_t word)
{
	long n = 0;

	for (size_t i = 0; i < reading.count; i++)
		n += TRACE_WORD(reading.event[i].type, reading.event[i].id) == word;
	return n;
}

static void test_left_out(int nested)
{
	const char *name = nested ? "with calls inside" : "alone";
	/* The result is one more than the argument where another function is called. */
	const int results = 20 + (nested ? 1 : 0);

	is_int(core_child(left_out, nested ? outcome : NULL, 60), 0, "%s: functions whose calls are left out", name);
	READ(ENTRY(0), ENTRY(1), ENTRY(2), ENTRY(3), EXIT(4));
	is_int(count(ENTRY(0)), 20, "%s: by an argument: entries", name);
	is_int(count(EXIT(0)), 20, "%s: by an argument: exits", name);
	is_int(count(ENTRY(1)), results, "%s: by the result: entries", name);
	is_int(count(EXIT(1)), results, "%s: by the result: exits", name);
	is_int(count(ENTRY(2)), 0, "%s: by time: entries", name);
	is_int(count(EXIT(2)), 0, "%s: by time: exits", name);
	is_int(count(ENTRY(3)), 10, "%s: all but one in three: entries", name);
	is_int(count(EXIT(3)), 10, "%s: all but one in three: exits", name);
	is_int(count(ENTRY(4)), nested ? 120 : 0, "%s: calls inside stay: entries", name);
	is_int(count(EXIT(4)), nested ? 120 : 0, "%s: calls inside stay: exits", name);
	/* What was taken back left no trace; what could not be lies there as nothing. */
	is_int((long)reading.given_up, nested ? 30 + 30 - results : 0, "%s: entries that became none", name);
	core_forget(&reading);
}

/* The rules' time: calls of add() are too short, unless one of a long call is inside. */
static int too_short(void *unused)
{
	(void)unused;
	start(FILTER_TIME_MAX);
	make_two();
	for (int i = 0; i < 1000; i++)
		CALL(long (*)(int, long), adds)(i, i);
	return 0;
}

static void test_too_short(void)
{
	struct trace_head head;

	is_int(core_child(too_short, NULL, 60), 0, "calls that are shorter than the rules' time");
	if (core_read_head(core_folder(), outcome->pid, &head))
		bail("no head");
	is_int((long)head.taken_back, 1000, "they are counted");
	READ(ENTRY(0), EXIT(0), ENTRY(1), EXIT(1));
	is_int((long)reading.count, 0, "and leave nothing");
	is_int((long)(reading.holes + reading.given_up), 0, "not even holes");
	core_forget(&reading);
}

/* A text on the stack, one that is not there, a double, an argument that the end shows. */
static int kinds_of_values(void *unused)
{
	char text[] = "seven77";
	struct traced fault, point;

	(void)unused;
	start(0);
	begin_plan(4);
	made.head.function[0].entry = PART(1, ARGUMENT1, VALUES_PUT_TEXT, 64, 0);
	made.head.function[1].entry = PART(2, VALUES_FLOAT, 0, VALUES_PUT, 8, VALUES_FLOAT, 1, VALUES_PUT, 8);
	made.head.function[1].end = PART(1, VALUES_FLOAT, 0, VALUES_PUT, 8);
	made.head.function[2].entry = PART(0, ARGUMENT2, VALUES_KEEP, 3);
	made.head.function[2].end = PART(2, VALUES_KEPT_WORD, 3, VALUES_PUT, 8, RESULT, VALUES_PUT, 4);
	made.head.function[3].entry = PART(1, ARGUMENT2, VALUES_PUT, 8);
	end_plan();
	fault = traced(0, TRAMP_INTERCEPT, add);
	adds = traced(1, TRAMP_INTERCEPT, multiply);
	inner = traced(2, TRAMP_INTERCEPT, add);
	point = traced(3, TRAMP_POINT, add);
	CALL(long (*)(const char *, long), fault)(text, 0);
	CALL(long (*)(const char *, long), fault)((const char *)8, 0);
	if (CALL(double (*)(double, double), adds)(1.5, -2.25) != 1.5 * -2.25)
		return 1;
	if (CALL(long (*)(int, long), inner)(3, 0x1122334455667788) != 0x112233445566778b)
		return 2;
	return CALL(long (*)(int, long), point)(3, -1) != 2;
}

/* ---- texts: of all lengths, on the stack, and up to the end of what is the load's ---- */

#define LENGTHS	81 /* from 0 on; from TRAMP_TEXT_MOST on texts are cut */
#define PAGE	4096ul

static __attribute__((noinline)) long length(const char *text, long b)
{
	return (long)strlen(text) + b;
}

static char letter(int i)
{
	return (char)('a' + i % 26);
}

static int texts(void *unused)
{
	struct values_place place = { .segments = 2 };
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char room[16 + LENGTHS + 1], *text;

	(void)unused;
	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE))
		return 1;
	start(0);
	begin_plan(1);
	made.head.function[0].entry = PART(1, ARGUMENT1, VALUES_PUT_TEXT, TRAMP_TEXT_MOST, 0);
	end_plan();
	place.segment[0] = (struct values_segment){ 1, 2 };
	place.segment[1] = (struct values_segment){ (uint64_t)(uintptr_t)pages, (uint64_t)(uintptr_t)pages + PAGE };
	values_set_place(sets, &place);
	adds = traced(0, TRAMP_INTERCEPT, length);
	for (int n = 0; n < LENGTHS; n++)
		for (int way = 0; way < 3; way++) {
			text = way == 0 ? room + n % 16 : way == 1 ? pages + n : pages + PAGE - n - 1;
			memset(room, '!', sizeof(room));
			memset(pages, '!', PAGE);
			for (int i = 0; i < n; i++)
				text[i] = letter(i);
			text[n] = '\0';
			if (CALL(long (*)(const char *, long), adds)(text, 5) != n + 5)
				return 2;
		}
	return 0;
}

static void test_texts(void)
{
	long right = 0, cut = 0;

	is_int(core_child(texts, NULL, 60), 0, "texts of all lengths");
	READ(ENTRY(0));
	for (size_t i = 0; i < reading.count; i++) {
		const struct event *event = &reading.event[i];
		int n = (int)(i / 2 / 3), size = n < TRAMP_TEXT_MOST ? n : TRAMP_TEXT_MOST;
		uint8_t bytes[8 * CORE_VALUES] = { VALUES_CUT }, *to = bytes + (n >= TRAMP_TEXT_MOST);
		if (event->type != TRACE_ENTRY)
			continue;
		to[0] = (uint8_t)size;
		to[1] = 0;
		for (int k = 0; k < size; k++)
			to[2 + k] = (uint8_t)letter(k);
		right += event->words == (uint32_t)(to - bytes + 2 + size + 7) / 8 &&
			 !memcmp(event->value, bytes, 8 * event->words);
		cut += event->flawed;
	}
	is_int((long)reading.count, 2L * 3 * LENGTHS, "all calls are there");
	is_int(right, 3L * LENGTHS, "each with its text");
	is_int(cut, 3L * (LENGTHS - TRAMP_TEXT_MOST), "and of those that are cut that is told");
}

/* A plan that ends with its code, which is short, and behind which there is no memory. */
static int plan_at_the_end(void *unused)
{
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct process_held held;

	(void)unused;
	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE))
		return 1;
	start(0);
	begin_plan(1);
	made.head.function[0].entry = PART(1, VALUES_PUT_NAME);
	made.head.size = PAGE;
	made.bytes[made.head.function[0].entry.code = PAGE - 2] = VALUES_PUT_NAME;
	memcpy(pages, made.bytes, PAGE);
	process_lock(&held);
	if (values_take(&sets, pages, PAGE, false))
		return 2;
	process_unlock(&held);
	return CALL(long (*)(int, long), traced(0, TRAMP_INTERCEPT, add))(1, 2) != 3;
}

/* Results that look like words to which nothing was written, in chunks of which the first holds zeros. */
static int like_tokens(void *unused)
{
	(void)unused;
	start(0);
	make_two();
	for (uint32_t i = 0; i < CALLS; i++) {
		const struct thread *thread = thread_self();
		long token = thread ? (long)thread->hot.token : 0;
		if (CALL(long (*)(int, long), adds)(0, token) != token)
			return 1;
	}
	return 0;
}

static void test_like_tokens(void)
{
	long right = 0, others = 0;

	is_int(core_child(like_tokens, NULL, 60), 0, "results like words to which nothing was written");
	READ(ENTRY(0), EXIT(0), ENTRY(1), EXIT(1));
	for (size_t i = 0; i + 1 < reading.count; i += 2) {
		const struct event *entry = &reading.event[i], *end = entry + 1;
		right += is_event(entry, ENTRY(0), 2) && is_event(end, EXIT(0), 1) &&
			 end->value[0] == (entry->value[0] >> 32 | entry->value[1] << 32);
		others += end->value[0] != 0;
	}
	is_int((long)reading.count, 2L * CALLS, "all calls are there");
	is_int(right, CALLS, "each with its result");
	ok(others > CALLS / 2, "in chunks that were filled before, too");
}

/*
 * A handler's calls end the chunk in which interrupted code has stored an event's first word, and not its late payload:
 * the code finds no place for that then, and the event is none.
 */
static int interrupted(void *unused)
{
	const uint64_t event = TRACE_EVENT(TRACE_VALUED, TRACE_VALUED_ID(2, TRACE_VALUED_LATE(1)), 0);

	(void)unused;
	start(0);
	make_two();
	CALL(long (*)(int, long), adds)(1, 2);
	const struct thread *thread = thread_self();
	const struct trace_chunk *chunk = thread->chunk;
	uint64_t token = thread->hot.token, *at = (uint64_t *)(uintptr_t)thread->hot.cursor;
	if (chunk_store((uint64_t)(uintptr_t)at, token, event | (uint32_t)at[-2]) != token)
		return 1;
	while (thread->chunk == chunk)
		CALL(long (*)(int, long), handled)(3, 4);
	if (TRACE_TYPE_OF(*at) != TRACE_CONTROL ||
		TRACE_ID_OF(*at) != TRACE_CONTROL_ID(TRACE_GIVEN_UP, 1) ||
		chunk_store((uint64_t)(uintptr_t)(at + 1), token, 5) == token)
		return 2;
	return 0;
}

static void test_interrupted(void)
{
	is_int(core_child(interrupted, NULL, 60), 0, "a late payload that does not come before the chunk ends");
	READ(ENTRY(0), EXIT(0), ENTRY(1), EXIT(1));
	is_int((long)reading.given_up, 1, "is of an event that is given up");
}

/* With a coarse clock, other functions' events have the reading of one before them. */
static int with_coarse(void *unused)
{
	struct traced plain;

	(void)unused;
	core_coarse = 1;
	start(0);
	make_two();
	plain = core_traced(TRAMP_INTERCEPT, 100, add);
	for (int i = 0; i < 1000; i++) {
		CALL(long (*)(int, long), adds)(i, i);
		CALL(long (*)(int, long), plain)(i, i);
	}
	return 0;
}

static void test_coarse(void)
{
	long back = 0;

	is_int(core_child(with_coarse, NULL, 60), 0, "a coarse clock");
	READ(ENTRY(0), EXIT(0), ENTRY(1), EXIT(1));
	for (size_t i = 1; i < reading.count; i++)
		back += (int64_t)(reading.event[i].clock - reading.event[i - 1].clock) < 0;
	is_int((long)reading.count, 4000, "all calls are there");
	is_int(back, 0, "no event is earlier than the one before");
	core_forget(&reading);
}

/* Bytes of stack below this frame that a call of the function needs, up to 16 kB. */
#define PAINTED 16384
static __attribute__((noinline, no_sanitize("address"))) uint64_t stack_of(struct traced by)
{
	volatile uint8_t *here = __builtin_frame_address(0), *low = here - PAINTED;

	CALL(long (*)(int, long), by)(1, 2); /* the first one does more */
	for (unsigned i = 0; i < PAINTED - 512; i++)
		low[i] = 0xa5;
	CALL(long (*)(int, long), by)(1, 2);
	while (low < here && *low == 0xa5)
		low++;
	return (uint64_t)(here - low);
}

static int on_little_stack(void *unused)
{
	(void)unused;
	start(0);
	begin_plan(1);
	made.head.function[0].entry = PART(1, ARGUMENT1, VALUES_UNSIGNED, 4, VALUES_PUT, 4);
	made.head.function[0].end = PART(1, RESULT, VALUES_SIGNED, 4, VALUES_PUT, 8);
	end_plan();
	outcome->handled = (uint32_t)stack_of(traced(0, TRAMP_INTERCEPT, add));
	return 0;
}

static void test_stack(void)
{
	is_int(core_child(on_little_stack, NULL, 60), 0, "calls with few values that C finds");
	if (WITH_ASAN)
		skip(1, "AddressSanitizer needs stack of its own");
	else
		ok(outcome->handled > 512 && outcome->handled <= 1536, "they need %u bytes of stack, 1536 at most",
			outcome->handled);
	core_empty();
}

static uint64_t bits(double value)
{
	uint64_t to;

	memcpy(&to, &value, 8);
	return to;
}

static void test_kinds_of_values(void)
{
	is_int(core_child(kinds_of_values, NULL, 60), 0, "values of several kinds");
	READ(ENTRY(0), ENTRY(1), EXIT(1), EXIT(2), TRACE_WORD(TRACE_POINT, 4));
	if (reading.count != 9)
		bail("not so many events");
	const struct event *e = reading.event;
	ok(is_event(&e[0], ENTRY(0), 2) && !memcmp(e[0].value, "\7\0seven77", 9), "a text on the stack");
	ok(e[2].flawed && e[2].words == 1 && (e[2].value[0] & 0xffffff) == VALUES_FAULT,
		"a text that is not there: its state, and no bytes");
	ok(is_event(&e[1], EXIT(0), 0) && is_event(&e[3], EXIT(0), 0), "ends without values are plain");
	ok(is_event(&e[4], ENTRY(1), 2) && e[4].value[0] == bits(1.5) && e[4].value[1] == bits(-2.25), "doubles");
	ok(is_event(&e[5], EXIT(1), 1) && e[5].value[0] == bits(1.5 * -2.25), "one that came back");
	ok(is_event(&e[6], ENTRY(2), 0), "an entry without values");
	ok(is_event(&e[7], EXIT(2), 2) && e[7].value[0] == 0x1122334455667788 && e[7].value[1] == 0x5566778b,
		"its argument, which the end shows");
	ok(is_event(&e[8], TRACE_WORD(TRACE_POINT, 4), 1) && e[8].value[0] == UINT64_MAX,
		"a call without an end; all bits are 1");
	core_forget(&reading);
}

/* Frames are left by a jump: of calls with values, and of one that is left out. */
static jmp_buf env;
static struct traced jumps;

static __attribute__((noinline)) long jump(int a, long b)
{
	if (a)
		longjmp(env, 1);
	return b;
}

static __attribute__((noinline)) long call_jumps(int a, long b)
{
	return CALL(long (*)(int, long), jumps)(a, b) + 1;
}

static int left_by_jump(void *unused)
{
	(void)unused;
	start(0);
	begin_plan(3);
	for (int i = 0; i < 3; i++) {
		made.head.function[i].entry = PART(1, ARGUMENT1, VALUES_PUT, 4, ARGUMENT2, VALUES_KEEP, 0);
		made.head.function[i].end = PART(1, VALUES_KEPT_WORD, 0, VALUES_PUT, 8);
	}
	made.head.function[1].entry = PART(1, AT_LEAST(ARGUMENT1), ARGUMENT1, VALUES_PUT, 4);
	made.head.function[1].end = PART(1, RESULT, VALUES_PUT, 8);
	end_plan();
	adds = traced(0, TRAMP_INTERCEPT, call_jumps);
	jumps = traced(1, TRAMP_INTERCEPT, jump);
	inner = traced(2, TRAMP_INTERCEPT, add);
	for (volatile int i = 0; i < 20; i++)
		if (!setjmp(env))
			CALL(long (*)(int, long), adds)(i, i);
	return CALL(long (*)(int, long), inner)(1, 2) != 3;
}

static void test_left_by_jump(void)
{
	is_int(core_child(left_by_jump, NULL, 60), 0, "frames that are left by a jump");
	READ(ENTRY(0), EXIT(0), ENTRY(1), EXIT(1), ENTRY(2), EXIT(2));
	is_int(count(ENTRY(0)), 20, "all calls are there");
	is_int(count(ENTRY(1)), 10, "but those that are left out");
	is_int(count(TRACE_WORD(TRACE_UNWIND, 1)), 19, "the outer ones end as unwound");
	is_int(count(TRACE_WORD(TRACE_UNWIND, 2)), 10, "so do the inner ones that were not left out");
	is_int(count(EXIT(0)), 1, "but for the one that returned");
	is_int((long)reading.event[reading.count - 1].value[0], 2, "a later call has what it kept");
	core_forget(&reading);
}

int main(void)
{
	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer has the addresses of the mirrors");
	outcome = core_shared(sizeof(*outcome));
	core_folder();
	test_many(0, "no handler");
	test_many(1, "with handlers");
	test_left_out(0);
	test_left_out(1);
	test_too_short();
	test_texts();
	is_int(core_child(plan_at_the_end, NULL, 60), 0, "nothing behind a plan's end is looked at");
	core_empty();
	test_like_tokens();
	test_interrupted();
	test_coarse();
	test_stack();
	test_kinds_of_values();
	test_left_by_jump();
	return done_testing();
}
