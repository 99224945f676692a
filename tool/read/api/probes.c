/* SPDX-License-Identifier: MIT */
#include "tool/read/api/probes.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/api/frames.h"
#include "tool/read/api/functions.h"
#include "tool/read/damage/memory.h"
#include "tool/read/process_load.h"
#include "tool/read/shown_names.h"

/* ---- where a probe is ---- */

/* The function of the object, as the process knows it, that begins last before the address, or there; or NULL. */
static const struct read_function *function_before(
	const struct read_process *process, const struct read_function *probe)
{
	const struct read_function *found = NULL;

	for (uint32_t i = 0, n = read_process_functions(process); i < n; i++) {
		const struct read_function *f = read_process_function_at(process, i);
		if (f->object == probe->object && f->kind != TRACE_KIND_PROBE && *f->name &&
			f->offset <= probe->offset && (!found || f->offset > found->offset))
			found = f;
	}
	/* Of a function without a size nobody knows whether the probe is in it, or in one that is not traced. */
	return found && probe->offset - found->offset < found->size ? found : NULL;
}

/* What the trace says of the function around it; the file may say more, or something where the trace says nothing. */
static bool take_place(
	struct xaudit_read_process *process, struct read_api_probe *probe, const struct read_function *from)
{
	const struct read_function *function = function_before(process->read, from);

	if (!function)
		return true;
	probe->function = read_memory_text(&process->trace->folder->damage, function->name, strlen(function->name));
	probe->start = function->offset;
	return probe->function != NULL;
}

int xaudit_read_probe_symbol(const struct xaudit_read_probe *public, struct xaudit_read_symbol *to)
{
	struct read_api_probe *probe = (struct read_api_probe *)public;

	if (!probe->known) {
		const struct xaudit_read_frame *frame =
			read_api_frame_at(probe->trace, public->object, public->offset);
		probe->known = true;
		if (frame)
			xaudit_read_frame_symbol(frame, &probe->symbol);
		if (probe->function) {
			probe->symbol.name = probe->function;
			probe->symbol.start = probe->start;
		}
	}
	*to = probe->symbol;
	return to->name || to->file;
}

/* ---- by number ---- */

static void free_probe(struct read_api_probe *probe)
{
	free((char *)probe->public.name);
	free(probe->function);
	free(probe);
}

static const struct xaudit_read_probe *find_or_add(
	struct xaudit_read_process *process, const struct read_function *from)
{
	struct xaudit_read_trace *trace = process->trace;
	struct read_damage *damage = &trace->folder->damage;
	const struct xaudit_read_object *object = read_api_object_exactly(
		trace, from ? read_process_object(process->read, from->object) : NULL);
	char buf[320];
	const char *name = read_function_name(process->read, from, buf, sizeof(buf));
	uint64_t offset = from ? from->offset : 0;

	if (!object)
		return NULL;
	uint32_t hash = hash_text(hash_key(offset, (uintptr_t)object), name);
	uint32_t found = HASH_FIND(i, &trace->by_probe, hash,
		trace->probe[i]->public.object == object && trace->probe[i]->public.offset == offset &&
			!strcmp(trace->probe[i]->public.name, name));
	if (found != HASH_NONE)
		return &trace->probe[found]->public;
	if (!read_memory_grow(damage, &trace->probe, trace->probes, sizeof(*trace->probe)))
		return NULL;
	struct read_api_probe *probe = read_memory_zeroed(damage, 1, sizeof(*probe));
	if (!probe)
		return NULL;
	probe->trace = trace;
	probe->public = (struct xaudit_read_probe){
		.name = read_memory_text(damage, name, strlen(name)),
		.object = object,
		.offset = offset,
		.number = trace->probes,
	};
	if (!probe->public.name || (from && !take_place(process, probe, from)) ||
		!read_memory_hash(damage, &trace->by_probe, hash, trace->probes)) {
		free_probe(probe);
		return NULL;
	}
	trace->probe[trace->probes++] = probe;
	return &probe->public;
}

const struct xaudit_read_probe *read_api_probe(struct xaudit_read_process *process, uint32_t id, bool *named)
{
	struct read_damage *damage = &process->trace->folder->damage;
	uint32_t row = HASH_FIND(i, &process->by_probe_id, id, process->probe[i].id == id);

	*named = true;
	if (row != HASH_NONE)
		return process->probe[row].probe;
	const struct read_function *function = read_process_function_now(process->read, id);
	const struct xaudit_read_probe *probe = find_or_add(process, function);
	*named = function != NULL;
	/* A name that is not known may still come. */
	if (!probe || !function)
		return probe;
	if (!read_memory_grow(damage, &process->probe, process->probes, sizeof(*process->probe)) ||
		!read_memory_hash(damage, &process->by_probe_id, id, process->probes))
		return NULL;
	process->probe[process->probes++] = (struct read_api_probe_id){ id, probe };
	return probe;
}

uint32_t xaudit_read_probes(const struct xaudit_read_trace *trace)
{
	return trace->probes;
}

const struct xaudit_read_probe *xaudit_read_probe(const struct xaudit_read_trace *trace, uint32_t number)
{
	return number < trace->probes ? &trace->probe[number]->public : NULL;
}

/* ---- end ---- */

void read_api_free_probe_ids(struct xaudit_read_process *process)
{
	free(process->probe);
	hash_free(&process->by_probe_id);
	process->probe = NULL;
	process->probes = 0;
}

void read_api_free_probes(struct xaudit_read_trace *trace)
{
	for (uint32_t i = 0; i < trace->probes; i++)
		free_probe(trace->probe[i]);
	free(trace->probe);
	hash_free(&trace->by_probe);
}
