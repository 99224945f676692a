/* SPDX-License-Identifier: MIT */
#include "audit/live/probe_change.h"

#include <errno.h> /* ENOMEM */

#include "audit/live/batch.h"
#include "audit/live/ctl_index.h"
#include "audit/live/load_code.h"
#include "audit/live/probe.h"
#include "audit/live/probe_room.h"
#include "audit/live/probe_take.h"
#include "audit/live/values.h"
#include "runtime/base/search.h"
#include "runtime/process/process.h"
#include "x86_64/sys.h"

/* ---- patches ---- */

struct patches {
	struct control_patch *patch; /* NULL: they are only counted */
	size_t count;
};

static struct control_patch *next(struct patches *to)
{
	static struct control_patch none; /* the lock guards it */

	return to->patch ? &to->patch[to->count++] : (to->count++, &none);
}

static uint64_t address_of(const struct load *load, const struct probe_window *w)
{
	return load->base + w->plan.address;
}

static uint64_t padding_of(const struct load *load, const struct probe_window *w)
{
	return address_of(load, w) + (uint64_t)(int64_t)w->plan.padding;
}

/* Adds a patch of what is there now. */
static struct control_patch *add(struct patches *to, struct load *load, uint64_t address, const uint8_t *bytes,
	size_t size, bool on, bool chained)
{
	struct control_patch *patch = next(to);

	*patch = (struct control_patch){ .address = address, .size = (uint8_t)size, .type = CONTROL_TYPE_PROBE,
		.on = on, .chained = chained };
	sys_copy(patch->expected, (const void *)(uintptr_t)address, size);
	sys_copy(patch->bytes, bytes, size);
	load_code_touch(load, address, size);
	return patch;
}

static void add_guard(struct patches *to, const struct probe_window *w, bool chained)
{
	*next(to) = (struct control_patch){ .address = w->stub, .inside_low = w->stub,
		.inside_high = w->stub + w->plan.code_size, .type = CONTROL_TYPE_PROBE, .chained = chained };
}

/* May the one's jump become the other's by its distance alone? */
static bool are_alike(const struct plan_window *a, const struct plan_window *b)
{
	return a->address == b->address && a->way == b->way && a->prefix == b->prefix && a->fixed == b->fixed &&
	       (a->way != PROBE_WAY_SHORT || a->padding == b->padding) &&
	       sys_same(a->original, b->original, probe_written(a));
}

/* The window that stands where this one is to: it only gets another stub. */
static struct probe_window *find_former(struct load_probes *probes, uint32_t i)
{
	const struct plan_window *w = &probes->window[i].plan;

	for (uint32_t n = i + 1; n < probes->count && probes->window[n].plan.address == w->address; n++)
		if (probes->window[n].on && !probes->window[n].wanted && are_alike(&probes->window[n].plan, w))
			return &probes->window[n];
	return NULL;
}

/* Is it about to get another stub? Then its jump does not go. */
static bool is_replaced(struct load_probes *probes, uint32_t i)
{
	const struct plan_window *w = &probes->window[i].plan;

	for (uint32_t n = i; n-- > 0 && probes->window[n].plan.address == w->address;)
		if (probes->window[n].wanted && !probes->window[n].on && find_former(probes, n) == &probes->window[i])
			return true;
	return false;
}

/* It is to go: the file's bytes come back. */
static void take_away(struct patches *to, struct load *load, const struct probe_window *w, bool chained)
{
	if (w->on)
		add(to, load, address_of(load, w), w->plan.original, probe_written(&w->plan), false, chained);
	if (!w->behind)
		return;
	struct control_patch *patch =
		add(to, load, padding_of(load, w), w->plan.padding_original, PROBE_JUMP_SIZE, false, w->on || chained);
	/* A thread may be on its way from the one jump to the other. */
	patch->inside_low = patch->address;
	patch->inside_high = patch->address + 1;
	patch->resume = address_of(load, w);
}

/* Guards of stubs that lead to places strictly between those bytes. Returns whether what follows is chained. */
static bool guard(struct patches *to, const struct load_probes *probes, const struct plan_window *w, bool chained)
{
	const size_t before = chained ? 0 : to->count;

	uint32_t i = (uint32_t)SEARCH(
		n, 0, probes->count, probes->window[n].plan.address + PROBE_ORIGINAL < w->address);
	for (; i < probes->count && probes->window[i].plan.address < w->address + PROBE_ORIGINAL; i++) {
		const struct plan_window *old = &probes->window[i].plan;
		const uint64_t end = old->address + old->length;
		if (!probes->window[i].wanted && probes->window[i].stub && end > w->address &&
			end < w->address + probe_written(w))
			add_guard(to, &probes->window[i], to->count > before);
	}
	return to->count > before;
}

/* It is to come. former: only the jump's distance changes. */
static void set(struct patches *to, struct load *load, const struct probe_window *w, const struct probe_window *former,
	bool chained)
{
	uint8_t head[8], behind[8];
	size_t size = probe_head(load, w, head), padding = probe_behind(load, w, behind);
	chained = guard(to, load->probes, &w->plan, chained);

	if (padding && !w->behind) {
		struct control_patch *patch = add(to, load, padding_of(load, w), behind, padding, true, chained);
		chained = true;
		if (!former)
			sys_copy(patch->expected, w->plan.padding_original, padding);
	}
	/* That of a short jump stays. */
	if (padding && former)
		return;
	struct control_patch *patch = add(to, load, address_of(load, w), head, size, true, chained);
	if (former)
		return;
	/* Windows that are taken away before may reach into the bytes. */
	sys_copy(patch->expected, w->plan.original, size);
	/* Bytes that the jump shares are not written, but must be the file's: another jump may still stand there. */
	if (w->plan.way == PROBE_WAY_SHARED) {
		patch->size = (uint8_t)(w->plan.prefix + PROBE_JUMP_SIZE);
		for (size_t i = size; i < patch->size; i++)
			patch->bytes[i] = patch->expected[i] = w->plan.original[i];
	}
	bool between = false;
	for (size_t i = 1; i < size && i < PROBE_JUMP_SIZE; i++)
		between |= w->plan.inside[i - 1] != 0;
	if (!between)
		return;
	patch->inside_low = patch->address + 1;
	patch->inside_high = patch->address + (size < PROBE_JUMP_SIZE ? size : PROBE_JUMP_SIZE);
	patch->copy = w->stub;
	sys_copy(patch->inside, w->plan.inside, sizeof(patch->inside));
}

/* Does it write anything? That of a displaced entry was turned by its cell. */
static bool is_written(const struct probe_window *w)
{
	return w->plan.way != PROBE_WAY_ENTRY;
}

static bool goes(struct load_probes *probes, uint32_t i)
{
	const struct probe_window *w = &probes->window[i];

	return (w->on || w->behind) && !w->wanted && is_written(w) && !is_replaced(probes, i);
}

static bool comes(const struct probe_window *w)
{
	return w->wanted && !w->on && is_written(w);
}

/* The first window, by address, whose instructions may overlap with this one's. */
static uint32_t first_near(const struct load_probes *probes, const struct plan_window *w)
{
	return (uint32_t)SEARCH(n, 0, probes->count, probes->window[n].plan.address + PROBE_ORIGINAL <= w->address);
}

static bool overlap(const struct plan_window *a, const struct plan_window *b)
{
	return a->address < b->address + b->originals && b->address < a->address + a->originals;
}

/* Does one that comes need bytes of it as its padding? Padding lies less than 128 bytes from its window. */
static bool is_padding(const struct load_probes *probes, const struct plan_window *w)
{
	uint32_t i = (uint32_t)SEARCH(n, 0, probes->count, probes->window[n].plan.address + 256 <= w->address);

	for (; i < probes->count && probes->window[i].plan.address < w->address + 256; i++) {
		const struct plan_window *other = &probes->window[i].plan;
		const uint64_t padding = other->address + (uint64_t)(int64_t)other->padding;
		if (other->way == PROBE_WAY_SHORT && comes(&probes->window[i]) &&
			padding < w->address + w->originals && w->address < padding + PROBE_JUMP_SIZE)
			return true;
	}
	return false;
}

/*
 * The first one that comes in the place of one that goes; NULL: none does, or others that come need its padding, too,
 * and can't be chained to it: then it goes in any case.
 */
static const struct probe_window *first_in_place(const struct load_probes *probes, const struct plan_window *w)
{
	if (w->way == PROBE_WAY_SHORT || is_padding(probes, w))
		return NULL;
	for (uint32_t i = first_near(probes, w);
		i < probes->count && probes->window[i].plan.address < w->address + w->originals; i++)
		if (comes(&probes->window[i]) && overlap(&probes->window[i].plan, w))
			return &probes->window[i];
	return NULL;
}

/*
 * It comes; before it what it takes the place of goes, and is chained to it: where the one can't be, the other stays.
 * What goes for several that come, which follow each other then, is chained to all of them.
 */
static void set_in_place(struct patches *to, struct load *load, uint32_t number)
{
	struct load_probes *probes = load->probes;
	const struct probe_window *w = &probes->window[number];
	bool chained = false;

	for (uint32_t i = first_near(probes, &w->plan);
		i < probes->count && probes->window[i].plan.address < w->plan.address + w->plan.originals; i++) {
		const struct probe_window *old = &probes->window[i];
		if (!overlap(&old->plan, &w->plan) || !goes(probes, i))
			continue;
		const struct probe_window *first = first_in_place(probes, &old->plan);
		if (first == w)
			take_away(to, load, old, chained);
		chained |= first != NULL;
	}
	set(to, load, w, find_former(probes, number), chained);
}

/* All of them: what goes, what comes, and stubs that nobody needs any more. */
static void list_all(struct patches *to)
{
	for (struct load *load = batch_next_load(0); load; load = batch_next_load(load->start))
		for (uint32_t i = 0; load->probes && i < load->probes->count; i++) {
			const struct probe_window *w = &load->probes->window[i];
			if (goes(load->probes, i) && !first_in_place(load->probes, &w->plan))
				take_away(to, load, w, false);
		}
	for (struct load *load = batch_next_load(0); load; load = batch_next_load(load->start))
		for (uint32_t i = 0; load->probes && i < load->probes->count; i++)
			if (comes(&load->probes->window[i]))
				set_in_place(to, load, i);
	for (struct load *load = batch_next_load(0); load; load = batch_next_load(load->start))
		for (uint32_t i = 0; load->probes && i < load->probes->count; i++)
			if (!load->probes->window[i].wanted && load->probes->window[i].stub &&
				is_written(&load->probes->window[i]))
				add_guard(to, &load->probes->window[i], false);
}

static int list_patches(struct control_request *request, struct arena *arena)
{
	struct patches list = { 0 };

	list_all(&list);
	list.patch = arena_alloc(arena, (list.count + 1) * sizeof(*list.patch));
	if (!list.patch)
		return -ENOMEM;
	list.count = 0;
	list_all(&list);
	request->patches = (uint64_t)(uintptr_t)list.patch;
	request->patch_count = list.count;
	return 0;
}

/* ---- requests ---- */

static void count(struct control_result *result, const struct object *object)
{
	const struct object_probes *of = object->probes;

	for (uint32_t i = 0; of && i < of->count; i++) {
		result->functions += of->state[i].refusal == PROBE_USABLE;
		if (of->state[i].refusal != PROBE_USABLE)
			result->refused[of->state[i].refusal]++;
	}
}

static bool is_loaded(const struct object *object)
{
	for (const struct load *load = batch_next_load(0); load; load = batch_next_load(load->start))
		if (load->object == object)
			return true;
	return false;
}

/* An object that is not loaded has the plan made when it is again, by the rules of then. */
static void forget_absent(void)
{
	for (struct object *object = objects; object; object = object->next)
		if (!is_loaded(object)) {
			probe_forget(object);
			object->values_asked = false;
		}
}

/* The lists of loads whose object has other probes now. */
static int make_windows(void)
{
	int r = 0;

	probe_room_begin();
	for (struct load *load = batch_next_load(0); load && !r; load = batch_next_load(load->start)) {
		const struct object_probes *of = load->object->probes;
		probe_windows_look(load);
		if (load->probes ? load->probes->of != of || !of || load->probes->again : of && of->count)
			r = probe_windows_make(load);
	}
	probe_room_seal();
	for (struct load *load = batch_next_load(0); load; load = batch_next_load(load->start)) {
		probe_windows_keep(load);
		probe_windows_turn(load);
	}
	probe_room_end();
	return r;
}

int probe_change(struct control_request *request, struct arena *arena)
{
	const char *rules = NULL;
	int r;

	if (batch_must_wait())
		return -EAGAIN;
	r = request->argument ? ctl_index_take_probes(request->argument, arena, &rules) : 0;
	if (!r && rules) {
		r = values_remember_probes(rules);
		forget_absent();
	}
	int made = make_windows();
	if (!r)
		r = made;
	for (struct object *object = objects; object; object = object->next) {
		probe_tell(object);
		count(&request->result, object);
	}
	for (const struct load *load = batch_next_load(0); load; load = batch_next_load(load->start))
		request->result.again += load->probes && load->probes->again;
	if (!r && request->result.functions)
		object_selected = 1;
	return r ? r : list_patches(request, arena);
}

void probe_cancel(void)
{
	for (struct object *object = objects; object; object = object->next)
		probe_forget(object);
	values_remember_probes("");
	make_windows();
}

void probe_changed(bool all)
{
	for (struct load *load = batch_next_load(0); load; load = batch_next_load(load->start)) {
		struct load_probes *probes = load->probes;
		probe_windows_look(load);
		for (uint32_t i = 0; all && probes && i < probes->count; i++) {
			struct probe_window *w = &probes->window[i];
			if (w->wanted || w->on || w->behind || !w->stub || !is_written(w))
				continue;
			probe_room_give(w->stub, w->plan.code_size);
			w->stub = 0;
		}
		if (probes)
			load_code_count_pages(load);
	}
	for (struct object *object = objects; object; object = object->next)
		probe_tell(object);
}
