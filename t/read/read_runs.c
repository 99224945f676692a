/* SPDX-License-Identifier: MIT */
/*
 * When a thread was on processors, one state after another: xaudit_read_runs(), beside lost switches, for threads that
 * begin and end, for program images of one process, and by another clock.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include "t/lib/tap.h"
#include "t/lib/written.h"
#include "tool/read/api/xaudit-read.h"

/* Process 100 executes another program at 50000. A tick is half a ns, and tick 0 is 1000000. */
static const char script[] =
	"process p100 clock=tsc chunk=65536\n"
	"pair first 10000 1005000 5\n"
	"pair last 50000 1025000 8005\n"
	"object 1 /usr/lib/libfoo.so\n"
	"function 1 0 1 0x100 outer\n"
	"thread 100 main\n"
	"entry 1 12000\n"
	"exit 1 48000\n"
	"sched tsc 10000\n"
	"cpu out 12000 100 100\n"
	"cpu in 14000 100 100\n"
	"cpu preempted 16000 100 100\n"
	"cpu begin 16000 100 101\n"
	"cpu in 17000 100 101\n"
	"cpu in 17000 100 100\n"
	"cpu out 18000 100 101\n"
	"cpu out 19000 100 100\n"
	"cpu lost 20000 22000 3\n"
	"cpu in 23000 100 101\n"
	"cpu exit 24000 100 101\n"
	"cpu in 26000 100 100\n"
	"cpu begin 30000 100 101\n"
	"cpu in 31000 100 101\n"
	"cpu in 33000 100 101\n"
	"cpu exit 34000 100 101\n"
	"cpu known 60000\n"
	"process p100.1 clock=tsc chunk=65536\n"
	"pair first 50000 1025000 6\n"
	"pair last 90000 1045000 8006\n"
	"object 1 /usr/lib/libfoo.so\n"
	"function 1 0 1 0x100 outer\n"
	"thread 100 main\n"
	"entry 1 52000\n"
	"exit 1 54000\n";

static const char *of(struct xaudit_read_process *process, uint32_t tid)
{
	static const char words[] = "?+wp-";
	static char text[1024];
	struct xaudit_read_error error;
	struct xaudit_read_runs *runs = xaudit_read_runs(process, tid, &error);
	struct xaudit_read_run run;
	size_t at = 0;

	text[0] = '\0';
	if (!runs)
		bail("no memory");
	while (xaudit_read_next_run(runs, &run) && at < sizeof(text) - 64)
		at += (size_t)sprintf(text + at, "%s%" PRIu64 "%c%" PRIu64, at ? " " : "", run.from - 1000000,
			words[run.state], run.to - 1000000);
	if (xaudit_read_next_run(runs, &run))
		strcat(text, " and on");
	xaudit_read_runs_close(runs);
	return text;
}

/* The time on processors by the other function, and by the sum of these. */
static void adds_up(struct xaudit_read_process *process)
{
	struct xaudit_read_runs *runs = xaudit_read_runs(process, 100, NULL);
	struct xaudit_read_run run;
	uint64_t sum = 0, total;

	while (xaudit_read_next_run(runs, &run))
		sum += run.state == XAUDIT_READ_RUN_ON ? run.to - run.from : 0;
	xaudit_read_runs_close(runs);
	xaudit_read_process_cpu(process, 100, &total);
	is_int((long)sum, 15000, "how long the thread was on processors, by these");
	is_int((long)total, 15000, "and as xaudit_read_process_cpu() has it");
}

int main(void)
{
	char dir[] = "/tmp/xaudit-read-runs-XXXXXX", path[64];
	struct xaudit_read_error error;

	make_folder(dir);
	snprintf(path, sizeof(path), "%s/runs", dir);
	make_trace(path, script);
	struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, &error);
	if (!trace || xaudit_read_trace_info(trace)->processes != 2)
		bail("%s", trace ? "not two processes" : error.text);
	struct xaudit_read_process *first = xaudit_read_process(trace, 0), *second = xaudit_read_process(trace, 1);
	is_str(of(first, 100), "5000+6000 6000w7000 7000+8000 8000p8500 8500+9500 9500w10000 10000-11000 11000w13000 "
			       "13000+25000",
		"a thread that waits, that is preempted, and of which switches are lost, up to the next program");
	is_str(of(second, 100), "25000+30000", "it goes on in that one, up to the last moment that is known");
	is_str(of(first, 101), "8000p8500 8500+9000 9000w10000 10000-11000 11000w11500 11500+12000 15000p15500 "
			       "15500-16500 16500+17000",
		"two threads of one number: between them there is none; two INs in a row tell nothing");
	is_str(of(first, 99), "", "of a thread without switches nothing is known");
	adds_up(first);
	is_int((long)xaudit_read_damage(trace, NULL), 0, "nothing is damaged");
	xaudit_read_close(trace);

	snprintf(path, sizeof(path), "%s/none", dir);
	make_trace(path, "process p7\npair first 1000 1000 5\npair last 90000 90000 8005\nthread 7 main\n");
	trace = xaudit_read_open(path, NULL, &error);
	is_str(of(xaudit_read_process(trace, 0), 7), "", "without recorded switches nothing is known");
	xaudit_read_close(trace);
	remove_folder(dir);
	return done_testing();
}
