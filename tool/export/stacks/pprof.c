/* SPDX-License-Identifier: MIT */
#include "tool/export/stacks/pprof.h"

#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/base/pprof.h"
#include "tool/export/stacks/merged.h"
#include "tool/show/term/names.h"

struct profile {
	struct merged merged;
	struct pprof pprof;
	uint32_t *located; /* by number of a function: 1: its location is written */
	uint32_t room;
};

static void begin(struct export *export)
{
	struct profile *profile = memory_zeroed(1, sizeof(*profile));

	export->state = profile;
	merged_begin(&profile->merged, export, true);
}

static void leave(struct export *export, const struct export_call *call)
{
	merged_take(&((struct profile *)export->state)->merged, call);
}

/* A function is one place: where it begins. */
static void put_location(struct export *export, uint32_t number)
{
	struct profile *profile = export->state;
	const struct xaudit_read_function *function = xaudit_read_function(export->trace, number);
	const struct xaudit_read_object *object = function->object;
	struct pprof_place place = { .id = number + 1ull, .has_offset = true, .offset = function->offset };

	place.library = pprof_library(&profile->pprof, object->path, object->build_id);
	place.function = pprof_function(&profile->pprof, function->name, names_full(function->name), object->path, "");
	pprof_location(&profile->pprof, &place);
}

static void put_labels(struct pprof *pprof, const struct merged_thread *thread)
{
	char *process = merged_process_name(thread);

	if (thread->name)
		pprof_sample_label(pprof, "thread", thread->name);
	pprof_sample_label(pprof, "process", process);
	pprof_sample_number(pprof, "tid", thread->tid);
	pprof_sample_number(pprof, "pid", xaudit_read_process_info(thread->process)->pid);
	free(process);
}

/* A node is below that of a thread, unless there was no room for that. */
static const struct merged_thread *thread_of(const struct merged *merged, uint32_t number)
{
	const struct cct_node *node = &merged->cct.node[number];

	while (node->depth > 1)
		node = &merged->cct.node[node->parent];
	return node->function >= MERGED_THREAD ? &merged->thread[node->function - MERGED_THREAD] : NULL;
}

static void put_sample(struct export *export, uint32_t number)
{
	struct profile *profile = export->state;
	const struct cct *cct = &profile->merged.cct;
	const struct cct_node *node = &cct->node[number];
	const struct merged_thread *thread = thread_of(&profile->merged, number);

	for (; node->depth && node->function < MERGED_THREAD; node = &cct->node[node->parent]) {
		uint32_t *located = memory_number(&profile->located, &profile->room, node->function);

		if (!*located)
			put_location(export, node->function);
		*located = 1;
		pprof_sample_place(&profile->pprof, node->function + 1ull);
	}
	node = &cct->node[number];
	pprof_sample_value(&profile->pprof, node->calls);
	pprof_sample_value(&profile->pprof, node->own.time);
	if (export->info->sched)
		pprof_sample_value(&profile->pprof, node->own.cpu);
	if (thread)
		put_labels(&profile->pprof, thread);
	pprof_sample_end(&profile->pprof);
}

static void put_head(struct export *export)
{
	struct pprof *pprof = &((struct profile *)export->state)->pprof;
	uint64_t last = xaudit_read_last(export->trace, XAUDIT_READ_UNKNOWN);

	pprof_begin(pprof, export->out.file);
	pprof_type(pprof, PPROF_SAMPLE_TYPE, "calls", "count");
	pprof_type(pprof, PPROF_SAMPLE_TYPE, "time", "nanoseconds");
	if (export->info->sched)
		pprof_type(pprof, PPROF_SAMPLE_TYPE, "cpu", "nanoseconds");
	pprof_type(pprof, PPROF_PERIOD_TYPE, "time", "nanoseconds");
	pprof_number(pprof, PPROF_PERIOD, 1);
	pprof_number(pprof, PPROF_DEFAULT_TYPE, pprof_string(pprof, "time"));
	if (export->info->start_real)
		pprof_number(pprof, PPROF_TIME, export->info->start_real);
	if (last != XAUDIT_READ_UNKNOWN)
		pprof_number(pprof, PPROF_DURATION, export_after(export, last));
	if (export->info->command)
		pprof_number(pprof, PPROF_COMMENT, pprof_string(pprof, export->info->command));
}

static void end(struct export *export)
{
	struct profile *profile = export->state;
	const struct cct *cct = &profile->merged.cct;

	merged_end(&profile->merged, export);
	cct_convert(&profile->merged.cct, export->calls);
	put_head(export);
	for (uint32_t i = 1; i < cct->nodes; i++)
		if (cct->node[i].function < MERGED_THREAD && (cct->node[i].calls || cct->node[i].own.time))
			put_sample(export, i);
	pprof_end(&profile->pprof);
	merged_free(&profile->merged);
	free(profile->located);
	free(profile);
}

const struct export_format export_pprof = {
	.name = "pprof",
	.help = "a profile for pprof, Pyroscope, Parca and speedscope",
	.begin = begin,
	.leave = leave,
	.end = end,
};
