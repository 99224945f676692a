/* SPDX-License-Identifier: MIT */
#include "tool/record/losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/lost.h"
#include "tool/base/tool.h"
#include "tool/record/run.h"
#include "tool/show/info.h"

#define ESTIMATE_BYTES (256ull << 20) /* of a process with losses: what is read to count its events */

/* Some names tell where to look; `xaudit info` knows all. */
static void add_name(struct record_losses *lost, const char *name)
{
	size_t length = strlen(lost->which);

	if (lost->processes > 4)
		return;
	snprintf(lost->which + length, sizeof(lost->which) - length, "%s%s", lost->processes == 1 ? "" : ", ",
		lost->processes == 4 ? "..." : name);
}

void record_losses_look(struct record_losses *lost, struct xaudit_read_process *process)
{
	const struct xaudit_read_head *head = xaudit_read_process_head(process);
	struct xaudit_read_amounts amounts = { .size = sizeof(amounts) };

	/* Other versions need not be thought of: the trace was recorded just now. */
	if (!head->lost)
		return;
	xaudit_read_process_amounts(process, ESTIMATE_BYTES, &amounts);
	lost->processes++;
	lost->lost += amounts.lost;
	lost->events += amounts.events + amounts.custom + amounts.counted + amounts.lost;
	lost->about |= amounts.estimated;
	for (int i = 0; i < TRACE_LOST_ROOM; i++)
		lost->by[i] += amounts.lost_by[i];
	if (head->record_error)
		lost->record_error = head->record_error;
	add_name(lost, head->name);
}

void record_losses_say(const struct record_losses *lost, unsigned processes)
{
	if (!lost->lost)
		return;
	/* Recording stops at the limit, so only the events that were on their way are counted. */
	if (lost->by[TRACE_LOST_SIZE_LIMIT])
		record_error("the trace reached its size limit (size-limit), and what came later is not in it; "
			"--size-limit=SIZE sets another");
	if (lost->by[TRACE_LOST_SIZE_LIMIT] == lost->lost)
		return;
	struct lost_cause cause[TRACE_LOST_ROOM];
	char *why = lost_words(lost->by);
	char of[sizeof(lost->which) + 64] = "";
	if (processes > 1)
		snprintf(of, sizeof(of), " in %u of %u processes (%s)", lost->processes, processes, lost->which);
	const char *record = info_record_reason(lost->record_error);
	record_error("%" PRIu64 " of %s%" PRIu64 " events were lost%s%s %s%s%s", lost->lost,
		lost->about ? "about " : "", lost->events, of, lost_causes(cause, lost->by) > 1 ? ":" : "",
		why ? why : "", record ? ", and " : "", record ? record : "");
	free(why);
}
