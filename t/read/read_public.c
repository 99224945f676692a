/* SPDX-License-Identifier: MIT */
/*
 * The public reader: what it does with wrong arguments, with several cursors at once, and when memory runs out.
 * Whichever allocation fails, it either says that there is no memory or still reads everything; and frees all of it.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "t/lib/no_memory.h"
#include "t/lib/tap.h"
#include "t/lib/written.h"
#include "tool/read/api/xaudit-read.h"

struct sums {
	uint64_t processes, items, calls, customs, counted, events, loads, self, text;
	uint64_t facts, words, rows, extent, part;
};

static void read_calls(struct xaudit_read_trace *trace, struct sums *sums)
{
	struct xaudit_read_calls_options options = {
		.size = sizeof(options), .enters = 1, .customs = 1, .losses = 1, .counted = 1
	};
	struct xaudit_read_calls *calls = xaudit_read_calls(trace, &options, NULL);
	struct xaudit_read_item item;

	while (calls && xaudit_read_next_call(calls, &item)) {
		sums->items++;
		sums->calls += item.what == XAUDIT_READ_CALL;
		sums->self += item.what == XAUDIT_READ_CALL ? item.call->self : 0;
		sums->customs += item.what == XAUDIT_READ_CUSTOM;
		sums->counted += item.what == XAUDIT_READ_COUNTED ? item.count : 0;
		add_text(&sums->text, item.function ? item.function->name : item.type);
		add_text(&sums->text, item.thread);
	}
}

static void read_events(struct xaudit_read_trace *trace, struct sums *sums)
{
	struct xaudit_read_events *events = xaudit_read_events(trace, NULL, NULL);
	struct xaudit_read_event event;

	while (events && xaudit_read_next_event(events, &event)) {
		sums->events++;
		sums->loads += event.what == XAUDIT_READ_EVENT_LOAD;
		add_text(&sums->text,
			event.function ? event.function->name : event.object ? event.object->path : event.type);
		for (uint32_t i = 0; i < event.ends; i++, event.call = event.call->parent)
			sums->self += event.call->self;
	}
}

static void read_events_of(
	struct xaudit_read_trace *trace, const struct xaudit_read_events_options *options, struct sums *sums)
{
	struct xaudit_read_events *events = xaudit_read_events(trace, options, NULL);
	struct xaudit_read_event event;

	while (events && xaudit_read_next_event(events, &event)) {
		sums->part++;
		for (; event.call; event.call = event.call->parent)
			add_text(&sums->text, event.call->function->name);
	}
}

/* What comes from a moment on, and the last ones: what is open there is found before the first is told. */
static void read_part(struct xaudit_read_trace *trace, struct sums *sums)
{
	const uint64_t from = xaudit_read_trace_info(trace)->start + 75;
	const struct xaudit_read_events_options since = { .size = sizeof(since), .from = from };
	const struct xaudit_read_events_options tail = { .size = sizeof(tail), .tail = 2 };
	const struct xaudit_read_calls_options of = {
		.size = sizeof(of), .customs = 1, .values = 1, .requests = 1, .from = from, .to = from + 1000
	};
	struct xaudit_read_calls *calls = xaudit_read_calls(trace, &of, NULL);
	struct xaudit_read_item item;

	while (calls && xaudit_read_next_call(calls, &item)) {
		sums->part++;
		for (; item.call; item.call = item.call->parent)
			add_text(&sums->text, item.call->function->name);
	}
	read_events_of(trace, &since, sums);
	read_events_of(trace, &tail, sums);
}

/* What is known of a process, in numbers and texts; and how much is in its records. */
static void read_facts(struct xaudit_read_process *process, struct sums *sums)
{
	const struct xaudit_read_facts *facts = xaudit_read_process_facts(process);
	struct xaudit_read_amounts amounts = { .size = sizeof(amounts) };

	for (uint32_t i = 0; facts && i < facts->notes; i++)
		add_text(&sums->text, facts->note[i]);
	for (uint32_t i = 0; facts && i < facts->objects; i++) {
		const struct xaudit_read_process_object *object = xaudit_read_process_object(process, i);
		add_text(&sums->text, object->path);
		add_text(&sums->text, object->build_id);
		for (uint32_t k = 0; k < object->sites; k++) {
			sums->facts += object->site[k].count;
			add_text(&sums->text, xaudit_read_reason_phrase(object->site[k].reason));
		}
	}
	for (uint32_t i = 0; facts && i < facts->changes; i++)
		add_text(&sums->text, xaudit_read_process_change(process, i)->word);
	sums->facts += (uint64_t)xaudit_read_process_chosen(process);
	if (xaudit_read_process_amounts(process, XAUDIT_READ_UNKNOWN, &amounts))
		sums->words += amounts.events + amounts.custom + amounts.counted;
	add_text(&sums->text, xaudit_read_state_word(xaudit_read_process_state(process)));
}

/* Nothing grows: the records are followed from their end. */
static void read_follow(struct xaudit_read_process *process, struct sums *sums)
{
	struct xaudit_read_follow *follow = xaudit_read_follow(process, 0, NULL);
	const struct xaudit_read_look *look = follow ? xaudit_read_follow_look(follow, 0, 10000000000u) : NULL;

	for (uint32_t i = 0; look && i < look->rows; i++) {
		const struct xaudit_read_follow_row *row = xaudit_read_follow_row(follow, i);
		if (!row)
			break;
		add_text(&sums->text, row->function->name);
		sums->rows += row->calls + row->counted + row->self;
	}
	sums->rows += look ? look->threads : 0;
	xaudit_read_follow_close(follow);
}

/* Reads all of a trace, and closes only that. */
static enum outcome read_all(const char *path, struct sums *sums)
{
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, &error);
	struct xaudit_read_process *process;

	*sums = (struct sums){ 0 };
	if (!trace)
		return error.why == XAUDIT_READ_NO_MEMORY ? NO_MEMORY : WRONG;
	for (uint32_t i = 0; (process = xaudit_read_process(trace, i)); i++, sums->processes++) {
		const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
		add_text(&sums->text, info->name);
		add_text(&sums->text, info->command);
		add_text(&sums->text, info->exe);
	}
	/* No thread has this tid: all is searched for it. */
	sums->extent = (uint64_t)xaudit_read_has_thread(trace, 99) + xaudit_read_last(trace, XAUDIT_READ_UNKNOWN) +
		       (uint64_t)xaudit_read_is_part(trace, trace);
	read_calls(trace, sums);
	read_events(trace, sums);
	read_part(trace, sums);
	for (uint32_t i = 0; (process = xaudit_read_process(trace, i)); i++) {
		read_facts(process, sums);
		read_follow(process, sums);
	}
	xaudit_read_damage(trace, &error);
	if (error.why == XAUDIT_READ_DAMAGED)
		diag("%s", error.text);
	xaudit_read_close(trace);
	return error.why == XAUDIT_READ_OK ? WHOLE : error.why == XAUDIT_READ_NO_MEMORY ? NO_MEMORY : WRONG;
}

/* Reading a trace once more, which must come to the same. */
struct again {
	const char *path;
	struct sums whole;
};

static enum outcome read_again(const void *of)
{
	const struct again *again = of;
	struct sums sums;
	enum outcome outcome = read_all(again->path, &sums);

	return outcome == WHOLE && memcmp(&sums, &again->whole, sizeof(sums)) ? WRONG : outcome;
}

static void check(const char *path, const struct sums *expected, const char *what)
{
	struct again again = { .path = path };
	const struct sums *whole = &again.whole;

	is_int(read_all(path, &again.whole), WHOLE, "%s is read", what);
	is_int((long)whole->processes, (long)expected->processes, "%s: processes", what);
	is_int((long)whole->calls, (long)expected->calls, "%s: calls", what);
	is_int((long)whole->customs, (long)expected->customs, "%s: custom events", what);
	is_int((long)whole->counted, (long)expected->counted, "%s: counted calls", what);
	is_int((long)whole->loads, (long)expected->loads, "%s: loads", what);
	is_int((long)whole->facts, (long)expected->facts, "%s: sites, and processes with chosen functions", what);
	is_int((long)whole->words, (long)expected->words, "%s: events, custom events, counted calls", what);
	is_int((long)whole->part, (long)expected->part, "%s: what comes from a moment on, and the last ones", what);
	is_int((long)whole->rows, (long)expected->rows, "%s: followed, only thread records are seen", what);
	check_no_memory(read_again, &again, what);
}

/* ---- several at once, and wrong arguments ---- */

static int next_with(struct xaudit_read_calls *calls, struct xaudit_read_item *item)
{
	return xaudit_read_next_call(calls, item) == XAUDIT_READ_CALL;
}

static void together(const char *path)
{
	struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, NULL);
	struct xaudit_read_calls *one, *other;
	struct xaudit_read_events *first, *second;
	struct xaudit_read_item a, b;
	struct xaudit_read_event x, y;
	int same = 1, calls = 0, events = 0;

	if (!trace)
		bail("%s can't be opened", path);
	one = xaudit_read_calls(trace, NULL, NULL);
	other = xaudit_read_calls(trace, NULL, NULL);
	while (next_with(one, &a)) {
		same &= next_with(other, &b) && a.function == b.function && a.call->start == b.call->start &&
			a.call->self == b.call->self && a.call != b.call;
		calls++;
	}
	same &= !next_with(other, &b) && !next_with(other, &b);
	is_int(same, 1, "two cursors over calls give the same, and end");
	is_int(calls, 6103, "all of them");
	first = xaudit_read_events(trace, NULL, NULL);
	second = xaudit_read_events(trace, NULL, NULL);
	same = 1;
	while (xaudit_read_next_event(first, &x)) {
		same &= xaudit_read_next_event(second, &y) == x.what && x.time == y.time && x.address == y.address &&
			x.depth == y.depth && x.count == y.count && x.function == y.function;
		events++;
	}
	is_int(same, 1, "two cursors over events give the same");
	is_int(xaudit_read_next_event(second, &y) || xaudit_read_next_event(second, &y), 0, "and end");
	xaudit_read_calls_close(one);
	xaudit_read_events_close(second);
	xaudit_read_calls_close(NULL);
	xaudit_read_events_close(NULL);
	xaudit_read_close(trace);
	xaudit_read_close(NULL);
}

/* Options whose size was forgotten are none that are 0: the numbers would be wrong ones. */
static void no_size(const char *path, struct xaudit_read_trace *trace)
{
	const struct xaudit_read_options open = { .pid = 101 };
	const struct xaudit_read_calls_options calls = { .tid = 101 };
	const struct xaudit_read_events_options events = { .leaves = 1 };
	const struct xaudit_read_profile_options profile = { .tid = 101 };
	struct xaudit_read_error error = { 0 };

	ok(!xaudit_read_open(path, &open, &error) && error.why == XAUDIT_READ_USAGE && *error.text,
		"options without a size are refused: of a trace");
	ok(!xaudit_read_calls(trace, &calls, &error) && error.why == XAUDIT_READ_USAGE, "of calls");
	ok(!xaudit_read_events(trace, &events, &error) && error.why == XAUDIT_READ_USAGE, "of events");
	ok(!xaudit_read_profile(&trace, 1, &profile, &error) && error.why == XAUDIT_READ_USAGE, "of a profile");
}

static void twice(struct xaudit_read_trace *trace, struct xaudit_read_trace *again)
{
	struct xaudit_read_trace *one[] = { trace, trace }, *two[] = { trace, again };
	struct xaudit_read_error error = { 0 };

	ok(!xaudit_read_profile(one, 2, NULL, &error) && error.why == XAUDIT_READ_USAGE && *error.text,
		"a trace is not counted twice");
	ok(!xaudit_read_profile(two, 2, NULL, &error) && error.why == XAUDIT_READ_USAGE, "nor if it was opened twice");
}

/* Calls of one process, of one thread, of a span of time; and a caller that knows fewer options. */
static void options(const char *path)
{
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, NULL),
				 *another = xaudit_read_open(path, NULL, NULL);
	struct xaudit_read_calls_options of = { .size = sizeof(of) };
	struct xaudit_read_calls *calls;
	struct xaudit_read_item item;
	uint64_t total = 0;
	int count;

	of.process = xaudit_read_process(trace, 2);
	for (calls = xaudit_read_calls(trace, &of, NULL), count = 0; next_with(calls, &item); count++)
		;
	is_int(count, (int)xaudit_read_process_info(of.process)->pid == 102 ? 3 : 6002, "the calls of one process");
	of = (struct xaudit_read_calls_options){ .size = sizeof(of), .tid = 101, .from = 2100, .to = 2150 };
	for (calls = xaudit_read_calls(trace, &of, NULL), count = 0; next_with(calls, &item); count++)
		total += item.call->total;
	is_int(count, 5, "those of a thread that began in a span of time");
	is_int((long)total, 25, "and their times");
	/* outer is called 100 times in itself: of the calls from 1050 on, the first one is not recursive. */
	of = (struct xaudit_read_calls_options){ .size = sizeof(of), .tid = 100, .from = 1050, .to = 1100 };
	total = 0;
	for (calls = xaudit_read_calls(trace, &of, NULL), count = 0; next_with(calls, &item); count++)
		total += item.call->total;
	is_int(count, 50, "recursive calls that began in a span of time");
	is_int((long)total, 1249 - 1050, "have the time of the first of them as total");
	of.size = offsetof(struct xaudit_read_calls_options, tid);
	for (calls = xaudit_read_calls(trace, &of, NULL), count = 0; next_with(calls, &item); count++)
		;
	is_int(count, 6103, "options that the caller did not know are 0");
	of = (struct xaudit_read_calls_options){ .size = sizeof(of), .from = 2, .to = 1 };
	ok(!xaudit_read_calls(trace, &of, &error) && error.why == XAUDIT_READ_USAGE && *error.text,
		"a time that ends before it begins is wrong");
	of = (struct xaudit_read_calls_options){ .size = sizeof(of), .process = xaudit_read_process(another, 0) };
	ok(!xaudit_read_calls(trace, &of, &error) && error.why == XAUDIT_READ_USAGE,
		"so is a process of another trace");
	ok(!xaudit_read_process(trace, 3) && !xaudit_read_function(trace, 1000), "what is not there is NULL");
	no_size(path, trace);
	twice(trace, another);
	xaudit_read_close(trace);
	xaudit_read_close(another);
}

/* Calls as numbers are the same calls. */
static void flat(const char *path)
{
	struct xaudit_read_calls_options of = { .size = sizeof(of), .customs = 1, .counted = 1 };
	struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, NULL);
	struct xaudit_read_calls *one = xaudit_read_calls(trace, &of, NULL),
				 *other = xaudit_read_calls(trace, &of, NULL);
	struct xaudit_read_flat some[7];
	struct xaudit_read_item item;
	uint64_t counted = 0, ids = 0;
	int same = 1, calls = 0;
	size_t n;

	is_int((long)sizeof(struct xaudit_read_flat), 88, "a call as numbers has no gaps");
	while ((n = xaudit_read_next_flat(one, some, 7)))
		for (size_t i = 0; i < n; i++) {
			while (xaudit_read_next_call(other, &item) == XAUDIT_READ_CUSTOM)
				;
			if (item.what == XAUDIT_READ_COUNTED) {
				counted += some[i].count;
				same &= !some[i].how && some[i].function == item.function->number;
				continue;
			}
			const struct xaudit_read_call *call = item.call;
			calls++;
			ids += call->id;
			same &= some[i].id == call->id && some[i].start == call->start && some[i].end == call->end &&
				some[i].self == call->self && some[i].total == call->total &&
				some[i].depth == call->depth && some[i].how == call->how && some[i].count == 1 &&
				some[i].parent == (call->parent ? call->parent->id : XAUDIT_READ_UNKNOWN) &&
				xaudit_read_process(trace, some[i].process) == call->process &&
				xaudit_read_function(trace, some[i].function) == call->function;
		}
	is_int(same, 1, "and is the same as one with pointers");
	is_int(calls, 6103, "all of them");
	is_int((long)ids, 6103 * 6102 / 2, "each with a number of its own");
	is_int((long)counted, 11, "and the counted ones");
	is_int((long)xaudit_read_next_flat(one, some, 7), 0, "then there are no more");
	xaudit_read_close(trace);
}

/* Threads are known when the calls were read, or the events. */
static void threads(const char *path)
{
	for (int i = 0; i < 2; i++) {
		struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, NULL);
		struct sums sums = { 0 };
		int right = xaudit_read_threads(trace) == 0 && !xaudit_read_thread(trace, 0);
		if (i)
			read_events(trace, &sums);
		else
			read_calls(trace, &sums);
		for (uint32_t n = 0; n < xaudit_read_threads(trace); n++) {
			const struct xaudit_read_thread *thread = xaudit_read_thread(trace, n);
			right &= thread->number == n && !strcmp(thread->name, "main") &&
				 xaudit_read_process_info(thread->process)->pid == thread->tid;
		}
		is_int(xaudit_read_threads(trace), 3, "there is a thread in each process");
		is_int(right, 1, "with a name");
		xaudit_read_close(trace);
	}
}

/* Two threads, each with a trace of its own, both of one folder. */
struct reading {
	const char *path;
	pthread_t thread;
	struct sums sums;
	enum outcome outcome;
};

static void *read_in_thread(void *arg)
{
	struct reading *reading = arg;

	reading->outcome = read_all(reading->path, &reading->sums);
	return NULL;
}

static void in_threads(const char *path)
{
	struct reading reading[2] = { { .path = path }, { .path = path } };

	for (int i = 0; i < 2; i++)
		if (pthread_create(&reading[i].thread, NULL, read_in_thread, &reading[i]))
			bail("no thread");
	for (int i = 0; i < 2; i++)
		pthread_join(reading[i].thread, NULL);
	ok(reading[0].outcome == WHOLE && reading[1].outcome == WHOLE &&
			!memcmp(&reading[0].sums, &reading[1].sums, sizeof(struct sums)),
		"two threads read one folder, each for itself");
	is_int((long)reading[0].sums.calls, 6103, "all of it");
}

int main(void)
{
	char dir[] = "/tmp/xaudit-read-public-XXXXXX", path[64];

	make_folder(dir);
	snprintf(path, sizeof(path), "%s/family", dir);
	make_trace(path, family);
	together(path);
	options(path);
	flat(path);
	threads(path);
	in_threads(path);
	is_str(xaudit_read_version(), PACKAGE_VERSION, "the version is known");
	if (WITH_ASAN || WITH_TSAN) {
		skip(26, "sanitizers have an allocator of their own");
	} else {
		check(path,
			&(struct sums){ .processes = 3, .calls = 6103, .customs = 2, .counted = 11, .loads = 4,
				.facts = 12 + 15 + 12 + 3, .words = 213 + 12000 + 6, .rows = 3, .part = 12302 },
			"a family");
		snprintf(path, sizeof(path), "%s/alone", dir);
		make_trace(path, alone);
		check(path,
			&(struct sums){ .processes = 1, .calls = 10002, .counted = 9, .loads = 1, .facts = 1,
				.words = 20004 + 9, .rows = 2, .part = 20022 },
			"one process");
	}
	remove_folder(dir);
	return done_testing();
}
