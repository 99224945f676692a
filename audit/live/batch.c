/* SPDX-License-Identifier: MIT */
#include "audit/live/batch.h"

#include <errno.h> /* EAGAIN */
#include <stdbool.h>

#include "audit/live/announce.h"
#include "audit/live/batch_index.h"
#include "audit/live/cyg.h"
#include "audit/live/entry.h"
#include "audit/live/entry_stub.h"
#include "audit/live/load_code.h"
#include "audit/live/probe.h"
#include "audit/live/switch.h"
#include "audit/live/unwinder.h"
#include "audit/live/values.h"
#include "audit/live/xray.h"
#include "runtime/base/text.h"
#include "runtime/process/process.h"
#include "x86_64/patch.h"
#include "x86_64/sys.h"

/* The bit of a rule in the result. */
static uint64_t rule_bit(size_t rule)
{
	return rule < 64 ? 1ull << rule : 0;
}

/* The rule that names the function, or -1. Notes all rules that name it. */
static int find_rule(const struct batch *batch, const struct object *object, int kind, const char *function)
{
	uint64_t *named = &batch->result->rule_function;
	int found = -1;

	for (size_t i = 0; i < batch->rules; i++) {
		if ((found >= 0 && (*named & rule_bit(i) || !rule_bit(i))) ||
			!requests_matches(&batch->rule[i], object, kind, function))
			continue;
		*named |= rule_bit(i);
		found = found < 0 ? (int)i : found;
	}
	return found;
}

void batch_note_rule(const struct batch *batch, size_t rule)
{
	batch->result->rule_function |= rule_bit(rule);
}

/* Notes which rules concern the load, so that the result tells why a rule named nothing. */
static void note_rules(const struct batch *batch, const struct object *object)
{
	for (size_t i = 0; i < batch->rules; i++) {
		uint64_t bit = requests_concerns(&batch->rule[i], object) ? rule_bit(i) : 0;
		batch->result->rule_library |= bit;
		batch->result->rule_sites |= batch->rule[i].kinds & batch->kinds ? bit : 0;
	}
}

/* Does the batch concern the load? */
static bool is_meant(const struct batch *batch, const struct load *load)
{
	return batch->rule || (batch->load ? load == batch->load : load->xray != 0);
}

/* As find_rule(), for the XRay interface: 0 or -1. For a load that the batch concerns. */
static int find_xray(const struct batch *batch, const struct object *object, uint32_t function)
{
	int64_t n = xray_place(object, function);

	return n < 0 || (batch->function >= 0 && n != batch->function) ? -1 : 0;
}

void batch_recount(struct object *object, uint32_t function, enum trace_reason reason)
{
	uint32_t *counts = object->counts[object->sites.function[function].kind];

	counts[object->counted[function]]--;
	counts[reason]++;
	object->counted[function] = (uint8_t)reason;
}

/* Marks what a rule wants of the function, in this and later loads. */
static void mark(const struct batch *batch, struct object *object, uint32_t function)
{
	if (batch->on)
		object->marks[function] |= FUNCTION_ON;
	else
		object->marks[function] &= (uint8_t)~FUNCTION_ON;
}

/* The reason under which the function is counted after the batch is applied. */
static enum trace_reason outcome(const struct batch *batch, const struct object *object, uint32_t function)
{
	if (!batch->on)
		return TRACE_REASON_DISABLED;
	return object->marks[function] & FUNCTION_ENTRY ? TRACE_REASON_ENTRY_ONLY : TRACE_REASON_TRACED;
}

/* Is what was written at the site taken away when it is switched off? */
static bool goes_away(const struct batch *batch, const struct load *load, uint32_t n)
{
	const struct site *site = &load->object->sites.site[n];

	return batch->outside && !(sled_row(site->type)->displaces && entry_stays(load, site->function));
}

/*
 * Can this site be put into the state that the batch wants? TRACED: yes. *needed: it has another state now; *was_on: it
 * is on.
 */
static enum trace_reason judge_site(const struct batch *batch, const struct load *load, uint32_t n, int *needed,
	int *was_on)
{
	const struct site *site = &load->object->sites.site[n];
	unsigned state = load_code_look(load, n);
	uint8_t bytes[16];
	int from;

	*was_on = state == SLED_IS_ON;
	*needed = batch->on		      ? !*was_on
		  : goes_away(batch, load, n) ? !(state & SLED_IS_FILE)
					      : *was_on;
	if (!*needed)
		return TRACE_REASON_TRACED;
	if (!state)
		return TRACE_REASON_SLED_BYTES;
	if (batch->on && !load_code_patched(load, n, bytes, &from))
		return TRACE_REASON_NO_ROOM;
	if (batch->outside)
		return TRACE_REASON_TRACED;
	if (batch->on && !(state & SLED_IS_READY))
		return sled_row(site->type)->displaces ? TRACE_REASON_NOT_DISPLACED
		       : sled_row(site->type)->keeps   ? TRACE_REASON_ONE_BYTE_NOPS
						       : TRACE_REASON_SLED_BYTES;
	if (!sled_row(site->type)->displaces && !patch_may_store(load->base + site->address, 2))
		return TRACE_REASON_STRADDLES;
	return TRACE_REASON_TRACED;
}

/* The stubs that the function's sites jump to are there, or are made. */
static enum trace_reason have_stubs(struct load *load, uint32_t function)
{
	unsigned stub = kind_rows[load->object->sites.function[function].kind].stub;
	enum trace_reason reason = TRACE_REASON_TRACED;

	if (cyg_is(load->object, function))
		return load->cyg ? reason : TRACE_REASON_NOT_PREPARED;
	if (stub == KIND_STUB_COPY)
		return (reason = entry_stubs(load)) ? reason : entry_refused(load, function);
	return stub != KIND_STUB_NONE ? load_code_stubs(load) : reason;
}

/* Is the site switched by its cell alone, as a displaced entry where the jump stands and stays? */
static bool is_by_cell(const struct batch *batch, const struct load *load, uint32_t n)
{
	return sled_row(load->object->sites.site[n].type)->displaces && (batch->on || !goes_away(batch, load, n)) &&
	       load_code_look(load, n) & (SLED_IS_ON | SLED_IS_READY);
}

/*
 * Judges a function that a rule names. Returns how many of its sites have to be written; 0 if one of them can't be.
 * *turn: its cell has to be.
 */
static uint32_t judge_function(struct batch *batch, struct load *load, uint32_t i, int rule, int *turn)
{
	struct object *object = load->object;
	const struct site_function *f = &object->sites.function[i];
	enum trace_reason reason = f->reason ? f->reason : object->refused;
	/* What has no site is on by its mark. */
	uint32_t write = 0, on = cyg_is(object, i) && load_code_is_on(load, i), all = f->count + cyg_is(object, i);

	if (!batch->on && reason)
		return 0;
	batch->result->functions++;
	if (!batch->on && probe_is_in(load, i)) {
		batch->result->refused[TRACE_REASON_PROBE]++;
		return 0;
	}
	if (!reason && batch->on)
		reason = have_stubs(load, i);
	for (uint32_t n = f->first; !reason && n < f->first + f->count; n++) {
		int needed, was_on;
		reason = judge_site(batch, load, n, &needed, &was_on);
		write += needed && !is_by_cell(batch, load, n);
		on += was_on != 0;
	}
	if (f->reason == TRACE_REASON_TRACED && !object->refused && batch->rule)
		mark(batch, object, i);
	if (reason) {
		batch->result->refused[reason]++;
		if (!f->reason && !object->refused)
			batch_recount(object, i, reason);
		return 0;
	}
	uint32_t changed = batch->on ? all - on : on;
	batch->result->changed += changed;
	batch->result->already += all - changed;
	batch->changed[rule] += changed;
	if (!batch->rule && (batch->on || changed))
		object->marks[i] |= FUNCTION_XRAY;
	if (batch->rule || batch->on || changed)
		batch_recount(object, i, outcome(batch, object, i));
	if (batch->on)
		load_code_fill_cell(load, i);
	/* It is switched on, too. */
	if (batch->on && kind_has(f->kind, KIND_RETURNS) && !unwinder_allows())
		batch->result->refused[TRACE_REASON_ENTRY_ONLY]++;
	*turn = changed && kind_rows[f->kind].stub == KIND_STUB_COPY;
	batch->functions += write != 0;
	batch->selected |= changed && kind_has(f->kind, KIND_EVENTS);
	return write;
}

/* The rule that names a function of the set, or -1. named: for the XRay interface NULL. */
static int rule_of(const struct batch *batch, const struct batch_index *named, const struct object *object, uint32_t i)
{
	const struct site_function *f = &object->sites.function[i];

	if (!named)
		return find_xray(batch, object, i);
	return entry_is(object, i) ? batch_index_rule(named, object, i) : find_rule(batch, object, f->kind, f->name);
}

/* Judges the sleds of one load. Returns 0 or -ENOMEM. */
static int judge_sleds(struct batch *batch, struct load *load)
{
	struct object *object = load->object;
	const struct site_set *set = &object->sites;
	struct arena memory = { 0 };
	struct batch_index named;
	enum { WRITE = 1, TURN = 2 };
	uint32_t sites = 0;
	int r = batch->rule ? batch_index_find(&named, batch, object, &memory) : 0;

	batch->kinds |= object->index.head ? 1u << TRACE_KIND_ENTRY : 0;
	uint8_t *wanted = r == 0 && object->marks ? arena_alloc(&memory, set->functions) : NULL;
	if (!wanted) {
		arena_free(&memory);
		return r == 0 && object->marks ? -ENOMEM : r;
	}
	for (uint32_t i = 0; i < set->functions; i++) {
		batch->kinds |= set->function[i].reason == TRACE_REASON_TRACED ? 1u << set->function[i].kind : 0;
		int rule = rule_of(batch, batch->rule ? &named : NULL, object, i);
		int turn = 0;
		uint32_t write = rule < 0 ? 0 : judge_function(batch, load, i, rule, &turn);
		wanted[i] = (uint8_t)((write ? WRITE : 0) | (turn ? TURN : 0));
		sites += write;
	}
	/* Before any of them raises its first event. */
	if (batch->on && (load->stubs.written || load->entries || load->cyg))
		announce_new_sleds(object);
	for (uint32_t i = 0; i < set->functions; i++)
		if (wanted[i] & TURN)
			entry_turn(load, i, batch->on);
	struct batch_change *change =
		sites ? arena_alloc(batch->arena, (batch->count + sites) * sizeof(*change)) : NULL;
	if (change) {
		sys_copy(change, batch->change, batch->count * sizeof(*change));
		batch->change = change;
		for (uint32_t i = 0; i < object->usable; i++) {
			uint32_t n = object->by_address[i];
			int needed, was_on, write = wanted[set->site[n].function] & WRITE;
			if (write && !judge_site(batch, load, n, &needed, &was_on) && needed)
				change[batch->count++] = (struct batch_change){ load, n };
		}
	}
	/* The functions' bindings would record these calls a second time. */
	for (uint32_t bucket = 0; batch->on && load->bindings && bucket < OBJECT_BUCKETS; bucket++) {
		for (struct binding *b = load->bindings[bucket]; b; b = b->next) {
			int64_t i = b->function ? load_code_function_at(object, b->body - load->base) : -1;
			if (i >= 0 && (wanted[i] || load_code_is_on(load, (uint32_t)i)))
				switch_switch(b, 0);
		}
	}
	arena_free(&memory);
	return sites && !change ? -ENOMEM : 0;
}

static void switch_bindings(struct batch *batch, struct load *load)
{
	struct object *object = load->object;

	for (uint32_t bucket = 0; load->bindings && bucket < OBJECT_BUCKETS; bucket++) {
		for (struct binding *b = load->bindings[bucket]; b; b = b->next) {
			struct bound_function *f = b->function;
			batch->kinds |= f ? 1u << f->kind : 0;
			int rule = f ? find_rule(batch, object, (int)f->kind, f->name) : -1;
			if (rule < 0)
				continue;
			batch->result->functions++;
			f->on = batch->on != 0;
			int64_t sled = load_code_function_at(object, b->body - load->base);
			if (batch->on && sled >= 0 && object->marks[sled] & FUNCTION_ON) {
				batch->result->refused[TRACE_REASON_SLED_TRACED]++;
				continue;
			}
			if (batch->on && !announce_new_bound(object, f)) {
				batch->result->refused[TRACE_REASON_IDS_USED_UP]++;
				continue;
			}
			if (batch->on && !unwinder_allows())
				batch->result->refused[TRACE_REASON_ENTRY_ONLY]++;
			uint64_t wanted = batch->on ? b->rest : b->cell->body;
			if (__atomic_load_n(&b->cell->target, __ATOMIC_RELAXED) == wanted) { /* relaxed: lock held */
				batch->result->already++;
				continue;
			}
			values_fill_cell(b->cell, object, f->offset, f->name, f->id,
				tramp_gate_returns(b->cell->gate), true);
			switch_switch(b, batch->on);
			batch->result->changed++;
			batch->changed[rule]++;
			batch->selected = 1;
		}
	}
}

/*
 * Can sites of the load be switched? Not while it is in la_objopen, nor if it stayed there in a fork: none of its code
 * runs.
 */
static bool is_open(const struct load *load)
{
	return load->state == LOAD_OPEN && !load->preparing;
}

struct load *batch_next_load(uint64_t start)
{
	struct load *next = NULL;

	for (struct load *load = loads; load; load = load->next)
		if (is_open(load) && load->start > start && (!next || load->start < next->start))
			next = load;
	return next;
}

static bool is_loaded(const struct object *object)
{
	for (const struct load *load = loads; load; load = load->next)
		if (is_open(load) && load->object == object)
			return true;
	return false;
}

/*
 * Sets the marks of an object that is not loaded now, for its next load: the rules are not asked again for a known
 * object. Returns 0 or -ENOMEM.
 */
static int judge_absent(struct batch *batch, struct object *object)
{
	struct arena memory = { 0 };
	struct batch_index named;
	int r = object->refused ? 0 : batch_index_find(&named, batch, object, &memory);

	for (uint32_t i = 0; r == 0 && object->scanned && object->marks && !object->refused &&
			     i < object->sites.functions;
		i++) {
		if (object->sites.function[i].reason != TRACE_REASON_TRACED || rule_of(batch, &named, object, i) < 0)
			continue;
		mark(batch, object, i);
		batch_recount(object, i, outcome(batch, object, i));
	}
	arena_free(&memory);
	for (struct bound_function *f = object->bound; f; f = f->all)
		if (find_rule(batch, object, (int)f->kind, f->name) >= 0)
			f->on = batch->on != 0;
	return r;
}

bool batch_must_wait(void)
{
	for (const struct load *load = loads; load; load = load->next)
		if (load->state == LOAD_OPEN && load->preparing == process_serial())
			return true;
	return false;
}

int batch_make(struct batch *batch)
{
	int r = 0;

	if (batch_must_wait())
		return -EAGAIN;
	for (size_t i = 0; i < batch->rules && r == 0; i++)
		r = requests_remember(batch->on, &batch->rule[i]);
	for (struct load *load = batch_next_load(0); load && r == 0; load = batch_next_load(load->start)) {
		batch->kinds = 0;
		r = is_meant(batch, load) ? judge_sleds(batch, load) : 0;
		if (batch->rule) {
			switch_bindings(batch, load);
			note_rules(batch, load->object);
		}
	}
	/* The XRay interface concerns only present loads, and is called often. */
	for (struct object *object = batch->rule ? objects : NULL; object && r == 0; object = object->next)
		if (!is_loaded(object))
			r = judge_absent(batch, object);
	if (batch->on && batch->selected)
		object_selected = 1;
	return r;
}

/* ---- telling the trace ---- */

static void tell_rule(const struct batch *batch, size_t i)
{
	static char buffer[1024] SYS_LARGE; /* the lock guards it */
	struct text text = { buffer, sizeof(buffer), 0 };
	const struct requests_rule *rule = &batch->rule[i];

	text_string(&text, "");
	for (unsigned kind = 0; rule->kinds != REQUESTS_ALL_KINDS && kind < TRACE_KIND_COUNT; kind++) {
		if (!(rule->kinds & 1u << kind))
			continue;
		if (text.length)
			text_char(&text, ',');
		text_string(&text, kind_rows[kind].word);
	}
	if (text.length)
		text_char(&text, ':');
	text_string(&text, rule->function);
	if (rule->library) {
		text_char(&text, '@');
		text_string(&text, rule->library);
	}
	process_change(batch->on ? TRACE_CHANGE_ENABLED : TRACE_CHANGE_DISABLED, batch->changed[i], buffer);
}

/* Written in the form of a rule: xray:FUNCTION@LIBRARY. */
static void tell_xray(const struct batch *batch)
{
	static char buffer[1024] SYS_LARGE; /* the lock guards it */
	struct text text = { buffer, sizeof(buffer), 0 };
	const struct object *object = batch->load ? batch->load->object : NULL;
	const char *name = object && batch->function >= 0 ? xray_function(object, batch->function)->name : "*";

	text_string(&text, "xray:");
	text_string(&text, name ? name : "?");
	if (object) {
		const char *base = object->path;
		for (const char *p = base; *p; p++)
			base = *p == '/' ? p + 1 : base;
		text_char(&text, '@');
		text_string(&text, base);
	}
	process_change(batch->on ? TRACE_CHANGE_ENABLED : TRACE_CHANGE_DISABLED, batch->changed[0], buffer);
}

void batch_tell(const struct batch *batch)
{
	/* The program may call the XRay interface for one function after another, over and over. */
	if (!batch->rule && !batch->changed[0])
		return;
	if (!batch->rule)
		tell_xray(batch);
	for (size_t i = 0; i < batch->rules; i++)
		tell_rule(batch, i);
	for (struct load *load = batch_next_load(0); load; load = batch_next_load(load->start)) {
		if (!load->object->marks || !is_meant(batch, load))
			continue;
		announce_counts(load->object);
		load_code_count_pages(load);
	}
}
