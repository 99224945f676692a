/* SPDX-License-Identifier: MIT */
/*
 * Probes of a trace, each once (api.h), by number: those of all processes that have the same name and the same address
 * in the same object are one. A process remembers which probe an id of its events is.
 */
#ifndef XAUDIT_TOOL_READ_API_PROBES_H
#define XAUDIT_TOOL_READ_API_PROBES_H

#include "tool/read/api/api.h"

/* Does meta say that the function is a probe? */
static inline bool read_api_is_probe(const struct read_function *function)
{
	return function && function->kind == TRACE_KIND_PROBE;
}

/*
 * The probe of an id in a process, which is loaded. *named: meta has a name for it; else it is "[unknown]". NULL: no
 * memory.
 */
const struct xaudit_read_probe *read_api_probe(struct xaudit_read_process *process, uint32_t id, bool *named);

/* Of a process, which may be wrapped elsewhere, and of a trace that is closed. */
void read_api_free_probe_ids(struct xaudit_read_process *process);
void read_api_free_probes(struct xaudit_read_trace *trace);

#endif
