/* SPDX-License-Identifier: MIT */
#include "tool/show/info_sched.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/show/info.h"
#include "tool/show/show.h"

#define FEW 10 /* threads that are shown */

void info_sched(const struct info *info, const struct show_colors *color)
{
	struct xaudit_read_sched sched = { .size = sizeof(sched) };

	if (!xaudit_read_sched(info->trace, &sched))
		return;
	if (sched.holds == XAUDIT_READ_SCHED_TOTALS) {
		printf("Switches    none, but what each thread ran in all: the kernel refused them (%s",
			strerror(sched.error));
		if (sched.paranoid_known)
			printf("; kernel.perf_event_paranoid was %" PRId32, sched.paranoid);
		puts(")");
		return;
	}
	if (sched.holds != XAUDIT_READ_SCHED_SWITCHES) {
		puts("Switches    none: xaudit record was ended before it began");
		return;
	}
	printf("Switches    %" PRIu64 " off processors, %" PRIu64 " of them preempted", sched.switches,
		sched.preempted);
	if (sched.losses)
		printf("; %s%" PRIu64 " were lost, in %" PRIu64 " stretches of time%s", color->warn, sched.lost,
			sched.losses, color->off);
	if (sched.error)
		printf("; not all could be written: %s", strerror(sched.error));
	if (sched.cut)
		printf("; nothing is known after the last, since xaudit record was killed, or is at work");
	putchar('\n');
}

void info_sched_process(const struct info *info, const struct info_process *of)
{
	struct xaudit_read_sched sched = { .size = sizeof(sched) };
	char buf[SHOW_TIME_SIZE];
	uint64_t ns;
	uint32_t tid, more = 0;

	if (!xaudit_read_sched(info->trace, &sched))
		return;
	int known = xaudit_read_process_cpu(of->process, 0, &ns);
	if (!known && !ns) {
		puts("  On CPU      not known");
		return;
	}
	printf("  On CPU      %s%s", known ? "" : "at least ", show_time(buf, ns));
	for (uint32_t i = 0; sched.holds == XAUDIT_READ_SCHED_TOTALS; i++) {
		tid = xaudit_read_process_thread(of->process, i);
		if (!tid)
			break;
		more += i >= FEW;
		if (i >= FEW || !xaudit_read_process_cpu(of->process, tid, &ns))
			continue;
		printf("%sthread %" PRIu32 " %s", i ? ", " : ": ", tid, show_time(buf, ns));
	}
	if (more)
		printf(", and %" PRIu32 " more", more);
	putchar('\n');
}

void info_sched_json(const struct info *info)
{
	static const char *const holds[] = { "nothing", "switches", "totals" };
	struct xaudit_read_sched sched = { .size = sizeof(sched) };

	if (!xaudit_read_sched(info->trace, &sched))
		return;
	printf("\"sched\":{\"holds\":\"%s\",\"switches\":%" PRIu64 ",\"preempted\":%" PRIu64 ",\"lost\":%" PRIu64
	       ",\"losses\":%" PRIu64 ",\"cut\":%s,\"error\":",
		holds[sched.holds >= 0 && sched.holds <= XAUDIT_READ_SCHED_TOTALS ? sched.holds : 0], sched.switches,
		sched.preempted, sched.lost, sched.losses, sched.cut ? "true" : "false");
	json_string(stdout, sched.error ? strerror(sched.error) : NULL);
	if (sched.paranoid_known)
		printf(",\"paranoid\":%" PRId32, sched.paranoid);
	printf("},");
}

void info_sched_process_json(const struct info *info, const struct info_process *of)
{
	struct xaudit_read_sched sched = { .size = sizeof(sched) };
	uint64_t ns;
	uint32_t tid;

	if (!xaudit_read_sched(info->trace, &sched))
		return;
	int known = xaudit_read_process_cpu(of->process, 0, &ns);
	printf("\"cpu_ns\":%" PRIu64 ",\"cpu_known\":%s,", ns, known ? "true" : "false");
	if (sched.holds != XAUDIT_READ_SCHED_TOTALS)
		return;
	printf("\"cpu_threads\":[");
	for (uint32_t i = 0; (tid = xaudit_read_process_thread(of->process, i)) && !show_output_broken(); i++) {
		xaudit_read_process_cpu(of->process, tid, &ns);
		printf("%s{\"tid\":%" PRIu32 ",\"cpu_ns\":%" PRIu64 "}", i ? "," : "", tid, ns);
	}
	printf("],");
}
