#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* What is recorded in which mode, and what changes of mode leave behind. */
#include "t/tap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "runtime/clock.h"
#include "runtime/process.h"
#include "t/flow_modes.h"

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

/* Counter of id in c<n>, or -1. */
static long long counter(unsigned n, uint32_t id)
{
	char path[300];
	struct {
		struct trace_counts head;
		uint64_t count[64];
	} file;

	snprintf(path, sizeof(path), "%s/p%d/c%u", core_folder(), (int)outcome->pid, n);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, &file, sizeof(file));
	if (fd >= 0)
		close(fd);
	return got == (ssize_t)sizeof(file) && file.head.magic == TRACE_COUNTS_MAGIC ? (long long)file.count[id] : -1;
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
	is_int(core_child(all_counted, NULL, 10), 0, "mode count: the program runs to its end");
	is_int(outcome->wrong, 0, "mode count: results are right");
	long long got[] = {counter(0, 1), counter(0, 2), counter(0, 3), counter(0, 6), counter(0, 20), counter(0, 21)};
	long long wanted[] = {1000, 1000, 3000, 1000, 1000, 1000};
	for (size_t i = 0; i < sizeof(got) / sizeof(*got); i++)
		is_int(got[i], wanted[i], "mode count: calls of function %zu", i);
	is_int(access(core_thread_file(core_folder(), outcome->pid, 0), F_OK), -1, "mode count: there are no events");

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(threads_counted, NULL, 10), 0, "mode count, four threads: the program runs to its end");
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

static const char *ring_file(void)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/p%d/r0", core_folder(), (int)outcome->pid);
	return path;
}

/* All chunks of the file r0, mapped. */
static const char *map_ring(size_t *size)
{
	struct stat st;
	int fd = open(ring_file(), O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	*size = (size_t)st.st_size;
	char *p = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static void test_ring(void)
{
	size_t size = 0, chunk = FLOW_CHUNK, entries = 0, wrong = 0, chunks = 0;
	uint64_t newest = 0;

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(ring, NULL, 20), 0, "flight recorder: the program runs to its end");
	const char *file = map_ring(&size);
	is_int((long long)size, 2 * RING, "flight recorder: its file has the size asked for, and as much between the chunks");
	if (!file)
		return;
	for (size_t at = chunk; at < size; at += 2 * chunk)
		if (((const struct trace_chunk *)(file + at))->seq > newest)
			newest = ((const struct trace_chunk *)(file + at))->seq;
	/* Backwards from the newest: each group of ten calls is one number, one less than the one behind it. */
	uint32_t expected = CALLS - 1, number = 0;
	int digits = 0;
	for (uint64_t seq = newest + 1; seq-- > (newest > 7 ? newest - 7 : 0);) {
		const struct trace_chunk *c = (const struct trace_chunk *)(file + (2 * (seq % 8) + 1) * chunk);
		if (c->magic != TRACE_CHUNK_MAGIC || c->seq != seq)
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
	ok(entries > 7 * (chunk - 128) / 16, "flight recorder: and it is full (%zu calls)", entries);
	munmap((void *)(uintptr_t)file, size);
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

/* The events of the chunk at an offset of a file, as text. */
static const char *chunk_text(const char *path, uint64_t at, uint64_t seq)
{
	static char text[512];
	size_t length = 0;
	static char chunk[FLOW_CHUNK];
	struct trace_chunk *head = (struct trace_chunk *)chunk;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, chunk, sizeof(chunk), (off_t)at);

	if (fd >= 0)
		close(fd);
	text[0] = '\0';
	if (n < (ssize_t)sizeof(*head) || head->magic != TRACE_CHUNK_MAGIC || head->seq != seq)
		return "no such chunk";
	if (head->lost)
		return "lost events";
	for (size_t i = head->head_size; i + 8 <= head->size && i + 8 <= (size_t)n && length < sizeof(text) - 20; i += 8) {
		uint64_t event = *(uint64_t *)(chunk + i);
		uint32_t id = (uint32_t)(event >> 32) & TRACE_ID_MASK;
		if (event >> 60 == TRACE_CONTROL && (id & 0xff) == TRACE_SYNC)
			i += (id >> 8) * 8; /* one may come at any time */
		else if (event >> 60 != TRACE_HOLE)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%c%u", length ? " " : "",
				"?EXTUP"[event >> 60], id);
	}
	return text;
}

static void test_change(void)
{
	const char *stream;

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(change, NULL, 10), 0, "changes of mode: the program runs to its end");
	stream = core_thread_file(core_folder(), outcome->pid, 0);
	is_str(chunk_text(stream, 0, 0), "E1 E2 E3 X3 X2 X1", "changes of mode: before, in the stream");
	is_str(chunk_text(ring_file(), 3 * FLOW_CHUNK, 1), "E2 E3 X3 X2 E4 X4", "changes of mode: then in the flight recorder");
	is_int(counter(0, 3), 1, "changes of mode: then counted");
	is_str(chunk_text(stream, FLOW_CHUNK, 1), "E2 E3 X3 X2 E4 X4", "changes of mode: which the stream then takes over");
	is_str(chunk_text(ring_file(), FLOW_CHUNK, 2), "E5 E3 X3 E4 X4 X5", "changes of mode: and in the stream again");
}

/* ---- limits ---- */

static int limited(void *argument)
{
	(void)argument;
	start_with((struct recorder_options){.size_limit = 2 << 20}, (struct filter_options){0});
	chain();
	for (int i = 0; i < 500000; i++)
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
	is_int(core_child(limited, NULL, 10), 0, "size limit: the program runs to its end");
	ok(outcome->result[0] <= 2 << 20 && outcome->result[0] > 1 << 20, "size limit: the trace keeps to it (%ld)",
		outcome->result[0]);
	is_int(outcome->result[1], 0, "size limit: recording has stopped");

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(throttled, NULL, 10), 0, "throttle: the program runs to its end");
	is_int(core_read(core_thread_file(core_folder(), outcome->pid, 0), FLOW_CHUNK, &reading), 0, "throttle: there are events");
	size_t entries = 0, others = 0;
	for (size_t i = 0; i < reading.count; i++) {
		entries += reading.event[i].type == TRACE_ENTRY && reading.event[i].id == 3;
		others += reading.event[i].id != 3;
	}
	is_int((long long)entries + counter(0, 3), 500001, "throttle: each call of the function is an event or counted");
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
