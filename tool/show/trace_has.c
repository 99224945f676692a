/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/trace_has.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/probe_text.h"
#include "tool/show/show.h"
#include "tool/show/show_trace.h"
#include "tool/show/term/meant.h"

#define TOLD_MOST 4

static bool is_thread_there(struct xaudit_read_trace *const *trace, uint32_t traces, uint32_t tid)
{
	for (uint32_t i = 0; i < traces; i++) {
		bool there = xaudit_read_has_thread(trace[i], tid);
		show_trace_need_memory(trace[i]);
		if (there)
			return true;
	}
	return false;
}

/* " 100 (main), 101 and 7 more", of the threads that the traces have; the caller frees it. NULL: there are none. */
static char *list_threads(struct xaudit_read_trace *const *trace, uint32_t traces)
{
	uint32_t told = 0, more = 0;
	char *text = NULL;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	for (uint32_t i = 0; i < traces; i++) {
		const struct xaudit_read_thread *thread;
		for (uint32_t n = 0; (thread = xaudit_read_thread(trace[i], n)); n++) {
			if (told == TOLD_MOST) {
				more++;
				continue;
			}
			fprintf(to, *thread->name ? "%s %" PRIu32 " (%s)" : "%s %" PRIu32, told++ ? "," : "",
				thread->tid, thread->name);
		}
	}
	if (more)
		fprintf(to, " and %" PRIu32 " more", more);
	if (fclose(to))
		memory_failed();
	if (told)
		return text;
	free(text);
	return NULL;
}

static void say_no_thread(const char *command, struct xaudit_read_trace *const *trace, uint32_t traces, uint32_t tid)
{
	const char *where = traces > 1 ? "these traces" : "the trace";
	char *there = list_threads(trace, traces);

	if (there)
		tool_error(command, "no thread %" PRIu32 " is in %s, which has%s", tid, where, there);
	else
		tool_error(command, "no thread %" PRIu32 " is in %s, which has events of none", tid, where);
	free(there);
}

static bool is_time_there(
	const char *command, struct xaudit_read_trace *const *trace, uint32_t traces, uint64_t from)
{
	char asked[SHOW_TIME_SIZE], there[SHOW_TIME_SIZE];
	uint64_t longest = 0;

	for (uint32_t i = 0; i < traces; i++) {
		uint64_t start = xaudit_read_trace_info(trace[i])->start;
		uint64_t last = xaudit_read_last(trace[i], start + from), length = last > start ? last - start : 0;
		show_trace_need_memory(trace[i]);
		if (length >= from)
			return true;
		longest = length > longest ? length : longest;
	}
	tool_error(command, "nothing is in %s from %s on: %s %s after its start",
		traces > 1 ? "these traces" : "the trace", show_time(asked, from),
		traces > 1 ? "the longest ends" : "it ends", show_time(there, longest));
	return false;
}

bool trace_has(const char *command, struct xaudit_read_trace *const *trace, uint32_t traces, uint32_t tid,
	uint64_t from)
{
	if (tid && !is_thread_there(trace, traces, tid)) {
		say_no_thread(command, trace, traces, tid);
		return false;
	}
	return !from || is_time_there(command, trace, traces, from);
}

int trace_has_options(const char *command, struct xaudit_read_trace *const *trace, uint32_t traces, uint32_t tid,
	uint64_t from, uint64_t to)
{
	if (trace_has_no_span(from, to)) {
		tool_error(command, TRACE_HAS_NO_SPAN "; `xaudit %s --help` lists what there is", command);
		return TOOL_USAGE;
	}
	return trace_has(command, trace, traces, tid, from) ? TOOL_OK : TOOL_FAILED;
}

static bool is_probe_of(struct xaudit_read_process *process, const char *word)
{
	const struct xaudit_read_facts *facts = xaudit_read_process_facts(process);

	for (uint32_t i = 0; facts && i < facts->probes; i++)
		if (probe_named(word, xaudit_read_process_probe(process, i)))
			return true;
	return false;
}

/* Has one of the traces a probe of that name, whether a thread came there or not? */
static bool is_probe(const char *word, struct xaudit_read_trace *const *trace, uint32_t traces)
{
	struct xaudit_read_process *process;

	for (uint32_t i = 0; i < traces; i++)
		for (uint32_t k = 0; (process = xaudit_read_process(trace[i], k)); k++)
			if (is_probe_of(process, word))
				return true;
	return false;
}

void trace_has_no_function(
	const char *command, const char *word, struct xaudit_read_trace *const *trace, uint32_t traces, bool span)
{
	const char *where = span ? "the time of --from and --to" : "what was read";
	struct meant meant;
	bool probes = false;

	if (is_probe(word, trace, traces)) {
		tool_error(command, "no event of probe '%s' is in %s, or they were only counted; `xaudit report` has "
				    "how many there are", word, where);
		return;
	}
	meant_begin(&meant, word);
	for (uint32_t i = 0; i < traces; i++) {
		for (uint32_t k = 0; k < xaudit_read_functions(trace[i]); k++)
			meant_look(&meant, xaudit_read_function(trace[i], k)->name);
		for (uint32_t k = 0; k < xaudit_read_probes(trace[i]); k++, probes = true)
			meant_look(&meant, xaudit_read_probe(trace[i], k)->name);
	}
	char *said = memory_format("no call of a function%s '%s' is in %s", probes ? ", and no probe," : "", word,
		where);
	char *whole = meant_message(&meant, said, "; `xaudit report` lists them");
	tool_error(command, "%s", whole);
	meant_end(&meant);
	free(whole);
	free(said);
}

bool trace_has_probe(
	const char *command, const char *word, struct xaudit_read_trace *const *trace, uint32_t traces)
{
	if (!is_probe(word, trace, traces))
		return false;
	tool_error(command, "'%s' is a probe, which takes no time; `xaudit graph '%s'` shows in which calls threads "
			    "came there", word, word);
	return true;
}
