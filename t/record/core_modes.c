#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* What is recorded in which mode, and what a change of mode leaves in the trace. */
#include "t/lib/tap.h"


#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "t/lib/flow_modes.h"

static void locked(void (*do_it)(void))
{
	struct process_held held;

	process_lock(&held);
	do_it();
	process_unlock(&held);
}

static void begin(void)
{
	recorder_set_recording(1);
}

static void stop(void)
{
	recorder_set_recording(0);
}

static long stop_then_leaf(long x)
{
	locked(stop);
	return KEEP(F(3)(x));
}

static long begin_inside(long x)
{
	locked(begin);
	return x + 1;
}

/* ---- counters ---- */

static long long counter(unsigned n, uint32_t id)
{
	return core_count(core_folder(), outcome->pid, n, id);
}

static int some_counted(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){0});
	chain();
	filter_count_only(3);
	filter_count_only(20);
	calls();
	calls();
	return 0;
}

static int all_counted(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){.mode = TRACE_MODE_COUNT}, (struct filter_options){0});
	chain();
	for (int i = 0; i < 1000; i++) {
		expect(F(1)(5), 6);
		expect(F(6)(5), 6);
		expect(xray_function(5), 6);
		expect(xray_tail_function(5), 6);
	}
	return 0;
}

static void *count_thread(void *argument)
{
	for (int i = 0; i < 100000; i++)
		F(3)(i);
	return argument;
}

static int threads_counted(void *argument)
{
	pthread_t thread[4];

	(void)argument;
	start_with((struct recorder_options){.mode = TRACE_MODE_COUNT}, (struct filter_options){0});
	chain();
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, count_thread, NULL))
			_exit(97);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void test_counts(void)
{
	check(some_counted, "two functions are only counted",
		"E1 E2 X2 X1 P6 E21 T21 E5 E4 X4 X5 E1 E2 X2 X1 P6 E21 T21 E5 E4 X4 X5");
	is_int(counter(0, 3), 8, "two functions are only counted: the calls of the one");
	is_int(counter(0, 20), 2, "two functions are only counted: and of the other");
	is_int(counter(0, 1), 0, "two functions are only counted: no others");

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(all_counted, NULL, 60), 0, "mode count: the program runs to its end");
	is_int(outcome->wrong, 0, "mode count: results are right");
	long long got[] = {counter(0, 1), counter(0, 2), counter(0, 3), counter(0, 6), counter(0, 20), counter(0, 21)};
	long long wanted[] = {1000, 1000, 3000, 1000, 1000, 1000};
	for (size_t i = 0; i < sizeof(got) / sizeof(*got); i++)
		is_int(got[i], wanted[i], "mode count: calls of function %zu", i);
	struct reading reading;
	is_int(core_read(core_folder(), outcome->pid, 0, FLOW_CHUNK, &reading), -1, "mode count: there are no events");

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(threads_counted, NULL, 60), 0, "mode count, four threads: the program runs to its end");
	long long sum = 0;
	for (unsigned n = 0; n < 4; n++)
		if (counter(n, 3) > 0)
			sum += counter(n, 3);
	is_int(sum, 400000, "mode count, four threads: each call is counted");
}

/* ---- on and off ---- */

static int stopped_inside(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){0});
	chain();
	f[7] = core_traced(TRAMP_INTERCEPT, 7, stop_then_leaf);
	expect(F(7)(5), 6);
	expect(F(1)(5), 6);
	expect(xray_function(5), 6);
	locked(begin);
	xray_body = f[7].call;
	expect(xray_function(5), 6);
	calls();
	return 0;
}

static int begun_inside(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){0});
	chain();
	f[7] = core_traced(TRAMP_INTERCEPT, 7, begin_inside);
	for (int i = 0; i < 2; i++) {
		xray_body = i ? f[7].call : f[3].call;
		expect(xray_function(5), 6);
		if (!i)
			locked(stop);
	}
	expect(F(3)(1), 2);
	return 0;
}

/* ---- the flight recorder ---- */

#define CALLS 200000

/* A call of one of four functions for each two bits of i. */
static void tell(uint32_t i)
{
	for (int shift = 0; shift < 20; shift += 2)
		F(1 + (i >> shift & 3))((long)i);
}

static int ring(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){.mode = TRACE_MODE_RING}, (struct filter_options){0});
	for (int i = 1; i < 5; i++)
		f[i] = core_traced(TRAMP_INTERCEPT, (uint32_t)i, leaf);
	for (uint32_t i = 0; i < CALLS; i++)
		tell(i);
	return 0;
}

static const struct trace_chunk *chunk_of(uint64_t seq, enum core_where in)
{
	return core_chunk(core_folder(), outcome->pid, 0, FLOW_CHUNK, seq, in);
}

static void test_ring(void)
{
	size_t entries = 0, wrong = 0, chunks = 0;
	uint64_t newest = 0;
	struct reading reading;

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(ring, NULL, 60), 0, "flight recorder: the program runs to its end");
	is_int(core_read(core_folder(), outcome->pid, 0, FLOW_CHUNK, &reading), 0, "flight recorder: there are events");
	is_int((long long)reading.chunks, RING / FLOW_CHUNK, "flight recorder: as many chunks as were asked for");
	core_forget(&reading);
	while (newest < 1000000 && !chunk_of(newest, CORE_IN_PLACE))
		newest++;
	newest += RING / FLOW_CHUNK - 1;
	/* Backwards from the newest: each group of ten calls is a number, less by one than the number after it. */
	uint32_t expected = CALLS - 1, number = 0;
	int digits = 0;
	for (uint64_t seq = newest + 1; seq-- > newest - 7;) {
		const struct trace_chunk *c = chunk_of(seq, CORE_IN_PLACE);
		if (!c)
			break;
		chunks++;
		const uint64_t *word = (const uint64_t *)(c + 1), *end = (const uint64_t *)((const char *)c + c->size);
		while (end-- > word) {
			if (*end >> 60 != TRACE_ENTRY)
				continue;
			entries++;
			number = number << 2 | (((uint32_t)(*end >> 32) & TRACE_ID_MASK) - 1);
			if (++digits == 10) {
				wrong += number != expected--;
				number = 0;
				digits = 0;
			}
		}
	}
	is_int((long long)chunks, 8, "flight recorder: eight chunks in a row, up to the newest");
	is_int((long long)wrong, 0, "flight recorder: they hold the newest calls, each once, in order");
	ok(entries > 7 * (FLOW_CHUNK - 128) / 16, "flight recorder: and it is full (%zu calls)", entries);
}

static void to_ring(void)
{
	recorder_set_mode(TRACE_MODE_RING, 1);
}

static void to_stream(void)
{
	recorder_set_mode(TRACE_MODE_STREAM, 1);
}

static void to_count(void)
{
	recorder_set_mode(TRACE_MODE_COUNT, 1);
}

static int change(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){0}, (struct filter_options){0});
	chain();
	expect(F(1)(5), 6);
	locked(to_ring);
	expect(F(2)(5), 6);
	expect(F(4)(5), 6);
	locked(to_count);
	expect(F(3)(5), 6);
	locked(to_stream);
	expect(F(5)(5), 12);
	return 0;
}

/* The events of a chunk, as text. */
static const char *chunk_text(uint64_t seq, enum core_where in)
{
	static char text[512];
	size_t length = 0;
	const struct trace_chunk *head = chunk_of(seq, in);
	const char *chunk = (const char *)head;

	text[0] = '\0';
	if (!head)
		return "no such chunk";
	if (head->lost)
		return "lost events";
	for (size_t i = head->head_size; i + 8 <= head->size && length < sizeof(text) - 20; i += 8) {
		uint64_t event = *(const uint64_t *)(chunk + i);
		uint32_t id = (uint32_t)(event >> 32) & TRACE_ID_MASK;
		if (event >> 60 == TRACE_CONTROL && (id & 0xff) == TRACE_SYNC)
			i += (id >> 8) * 8; /* a control event may come at any time */
		else if (event >> 60 != TRACE_HOLE)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%c%u", length ? " " : "",
				"?EXTUP"[event >> 60], id);
	}
	return text;
}

static void test_change(void)
{
	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(change, NULL, 60), 0, "changes of mode: the program runs to its end");
	is_str(chunk_text(0, CORE_IN_FILE), "E1 E2 E3 X3 X2 X1", "changes of mode: before, in the stream");
	is_str(chunk_text(1, CORE_IN_PLACE), "E2 E3 X3 X2 E4 X4", "changes of mode: then in the flight recorder");
	is_int(counter(0, 3), 1, "changes of mode: then counted");
	is_str(chunk_text(1, CORE_IN_FILE), "E2 E3 X3 X2 E4 X4", "changes of mode: which the stream then takes over");
	is_str(chunk_text(2, CORE_IN_PLACE), "E5 E3 X3 E4 X4 X5", "changes of mode: and in the stream again");
}

/* ---- limits ---- */

static int limited(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){.size_limit = 2 << 20}, (struct filter_options){0});
	chain();
	/* Their events take a byte each. */
	for (int i = 0; i < 2000000; i++)
		expect(F(3)(1), 2);
	outcome->result[0] = (long)process_head()->stream_bytes;
	outcome->result[1] = (long)process_head()->recording;
	return 0;
}

static int throttled(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){.throttle = 20}, (struct filter_options){0});
	chain();
	for (int i = 0; i < 500000; i++)
		expect(F(3)(1), 2);
	expect(F(1)(1), 2);
	return 0;
}

static void test_limits(void)
{
	struct reading reading;

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(limited, NULL, 60), 0, "size limit: the program runs to its end");
	ok(outcome->result[0] <= 2 << 20 && outcome->result[0] > 1 << 20, "size limit: the trace keeps to it (%ld)",
		outcome->result[0]);
	is_int(outcome->result[1], 0, "size limit: recording has stopped");

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(throttled, NULL, 60), 0, "throttle: the program runs to its end");
	is_int(core_read(core_folder(), outcome->pid, 0, FLOW_CHUNK, &reading), 0, "throttle: there are events");
	size_t entries = 0, others = 0;
	for (size_t i = 0; i < reading.count; i++) {
		entries += reading.event[i].type == TRACE_ENTRY && reading.event[i].id == 3;
		others += reading.event[i].id != 3;
	}
	is_int((long long)entries + counter(0, 3), 500001,
		"throttle: each call of the function is an event or counted");
	ok(entries > 0 && entries < 100000, "throttle: it was counted soon (%zu events)", entries);
	is_int((long long)others, 4, "throttle: other functions are recorded as ever");
	core_forget(&reading);
}

int main(void)
{
	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer keeps the addresses of mirrors for itself");
	core_folder();
	test_counts();
	check(stopped_inside, "stopped in the middle of calls", "E7 X7 E20 E7 X7 X20");
	check(begun_inside, "begun in the middle of a call", "E20 E3 X3 X20 X20 E3 X3");
	test_ring();
	test_change();
	test_limits();
	return done_testing();
}
