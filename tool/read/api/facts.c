/* SPDX-License-Identifier: MIT */
#include "tool/read/api/facts.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/api/api.h"
#include "tool/read/api/functions.h"
#include "tool/read/api/probes.h"
#include "tool/read/api/trace.h"
#include "tool/read/damage/memory.h"
#include "tool/read/meta.h"
#include "tool/read/process_load.h"
#include "tool/read/shown_names.h"
#include "tool/read/state.h"

/* Texts belong to the process: they stay where they are as long as it is loaded. */
struct read_api_facts {
	struct xaudit_read_facts facts;
	const char **note;
	struct xaudit_read_process_object *object;
	struct xaudit_read_sites *site; /* of all objects */
	struct xaudit_read_change *change;
	const struct xaudit_read_probe **probe;
};

static struct read_damage *damage_of(const struct read_process *process)
{
	return process->family->damage;
}

void read_api_facts_free(struct read_api_facts *facts)
{
	if (!facts)
		return;
	free(facts->note);
	free(facts->object);
	free(facts->site);
	free(facts->change);
	free(facts->probe);
	free(facts);
}

const struct xaudit_read_head *xaudit_read_process_head(struct xaudit_read_process *process)
{
	const struct read_process *read = process->read;
	const struct trace_head *head = &read->head;
	const struct read_clock *clock = &read->clock;

	process->head = (struct xaudit_read_head){
		.name = read->name,
		.folder = read->family->path,
		.place = read->place,
		.forked = read_process_is_forked(read),
		.version = head->version,
		.pid = head->pid,
		.parent = head->ppid,
		.threads = read->threads,
		.exited = (head->flags & TRACE_EXITED) != 0,
		.off = (head->flags & TRACE_OFF) != 0,
		.recording = head->recording != 0,
		.mode = head->mode,
		.overflow = head->overflow,
		.ring_bytes = head->ring_size,
		.ring_chunk_bytes = head->ring_chunk,
		.coarse = head->coarse,
		.lost_error = head->lost_error,
		.record_error = head->record_error,
		.clock_tsc = clock->source == TRACE_CLOCK_TSC,
		.clock_known = clock->valid,
		.clock_fresh = clock->fresh,
		.clock_pairs = clock->pairs,
		.clock_hz = 1e9 * (double)(1ull << READ_CLOCK_SHIFT) / (double)clock->mult,
		.clock_ppm = clock->ppm,
		.lost = head->lost,
		.taken_back = head->taken_back,
		.no_return = head->no_mirror,
		.records_lost = head->meta_lost,
	};
	return &process->head;
}

int xaudit_read_process_again(struct xaudit_read_process *process)
{
	return read_process_read_head(process->read);
}

static bool take_notes(struct read_api_facts *own, const struct read_process *process)
{
	own->note = read_memory_zeroed(damage_of(process), process->notes, sizeof(*own->note));
	if (!own->note)
		return false;
	for (uint32_t i = 0; i < process->notes; i++)
		own->note[i] = process->note[i];
	own->facts.note = own->note;
	own->facts.notes = process->notes;
	return true;
}

static bool take_objects(struct read_api_facts *own, const struct read_process *process)
{
	uint32_t objects = read_process_objects(process), sites = 0, at = 0;

	for (uint32_t i = 0; i < objects; i++) {
		const struct read_object *object = read_process_object(process, i);
		sites += object ? object->sites : 0;
	}
	own->object = read_memory_zeroed(damage_of(process), objects, sizeof(*own->object));
	own->site = read_memory_zeroed(damage_of(process), sites, sizeof(*own->site));
	if (!own->object || !own->site)
		return false;
	for (uint32_t i = 0; i < objects; i++) {
		const struct read_object *object = read_process_object(process, i);
		if (!object)
			continue;
		own->object[own->facts.objects++] = (struct xaudit_read_process_object){
			.path = read_object_path(object),
			.soname = object->soname ? object->soname : "",
			.build_id = object->build_id ? object->build_id : "",
			.role = object->flags & (TRACE_OBJECT_PROGRAM | TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO),
			.kinds = object->kinds,
			.site = own->site + at,
			.sites = object->sites,
			.has_pages = object->has_pages,
			.text_pages = object->text_pages,
			.site_pages = object->site_pages,
			.patched_pages = object->patched_pages,
		};
		for (uint32_t k = 0; k < object->sites; k++, at++)
			own->site[at] = (struct xaudit_read_sites){ .kind = object->site[k].kind,
				.reason = object->site[k].reason,
				.count = object->site[k].count };
	}
	return true;
}

void read_api_change(struct xaudit_read_change *to, struct xaudit_read_process *process, uint32_t number)
{
	const struct read_process *read = process->read;
	const struct read_change *change = &read->change[number];
	uint64_t start = read->head.first.ticks;

	*to = (struct xaudit_read_change){
		.time = read_clock_time(&read->clock, change->clock),
		.after = change->clock > start ? read_clock_span(&read->clock, change->clock - start) : 0,
		.what = change->what,
		.tid = change->tid,
		.word = read_change_word(change->what),
		.text = change->text,
		.value = change->value,
	};
	if (change->what == TRACE_CHANGE_THROTTLED && change->value <= TRACE_ID_MASK)
		to->function = read_api_function(process, read_process_function(read, (uint32_t)change->value));
}

static bool take_changes(struct read_api_facts *own, struct xaudit_read_process *process)
{
	const struct read_process *read = process->read;

	own->change = read_memory_zeroed(damage_of(read), read->changes, sizeof(*own->change));
	if (!own->change)
		return false;
	own->facts.changes = read->changes;
	for (uint32_t i = 0; i < read->changes; i++)
		read_api_change(&own->change[i], process, i);
	return true;
}

/* One whose values were changed while the process ran has an id for each of them, but is the same probe. */
static bool keep_each_once(struct read_api_facts *own, const struct xaudit_read_process *process)
{
	bool *seen = read_memory_zeroed(damage_of(process->read), process->trace->probes + 1ul, sizeof(*seen));
	uint32_t left = 0;

	if (!seen)
		return false;
	for (uint32_t i = 0; i < own->facts.probes; i++) {
		const struct xaudit_read_probe *probe = own->probe[i];
		if (!seen[probe->number])
			own->probe[left++] = probe;
		seen[probe->number] = true;
	}
	own->facts.probes = left;
	free(seen);
	return true;
}

static bool take_probes(struct read_api_facts *own, struct xaudit_read_process *process)
{
	const struct read_process *read = process->read;
	bool named;

	for (uint32_t i = 0, n = read_process_functions(read); i < n; i++) {
		const struct read_function *function = read_process_function_at(read, i);
		if (!read_api_is_probe(function))
			continue;
		if (!read_memory_grow(damage_of(read), &own->probe, own->facts.probes, sizeof(*own->probe)) ||
			!(own->probe[own->facts.probes] = read_api_probe(process, function->id, &named)))
			return false;
		own->facts.probes++;
	}
	return keep_each_once(own, process);
}

const struct xaudit_read_facts *xaudit_read_process_facts(struct xaudit_read_process *process)
{
	struct read_process *read = process->read;
	struct read_api_facts *own = read_memory_zeroed(damage_of(read), 1, sizeof(*own));

	if (!own)
		return NULL;
	if (process->kept)
		read_process_load(read);
	else
		read_api_take(process);
	process->kept = true;
	own->facts.module = read->module;
	own->facts.rules = read->config;
	own->facts.loads = read->loads;
	own->facts.unloads = read->unloads;
	if (!take_notes(own, read) || !take_objects(own, read) || !take_changes(own, process) ||
		!take_probes(own, process)) {
		read_api_facts_free(own);
		return NULL;
	}
	read_api_facts_free(process->facts);
	process->facts = own;
	return &own->facts;
}

const struct xaudit_read_executed *xaudit_read_process_executed(struct xaudit_read_process *process, uint32_t number)
{
	static const char *const words[] = {
		[TRACE_UNTRACED_ENVIRONMENT] = "environment",
		[TRACE_UNTRACED_RIGHTS] = "rights",
		[TRACE_UNTRACED_STATIC] = "static",
	};
	struct trace_head *head = &process->read->head;
	uint32_t seen = 0;

	for (uint32_t i = 0; i < TRACE_EXECUTED; i++) {
		struct trace_executed *executed = &head->executed[i];
		/* One whose writer was killed, or is not ready, has no name or no reason. */
		if (!executed->key || !executed->count || !executed->name[0] || !executed->why ||
			executed->why >= sizeof(words) / sizeof(*words) || seen++ != number)
			continue;
		executed->name[sizeof(executed->name) - 1] = '\0';
		process->executed = (struct xaudit_read_executed){ executed->name, executed->count, executed->why,
			words[executed->why] };
		return &process->executed;
	}
	if (seen != number || !head->executed_others)
		return NULL;
	process->executed = (struct xaudit_read_executed){ "", head->executed_others, 0, "" };
	return &process->executed;
}

const struct xaudit_read_process_object *xaudit_read_process_object(
	struct xaudit_read_process *process, uint32_t number)
{
	const struct read_api_facts *own = process->facts;

	return own && number < own->facts.objects ? &own->object[number] : NULL;
}

const struct xaudit_read_probe *xaudit_read_process_probe(struct xaudit_read_process *process, uint32_t number)
{
	const struct read_api_facts *own = process->facts;

	return own && number < own->facts.probes ? own->probe[number] : NULL;
}

const struct xaudit_read_change *xaudit_read_process_change(struct xaudit_read_process *process, uint32_t number)
{
	const struct read_api_facts *own = process->facts;

	return own && number < own->facts.changes ? &own->change[number] : NULL;
}

/* ---- what became of it ---- */

int read_api_state(enum read_process_state state)
{
	static const int states[READ_PROCESS_STATES] = {
		[READ_PROCESS_ENDED] = XAUDIT_READ_STATE_ENDED,
		[READ_PROCESS_RUNNING] = XAUDIT_READ_STATE_RUNNING,
		[READ_PROCESS_EXECUTED] = XAUDIT_READ_STATE_EXECUTED,
		[READ_PROCESS_LEFT] = XAUDIT_READ_STATE_LEFT,
		[READ_PROCESS_GONE] = XAUDIT_READ_STATE_GONE,
	};

	return states[state];
}

int xaudit_read_process_state(struct xaudit_read_process *process)
{
	read_api_take(process);
	int state = read_api_state(read_process_state(process->read));
	read_api_leave(process);
	return state;
}

int xaudit_read_process_alive(struct xaudit_read_process *process)
{
	return read_process_is_alive(process->read);
}

/* Reads the process's own records up to the first one that tells of chosen functions. */
static bool find_chosen(struct read_process *process)
{
	const struct trace_record *record;
	struct read_meta meta;

	read_meta_begin(&meta, process, 0);
	while ((record = read_meta_next(&meta, false)) && record->type != TRACE_REC_FUNCTIONS)
		;
	read_meta_end(&meta);
	return record != NULL;
}

int xaudit_read_process_chosen(struct xaudit_read_process *process)
{
	/* Parents come before their children. */
	for (struct read_process *at = process->read; at; at = read_process_parent(at)) {
		if (!at->chosen)
			at->chosen = find_chosen(at);
		if (at->chosen)
			return 1;
	}
	return 0;
}
