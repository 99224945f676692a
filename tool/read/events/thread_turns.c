/* SPDX-License-Identifier: MIT */
#include "tool/read/events/thread_turns.h"

#include "tool/read/sched/sched_cursor.h"

#define TURNS_BLOCK (32u << 10) /* bytes per record: there may be thousands */

bool read_turns_open(struct read_turns_record *record, struct read_process *process, unsigned number, bool by_turns,
	struct read_stacks *stacks, const struct read_sched *sched)
{
	*record = (struct read_turns_record){ .by_turns = by_turns };
	if (!(process->files[number] & (READ_FILE_EVENTS | READ_FILE_PLACES)) ||
		!read_events_open(&record->source, process, number, by_turns ? TURNS_BLOCK : READ_STREAM_BLOCK))
		return false;
	if (sched)
		read_sched_begin(&record->on.cursor, sched, NULL, 0);
	record->stack = read_stacks_enter(stacks, 0, record);
	if (record->stack)
		return true;
	process->family->damage->no_memory = true;
	read_events_close(&record->source);
	return false;
}

void read_turns_close(struct read_turns_record *record, struct read_stacks *stacks)
{
	read_stacks_leave(stacks, record->stack);
	read_events_close(&record->source);
}

struct read_turns_record *read_turns_first(struct read_turns_record *record, unsigned records)
{
	struct read_turns_record *first = NULL;

	for (unsigned i = 0; i < records; i++)
		if (!record[i].over && (!first || record[i].next < first->next))
			first = &record[i];
	return first;
}
