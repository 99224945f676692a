/* SPDX-License-Identifier: MIT */
#include "tool/read/api/frame_loads.h"

#include <stdlib.h>

#include "runtime/base/search.h"
#include "tool/read/damage/memory.h"
#include "tool/read/meta.h"
#include "tool/read/names.h"
#include "tool/read/process_load.h"

#define LOOKS 16 /* at mappings that begin at or before an address: only in damaged traces one lies in another */

static int by_start(const void *a, const void *b)
{
	const struct read_frame_load *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->from != y->from ? (x->from < y->from ? -1 : 1) : 0;
}

static int by_number(const void *a, const void *b)
{
	const struct read_frame_load *x = a, *y = b;

	return x->load < y->load ? -1 : x->load > y->load;
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Takes what a record says. Unloads wait, as a list of numbers and times, until all loads are known. */
static bool take(struct read_frame_loads *loads, struct read_process *process, const struct trace_record *record,
	struct read_frame_load **gone, size_t *gones)
{
	struct read_damage *damage = process->family->damage;
	const struct trace_load *load = (const void *)record;
	const struct trace_unload *unload = (const void *)record;

	if (record->type == TRACE_REC_LOAD && record->size >= sizeof(*load)) {
		if (!read_memory_grow(damage, &loads->load, loads->loads, sizeof(*loads->load)))
			return false;
		loads->load[loads->loads++] = (struct read_frame_load){ load->start, load->end, load->base, load->clock,
			UINT64_MAX, load->load, load->object, load->namespace != 0 };
	} else if (record->type == TRACE_REC_UNLOAD && record->size >= sizeof(*unload)) {
		if (!read_memory_grow(damage, gone, *gones, sizeof(**gone)))
			return false;
		(*gone)[(*gones)++] = (struct read_frame_load){ .load = unload->load, .until = unload->clock };
	}
	return true;
}

/*
 * ld.so closes the program only when the process exits, before its libraries, and right behind other namespaces: from
 * then on it unmaps nothing, and threads, and destructors of libraries, go on in what is closed.
 */
static bool is_programs(const struct read_process *process, const struct read_frame_load *load)
{
	const struct read_object *object = read_process_object(process, load->object);

	return object && object->flags & TRACE_OBJECT_PROGRAM;
}

/* What is closed at the exit. Of other namespaces that is what is closed when nothing else is any more. */
static void keep_mapped(struct read_frame_loads *loads)
{
	uint64_t last = 0;

	for (size_t i = 0; i < loads->loads; i++) {
		const struct read_frame_load *load = &loads->load[i];
		last = load->from > last ? load->from : last;
		if (!load->beside && load->until < loads->exit && load->until > last)
			last = load->until;
	}
	for (size_t i = 0; i < loads->loads; i++) {
		struct read_frame_load *load = &loads->load[i];
		if (load->until >= loads->exit || (load->beside && load->until > last))
			load->until = UINT64_MAX;
	}
}

static void end_loads(struct read_frame_loads *loads, const struct read_process *process,
	const struct read_frame_load *gone, size_t gones)
{
	if (!loads->loads)
		return;
	qsort(loads->load, loads->loads, sizeof(*loads->load), by_number);
	for (size_t i = 0; i < gones; i++) {
		size_t at = SEARCH(k, 0, loads->loads, loads->load[k].load < gone[i].load);
		if (at < loads->loads && loads->load[at].load == gone[i].load)
			loads->load[at].until = gone[i].until;
	}
	for (size_t i = 0; i < loads->loads && !loads->exit; i++)
		if (loads->load[i].until != UINT64_MAX && is_programs(process, &loads->load[i]))
			loads->exit = loads->load[i].until;
	if (loads->exit)
		keep_mapped(loads);
	qsort(loads->load, loads->loads, sizeof(*loads->load), by_start);
}

static void list_moments(struct read_frame_loads *loads, struct read_damage *damage)
{
	loads->moments = 0;
	if (!read_memory_resize(damage, &loads->moment, 2 * loads->loads + 1, sizeof(*loads->moment)))
		return;
	for (size_t i = 0; i < loads->loads; i++) {
		loads->moment[loads->moments++] = loads->load[i].from;
		if (loads->load[i].until != UINT64_MAX)
			loads->moment[loads->moments++] = loads->load[i].until;
	}
	if (loads->moments)
		qsort(loads->moment, loads->moments, sizeof(*loads->moment), by_time);
}

bool read_frame_loads_read(struct read_frame_loads *loads, struct read_process *process)
{
	const struct read_process *base = process->base;
	struct read_frame_load *gone = NULL;
	const struct trace_record *record;
	struct read_meta meta;
	size_t gones = 0;

	if (loads->known && !(process->head.flags & TRACE_EXITED))
		read_process_load(process);
	if (loads->known && loads->parsed == process->parsed)
		return false;
	for (size_t at = 0; !loads->known && base && at < base->loading_size; at += record->size) {
		record = (const void *)(base->loading + at);
		take(loads, process, record, &gone, &gones);
	}
	read_meta_begin(&meta, process, loads->known ? loads->parsed : 0);
	while ((record = read_meta_next(&meta, false)))
		if (!take(loads, process, record, &gone, &gones))
			break;
	read_meta_end(&meta);
	loads->known = true;
	loads->parsed = process->parsed;
	end_loads(loads, process, gone, gones);
	list_moments(loads, process->family->damage);
	free(gone);
	return true;
}

uint64_t read_frame_loads_age(const struct read_frame_loads *loads, uint64_t ticks)
{
	return SEARCH(i, 0, loads->moments, loads->moment[i] <= ticks);
}

const struct read_frame_load *read_frame_loads_find(
	const struct read_frame_loads *loads, uint64_t address, uint64_t ticks)
{
	const struct read_frame_load *load = loads->load;
	size_t end = SEARCH(i, 0, loads->loads, load[i].start <= address);

	/* Those that begin at one place come after one another there; the last one that is there by then counts. */
	for (int look = 0; end && look < LOOKS; look++) {
		uint64_t start = load[end - 1].start;
		size_t first = SEARCH(i, 0, end, load[i].start < start);
		size_t at = SEARCH(i, first, end, load[i].from <= ticks);
		if (at > first && address < load[at - 1].end && ticks < load[at - 1].until)
			return &load[at - 1];
		end = first;
	}
	return NULL;
}

void read_frame_loads_free(struct read_frame_loads *loads)
{
	free(loads->load);
	free(loads->moment);
	*loads = (struct read_frame_loads){ 0 };
}
