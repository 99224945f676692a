/* SPDX-License-Identifier: MIT */
#include "audit/live/probe.h"

#include <errno.h>    /* ENOMEM */
#include <sys/mman.h> /* PROT_READ */

#include "audit/live/entry.h"
#include "audit/live/entry_stub.h"
#include "audit/live/load_code.h"
#include "audit/live/probe_room.h"
#include "audit/live/probe_take.h"
#include "audit/live/unwinder.h"
#include "audit/model/semaphore.h"
#include "runtime/base/search.h"
#include "runtime/base/sum.h"
#include "runtime/process/process.h"
#include "x86_64/patch.h"
#include "x86_64/probe.h"
#include "x86_64/sys.h"
#include "x86_64/tramp.h" /* tramp_gate_probe */

#define REACH 0x7ff00000ull /* of a jump, less a margin */
#define PAGE  4096ull

/* ---- bytes ---- */

size_t probe_head(const struct load *load, const struct probe_window *w, uint8_t out[8])
{
	return w->stub ? probe_jump(&w->plan, load->base, w->stub, out) : 0;
}

size_t probe_behind(const struct load *load, const struct probe_window *w, uint8_t out[8])
{
	return w->stub && w->plan.way == PROBE_WAY_SHORT ? probe_padding(&w->plan, load->base, w->stub, out) : 0;
}

static bool stands(const struct load *load, const struct probe_window *w)
{
	uint8_t bytes[8];

	if (w->plan.way == PROBE_WAY_ENTRY)
		return w->stub && entry_goes_on(load, w->entry) == w->stub;
	size_t size = probe_head(load, w, bytes);
	return size && sys_same((const void *)(uintptr_t)(load->base + w->plan.address), bytes, size);
}

static bool stands_behind(const struct load *load, const struct probe_window *w)
{
	uint8_t bytes[8];
	size_t size = probe_behind(load, w, bytes);

	return size && sys_same((const void *)(uintptr_t)(load->base + w->plan.address +
						(uint64_t)(int64_t)w->plan.padding), bytes, size);
}

/* Where those bytes end that a window writes, displaces, or shares with what follows; a link-time address. */
static uint64_t end_of(const struct plan_window *w)
{
	return w->address + w->originals;
}

/* ---- looking ---- */

void probe_windows_look(struct load *load)
{
	struct load_probes *probes = load->probes;

	for (uint32_t i = 0; probes && i < probes->count; i++) {
		struct probe_window *w = &probes->window[i];
		w->behind = stands_behind(load, w);
		/* Short jumps are the same whatever stub they lead to: that of the padding tells. */
		w->on = stands(load, w) && (w->plan.way != PROBE_WAY_SHORT || w->behind);
		if (w->on != w->raised)
			semaphore_raise(load, w, w->on ? 1 : -1);
	}
}

/* ---- can it be there? ---- */

/* While a load's list is made. */
struct making {
	struct load *load;
	struct object_probes *of;
	struct load_probes *old; /* NULL: none */
	bool *kept;		 /* of each in `old` */
	struct patch *file;	 /* in order of address: what the file has where windows in `old` stand */
	size_t files;
	struct load_probes *to;
	struct probe_near near;
	uint64_t taken; /* end of the last window */
	struct arena memory;
};

/* The file's bytes, or what memory has, in the text at an address; without the jumps that are ours. */
static void read_text(const struct making *m, uint64_t address, uint8_t *out, size_t size)
{
	const uint64_t at = m->load->base + address;
	size_t i = SEARCH(n, 0, m->files, m->file[n].address + m->file[n].size <= at);

	sys_copy(out, (const void *)(uintptr_t)at, size);
	for (; i < m->files && m->file[i].address < at + size; i++)
		for (unsigned n = 0; n < m->file[i].size; n++)
			if (m->file[i].address + n - at < size)
				out[m->file[i].address + n - at] = m->file[i].bytes[n];
}

static void put(struct patch *to, uint64_t address, const uint8_t *bytes, size_t size)
{
	to->address = address;
	to->size = (uint8_t)size;
	sys_copy(to->bytes, bytes, size);
}

static bool list_file(struct making *m)
{
	struct load_probes *old = m->old;
	struct patch *spare = arena_alloc(&m->memory, (2 * old->count + 1) * sizeof(*spare));

	m->file = arena_alloc(&m->memory, (2 * old->count + 1) * sizeof(*m->file));
	m->kept = arena_alloc(&m->memory, old->count + 1);
	if (!m->file || !spare || !m->kept)
		return false;
	for (uint32_t i = 0; i < old->count; i++) {
		const struct plan_window *w = &old->window[i].plan;
		const uint64_t at = m->load->base + w->address;
		if (w->way == PROBE_WAY_ENTRY)
			continue;
		if (old->window[i].on)
			put(&m->file[m->files++], at, w->original, probe_written(w));
		if (old->window[i].behind)
			put(&m->file[m->files++], at + (uint64_t)(int64_t)w->padding, w->padding_original,
				PROBE_JUMP_SIZE);
	}
	patch_sort(m->file, spare, m->files);
	return true;
}

/* Are these bytes in one segment, whose end is not before `end`, and what the file has? */
static bool has_bytes(const struct making *m, uint64_t address, const uint8_t *bytes, size_t size, uint64_t end)
{
	uint8_t own[PROBE_ORIGINAL];
	uint64_t segment;

	if (size > sizeof(own) || !(load_code_segment(m->load, address, &segment) & PROT_READ) || end > segment ||
		address + size > segment)
		return false;
	read_text(m, address, own, size);
	return sys_same(own, bytes, size);
}

/* next: address of the next window of the plan. */
static enum probe_refusal judge(const struct making *m, const struct plan_window *w, uint64_t next)
{
	const struct object *object = m->load->object;
	const uint64_t end = end_of(w), padding = w->address + (uint64_t)(int64_t)w->padding;

	if (w->way == PROBE_WAY_ENTRY && (m->load->textrel || entry_displacing(m->load, w) < 0))
		return PROBE_SITE;
	if ((w->way != PROBE_WAY_ENTRY && entry_is_covered(object, w->address, end)) ||
		(w->way == PROBE_WAY_SHORT && entry_is_covered(object, padding, padding + PROBE_JUMP_SIZE)))
		return PROBE_SITE;
	/* Relocations are written after la_objopen, by way of a protection that is not ours. */
	if (w->way != PROBE_WAY_ENTRY &&
		(m->load->textrel || !has_bytes(m, w->address, w->original, w->originals, end)))
		return PROBE_OTHER_BYTES;
	if (w->way == PROBE_WAY_SHORT && !has_bytes(m, padding, w->padding_original, PROBE_JUMP_SIZE, 0))
		return PROBE_OTHER_BYTES;
	if (w->calls && unwinder_shadow_stack)
		return PROBE_SHADOW_STACK;
	if (w->address < m->taken || end > next)
		return PROBE_NEIGHBOUR;
	return PROBE_USABLE;
}

/* ---- stubs ---- */

static uint64_t sum_of(const struct plan_head *plan, const struct plan_window *w, const struct probe_event *event)
{
	const uint8_t *bytes = (const uint8_t *)plan;
	uint64_t sum = sum_add(SUM_NONE, bytes + w->code, w->code_size);

	sum = sum_add(sum, bytes + w->fixups, w->fixup_count * sizeof(struct probe_fixup));
	sum = sum_add(sum, &w->length, sizeof(w->length));
	return sum_add(sum, event, w->probes * sizeof(*event));
}

static bool is_same_window(const struct plan_window *a, const struct plan_window *b)
{
	return a->address == b->address && a->way == b->way && a->length == b->length && a->prefix == b->prefix &&
	       a->fixed == b->fixed && (a->way != PROBE_WAY_SHORT || a->padding == b->padding) &&
	       a->probes == b->probes && a->originals == b->originals &&
	       sys_same(a->original, b->original, a->originals);
}

/* The window with the same stub that the load has; NULL: none. */
static struct probe_window *find_old(const struct making *m, const struct plan_window *w, uint64_t sum)
{
	struct load_probes *old = m->old;
	uint32_t i = old ? (uint32_t)SEARCH(n, 0, old->count, old->window[n].plan.address < w->address) : 0;

	for (; old && i < old->count && old->window[i].plan.address == w->address; i++)
		if (old->window[i].stub && !m->kept[i] && old->window[i].sum == sum &&
			is_same_window(&old->window[i].plan, w)) {
			m->kept[i] = true;
			return &old->window[i];
		}
	return NULL;
}

/* Where the distance of its jump ends, from which that counts: of SHORT, of the jump in the padding. */
static uint64_t end_of_jump(const struct load *load, const struct plan_window *w)
{
	return load->base + w->address + PROBE_JUMP_SIZE +
	       (w->way == PROBE_WAY_SHORT ? (uint64_t)(int64_t)w->padding : w->prefix);
}

/* Makes the stub at an address that distances from low to high lead to. */
static enum probe_refusal make_stub_at(struct making *m, const struct plan_window *w, const struct probe_event *event,
	int64_t low, int64_t high, uint64_t *stub)
{
	const struct load *load = m->load;
	const bool anywhere = low == INT32_MIN && high == INT32_MAX;
	const uint64_t end = end_of_jump(load, w);
	uint64_t from = low < 0 && -(uint64_t)low > end ? 0 : end + (uint64_t)low;
	uint64_t to = high < 0 && -(uint64_t)high > end ? 0 : end + (uint64_t)high;
	uint8_t code[PROBE_CODE_MAX];

	if (anywhere) {
		from = load->end > REACH ? load->end - REACH : 0;
		to = load->start + REACH - w->code_size;
	}
	enum probe_refusal why = probe_room_find(from, to, w->code_size, anywhere ? &m->near : NULL, stub);
	if (why)
		return why;
	if (probe_write(w, m->of->plan, load->base, *stub, event, code, sizeof(code)) != w->code_size)
		why = PROBE_TARGET;
	else if (!probe_room_put(*stub, code, w->code_size))
		why = PROBE_PROTECTION;
	if (why)
		probe_room_give(*stub, w->code_size);
	return why;
}

/*
 * Makes the stub. Returns USABLE and its address, or why there can be none. Of a jump across two pages only one can be
 * written at once (tool/ctl/patch.h): so the stub lies, if that can be, where the jump's bytes on the second page are
 * those that the file has there.
 */
static enum probe_refusal make_stub(
	struct making *m, const struct plan_window *w, const struct probe_event *event, uint64_t *stub)
{
	const unsigned behind = (unsigned)(end_of_jump(m->load, w) & (PAGE - 1));
	int64_t low, high;

	if (w->way != PROBE_WAY_ENTRY && behind > w->fixed && behind < PROBE_JUMP_SIZE) {
		probe_range_by(probe_last(w, behind), behind, &low, &high);
		if (make_stub_at(m, w, event, low, high, stub) == PROBE_USABLE)
			return PROBE_USABLE;
	}
	probe_range(w, &low, &high);
	return make_stub_at(m, w, event, low, high, stub);
}

/* Tries a window of the plan. */
static enum probe_refusal try_window(struct making *m, const struct plan_window *w, uint64_t next)
{
	const struct load *load = m->load;
	struct probe_event event[PROBE_IN_WINDOW] = { 0 };
	enum probe_refusal why = judge(m, w, next);

	if (why)
		return why;
	for (uint32_t i = 0; i < w->probes; i++) {
		const struct probe_state *state = &m->of->state[w->first + i];
		if (!state->id)
			return PROBE_IDS_USED_UP;
		event[i].word = TRACE_WORD(TRACE_PROBE, state->id) | (state->values ? (uint32_t)TRAMP_WORD_VALUES : 0);
		event[i].gate = (uint64_t)(uintptr_t)tramp_gate_probe;
	}
	const uint64_t sum = sum_of(m->of->plan, w, event);
	const struct probe_window *old = find_old(m, w, sum);
	struct probe_window *to = &m->to->window[m->to->count];
	if (old)
		*to = *old;
	else
		*to = (struct probe_window){ .plan = *w, .sum = sum };
	if (!old && (why = make_stub(m, w, event, &to->stub)))
		return why;
	to->plan.first = to->probe = w->first;
	to->wanted = true;
	to->entry = w->way == PROBE_WAY_ENTRY ? (uint32_t)entry_displacing(load, w) : 0;
	for (uint32_t i = 0; !old && i < w->probes; i++)
		to->semaphore[i] = semaphore_of(load, probe_of(m->of->plan, w->first + i));
	m->to->count++;
	m->taken = end_of(w);
	return PROBE_USABLE;
}

static void refuse(struct object_probes *of, const struct plan_window *w, enum probe_refusal why)
{
	for (uint32_t i = 0; i < w->probes; i++)
		of->state[w->first + i].refusal = (uint8_t)why;
}

/* Windows that are not only the `other` one of another: the first ones of the plan. */
static uint32_t own_windows(const struct plan_head *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->probes && probe_of(plan, i)->window != PROBE_NONE; i++)
		n = probe_of(plan, i)->window + 1;
	return n;
}

static void make_all(struct making *m)
{
	const struct plan_head *plan = m->of->plan;
	const uint32_t windows = own_windows(plan);

	for (uint32_t i = 0; i < windows; i++)
		if (probe_window_of(plan, i)->way != PROBE_WAY_SHARED)
			m->near.size += (probe_window_of(plan, i)->code_size + 15u) & ~15u;
	for (uint32_t i = 0; i < windows; i++) {
		const struct plan_window *w = probe_window_of(plan, i);
		const uint64_t next = i + 1 < windows ? probe_window_of(plan, i + 1)->address : UINT64_MAX;
		enum probe_refusal first = PROBE_USABLE, why = try_window(m, w, next);
		for (uint32_t other = w->other; why && other != PROBE_NONE;
			other = probe_window_of(plan, other)->other) {
			/* Where the memory is taken, that is the reason, whatever else does not go. */
			first = why == PROBE_TAKEN || !first ? why : first;
			why = try_window(m, probe_window_of(plan, other), next);
		}
		why = why == PROBE_USABLE ? PROBE_USABLE : first ? first : why;
		refuse(m->of, w, why);
		m->to->again |= why == PROBE_TAKEN || why == PROBE_ROOM;
	}
}

/* Those that the plan does not have stay behind those of the same address, until they are gone. */
static void add_old(struct making *m)
{
	struct load_probes *to = m->to, *old = m->old;
	uint32_t made = to->count, gone = 0;
	bool gives = false;

	for (uint32_t i = 0; old && i < old->count; i++) {
		const bool goes = !m->kept[i] && old->window[i].stub;
		gone += goes;
		gives |= goes && old->window[i].plan.way != PROBE_WAY_ENTRY;
	}
	to->count = made + gone;
	to->again &= gives;
	for (uint32_t i = old ? old->count : 0, at = to->count; i-- > 0;) {
		if (m->kept[i] || !old->window[i].stub)
			continue;
		while (made && to->window[made - 1].plan.address > old->window[i].plan.address)
			to->window[--at] = to->window[--made];
		to->window[--at] = old->window[i];
		to->window[at].wanted = false;
		to->window[at].probe = PROBE_NONE;
	}
}

int probe_windows_make(struct load *load)
{
	struct object_probes *of = load->object->probes;
	struct making m = { .load = load, .of = of, .old = load->probes };
	struct arena held = { 0 };
	const uint32_t windows = of ? own_windows(of->plan) : 0, olds = m.old ? m.old->count : 0;

	m.to = arena_alloc(&held, sizeof(*m.to) + (windows + olds) * sizeof(m.to->window[0]));
	if (!m.to || (m.old && !list_file(&m))) {
		arena_free(&held);
		arena_free(&m.memory);
		return -ENOMEM;
	}
	m.near = (struct probe_near){ .place = load_code_place(load), .low = load->start, .high = load->end };
	if (of)
		make_all(&m);
	add_old(&m);
	arena_free(&m.memory);
	m.to->of = of;
	m.to->memory = held;
	load->probes = m.to;
	if (m.old) {
		held = m.old->memory;
		arena_free(&held);
	}
	return 0;
}

void probe_windows_keep(struct load *load)
{
	struct load_probes *probes = load->probes;

	for (uint32_t i = 0; probes && i < probes->count; i++) {
		struct probe_window *w = &probes->window[i];
		if (!w->stub || probe_room_has(w->stub))
			continue;
		w->stub = 0;
		if (w->wanted && load->object->probes)
			refuse(load->object->probes, &w->plan, PROBE_PROTECTION);
		w->wanted = false;
	}
}

void probe_windows_turn(struct load *load)
{
	struct load_probes *probes = load->probes;

	/* One that another one replaces is gone by this already. */
	for (uint32_t i = 0; probes && i < probes->count; i++)
		if (probes->window[i].plan.way == PROBE_WAY_ENTRY && probes->window[i].wanted)
			entry_go_on(load, probes->window[i].entry, probes->window[i].stub);
	for (uint32_t i = 0; probes && i < probes->count; i++) {
		const struct probe_window *w = &probes->window[i];
		if (w->plan.way == PROBE_WAY_ENTRY && !w->wanted && stands(load, w))
			entry_go_on(load, w->entry, 0);
	}
	probe_windows_look(load);
}

bool probe_is_in(const struct load *load, uint32_t function)
{
	const struct load_probes *probes = load->probes;

	for (uint32_t i = 0; probes && i < probes->count; i++)
		if (probes->window[i].plan.way == PROBE_WAY_ENTRY && probes->window[i].entry == function &&
			(probes->window[i].wanted || probes->window[i].on))
			return true;
	return false;
}

/* ---- telling ---- */

void probe_tell(struct object *object)
{
	struct object_probes *of = object->probes;

	for (uint32_t i = 0; of && i < of->count; i++)
		of->state[i].on = 0;
	for (const struct load *load = loads; of && load; load = load->next) {
		if (load->object != object || load->state != LOAD_OPEN || !load->probes || load->probes->of != of)
			continue;
		for (uint32_t i = 0; i < load->probes->count; i++) {
			const struct probe_window *w = &load->probes->window[i];
			for (uint32_t n = 0; w->wanted && n < w->plan.probes; n++) {
				of->state[w->probe + n].on |= w->on;
				of->state[w->probe + n].way = w->plan.way;
			}
		}
	}
}

/* ---- at load ---- */

enum { PADDING = 1, HEADS = 2 };

/* Those patches of all windows, in order of address. Returns their number, or -1: some would lie in others' bytes. */
static int64_t list_patches(const struct load *load, int which, struct patch *patch, struct patch *spare)
{
	const struct load_probes *probes = load->probes;
	int64_t n = 0;

	for (uint32_t i = 0; i < probes->count; i++) {
		const struct probe_window *w = &probes->window[i];
		const uint64_t at = load->base + w->plan.address, behind = at + (uint64_t)(int64_t)w->plan.padding;
		uint8_t bytes[8];
		size_t size = probe_behind(load, w, bytes);
		if (size && which & PADDING)
			put(&patch[n++], behind, bytes, size);
		/* A head alone would lead nowhere. */
		if (which == HEADS && size && !sys_same((const void *)(uintptr_t)behind, bytes, size))
			continue;
		size = which & HEADS ? probe_head(load, w, bytes) : 0;
		if (size)
			put(&patch[n++], at, bytes, size);
	}
	patch_sort(patch, spare, (size_t)n);
	for (int64_t i = 1; i < n; i++)
		if (patch[i - 1].address + patch[i - 1].size > patch[i].address)
			return -1;
	return n;
}

/* Writes what can be written, a segment at a time. */
static void write_all(struct load *load, const struct patch *patch, size_t count)
{
	for (size_t i = 0, n, done; i < count; i += n) {
		uint64_t end = 0;
		int prot = load_code_segment(load, patch[i].address - load->base, &end);
		for (n = 1; i + n < count && patch[i + n].address < load->base + end; n++)
			;
		patch_at_load(patch + i, n, prot, &done);
		for (size_t k = 0; k < done; k++)
			load_code_touch(load, patch[i + k].address, patch[i + k].size);
	}
}

static void write_jumps(struct load *load)
{
	struct arena memory = { 0 };
	const size_t room = (2 * load->probes->count + 1) * sizeof(struct patch);
	struct patch *patch = arena_alloc(&memory, room), *spare = arena_alloc(&memory, room);
	int64_t n = patch && spare ? list_patches(load, PADDING | HEADS, patch, spare) : -1;

	for (int which = PADDING; n >= 0 && which <= HEADS; which++) {
		n = list_patches(load, which, patch, spare);
		write_all(load, patch, (size_t)n);
	}
	arena_free(&memory);
}

void probe_prepare(struct load *load)
{
	struct object *object = load->object;
	struct process_held held;

	/* ld.so's lock keeps other threads from preparing this object. */
	if (!object->probes || load->probes)
		return;
	unwinder_look();
	process_lock(&held);
	probe_room_begin();
	if (probe_windows_make(load) == 0) {
		probe_room_seal();
		probe_windows_keep(load);
		write_jumps(load);
		probe_windows_turn(load);
		for (uint32_t i = 0; i < load->probes->count; i++) {
			struct probe_window *w = &load->probes->window[i];
			if (!w->wanted || w->on)
				continue;
			refuse(object->probes, &w->plan, PROBE_PROTECTION);
			w->wanted = false;
			if (w->behind || !w->stub)
				continue; /* a jump in padding stands, though nothing leads there: `ctl` takes it */
			probe_room_give(w->stub, w->plan.code_size);
			w->stub = 0;
		}
		probe_tell(object);
		object_selected |= load->probes->count != 0;
	}
	probe_room_end();
	probe_say_refused(object);
	process_unlock(&held);
}

bool probe_covers(const struct object *object, uint64_t from, uint64_t end)
{
	for (const struct load *load = loads; load; load = load->next) {
		const struct load_probes *probes =
			load->object == object && load->state == LOAD_OPEN ? load->probes : NULL;
		/* One of them that reaches so far begins less than that before it. */
		uint32_t i = probes ? (uint32_t)SEARCH(n, 0, probes->count,
					      probes->window[n].plan.address + PROBE_ORIGINAL <= from)
				    : 0;
		for (; probes && i < probes->count && probes->window[i].plan.address < end; i++)
			if (probes->window[i].stub && end_of(&probes->window[i].plan) > from)
				return true;
		/* Padding lies less than 128 bytes from its window. */
		i = probes ? (uint32_t)SEARCH(n, 0, probes->count, probes->window[n].plan.address + 256 <= from) : 0;
		for (; probes && i < probes->count && probes->window[i].plan.address < end + 256; i++) {
			const struct plan_window *w = &probes->window[i].plan;
			const uint64_t padding = w->address + (uint64_t)(int64_t)w->padding;
			if (probes->window[i].stub && w->way == PROBE_WAY_SHORT && padding < end &&
				padding + PROBE_JUMP_SIZE > from)
				return true;
		}
	}
	return false;
}

void probe_free(struct load *load)
{
	struct load_probes *probes = load->probes;

	load->probes = NULL;
	if (!probes)
		return;
	for (uint32_t i = 0; i < probes->count; i++)
		if (probes->window[i].stub)
			probe_room_give(probes->window[i].stub, probes->window[i].plan.code_size);
	struct arena held = probes->memory;
	arena_free(&held);
}
