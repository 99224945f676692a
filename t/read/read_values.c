/* SPDX-License-Identifier: MIT */
/*
 * Values of calls as libxaudit-read gives them: by a cursor over calls, while these are open and when they are over, if
 * they are asked for; by events; as texts that are cut to the room that there is; and when memory runs out.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "t/lib/no_memory.h"
#include "t/lib/sanitizers.h"
#include "t/lib/tap.h"
#include "t/lib/written.h"
#include "tool/read/api/xaudit-read.h"

/* f(path, count, ratio, to, at) calls g, whose end is the end of both; then g alone. Ten thousand g have no values. */
static const char script[] = "process p100 chunk=65536 flags=1 clock=mono\n"
			     "pair first 0 0 5\n"
			     "pair last 900000 900000 5\n"
			     "object 1 /lib/a.so\n"
			     "function 1 0 1 256 f\n"
			     "function 1 0 2 512 g\n"
			     "layout 1 entry 1 text:arg0:path i2:arg1:count d8:arg2:ratio p8:arg4:at\n"
			     "layout 2 exit 1 fails=-1 i4:ret: errno4:errno: bytes:arg3:to:w\n"
			     "layout 3 entry 2 u1:arg0:n:f:1=ONE,2=TWO u4:-:tid\n"
			     "thread 100 main\n"
			     "values 1 1000 cut:=name -2 0.25 fault\n"
			     "values 3 1010 3 100\n"
			     "values 2 1020 -1 13 6100ff\n"
			     "values 3 1030 4 100\n"
			     "exit 2 1040\n"
			     "loop 10000 20\n"
			     "entry 2 1050\n"
			     "exit 2 1060\n"
			     "end\n"
			     "values 1 300000 =x 1 2 16\n"
			     "values 2 300010 5 0 62\n";

static void is_text(const struct xaudit_read_call *call, const char *expected)
{
	char text[200] = "";
	size_t length = xaudit_read_call_text(call, text, sizeof(text));

	is_str(text, expected, "the call as a text");
	is_int((long)length, (long)strlen(expected), "as long as told");
	char part[11] = "0123456789";
	is_int((long)xaudit_read_call_text(call, part, sizeof(part)), (long)length, "in less room it is as long");
	ok(!strncmp(part, expected, 10) && !part[10], "and cut");
	part[0] = 'x';
	xaudit_read_call_text(call, part, 0);
	is_int(part[0], 'x', "where there is no room nothing is written");
}

static void check_values(const struct xaudit_read_call *call)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];

	is_int(xaudit_read_values(call->entered, value, 1), 4, "of four values one is asked for");
	is_int(xaudit_read_values(call->entered, value, XAUDIT_READ_VALUES), 4, "then all");
	is_str(value[0].name, "path", "the first has its name");
	is_int(value[0].type, XAUDIT_READ_VALUE_TEXT, "and its type");
	is_int(value[0].state, XAUDIT_READ_VALUE_CUT, "it was cut");
	ok(value[0].size == 4 && !memcmp(value[0].text, "name", 4), "and is a text");
	ok(value[1].integer == -2 && value[1].number == UINT64_MAX - 1 && value[1].size == 2, "a number with its sign");
	ok(value[1].role == XAUDIT_READ_VALUE_ARGUMENT && value[1].place == 1, "an argument in its place");
	ok(value[2].real > 0.24 && value[2].real < 0.26, "a double");
	is_int(value[3].state, XAUDIT_READ_VALUE_FAULT, "one that could not be read");
	is_int(xaudit_read_values(call->ended, value, XAUDIT_READ_VALUES), 3, "three values of the end");
	is_int(value[0].role, XAUDIT_READ_VALUE_RESULT, "the result");
	is_int((long)value[0].integer, -1, "what came back");
	is_int(value[1].role, XAUDIT_READ_VALUE_ERROR, "the error");
	is_int((long)value[1].number, 13, "its number");
	ok(value[2].size == 3 && !memcmp(value[2].text, "a\0\377", 3), "what was written");
	ok(value[2].marks == XAUDIT_READ_VALUE_OUT && value[2].place == 3, "is marked so");
	is_int(xaudit_read_values_failed(call->ended), 1, "the call has failed");
	is_int(xaudit_read_values_failed(NULL), 0, "of nothing nobody knows");
	is_int(xaudit_read_values(NULL, value, XAUDIT_READ_VALUES), 0, "there are no values of nothing");
}

static void check_calls(const char *path)
{
	struct xaudit_read_calls_options of = { .size = sizeof(of), .enters = 1, .values = 1 };
	struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, NULL);
	struct xaudit_read_calls *calls = xaudit_read_calls(trace, &of, NULL);
	struct xaudit_read_item item;
	int with = 0, n = 0;

	xaudit_read_next_call(calls, &item);
	is_int(item.what, XAUDIT_READ_ENTER, "a call begins");
	is_text(item.call, "f(\"name\"..., -2, 0.25, ..., (fault))");
	ok(!item.call->ended, "its end is not known yet");
	xaudit_read_next_call(calls, &item);
	is_int(item.what, XAUDIT_READ_ENTER, "another begins in it");
	is_text(item.call, "g(ONE|TWO) tid=100");
	xaudit_read_next_call(calls, &item);
	is_int(item.what, XAUDIT_READ_CALL, "it is cut");
	is_text(item.call, "g(ONE|TWO) tid=100 = ?");
	is_text(item.call->parent, "f(\"name\"..., -2, 0.25, \"a\\0\\377\", (fault)) = -1 EACCES (Permission denied)");
	xaudit_read_next_call(calls, &item);
	is_int(item.what, XAUDIT_READ_CALL, "the first one is over");
	check_values(item.call);
	xaudit_read_next_call(calls, &item);
	is_text(item.call, "g(0x4) tid=100");
	for (; xaudit_read_next_call(calls, &item); n++)
		with += item.call->entered && item.what == XAUDIT_READ_CALL;
	is_int(n, 20003, "there are many calls without values");
	is_int(with, 2, "and two more with some");
	of.values = 0;
	calls = xaudit_read_calls(trace, &of, NULL);
	for (with = 0; xaudit_read_next_call(calls, &item);)
		with += item.call->entered || item.call->ended;
	is_int(with, 0, "none where they are not asked for");
	xaudit_read_close(trace);
}

static void check_events(const char *path)
{
	struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, NULL);
	struct xaudit_read_value value[XAUDIT_READ_VALUES];

	for (int leaves = 0; leaves < 2; leaves++) {
		struct xaudit_read_events_options of = { .size = sizeof(of), .leaves = leaves };
		struct xaudit_read_events *events = xaudit_read_events(trace, &of, NULL);
		struct xaudit_read_event event;
		int entries = 0, ends = 0;
		char last[100] = "";
		while (xaudit_read_next_event(events, &event)) {
			uint32_t count = xaudit_read_values(event.values, value, XAUDIT_READ_VALUES);
			entries += count && event.what == XAUDIT_READ_EVENT_ENTRY;
			ends += count && event.what == XAUDIT_READ_EVENT_EXIT;
			if (count == 4)
				xaudit_read_call_text(event.call, last, sizeof(last));
		}
		is_int(entries, 4, "events of entries have values");
		is_int(ends, leaves ? 1 : 2, "and those of ends");
		is_str(last, leaves ? "f(\"x\", 1, 2, \"b\", 0x10) = 5" : "f(\"x\", 1, 2, ..., 0x10)",
			"a call that is told as a whole has all");
	}
	xaudit_read_close(trace);
}

/* ---- without memory ---- */

static uint64_t all_texts; /* of all calls, where there was memory */

static enum outcome read_again(const void *path)
{
	struct xaudit_read_calls_options of = { .size = sizeof(of), .values = 1 };
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, &error);
	uint64_t sum = 0, texts = 0;

	if (!trace)
		return error.why == XAUDIT_READ_NO_MEMORY ? NO_MEMORY : WRONG;
	struct xaudit_read_calls *calls = xaudit_read_calls(trace, &of, NULL);
	struct xaudit_read_events *events = xaudit_read_events(trace, NULL, NULL);
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	struct xaudit_read_event event;
	struct xaudit_read_item item;
	while (calls && xaudit_read_next_call(calls, &item)) {
		sum += xaudit_read_values(item.call->entered, value, XAUDIT_READ_VALUES) +
		       xaudit_read_values(item.call->ended, value, XAUDIT_READ_VALUES);
		char text[200];
		xaudit_read_call_text(item.call, text, sizeof(text));
		add_text(&texts, text);
	}
	while (events && xaudit_read_next_event(events, &event))
		sum += xaudit_read_values(event.values, value, XAUDIT_READ_VALUES);
	xaudit_read_damage(trace, &error);
	xaudit_read_close(trace);
	if (error.why == XAUDIT_READ_NO_MEMORY)
		return NO_MEMORY;
	all_texts = all_texts ? all_texts : texts;
	return sum == 2 * (4 + 2 + 3 + 2 + 4 + 3) && texts == all_texts ? WHOLE : WRONG;
}

int main(void)
{
	char folder[] = "/tmp/xaudit-values.XXXXXX", path[64];

	make_folder(folder);
	snprintf(path, sizeof(path), "%s/trace", folder);
	make_trace(path, script);
	check_calls(path);
	check_events(path);
	is_int(read_again(path), WHOLE, "read again, it is the same");
	if (WITH_ASAN || WITH_TSAN)
		skip(1, "sanitizers have an allocator of their own");
	else
		check_no_memory(read_again, path, "values");
	remove_folder(folder);
	return done_testing();
}
