/* SPDX-License-Identifier: MIT */
#include "tool/read/events/merge.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"

#define MERGE_BLOCK (32u << 10) /* bytes per thread file: there may be thousands */
#define LOAD_SLOTS  (sizeof(((struct read_merge_source *)0)->load) / sizeof(struct read_merge_load *))

/* A load that is in force where meta is being read, which is ahead of the events that were returned. */
struct read_merge_load {
	struct read_merge_load *next;
	uint32_t number;
	struct read_object *object;
	uint64_t base;
};

static struct read_damage *damage_of(const struct read_merge_source *source)
{
	return source->process->family->damage;
}

/* ---- thread files ---- */

/* now: ticks. */
static void set_head(struct read_merge_source *source, enum read_merge_type type, uint32_t tid, uint64_t now)
{
	source->head = source->no_event;
	source->head.type = type;
	source->head.tid = tid;
	source->head.index = UINT32_MAX;
	source->head.time = read_clock_time(&source->process->clock, now);
}

/* Data, or values; then a custom event's key, and a backtrace. */
#define KEY_AT	  (TRACE_CUSTOM_MAX + 8ul)
#define CHAIN_AT  (KEY_AT + sizeof(uint64_t))
#define DATA_ROOM (CHAIN_AT + (CHAIN_MOST + 1) * sizeof(uint64_t))
_Static_assert(KEY_AT > 256 * sizeof(uint64_t), "values fit, and a zero behind them");

/* Keeps a copy of the data for the event at the head. Returns where, with room for more; NULL: there is no memory. */
static uint8_t *keep_data(struct read_merge_source *source, const void *from, size_t size)
{
	if (!source->data)
		source->data = read_memory_zeroed(damage_of(source), 2, DATA_ROOM);
	if (!source->data)
		return NULL;
	source->second = !source->second;
	uint8_t *data = source->data + (source->second ? DATA_ROOM : 0);
	memcpy(data, from, size);
	data[size] = 0;
	source->head.count = size;
	source->head.data = data;
	return data;
}

/* ... and of the backtrace of an event whose values, or data, are kept there. */
static void keep_chain(struct read_merge_source *source, uint8_t *kept, const struct read_chain *chain)
{
	uint64_t *to = (uint64_t *)(kept + CHAIN_AT);

	if (!chain->words)
		return;
	memcpy(to, chain->word, chain->words * sizeof(*to));
	source->head.chain = (struct read_chain){ to, chain->words };
}

/* The values of the event at the head, which is at `at` in the block. */
static void keep_values(struct read_merge_source *source, size_t at)
{
	const struct read_decode_values *values = read_decode_values_at(&source->events.decoder, at);
	const uint64_t *words = source->events.decoder.words;
	uint8_t *kept = values ? keep_data(source, &words[values->first + 1], 8ul * values->words) : NULL;

	if (!kept)
		return;
	source->head.layout = read_process_layout(source->process, values->layout);
	source->head.flawed = values->flawed;
	source->head.ticks = values->time;
	keep_chain(source, kept, &values->chain);
}

static void take_probe(struct read_merge_source *source, const struct read_decode_probe *probe)
{
	struct read_process *process = source->process;
	const struct read_function *function = read_process_function_now(process, probe->id);

	source->head.id = probe->id;
	source->head.stack = source->events.decoder.stack;
	keep_values(source, probe->at);
	if (function)
		source->head.index = read_process_function_index(process, function);
	else if (!process->head.meta_lost)
		read_events_damage(&source->events, probe->at, READ_NO_PROBE);
}

bool read_merge_take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct read_merge_source *source = user;
	struct read_process *process = source->process;
	const struct read_function *function = read_process_function_now(process, id);

	(void)time;
	set_head(source, (enum read_merge_type)type, source->events.decoder.tid, now);
	source->head.id = id;
	source->head.stack = source->events.decoder.stack;
	keep_values(source, at);
	if (function)
		source->head.index = read_process_function_index(process, function);
	else if (!process->head.meta_lost)
		read_events_damage(&source->events, at, "an event of a function that meta does not name");
	return true;
}

static bool take_custom(struct read_merge_source *source, const struct read_decode_custom *custom)
{
	source->head.id = custom->type;
	uint8_t *kept = keep_data(source, custom->data, custom->size);
	if (!kept || !custom->key)
		return kept;
	memcpy(kept + KEY_AT, &custom->key, sizeof(custom->key));
	source->head.key = kept + KEY_AT;
	source->head.ticks = source->events.decoder.time;
	keep_chain(source, kept, &custom->chain);
	return true;
}

/* Events lost before the chunk, as many of them as the head counts: it may have been read before the chunk. */
static uint64_t take_lost(struct read_merge_source *source)
{
	struct read_process *process = source->process;
	uint64_t lost = source->events.stream.chunk.head.lost, left = process->head.lost - source->of->lost_told;

	lost = lost < left ? lost : left;
	source->of->lost_told += lost;
	return lost;
}

bool read_merge_take_other(void *user, enum read_decoded what)
{
	static const enum read_merge_type types[] = {
		[READ_DECODED_THREAD] = READ_MERGE_THREAD,
		[READ_DECODED_CRASH] = READ_MERGE_CRASH,
		[READ_DECODED_CUSTOM] = READ_MERGE_CUSTOM,
		[READ_DECODED_PROBE] = READ_MERGE_PROBE,
		[READ_DECODED_GAP] = READ_MERGE_OVERWRITTEN,
		[READ_DECODED_LOST] = READ_MERGE_LOST,
		[READ_DECODED_STACK] = READ_MERGE_STACK,
		[READ_DECODED_PART] = READ_MERGE_PART,
	};
	struct read_merge_source *source = user;
	const struct read_decoder *d = &source->events.decoder;

	if (!types[what])
		return false;
	set_head(source, types[what], d->tid, d->now);
	if (what == READ_DECODED_CRASH)
		source->head.count = (uint64_t)d->signal;
	else if (what == READ_DECODED_LOST && !(source->head.count = take_lost(source)))
		return false;
	else if (what == READ_DECODED_CUSTOM && !take_custom(source, &d->custom))
		return false;
	else if (what == READ_DECODED_PROBE)
		take_probe(source, &d->probe);
	else if (what == READ_DECODED_GAP)
		source->head.count = source->events.missing;
	else if (what == READ_DECODED_STACK || what == READ_DECODED_PART)
		source->head.id = d->stack;
	if (what == READ_DECODED_PART)
		source->head.count = d->calls, source->head.own = d->outer;
	return true;
}

static bool next_of_thread(struct read_merge_source *source)
{
	return read_events_all(&source->events, read_merge_take_event, read_merge_take_other, source);
}

/* ---- meta ---- */

static bool take_load(struct read_merge_source *source, const struct trace_load *record)
{
	struct read_merge_load *load = read_memory_zeroed(damage_of(source), 1, sizeof(*load));
	struct read_merge_load **slot = &source->load[record->load % LOAD_SLOTS];

	if (!load)
		return false;
	*load = (struct read_merge_load){ *slot, record->load, read_process_object(source->process, record->object),
		record->base };
	*slot = load;
	source->now = record->clock > source->now ? record->clock : source->now;
	set_head(source, READ_MERGE_LOAD, record->tid, source->now);
	source->head.load = record->load;
	source->head.inherited = source->of_base;
	source->head.object = load->object;
	source->head.base = load->base;
	return true;
}

static bool take_unload(struct read_merge_source *source, const struct trace_unload *record)
{
	struct read_merge_load **at = &source->load[record->load % LOAD_SLOTS], *load;

	while (*at && (*at)->number != record->load)
		at = &(*at)->next;
	load = *at;
	if (!load) {
		if (!source->process->head.meta_lost)
			read_process_damage(source->process, NULL, read_meta_offset(&source->meta),
				"the unload of something that was not loaded");
		return false;
	}
	source->now = record->clock > source->now ? record->clock : source->now;
	set_head(source, READ_MERGE_UNLOAD, record->tid, source->now);
	source->head.load = load->number;
	source->head.inherited = source->of_base;
	source->head.object = load->object;
	source->head.base = load->base;
	*at = load->next;
	free(load);
	return true;
}

static bool take_loader(struct read_merge_source *source, const struct trace_loader *record)
{
	const struct read_clock *clock = &source->process->clock;

	if (record->end < record->begin)
		return false;
	source->now = record->end > source->now ? record->end : source->now;
	set_head(source, READ_MERGE_LOADER, record->tid, source->now);
	source->head.count = read_clock_span(clock, record->end - record->begin);
	source->head.own = read_clock_span(clock, record->own);
	source->head.id = record->unmaps;
	return true;
}

static bool take_change(struct read_merge_source *source, const struct trace_change *record)
{
	struct read_process *process = source->process;

	if (record->length > record->head.size - sizeof(*record))
		return false;
	/* The process made it after its meta was read. */
	if (source->changes >= process->changes)
		read_process_load(process);
	if (source->changes >= process->changes)
		return false;
	source->now = record->clock > source->now ? record->clock : source->now;
	set_head(source, READ_MERGE_CHANGE, record->tid, source->now);
	source->head.count = source->changes++;
	return true;
}

/* The next record: of those that the process has from its parent, then of its own. */
static const struct trace_record *next_record(struct read_merge_source *source)
{
	const struct read_process *base = source->process->base;
	const struct trace_record *record;

	source->of_base = base && source->base_at < base->loading_size;
	if (!source->of_base)
		return read_meta_next(&source->meta, false);
	record = (const void *)(base->loading + source->base_at);
	source->base_at += record->size;
	return record;
}

static bool next_of_meta(struct read_merge_source *source)
{
	struct read_process *process = source->process;
	const struct trace_record *record;

	while ((record = next_record(source))) {
		if (record->type == TRACE_REC_LOAD && record->size >= sizeof(struct trace_load) &&
			take_load(source, (const void *)record))
			return true;
		if (record->type == TRACE_REC_UNLOAD && record->size >= sizeof(struct trace_unload) &&
			take_unload(source, (const void *)record))
			return true;
		if (record->type == TRACE_REC_LOADER && record->size >= sizeof(struct trace_loader) &&
			take_loader(source, (const void *)record))
			return true;
		if (record->type == TRACE_REC_CHANGE && record->size >= sizeof(struct trace_change) &&
			take_change(source, (const void *)record))
			return true;
	}
	read_meta_end(&source->meta); /* there may be thousands */
	if (source->lost_said || !process->head.lost)
		return false;
	/* Events lost in no chunk are told at the end, where the sum of all is right. */
	source->lost_said = true;
	source->now = process->head.last.ticks > source->now ? process->head.last.ticks : source->now;
	set_head(source, READ_MERGE_LOST, 0, source->now);
	return true;
}

/* ---- heap ---- */

static int rank(const struct read_merge_event *event)
{
	return event->type == READ_MERGE_LOAD ? 0 : event->type == READ_MERGE_UNLOAD ? 2 : 1;
}

static bool before(const struct read_merge_source *a, const struct read_merge_source *b)
{
	if (a->head.time != b->head.time)
		return a->head.time < b->head.time;
	if (rank(&a->head) != rank(&b->head))
		return rank(&a->head) < rank(&b->head);
	return a->order < b->order;
}

static void place(struct read_merge *merge, struct read_merge_source *source, unsigned at)
{
	merge->heap[at] = source;
	source->at = at;
}

/* The head of the source at `at` became later: let it sink. */
static void sink(struct read_merge *merge, unsigned at)
{
	struct read_merge_source *source = merge->heap[at];

	for (;;) {
		unsigned child = 2 * at + 1;
		if (child >= merge->heaped)
			break;
		if (child + 1 < merge->heaped && before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!before(merge->heap[child], source))
			break;
		place(merge, merge->heap[child], at);
		at = child;
	}
	place(merge, source, at);
}

/* ... or earlier, or is new. */
static void rise(struct read_merge *merge, unsigned at)
{
	struct read_merge_source *source = merge->heap[at];

	for (; at && before(source, merge->heap[(at - 1) / 2]); at = (at - 1) / 2)
		place(merge, merge->heap[(at - 1) / 2], at);
	place(merge, source, at);
}

static void advance(struct read_merge_source *source)
{
	source->more = source->is_meta ? next_of_meta(source) : next_of_thread(source);
}

void read_merge_skip(struct read_merge *merge, struct read_merge_source *source)
{
	unsigned at = source->at;

	advance(source);
	if (source->more) {
		sink(merge, at);
		return;
	}
	if (at != --merge->heaped) {
		place(merge, merge->heap[merge->heaped], at);
		sink(merge, at);
		rise(merge, at);
	}
}

/* ---- loads in force ---- */

static void load_begins(struct read_merge_process *process, const struct read_merge_event *event)
{
	struct read_load *load;

	if (!event->object)
		return;
	uint32_t number = event->object->number;
	if (number >= process->loads_room) {
		uint32_t room = number + 16;
		if (!read_memory_resize(process->process->family->damage, &process->load, room, sizeof(*process->load)))
			return;
		memset(process->load + process->loads_room, 0, (room - process->loads_room) * sizeof(*process->load));
		process->loads_room = room;
	}
	load = read_memory_zeroed(process->process->family->damage, 1, sizeof(*load));
	if (!load)
		return;
	*load = (struct read_load){ process->load[number], event->load, event->base };
	process->load[number] = load;
}

static void load_ends(struct read_merge_process *process, const struct read_merge_event *event)
{
	struct read_load **at, *load;

	if (!event->object || event->object->number >= process->loads_room)
		return;
	for (at = &process->load[event->object->number]; (load = *at); at = &load->next) {
		if (load->number == event->load) {
			*at = load->next;
			free(load);
			return;
		}
	}
}

void read_merge_pass_meta(struct read_merge_source *source, uint64_t from)
{
	for (advance(source); source->more && source->head.time < from; advance(source)) {
		if (source->head.type == READ_MERGE_LOAD)
			load_begins(source->of, &source->head);
		else if (source->head.type == READ_MERGE_UNLOAD)
			load_ends(source->of, &source->head);
	}
}

/* Makes an event of the losses that no chunk has told. Returns whether there are any. */
static bool take_rest(struct read_merge_process *process, struct read_merge_event *event)
{
	event->count = process->process->head.lost - process->lost_told;
	process->lost_told = process->process->head.lost;
	return event->count != 0;
}

struct read_merge_source *read_merge_next(struct read_merge *merge, struct read_merge_event *event)
{
	struct read_merge_source *source;

	do {
		if (!merge->heaped || merge->folder->damage.no_memory)
			return NULL;
		source = merge->heap[0];
		*event = source->head;
		read_merge_skip(merge, source);
	} while (event->type == READ_MERGE_LOST && source->is_meta && !take_rest(source->of, event));
	if (event->type == READ_MERGE_LOAD)
		load_begins(source->of, event);
	else if (event->type == READ_MERGE_UNLOAD)
		load_ends(source->of, event);
	return source;
}

/* ---- all together ---- */

static struct read_merge_source *add_source(struct read_merge *merge, struct read_merge_process *of)
{
	struct read_damage *damage = &merge->folder->damage;
	struct read_merge_source *source;

	if (!read_memory_resize(damage, &merge->source, merge->sources + 1, sizeof(*merge->source)) ||
		!(source = read_memory_zeroed(damage, 1, sizeof(*source))))
		return NULL;
	source->process = of->process;
	source->of = of;
	source->order = merge->sources;
	merge->source[merge->sources++] = source;
	return source;
}

/* The sources of a process. */
static bool add_process(struct read_merge *merge, struct read_process *process, bool records_only)
{
	struct read_merge_process *of = &merge->process[merge->processes++];
	struct read_merge_source *source;

	*of = (struct read_merge_process){ .process = process, .first = merge->sources };
	source = add_source(merge, of);

	if (!source)
		return false;
	read_process_load(process);
	source->is_meta = true;
	read_meta_begin(&source->meta, process, 0);
	for (unsigned n = 0; n < process->threads && !records_only; n++) {
		struct read_events events;
		if (!(process->files[n] & (READ_FILE_EVENTS | READ_FILE_PLACES)) ||
			!read_events_open(&events, process, n, MERGE_BLOCK))
			continue;
		source = add_source(merge, of);
		if (!source) {
			read_events_close(&events);
			return false;
		}
		source->events = events;
		source->number = n;
	}
	of->end = merge->sources;
	return true;
}

bool read_merge_open(
	struct read_merge *merge, struct read_folder *folder, struct read_process *only, bool records_only)
{
	*merge = (struct read_merge){
		.folder = folder,
		.process = read_memory_zeroed(&folder->damage, folder->processes, sizeof(*merge->process)),
	};
	for (unsigned i = 0; merge->process && i < folder->processes; i++)
		if ((!only || folder->process[i] == only) &&
			!add_process(merge, folder->process[i], records_only))
			break;
	if (!folder->damage.no_memory)
		merge->heap = read_memory_zeroed(&folder->damage, merge->sources, sizeof(*merge->heap));
	if (!folder->damage.no_memory)
		return true;
	read_merge_close(merge);
	return false;
}

void read_merge_begin(struct read_merge *merge)
{
	for (unsigned i = 0; i < merge->sources; i++) {
		struct read_merge_source *source = merge->source[i];
		if (!source->more)
			advance(source);
		if (!source->more)
			continue;
		place(merge, source, merge->heaped++);
		rise(merge, source->at);
	}
}

static void free_loads(struct read_merge_process *process)
{
	for (uint32_t i = 0; i < process->loads_room; i++) {
		while (process->load[i]) {
			struct read_load *next = process->load[i]->next;
			free(process->load[i]);
			process->load[i] = next;
		}
	}
	free(process->load);
}

void read_merge_close(struct read_merge *merge)
{
	for (unsigned i = 0; i < merge->processes; i++)
		free_loads(&merge->process[i]);
	free(merge->process);
	for (unsigned i = 0; i < merge->sources; i++) {
		struct read_merge_source *source = merge->source[i];
		for (unsigned slot = 0; slot < LOAD_SLOTS; slot++) {
			while (source->load[slot]) {
				struct read_merge_load *next = source->load[slot]->next;
				free(source->load[slot]);
				source->load[slot] = next;
			}
		}
		if (source->is_meta)
			read_meta_end(&source->meta);
		else
			read_events_close(&source->events);
		free(source->data);
		free(source);
	}
	free(merge->source);
	free(merge->heap);
	*merge = (struct read_merge){ .folder = merge->folder };
}
