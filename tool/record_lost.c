/* SPDX-License-Identifier: MIT */
/* What a trace lacks, told when its recording ends: whoever looks at numbers must know that they are not all. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/info.h"
#include "tool/memory.h"
#include "tool/record.h"
#include "tool/tool.h"
#include "tool/trace_chunks.h"
#include "tool/trace_folder.h"

#define ESTIMATE_BYTES (256ull << 20) /* of a process with losses: what is read to count its events */

/* Looks at the heads of chunks alone: nearly all processes lost nothing. */
static bool has_lost(struct process *process)
{
	bool any = process->head.lost != 0;

	for (unsigned n = 0; n < process->threads && !any; n++) {
		struct chunks chunks;
		struct chunk chunk;

		if (!(process->files[n] & (FILE_EVENTS | FILE_RING)) || !chunks_open(&chunks, process, n))
			continue;
		while (!any && chunks_next(&chunks, &chunk))
			any = chunk.head.lost != 0;
		chunks_close(&chunks);
	}
	return any;
}

/* Some names tell where to look; `xaudit info` knows all. */
static void add_name(struct record_lost *lost, const char *name)
{
	size_t length = strlen(lost->which);

	if (lost->processes > 4)
		return;
	snprintf(lost->which + length, sizeof(lost->which) - length, "%s%s", lost->processes == 1 ? "" : ", ",
		lost->processes == 4 ? "..." : name);
}

void record_lost_look(struct record_lost *lost, struct process *process)
{
	struct info_sums sums;

	if (!has_lost(process))
		return;
	process_load(process);
	info_estimate(&sums, process, ESTIMATE_BYTES);
	process_unload(process);
	lost->processes++;
	lost->lost += sums.lost;
	lost->events += sums.events + sums.custom + sums.lost;
	lost->about |= sums.estimated;
	if (process->head.lost_error)
		lost->error = process->head.lost_error;
	if (process->head.record_error)
		lost->record_error = process->head.record_error;
	add_name(lost, process->name);
}

void record_lost_say(const struct record_lost *lost, unsigned processes)
{
	const char *why = info_lost_reason(lost->error);

	if (!lost->lost)
		return;
	/* Recording stops then: what is counted is only what was on its way. */
	if (lost->error == EFBIG) {
		tool_error("record", "%s, and what came later is not in it; --size-limit=SIZE sets another", why);
		return;
	}
	char *of = processes > 1 ? memory_format(" in %u of %u processes (%s)", lost->processes, processes, lost->which)
				 : memory_format("%s", "");
	const char *record = info_record_reason(lost->record_error);
	tool_error("record", "%" PRIu64 " of %s%" PRIu64 " events were lost%s: %s%s%s", lost->lost,
		lost->about ? "about " : "", lost->events, of,
		why ? why : "`xaudit info` tells what was said meanwhile", record ? ", and " : "", record ? record : "");
	free(of);
}
