/* SPDX-License-Identifier: MIT */
#include "tool/show/choice.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/probe_text.h"
#include "tool/show/trace_has.h"

/* ---- options ---- */

bool choice_take_word(const struct options_given *given)
{
	struct choice *choice = given->context;

	if (!*given->value)
		return options_wrong(given, "a function, or a pattern");
	choice->word = memory_grow(choice->word, choice->words, sizeof(*choice->word));
	choice->word[choice->words++] = given->value;
	return true;
}

struct xaudit_read_trace *choice_open(
	struct choice *choice, const struct options_syntax *syntax, int argc, char **argv, int *status)
{
	struct xaudit_read_trace *trace = show_begin(&choice->show, syntax, argc, argv, status);

	if (!trace)
		return NULL;
	*status = trace_has_options(syntax->command, &trace, 1, choice->tid, choice->from, choice->to);
	if (*status != TOOL_OK) {
		xaudit_read_close(trace);
		return NULL;
	}
	const uint64_t start = xaudit_read_trace_info(trace)->start;
	choice->first = choice->from ? start + choice->from : 0;
	choice->end = choice->to ? start + choice->to : 0;
	return trace;
}

struct xaudit_read_events *choice_begin(
	const struct choice *choice, struct xaudit_read_trace *trace, bool leaves, bool deep)
{
	const struct xaudit_read_events_options options = {
		.size = sizeof(options),
		.leaves = leaves,
		.from = choice->first,
		.probes = 1,
		/* Of what --to, or another choice, leaves out, nobody knows how much there is at the end. */
		.tail = deep || choice->words || choice->min || choice->end ? 0 : choice->tail,
	};

	return xaudit_read_events(trace, &options, NULL);
}

void choice_free(struct choice *choice)
{
	free(choice->word);
	free(choice->function);
	free(choice->probe);
	free(choice->thread);
	hash_free(&choice->by_id);
	free(choice->path);
}

/* ---- functions ---- */

enum { NOT_ASKED, NAMED, NOT_NAMED };

/* What is known of a function, or a probe, by its number. */
static uint8_t *known_of(uint8_t **known, uint32_t *room, uint32_t number)
{
	if (number >= *room) {
		const uint32_t more = (number + 64) * 2;
		*known = memory_resize(*known, more, sizeof(**known));
		memset(*known + *room, NOT_ASKED, more - *room);
		*room = more;
	}
	return *known + number;
}

bool choice_names(struct choice *choice, const struct xaudit_read_function *function)
{
	uint8_t *known = known_of(&choice->function, &choice->functions, function->number);
	bool is = false;

	if (*known != NOT_ASKED)
		return *known == NAMED;
	for (uint32_t i = 0; i < choice->words && !is; i++)
		is = names_mean_any(choice->word[i], function->name, function->aliases, function->object->path);
	*known = is ? NAMED : NOT_NAMED;
	return is;
}

static bool names_probe(struct choice *choice, const struct xaudit_read_probe *probe)
{
	uint8_t *known = known_of(&choice->probe, &choice->probes, probe->number);
	bool is = false;

	if (*known != NOT_ASKED)
		return *known == NAMED;
	for (uint32_t i = 0; i < choice->words && !is; i++)
		is = probe_named(choice->word[i], probe);
	*known = is ? NAMED : NOT_NAMED;
	return is;
}

bool choice_found(const char *command, const struct choice *choice, struct xaudit_read_trace *trace)
{
	bool all = true;

	for (uint32_t i = 0; i < choice->words; i++) {
		bool found = false;
		for (uint32_t n = 0; n < xaudit_read_functions(trace) && !found; n++) {
			const struct xaudit_read_function *function = xaudit_read_function(trace, n);
			found = names_mean_any(
				choice->word[i], function->name, function->aliases, function->object->path);
		}
		for (uint32_t n = 0; n < xaudit_read_probes(trace) && !found; n++)
			found = probe_named(choice->word[i], xaudit_read_probe(trace, n));
		if (!found)
			trace_has_no_function(command, choice->word[i], &trace, 1, choice->from || choice->to);
		all &= found;
	}
	return all;
}

/* ---- calls ---- */

#define OUTSIDE UINT32_MAX /* in the lower half of user[1]; 0: not known yet; else 1 + the depth of the outermost one */

static uint32_t inside_of(const struct xaudit_read_call *call)
{
	return (uint32_t)call->user[1];
}

bool choice_is_inside_of(struct choice *choice, struct xaudit_read_call *call)
{
	struct xaudit_read_call *at = call;
	uint32_t count = 0;

	if (!call)
		return false;
	/* Not by recursion: there may be millions of open calls. */
	for (; at && !inside_of(at); at = at->parent) {
		if (count == choice->path_room) {
			choice->path_room = count ? count * 2 : 64;
			choice->path = memory_resize(choice->path, choice->path_room, sizeof(*choice->path));
		}
		choice->path[count++] = at;
	}
	while (count--) {
		struct xaudit_read_call *below = choice->path[count];
		if (at && inside_of(at) != OUTSIDE)
			below->user[1] = inside_of(at);
		else
			below->user[1] = choice_names(choice, below->function) ? 1 + below->depth : OUTSIDE;
		at = below;
	}
	return inside_of(call) != OUTSIDE;
}

uint32_t choice_depth_of(const struct xaudit_read_call *call, uint32_t depth)
{
	const uint32_t outside = inside_of(call) - 1;

	return depth > outside ? depth - outside : 0;
}

/* ---- events ---- */

bool choice_is_notice(const struct xaudit_read_event *event)
{
	return event->what == XAUDIT_READ_EVENT_LOST || event->what == XAUDIT_READ_EVENT_GONE ||
	       event->what == XAUDIT_READ_EVENT_CRASH || event->what == XAUDIT_READ_EVENT_CHANGE;
}

bool choice_shows(struct choice *choice, const struct xaudit_read_event *event)
{
	if (choice_is_notice(event))
		return true;
	if (choice->min)
		return false;
	return choice_is_inside(choice, event->call) ||
	       (event->what == XAUDIT_READ_EVENT_PROBE && names_probe(choice, event->probe));
}

/* ---- the last ones ---- */

struct choice_thread {
	const struct xaudit_read_process *process;
	uint32_t tid;
	uint64_t all;	/* of it, as the first pass counted them */
	uint64_t come;	/* to which the second one came */
	uint64_t since; /* the time of the first that was shown */
};

static uint32_t row_of(const struct choice *choice, uint32_t hash, const struct xaudit_read_process *process,
	uint32_t tid)
{
	return HASH_FIND(
		i, &choice->by_id, hash, choice->thread[i].process == process && choice->thread[i].tid == tid);
}

static uint32_t hash_of(const struct xaudit_read_process *process, uint32_t tid)
{
	return hash_key((uint64_t)(uintptr_t)process, tid);
}

bool choice_counts_in(
	struct choice *choice, const struct xaudit_read_process *process, uint32_t tid, uint64_t time)
{
	const uint32_t hash = hash_of(process, tid);
	uint32_t row = row_of(choice, hash, process, tid);

	if (row == HASH_NONE) {
		row = choice->threads++;
		choice->thread = memory_grow(choice->thread, row, sizeof(*choice->thread));
		choice->thread[row] = (struct choice_thread){ .process = process, .tid = tid, .since = UINT64_MAX };
		memory_hash(&choice->by_id, hash, row);
	}
	struct choice_thread *thread = &choice->thread[row];
	if (choice->counting) {
		thread->all++;
		return false;
	}
	if (++thread->come + choice->tail <= thread->all)
		return false;
	thread->since = time < thread->since ? time : thread->since;
	return true;
}

uint64_t choice_since_in(const struct choice *choice, const struct xaudit_read_process *process, uint32_t tid)
{
	if (choice->counting)
		return UINT64_MAX;
	if (!tid) /* of no thread */
		return choice->first;
	const uint32_t row = row_of(choice, hash_of(process, tid), process, tid);
	return row == HASH_NONE ? UINT64_MAX : choice->thread[row].since;
}
