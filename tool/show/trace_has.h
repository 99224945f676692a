/* SPDX-License-Identifier: MIT */
/*
 * Options that name what the trace does not have: a thread that never was, a time after its end. An empty table would
 * look like an answer, so the command says what there is, and fails, as where no function has the name that was given.
 */
#ifndef XAUDIT_TOOL_SHOW_TRACE_HAS_H
#define XAUDIT_TOOL_SHOW_TRACE_HAS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"

/*
 * Has one of the traces the thread `tid`, and one of them a moment `from` (ns after its start) or later? 0: not asked
 * for. Returns false after one line on stderr, for `command`.
 */
bool trace_has(const char *command, struct xaudit_read_trace *const *trace, uint32_t traces, uint32_t tid,
	uint64_t from);

/* Is there no time between --from and --to? 0: not given. */
static inline bool trace_has_no_span(uint64_t from, uint64_t to)
{
	return to && from >= to;
}

/* The same for --tid, --from and --to, and that there is such a time. Returns an exit status. */
int trace_has_options(const char *command, struct xaudit_read_trace *const *trace, uint32_t traces, uint32_t tid,
	uint64_t from, uint64_t to);

/*
 * Says on stderr that no function is of the name `word`, and no probe, if some were met; and which one it may be meant
 * for. Of a probe that is there it says that no event of it is. span: only a time was read, and a function that was
 * called before or behind it is not met.
 */
void trace_has_no_function(
	const char *command, const char *word, struct xaudit_read_trace *const *trace, uint32_t traces, bool span);

/*
 * Is the name that of a probe, of what is asked about functions alone? Then one line on stderr says so. For errors:
 * this reads what each process says of itself.
 */
bool trace_has_probe(
	const char *command, const char *word, struct xaudit_read_trace *const *trace, uint32_t traces);

#define TRACE_HAS_NO_SPAN "--to must be later than --from"

#endif
