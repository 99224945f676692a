/* SPDX-License-Identifier: MIT */
/*
 * Snapshots that actions ask for (runtime/values/actions.h). The process's head has a row for each name and limit of
 * such (trace_head.ask), and the thread that asks counts there, and in the family's first head: two additions, no
 * waiting. `xaudit record`, which looks at that head some hundred times a second, makes the copy and holds the limit
 * (tool/record/asked/). Where `record` is not there, or its heartbeat (trace_head.drain_beat) is old, the thread copies
 * itself, which takes as long as it takes; the process says that once. In its first two seconds a process that is under
 * `record` does not wait for the first beat. `xaudit ctl watch` does what `record` does, beside a process that runs
 * without it, and has a heartbeat of its own (trace_head.copy_beat), since it takes no chunks; a program that
 * the process executes has it from its beginning.
 *
 * Snapshots of calls that have not returned (runtime/values/running.h) have rows, too, for their names and limits, but
 * nobody counts there: who makes them finds the calls. Where nobody is beside, the process says once that nobody does.
 *
 * Rows are private, and written to each head that the process gets; others may change what stands there.
 */
#ifndef XAUDIT_RUNTIME_SNAPSHOT_ASK_H
#define XAUDIT_RUNTIME_SNAPSHOT_ASK_H

#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "runtime/base/text.h"
#include "runtime/values/running.h"

#define ASK_BEAT_OLD 2000000000 /* ns: nobody makes copies whose heartbeat is older */

/*
 * The number for such snapshots. Of more than TRACE_ASKS different ones the last have the first one's, or, of calls
 * that have not returned, none (UINT32_MAX), which is said. Lock held.
 */
uint32_t ask_number(const struct running_wanted *wanted);

/* The process has a head that says nothing of them yet. Lock held. */
void ask_describe(void);

/* Asks for one. Any thread, in the middle of an event; async-signal-safe. Lock not held. */
void ask_snapshot(uint32_t number);

/*
 * The path of the n-th snapshot beside the trace whose folder's path are the first `length` bytes of output: of "",
 * that path with .snapshot.<n>; else `name` in the folder that holds it, with n in the place of %n, or behind it.
 */
static inline void ask_put_name(struct text *text, const char *output, size_t length, const char *name, unsigned n)
{
	size_t folder = length;
	int numbered = 0;

	while (*name && folder && output[folder - 1] != '/')
		folder--;
	for (size_t i = 0; i < (*name ? folder : length); i++)
		text_char(text, output[i]);
	for (const char *p = name; *p; p++)
		if (p[0] == '%' && p[1] == 'n') {
			text_number(text, n);
			numbered = 1;
			p++;
		} else {
			text_char(text, *p);
		}
	if (!numbered) {
		text_string(text, *name ? "." : ".snapshot.");
		text_number(text, n);
	}
}

#endif
