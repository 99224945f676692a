/* SPDX-License-Identifier: MIT */
#include "audit/live/switch.h"

#include <errno.h> /* EINVAL */

#include "audit/live/batch.h"
#include "audit/live/ctl_index.h"
#include "audit/live/entry_stub.h"
#include "audit/live/load_code.h"
#include "audit/live/probe_change.h"
#include "audit/live/requests.h"
#include "audit/live/values.h"
#include "runtime/base/identity.h"
#include "runtime/process/process.h"
#include "runtime/record/recorder.h"
#include "x86_64/confined.h"
#include "x86_64/patch.h"
#include "x86_64/sys.h"

/* ---- from outside ---- */

static int patch_from_outside(struct batch *batch, struct control_patch **patches)
{
	struct control_patch *patch = arena_alloc(batch->arena, (batch->count + 1) * sizeof(*patch));

	*patches = patch;
	if (!patch)
		return -ENOMEM;
	for (size_t i = 0; i < batch->count; i++, patch++) {
		struct load *load = batch->change[i].load;
		uint32_t n = batch->change[i].site;
		const struct site *site = &load->object->sites.site[n];
		uint64_t address = load->base + site->address;
		int from = 0, low, high, resume;
		if (batch->on)
			patch->size = (uint8_t)load_code_patched(load, n, patch->bytes, &from);
		else
			patch->size = (uint8_t)sled_file(
				site->type, load_code_original(load->object, n), patch->bytes, &from);
		patch->address = address + (uint64_t)(int64_t)from;
		sys_copy(patch->expected, (const void *)(uintptr_t)patch->address, patch->size);
		patch->type = (uint8_t)site->type;
		patch->on = batch->on != 0;
		if (sled_inside(site->type, site->length, batch->on, &low, &high, &resume)) {
			patch->inside_low = address + (uint64_t)(int64_t)low;
			patch->inside_high = address + (uint64_t)(int64_t)high;
			patch->resume = address + (uint64_t)(int64_t)resume;
			if (batch->on && sled_row(site->type)->displaces) {
				patch->resume = 0;
				patch->copy = entry_copy(load, site->function, patch->inside);
			}
		}
		load_code_touch(load, patch->address, patch->size);
	}
	return 0;
}

static uint32_t calm;	   /* see switch_calm_place(). Lock */
static uint32_t will_be_calm; /* when the tool has written what it was asked to. Lock */

const uint32_t *switch_calm_place(void)
{
	return &calm;
}

/* Does it leave nothing on, whatever is loaded later? */
static uint32_t is_calming(const struct batch *batch)
{
	uint32_t all = 0;

	for (size_t i = 0; !batch->on && i < batch->rules; i++)
		all |= batch->rule[i].kinds == REQUESTS_ALL_KINDS && !batch->rule[i].library &&
		       sys_same_text(batch->rule[i].function, "*");
	for (unsigned i = 0; i < TRACE_REASON_COUNT; i++)
		all &= batch->result->refused[i] == 0;
	return all;
}

/*
 * Makes the trace before anything is on, so that the answer tells if nothing would be recorded. A task of its own that
 * shares the program's memory makes none (runtime/process/thread.c).
 */
static int begin_trace(void)
{
	if (process_state() == PROCESS_ON)
		return 0;
	if (!process_may_begin()) {
		process_why("the program is under a filter of system calls (seccomp), and had no trace before");
		return -ECANCELED;
	}
	if (!confined() && !identity_is_ours())
		return 0;
	if (process_start() != PROCESS_ON)
		return -ECANCELED;
	recorder_describe();
	return 0;
}

static int plan(int on, const struct requests_rule *rule, size_t rules, struct arena *arena,
	struct control_patch **patch, size_t *count, struct control_result *result)
{
	struct batch batch = { .on = on, .outside = 1, .rule = rule, .rules = rules, .arena = arena, .result = result };

	*count = 0;
	batch.changed = arena_alloc(arena, rules * sizeof(*batch.changed));
	if (!batch.changed)
		return -ENOMEM;
	int r = batch_make(&batch);
	if (r == 0 && on && batch.selected)
		r = begin_trace();
	if (r == 0)
		r = patch_from_outside(&batch, patch);
	if (r == 0) {
		*count = batch.count;
		batch_tell(&batch);
		will_be_calm = is_calming(&batch);
	}
	return r;
}

static size_t reclaim(bool stopped)
{
	size_t pages = 0;

	for (struct load *load = batch_next_load(0); load; load = batch_next_load(load->start)) {
		if (!load->touched)
			continue;
		pages += load_code_give_back(load, stopped);
		load_code_count_pages(load);
		load_code_merge(load);
	}
	return pages;
}

size_t switch_reclaim(void)
{
	return reclaim(false);
}

static void merge_all(void)
{
	for (struct load *load = batch_next_load(0); load; load = batch_next_load(load->start))
		load_code_merge(load);
}

/* ---- from inside ---- */

static void fill_site(const struct batch *batch, const struct batch_change *change, struct patch_site *to)
{
	struct load *load = change->load;
	const struct site *site = &load->object->sites.site[change->site];
	const uint8_t *original = load_code_original(load->object, change->site);
	uint64_t end;
	int from = 0;

	to->head_size = 2;
	if (batch->on) {
		to->patch.size = (uint8_t)load_code_patched(load, change->site, to->patch.bytes, &from);
		to->head = (uint8_t)sled_head(site->type);
	} else {
		/* Ready again: except for five-byte sites, only the head is written. */
		to->patch.size = (uint8_t)sled_ready(site->type, original, to->patch.bytes);
		to->head_size = to->patch.size < 2 ? 1 : 2;
	}
	if (sled_is_jump(site->type))
		to->guard = (uint8_t)(site->length - 2);
	to->patch.address = load->base + site->address + (uint64_t)(int64_t)from;
	to->prot = (uint8_t)load_code_segment(load, site->address, &end);
	load_code_touch(load, to->patch.address, to->patch.size);
}

static int apply(struct batch *batch)
{
	struct arena memory = { 0 };
	uint32_t changed = 0;

	batch->arena = &memory;
	batch->changed = &changed;
	calm = will_be_calm = 0;
	int r = batch_make(batch);
	struct patch_site *site = r == 0 ? arena_alloc(&memory, (batch->count + 1) * sizeof(*site)) : NULL;
	if (r == 0 && !site)
		r = -ENOMEM;
	if (r == 0 && batch->count) {
		for (size_t i = 0; i < batch->count; i++)
			fill_site(batch, &batch->change[i], &site[i]);
		r = patch_live(site, batch->count);
		if (r) {
			batch->result->refused[TRACE_REASON_PROTECTION] += batch->functions;
			batch->result->changed = changed = 0;
		}
	}
	if (r == 0) {
		/* From inside, pages with XRay sleds never become the file's again. */
		if (!batch->on && batch->rule)
			switch_reclaim();
		batch_tell(batch);
	}
	arena_free(&memory);
	return r;
}

int switch_apply(int on, const struct requests_rule *rule, struct control_result *result)
{
	struct batch batch = { .on = on, .rule = rule, .rules = 1, .result = result };

	return apply(&batch);
}

int switch_apply_xray(int on, const struct load *load, int64_t function, struct control_result *result)
{
	struct batch batch = { .on = on, .load = load, .function = function, .result = result };

	return apply(&batch);
}

void switch_reloaded(struct object *object)
{
	for (uint32_t i = 0; i < object->sites.functions; i++)
		if (object->marks[i] & FUNCTION_XRAY && !object->refused)
			batch_recount(object, i, object->marks[i] & FUNCTION_ON ? TRACE_REASON_TRACED
									  : TRACE_REASON_DISABLED);
}

/* ---- requests ---- */

static struct arena outside; /* the plan that a tool is reading: until CONTROL_WRITTEN, or the next tool's plan */

static int change(struct control_request *request)
{
	char *text;
	struct control_patch *patch = NULL;
	size_t rules = 0, count = 0;

	arena_free(&outside);
	/* A copy, since after -EAGAIN the same request comes again. */
	text = arena_string(&outside, request->text, CONTROL_TEXT);
	struct requests_rule *rule = arena_alloc(&outside, CONTROL_TEXT / 2 * sizeof(*rule));
	if (!text || !rule)
		return -ENOMEM;
	for (char *p = text, *next; p < text + CONTROL_TEXT && *p; p = next) {
		next = p + sys_length(p) + 1;
		if (requests_parse(&rule[rules++], p))
			return -EINVAL;
	}
	if (!rules)
		return -EINVAL;
	if (request->op == CONTROL_ENABLE)
		ctl_index_take(request->argument);
	calm = 0;
	int r = plan(request->op == CONTROL_ENABLE, rule, rules, &outside, &patch, &count, &request->result);
	/* Marks and bindings as they were; the text was not written yet. */
	if (r == -ECANCELED)
		plan(0, rule, rules, &outside, &patch, &count, &(struct control_result){ 0 });
	request->patches = (uint64_t)(uintptr_t)patch;
	request->patch_count = count;
	return r;
}

static int change_values(struct control_request *request)
{
	uint32_t *functions = &request->result.functions;
	int r;

	request->text[CONTROL_TEXT - 1] = '\0';
	if (request->op == CONTROL_DEL_CONTEXT)
		return values_drop_all(request->text, request->text + CONTROL_TEXT, functions);
	r = ctl_index_take_plans(request->argument, functions);
	return r ? r : values_remember(request->text);
}

static int change_probes(struct control_request *request)
{
	arena_free(&outside);
	int r = probe_change(request, &outside);
	if (r == 0 && request->result.functions)
		r = begin_trace();
	if (r == -ECANCELED)
		probe_cancel();
	if (r)
		request->patches = request->patch_count = 0;
	/* This concerns sites alone. */
	will_be_calm = calm;
	return r;
}

int switch_obey(struct control_request *request)
{
	static uint32_t asked; /* the last request that was answered by patches. Lock */

	switch (request->op) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		asked = request->op;
		sys_fill(&request->result, 0, sizeof(request->result));
		request->patches = request->patch_count = 0;
		return change(request);
	case CONTROL_ROOM:
		return ctl_index_make(request->argument, &request->room);
	case CONTROL_ADD_CONTEXT:
	case CONTROL_DEL_CONTEXT:
		sys_fill(&request->result, 0, sizeof(request->result));
		return change_values(request);
	case CONTROL_PROBES:
		asked = request->op;
		sys_fill(&request->result, 0, sizeof(request->result));
		request->patches = request->patch_count = 0;
		return change_probes(request);
	case CONTROL_NAMES:
		sys_fill(&request->result, 0, sizeof(request->result));
		return requests_take_names(request);
	case CONTROL_WRITTEN:
		if (asked == CONTROL_PROBES)
			probe_changed(request->argument & CONTROL_ALL_WRITTEN);
		asked = 0;
		arena_free(&outside);
		calm = request->argument & CONTROL_ALL_WRITTEN ? will_be_calm : 0;
		if (request->argument & CONTROL_GIVE_BACK)
			request->pages = reclaim(true);
		else
			merge_all();
		return 0;
	default:
		return -EINVAL;
	}
}
