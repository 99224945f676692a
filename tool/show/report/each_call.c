/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/report/each_call.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tool/base/memory.h"
#include "tool/base/thread.h"
#include "tool/base/tool.h"
#include "tool/show/report/left_out.h"
#include "tool/show/report/report.h"
#include "tool/show/show_trace.h"
#include "tool/show/trace_has.h"
#include "tool/show/term/meant.h"
#include "tool/show/term/progress.h"
#include "tool/show/term/term.h"

#define PROGRESS_NS 100000000 /* how often it is told while another thread reads */

/* Traces that are read, by the command's thread or by one of its own, whose all else is until it was joined. */
struct reading {
	const struct report *report;
	const struct report_calls *calls;
	uint32_t trace, traces; /* the first of them, and how many: one after another */
	bool aside; /* by a thread of its own */
	pthread_t thread;
	struct xaudit_read_calls **cursor; /* of each */
	uint64_t done, all; /* bytes; relaxed: only the bar is made of them */
	struct reading *next; /* what the bar tells of, beside this one */
};

static void tell(const struct reading *reading)
{
	uint64_t done = 0, all = 0;

	for (; reading; reading = reading->next) {
		done += __atomic_load_n(&reading->done, __ATOMIC_RELAXED); /* relaxed: see struct reading */
		all += __atomic_load_n(&reading->all, __ATOMIC_RELAXED);   /* the same */
	}
	progress(done < all ? done : all, all);
}

/* done, all: bytes of the traces before this one. */
static void read_one(struct reading *reading, uint32_t number, uint64_t *done, uint64_t *all)
{
	const struct report *report = reading->report;
	const struct report_calls *calls = reading->calls;
	struct xaudit_read_trace *trace = report->trace[reading->trace + number];
	uint64_t start = xaudit_read_trace_info(trace)->start;
	struct xaudit_read_calls_options options = {
		.size = sizeof(options),
		.enters = calls->enters,
		.customs = calls->customs,
		.probes = calls->probes,
		.values = calls->values,
		.requests = calls->requests,
		.sums = true,
		/* It is not known whose they are, or when they were made. */
		.counted = !report->tid && !report->from && !report->to,
		.tid = report->tid,
		.from = report->from ? start + report->from : 0,
		.to = report->to ? start + report->to : 0,
	};
	struct xaudit_read_calls *cursor = memory_need(xaudit_read_calls(trace, &options, NULL));
	struct xaudit_read_item item;
	uint64_t here = 0, most = 0;
	uint32_t count = 0;

	reading->cursor[number] = cursor;
	tallies_begin(calls->rows, cursor);
	if (calls->begin)
		calls->begin(calls->user, reading->trace + number);
	while (xaudit_read_next_call(cursor, &item) > XAUDIT_READ_END) {
		calls->take(calls->user, &item);
		if (++count & 0xffff)
			continue;
		xaudit_read_calls_done(cursor, &here, &most);
		/* Relaxed, both: see struct reading. */
		__atomic_store_n(&reading->done, *done + here, __ATOMIC_RELAXED);
		__atomic_store_n(&reading->all, *all + most, __ATOMIC_RELAXED);
		if (!reading->aside)
			tell(reading);
	}
	tallies_end(calls->rows);
	xaudit_read_calls_done(cursor, &here, &most);
	*done += here;
	*all += most;
}

static void read_all(struct reading *reading)
{
	uint64_t done = 0, all = 0;

	for (uint32_t i = 0; i < reading->traces; i++)
		read_one(reading, i, &done, &all);
}

/* In the command's thread: before it reads, and afterwards. */
static void prepare(struct reading *reading)
{
	reading->cursor = memory_zeroed(reading->traces, sizeof(struct xaudit_read_calls *));
}

static void finish(struct report *report, struct reading *reading)
{
	progress_end();
	for (uint32_t i = 0; i < reading->traces; i++) {
		show_trace_need_memory(report->trace[reading->trace + i]);
		left_add_calls(&report->left, xaudit_read_calls_sums(reading->cursor[i]));
		xaudit_read_calls_close(reading->cursor[i]);
	}
	free(reading->cursor);
}

void report_each(struct report *report, const struct report_calls *calls)
{
	for (uint32_t i = 0; i < report->traces; i++) {
		struct reading reading = { .report = report, .calls = calls, .trace = i, .traces = 1 };
		prepare(&reading);
		read_all(&reading);
		finish(report, &reading);
	}
}

bool report_takes_probe(const struct report *report, uint32_t trace, const struct xaudit_read_item *item)
{
	uint64_t start = xaudit_read_trace_info(report->trace[trace])->start;

	return (!report->tid || item->tid == report->tid) && (!report->from || item->time >= start + report->from) &&
	       (!report->to || item->time < start + report->to);
}

/* ---- two sides at once ---- */

static void *work(void *arg)
{
	read_all(arg);
	return NULL;
}

/* Gives the trace a thread of its own, which takes no signals. Returns false if there is none. */
static bool start(struct reading *reading)
{
	/* If there is a thread, it reads this. */
	reading->aside = true;
	if (!tool_thread(&reading->thread, work, reading))
		return true;
	reading->aside = false;
	return false;
}

static void wait_for(struct reading *reading)
{
	for (int error = ETIMEDOUT; error == ETIMEDOUT;) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += PROGRESS_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		error = pthread_timedjoin_np(reading->thread, NULL, &until);
		if (error == ETIMEDOUT)
			tell(reading);
	}
}

static bool may_have_two(const struct report *report)
{
	return (report->jobs ? report->jobs : tool_processors()) > 1;
}

void report_both(struct report *report, const struct report_calls calls[2], uint32_t old)
{
	struct reading second = {
		.report = report, .calls = &calls[1], .trace = old, .traces = report->traces - old
	};
	struct reading first = { .report = report, .calls = &calls[0], .traces = old, .next = &second };

	prepare(&first);
	prepare(&second);
	bool aside = may_have_two(report) && start(&second);

	read_all(&first);
	if (aside)
		wait_for(&second);
	else
		read_all(&second);
	finish(report, &first);
	finish(report, &second);
}

void report_columns(struct report *report, const uint8_t *usual, unsigned count)
{
	if (report->options.json)
		columns_default_json(&report->columns, report->sched);
	else
		columns_default(&report->columns, usual, count, (unsigned)report->sort, report->sched);
	/* A column of --diff has another one beside it, and there is one for marks. */
	columns_fit(&report->columns, report->options.json ? 0 : term_columns(), (unsigned)report->sort,
		report->diff ? 6 : 0, report->diff ? 11 : 0);
}

int report_no_function(const struct report *report, const char *pattern, struct meant *meant)
{
	const char *where = report->from || report->to ? "the time of --from and --to" : "the trace";

	if (trace_has_probe("report", pattern, report->trace, report->traces)) {
		meant_end(meant);
		return TOOL_FAILED;
	}
	char *said = memory_format("no call of a function '%s' is in %s", pattern, where);
	char *whole = meant_message(meant, said, "");

	tool_error("report", "%s", whole);
	meant_end(meant);
	free(whole);
	free(said);
	return TOOL_FAILED;
}
