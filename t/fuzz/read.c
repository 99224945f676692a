/* SPDX-License-Identifier: MIT */
#include "t/fuzz/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/chain.h"
#include "tool/read/api/xaudit-read-events.h"
#include "tool/read/api/xaudit-read-facts.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/read/live/process.h"

#define LOOKS 70 /* more than a process that has ended is looked at */

static uint64_t things, most;

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static void add(uint64_t n)
{
	things += n;
	must(things <= most, "more things than the files have room for");
}

/* Has each byte of it looked at, so that sanitizers can tell whether it is there. */
static void text(const char *string)
{
	if (string)
		add(strlen(string) > most);
}

static void read_probe(const struct xaudit_read_probe *probe)
{
	struct xaudit_read_symbol symbol;

	must(probe && probe->name && probe->object, "a probe of nothing");
	text(probe->name);
	text(probe->object->path);
	if (xaudit_read_probe_symbol(probe, &symbol))
		must(!symbol.name || symbol.start <= probe->offset, "a probe before its function");
	text(symbol.name);
}

/* ---- entries of the library ---- */

static void read_facts(struct xaudit_read_process *process)
{
	const struct xaudit_read_head *head = xaudit_read_process_head(process);
	const struct xaudit_read_facts *facts = xaudit_read_process_facts(process);
	struct xaudit_read_amounts all = { .size = sizeof(all) }, some = { .size = sizeof(some) };

	text(head->name);
	text(head->folder);
	xaudit_read_process_state(process);
	xaudit_read_process_chosen(process);
	must(facts != NULL, "no facts");
	text(facts->module);
	text(facts->rules);
	for (uint32_t i = 0; i < facts->notes; i++)
		text(facts->note[i]);
	for (uint32_t i = 0; i < facts->probes; i++)
		read_probe(xaudit_read_process_probe(process, i));
	for (uint32_t i = 0; i < facts->objects; i++) {
		const struct xaudit_read_process_object *object = xaudit_read_process_object(process, i);
		must(object != NULL, "an object is counted, but not there");
		text(object->path);
		text(object->soname);
		text(object->build_id);
		for (uint32_t k = 0; k < object->sites; k++)
			text(xaudit_read_reason_phrase(object->site[k].reason));
		add(1 + object->sites);
	}
	for (uint32_t i = 0; i < facts->changes; i++) {
		const struct xaudit_read_change *change = xaudit_read_process_change(process, i);
		must(change != NULL, "a change is counted, but not there");
		text(change->word);
		text(change->text);
		text(change->function ? change->function->name : NULL);
		add(1);
	}
	must(xaudit_read_process_amounts(process, XAUDIT_READ_UNKNOWN, &all), "no memory");
	must(xaudit_read_process_amounts(process, 1000, &some), "no memory");
	add(all.events + all.custom);
	for (uint32_t i = 0; i < head->threads && i < 8; i++)
		xaudit_read_record_amounts(process, i, XAUDIT_READ_UNKNOWN, &some);
	xaudit_read_process_again(process);
}

static void read_extent(struct xaudit_read_trace *trace)
{
	/* The largest tid is none: all is searched for it. */
	xaudit_read_has_thread(trace, INT32_MAX);
	add(xaudit_read_threads(trace));
	must(xaudit_read_last(trace, XAUDIT_READ_UNKNOWN) >= xaudit_read_last(trace, 0),
		"the end is before another moment");
	must(xaudit_read_is_part(trace, trace), "a trace is no part of itself");
}

/* In the order of time, without lengths of 0, and no two equal ones in a row. */
static void read_runs(struct xaudit_read_process *process, uint32_t tid)
{
	struct xaudit_read_runs *runs = xaudit_read_runs(process, tid, NULL);
	struct xaudit_read_run run, last = { 0 };

	must(runs != NULL, "no memory");
	for (; xaudit_read_next_run(runs, &run); last = run) {
		must(run.from < run.to && run.from >= last.to, "states in the order of time");
		must(run.state != last.state || run.from > last.to, "two states in a row differ");
		add(run.to - run.from);
	}
	xaudit_read_runs_close(runs);
}

static void read_sched(struct xaudit_read_process *process)
{
	uint64_t ns;
	uint32_t tid;

	xaudit_read_process_cpu(process, 0, &ns);
	for (uint32_t i = 0; (tid = xaudit_read_process_thread(process, i)); i++) {
		xaudit_read_process_cpu(process, tid, &ns);
		read_runs(process, tid);
		add(1);
	}
}

/* The trace does not grow: what is looked at is where each record ends. */
static void read_follow(struct xaudit_read_process *process)
{
	struct xaudit_read_follow *follow = xaudit_read_follow(process, 0, NULL);

	must(follow != NULL, "no memory");
	for (int n = 0; n < 2; n++) {
		const struct xaudit_read_look *look = xaudit_read_follow_look(follow, 0, 10000000);
		must(look != NULL, "no memory");
		for (uint32_t i = 0; i < look->rows; i++)
			text(xaudit_read_follow_row(follow, i)->function->name);
		add(look->events);
	}
	xaudit_read_follow_close(follow);
}

static void read_processes(struct xaudit_read_trace *trace)
{
	const struct xaudit_read_trace_info *info = xaudit_read_trace_info(trace);

	text(info->path);
	text(info->version);
	text(info->command);
	text(info->status);
	struct xaudit_read_sched sched = { .size = sizeof(sched) };
	xaudit_read_sched(trace, &sched);
	for (uint32_t i = 0; i < info->processes; i++) {
		struct xaudit_read_process *process = xaudit_read_process(trace, i);
		must(process != NULL, "a process is counted, but not there");
		const struct xaudit_read_process_info *p = xaudit_read_process_info(process);
		text(p->name);
		text(p->exe);
		text(p->command);
		text(p->host);
		read_facts(process);
		read_follow(process);
		read_sched(process);
		add(1);
	}
	read_extent(trace);
	must(!xaudit_read_process(trace, info->processes), "a process is there, but not counted");
}

static void read_stack(const struct xaudit_read_values *values)
{
	const struct xaudit_read_stack *stack = xaudit_read_stack(values);
	struct xaudit_read_symbol symbol;

	if (!stack)
		return;
	must(stack->frames <= CHAIN_MOST, "more callers than there may be");
	must(stack == xaudit_read_stack(values), "another backtrace for the same values");
	text(stack->end_text);
	for (uint32_t i = 0; i < stack->frames; i++) {
		const struct xaudit_read_frame *frame = stack->frame[i];
		uint64_t address = xaudit_read_stack_address(values, i);
		must(frame->object || frame->offset == address, "code of no object has another address");
		text(frame->object ? frame->object->path : NULL);
		/* No such file is there: but a damaged path may be that of any. */
		if (xaudit_read_frame_symbol(frame, &symbol))
			text(symbol.name);
	}
	must(!xaudit_read_stack_address(values, stack->frames), "a caller behind the last one");
}

static void read_values(const struct xaudit_read_values *values)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = xaudit_read_values(values, value, XAUDIT_READ_VALUES);
	char shown[64];

	must(count <= XAUDIT_READ_VALUES, "more values than there may be");
	for (uint32_t i = 0; i < count; i++) {
		text(value[i].name);
		uint64_t sum = 0;
		if (value[i].type == XAUDIT_READ_VALUE_TEXT || value[i].type == XAUDIT_READ_VALUE_BYTES)
			for (uint32_t k = 0; k < value[i].size; k++)
				sum += (unsigned char)value[i].text[k];
		must(sum <= 255 * UINT16_MAX, "a text is longer than any");
		xaudit_read_value_text(&value[i], shown, sizeof(shown));
		for (const char *c = shown; *c; c++)
			must((unsigned char)*c >= ' ' && *c != 0x7f, "a value would steer a terminal");
	}
	must(!xaudit_read_values_failed(values) || count, "a failure without values");
	read_stack(values);
}

/* The whole call, in as much room as it wants. */
static void read_call_text(const struct xaudit_read_call *call)
{
	size_t size = xaudit_read_call_text(call, NULL, 0) + 1;
	char *whole = malloc(size);

	must(whole && xaudit_read_call_text(call, whole, size) + 1 == size, "a text of another length");
	must(strlen(whole) + 1 == size, "a text with an end in it");
	free(whole);
}

static void read_call(const struct xaudit_read_call *call, int over)
{
	must(call->function && call->function->name && call->function->object, "a call of nothing");
	must(!call->parent || call->depth == call->parent->depth + 1, "depths do not go up by one");
	must(call->parent || !call->depth, "a call without parent that is not the outermost");
	must(call->recursion <= call->depth, "more calls of one function than calls");
	read_values(call->entered);
	read_call_text(call);
	if (!over)
		return;
	read_values(call->ended);
	must(call->how >= XAUDIT_READ_RETURNED && call->how <= XAUDIT_READ_POINT, "an end of no kind");
	if (call->end != XAUDIT_READ_UNKNOWN) {
		must(call->end >= call->start, "a call ends before it begins");
		must(call->self <= call->end - call->start + 1, "more time of its own than time");
		must(call->cpu == XAUDIT_READ_UNKNOWN || call->cpu <= call->end - call->start,
			"longer on processors than it took");
		must(call->cpu_self <= call->cpu, "more of its own on processors than in all");
	}
}

static void read_calls(struct xaudit_read_trace *trace, const struct xaudit_read_calls_options *options)
{
	struct xaudit_read_error error;
	struct xaudit_read_calls *calls = xaudit_read_calls(trace, options, &error);
	struct xaudit_read_item item;
	uint64_t done = 0, all = 0;

	if (!calls)
		return;
	while (xaudit_read_next_call(calls, &item) != XAUDIT_READ_END) {
		if (item.what == XAUDIT_READ_CALL || item.what == XAUDIT_READ_ENTER) {
			must(item.call != NULL, "no call");
			read_call(item.call, item.what == XAUDIT_READ_CALL);
			text(item.call->function->name);
			text(item.call->function->object->path);
		}
		if (item.what == XAUDIT_READ_PROBE || item.what == XAUDIT_READ_PROBES_COUNTED)
			read_probe(item.probe);
		if (item.values) {
			struct xaudit_read_values *copy = xaudit_read_values_copy(item.values);
			read_values(copy);
			xaudit_read_values_free(copy);
		}
		if (item.what == XAUDIT_READ_CUSTOM && item.data_size)
			add(((const uint8_t *)item.data)[0] + ((const uint8_t *)item.data)[item.data_size - 1] > 512);
		text(item.type);
		text(item.thread);
		add(1);
	}
	xaudit_read_calls_done(calls, &done, &all);
	must(done <= all, "more was read than there is");
	xaudit_read_calls_close(calls);
}

static void read_profile(struct xaudit_read_trace *trace, const struct xaudit_read_profile_options *options)
{
	struct xaudit_read_error error;
	struct xaudit_read_profile *profile = xaudit_read_profile(&trace, 1, options, &error);
	struct xaudit_read_bucket bucket[64];

	must(profile != NULL, "no profile");
	const struct xaudit_read_profile_info *info = xaudit_read_profile_info(profile);
	for (uint32_t i = 0; i < info->rows; i++) {
		const struct xaudit_read_row *row = xaudit_read_profile_row(profile, i);
		text(row->name);
		text(row->library);
		must(row->timed <= row->calls, "more calls with times than calls");
		must(row->min <= row->max, "the shortest is longer than the longest");
		uint64_t median = xaudit_read_profile_percentile(profile, row, 50);
		must(!row->timed || (median >= row->min && median <= row->max), "the median is beyond all calls");
		xaudit_read_profile_buckets(profile, row, bucket, 64);
		add(1);
	}
	for (uint32_t i = 0; i < info->customs; i++)
		text(xaudit_read_profile_custom(profile, i)->type);
	for (uint32_t i = 0; i < info->probes; i++) {
		const struct xaudit_read_probe_row *row = xaudit_read_profile_probe(profile, i);
		text(row->name);
		text(row->library);
		must(row->count >= row->counted && row->first <= row->last, "a row of probes contradicts itself");
	}
	xaudit_read_profile_close(profile);
}

static void read_events(struct xaudit_read_trace *trace, int leaves, uint64_t from, uint32_t tail)
{
	struct xaudit_read_error error;
	struct xaudit_read_events *events = xaudit_read_events(trace,
		&(struct xaudit_read_events_options){ .size = sizeof(struct xaudit_read_events_options),
			.leaves = leaves, .from = from, .tail = tail, .probes = !leaves },
		&error);
	struct xaudit_read_event event;

	must(events != NULL, "no events");
	while (xaudit_read_next_event(events, &event) != XAUDIT_READ_EVENT_END) {
		if (event.what == XAUDIT_READ_EVENT_ENTRY)
			must(event.call && event.function, "no call begins");
		if (event.what == XAUDIT_READ_EVENT_PROBE)
			read_probe(event.probe);
		if (event.call)
			text(event.call->function->name);
		if (event.function)
			text(event.function->name);
		read_values(event.values);
		for (uint32_t i = 0; i < event.ends; i++, event.call = event.call->parent)
			read_call_text(event.call);
		if (event.object)
			text(event.object->path);
		if (event.what == XAUDIT_READ_EVENT_CHANGE)
			text(event.change->text);
		if (event.what == XAUDIT_READ_EVENT_CUSTOM)
			must(((const char *)event.data)[event.data_size] == '\0', "no zero follows the data");
		text(event.type);
		add(1);
	}
	xaudit_read_events_close(events);
}

static void read_all(struct xaudit_read_trace *trace)
{
	read_processes(trace);
	read_calls(trace, &(struct xaudit_read_calls_options){ .size = sizeof(struct xaudit_read_calls_options),
		.enters = 1, .customs = 1, .probes = 1, .losses = 1, .counted = 1, .values = 1 });
	read_calls(trace, &(struct xaudit_read_calls_options){
		.size = sizeof(struct xaudit_read_calls_options), .from = 1200, .to = 5000, .tid = 100 });
	read_calls(trace, &(struct xaudit_read_calls_options){ .size = sizeof(struct xaudit_read_calls_options),
		.from = 1500, .to = 9000, .enters = 1, .customs = 1, .values = 1, .requests = 1 });
	read_events(trace, 0, 0, 0);
	read_events(trace, 1, 0, 0);
	read_events(trace, 0, 1300, 0);
	read_events(trace, 1, 0, 2);
	for (int by = XAUDIT_READ_BY_FUNCTION; by <= XAUDIT_READ_BY_PROCESS; by++)
		read_profile(trace, &(struct xaudit_read_profile_options){
			.size = sizeof(struct xaudit_read_profile_options), .by = by, .apart = by & 1 });
	for (uint32_t i = 0; i < xaudit_read_functions(trace); i++)
		text(xaudit_read_function(trace, i)->name);
}

/* ---- while it is recorded ---- */

static void live_process(void *user, struct read_live_process *process)
{
	(void)user;
	must(!process->user, "a process has what nobody gave it");
	add(1);
}

static void live_call(void *user, struct read_live_process *process, struct xaudit_read_call *call)
{
	(void)user;
	(void)process;
	text(call->function->name);
	read_call(call, 1);
	add(1);
}

static void live_enter(void *user, struct read_live_process *process, struct xaudit_read_call *call)
{
	(void)user;
	(void)process;
	read_call(call, 0);
}

static void live_probe(void *user, struct read_live_process *process, const struct read_live_probe *probe)
{
	(void)user;
	(void)process;
	read_probe(probe->probe);
	read_values(probe->values);
	if (probe->call)
		read_call(probe->call, 0);
	add(1);
}

static void live_lost(void *user, struct read_live_process *process, uint32_t tid, uint64_t count, bool chunks)
{
	(void)user;
	(void)process;
	(void)tid;
	(void)chunks;
	must(count > 0, "a loss of nothing");
	add(1);
}

/* As if it had just begun, and all of it were told. Its processes have ended, or are others by now. */
static void read_live(const char *path)
{
	static const struct read_live_hooks hooks = {
		.began = live_process, .enter = live_enter, .call = live_call, .probe = live_probe, .lost = live_lost,
		.ended = live_process
	};
	struct xaudit_read_error error;
	struct read_live *live = read_live_open(path, &hooks, NULL, &error);

	must(live != NULL, "no memory");
	live->begin.ns = 1;
	for (int looks = 0; looks < LOOKS && (read_live_look(live, 0) || looks < 3); looks++)
		read_live_behind(live);
	read_live_stop(live);
	must(!read_live_no_memory(live), "no memory");
	read_live_close(live);
}

uint64_t fuzz_read(const char *path, uint64_t bytes)
{
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, &error);

	things = 0;
	/* A word of 8 bytes is at most one event, which begins a call or ends one; each is seen some times here. */
	most = 2 * bytes + 10000;
	if (!trace) {
		must(error.why != XAUDIT_READ_OK && error.why != XAUDIT_READ_NO_MEMORY, "no trace, and no reason");
		text(error.text);
		return 0;
	}
	read_all(trace);
	xaudit_read_damage(trace, &error);
	must(error.why != XAUDIT_READ_NO_MEMORY, "no memory");
	text(error.text);
	xaudit_read_close(trace);
	read_live(path);
	return things;
}
