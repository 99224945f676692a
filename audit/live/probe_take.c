/* SPDX-License-Identifier: MIT */
#include "audit/live/probe_take.h"

#include <errno.h>    /* ENOMEM */
#include <sys/mman.h> /* PROT_READ */

#include "audit/live/announce.h"
#include "audit/live/values.h"
#include "runtime/base/sum.h"
#include "runtime/base/text.h"
#include "runtime/notes.h"
#include "x86_64/sys.h"

#define SAY_MOST 20u /* lines for each process */

static struct arena memory; /* names and ids: for as long as the process lives. Lock */

/* ---- ids ---- */

static bool is_same_part(const struct values_part *a, const struct plan_part *x, const struct values_part *b,
	const struct plan_part *y)
{
	if (!a->code || !b->code)
		return !a->code && !b->code;
	return x->size == y->size && sys_same(a->code, b->code, x->size) && a->bytes == b->bytes &&
	       (!a->bytes || sys_same(a->layout, b->layout, a->bytes));
}

static bool has_same_values(const struct values_function *a, const struct values_function *b)
{
	if (!a || !b || a == b)
		return a == b;
	return a->plan->every == b->plan->every && a->plan->longer == b->plan->longer &&
	       is_same_part(&a->entry, &a->plan->entry, &b->entry, &b->plan->entry) &&
	       actions_are_same(a->then, b->then);
}

/* The values of a probe in its plan; NULL: it has none. */
static const struct values_function *values_of(const struct values_set *set, const struct plan_probe *p)
{
	const struct values_function *f = p->function == PROBE_NONE ? NULL : &set->function[p->function];

	return f && !f->is_off && (f->entry.code || f->then || f->plan->every) ? f : NULL;
}

static const char *name_of(const struct values_set *set, const struct plan_probe *p)
{
	return (const char *)set->plan + p->name;
}

static struct probe_known *find(const struct object *object, const struct values_set *set, const struct plan_probe *p)
{
	struct probe_known *known = object->known_probes->bucket[p->address % PROBE_BUCKETS];

	while (known && (known->address != p->address || !sys_same_text(known->name, name_of(set, p)) ||
				!has_same_values(known->values, values_of(set, p))))
		known = known->next;
	return known;
}

/* Gives the probe the id, and its values to events of that. Returns NULL: no memory. */
static struct probe_known *add(struct object *object, struct values_set *set, const struct plan_probe *p, uint32_t id)
{
	struct object_known *all = object->known_probes;
	struct probe_known *known = arena_alloc(&memory, sizeof(*known));
	const size_t length = sys_length(name_of(set, p));

	if (!known || !(known->name = arena_string(&memory, name_of(set, p), length)))
		return NULL;
	known->address = p->address;
	known->id = id;
	known->values = values_of(set, p);
	known->has_values = known->values && values_bind_probe(set, p->function, id);
	known->next = all->bucket[p->address % PROBE_BUCKETS];
	known->all = all->newest;
	all->bucket[p->address % PROBE_BUCKETS] = all->newest = known;
	return known;
}

/* Fills in what is known of a plan's probes; those that are new get ids. Returns 0 or -errno. */
static int name_all(struct object *object, struct values_set *set, struct probe_state *state)
{
	const struct plan_head *plan = set->plan;
	const struct probe_known *before = object->known_probes->newest;
	uint32_t fresh = 0, id = 0;

	for (uint32_t i = 0; i < plan->probes; i++)
		fresh += probe_of(plan, i)->window != PROBE_NONE && !find(object, set, probe_of(plan, i));
	if (fresh)
		id = announce_take_ids(object, fresh);
	const uint32_t end = id + fresh;
	for (uint32_t i = 0; i < plan->probes; i++) {
		const struct plan_probe *p = probe_of(plan, i);
		state[i].refusal = (uint8_t)p->refusal;
		if (p->window == PROBE_NONE)
			continue;
		const struct probe_known *known = find(object, set, p);
		if (!known && id && id < end && !(known = add(object, set, p, id++)))
			return -ENOMEM;
		if (!known) {
			state[i].refusal = PROBE_IDS_USED_UP;
			continue;
		}
		state[i].id = known->id;
		state[i].values = known->has_values;
	}
	announce_new_probes(object, before);
	return 0;
}

/* ---- plans ---- */

void probe_forget(struct object *object)
{
	struct object_probes *old = object->probes;

	object->probes = NULL;
	if (!old)
		return;
	for (struct load *load = loads; load; load = load->next)
		if (load->probes && load->probes->of == old)
			load->probes->of = NULL;
	if (old->own)
		sys_munmap((void *)(uintptr_t)old->plan, old->plan_size);
	struct arena held = old->memory;
	arena_free(&held);
}

int probe_take(struct object *object, struct values_set *set, bool own)
{
	const struct plan_head *plan = set->plan;
	struct arena held = { 0 };
	struct object_probes *made = arena_alloc(&held, sizeof(*made));
	struct probe_state *state = arena_alloc(&held, (plan->probes + 1) * sizeof(*state));
	int r = made && state ? 0 : -ENOMEM;

	if (!object->known_probes)
		object->known_probes = arena_alloc(&memory, sizeof(*object->known_probes));
	if (!r)
		r = object->known_probes ? name_all(object, set, state) : -ENOMEM;
	if (r) {
		arena_free(&held);
		return r;
	}
	probe_forget(object);
	*made = (struct object_probes){
		.plan = plan, .plan_size = plan->size, .state = state, .count = plan->probes, .own = own,
		.memory = held };
	object->probes = made;
	return 0;
}

/* The set of a plan with these bytes that was taken before, and is kept for its values. */
static struct values_set *find_set(const struct object *object, const void *bytes, uint64_t size)
{
	struct values_set *set = object->values;

	while (set && (set->plan->size != size || !sys_same(set->plan, bytes, size)))
		set = set->next;
	return set;
}

/* Has one of the probes that are known since then its values in the set? Then that stays. */
static bool is_known_by(const struct object_known *all, const struct probe_known *before, const struct values_set *set)
{
	const struct probe_known *known = all ? all->newest : NULL;

	while (known && known != before && !(known->values && known->values->set == set))
		known = known->all;
	return known && known != before;
}

int probe_take_copy(struct object *object, const void *bytes, uint64_t size, bool trusts)
{
	const struct probe_known *before = object->known_probes ? object->known_probes->newest : NULL;
	struct values_set *set = find_set(object, bytes, size);
	struct arena held = { 0 }; /* of the set: for as long as the process lives, if it stays */

	if (set)
		return probe_take(object, set, false);
	void *copy = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(copy))
		return (int)(intptr_t)copy;
	sys_copy(copy, bytes, size);
	sys_mprotect(copy, size, PROT_READ);
	int r = values_take_held(&object->values, copy, size, trusts, &held);
	if (r) {
		arena_free(&held);
	} else {
		set = object->values;
		values_loads_changed(object);
		r = probe_take(object, set, false);
		if (is_known_by(object->known_probes, before, set))
			return r;
		values_give_back(&object->values, &held);
	}
	if (r)
		sys_munmap(copy, size);
	else
		object->probes->own = true;
	return r;
}

/* ---- telling ---- */

/* Sums of what was said: of a name and a reason. Lock */
static uint64_t said[SAY_MOST];
static uint32_t lines;

static const char *phrase_of(unsigned refusal)
{
	static const char *const phrase[PROBE_REFUSAL_COUNT] = {
#define X(number, NAME, text) [number] = text,
		PROBE_REFUSALS(X)
#undef X
	};

	return phrase[refusal < PROBE_REFUSAL_COUNT ? refusal : PROBE_USABLE];
}

static const char *base_of(const char *path)
{
	const char *base = path;

	for (const char *p = path; *p; p++)
		base = *p == '/' ? p + 1 : base;
	return base;
}

static void text_hex(struct text *text, uint64_t n)
{
	int digits = 1;

	while (digits < 16 && n >> (4 * digits))
		digits++;
	text_string(text, "0x");
	while (digits--)
		text_char(text, "0123456789abcdef"[n >> (4 * digits) & 15]);
}

/* Has the place other addresses, so that its text does not tell which one is meant? Texts are in a plan once each. */
static bool is_one_of_many(const struct plan_head *plan, const struct plan_probe *p)
{
	for (uint32_t i = 0; i < plan->probes; i++)
		if (probe_of(plan, i)->at == p->at && probe_of(plan, i)->address != p->address)
			return true;
	return false;
}

static void say_one(const struct object *object, const struct plan_probe *p, unsigned refusal)
{
	static char buffer[800] SYS_LARGE; /* the lock guards it */
	struct text text = { buffer, sizeof(buffer), 0 };
	const char *plan = (const char *)object->probes->plan;

	text_string(&text, "probe ");
	text_string(&text, plan + p->name);
	text_string(&text, " at ");
	text_string(&text, plan + p->at);
	text_string(&text, " in ");
	text_string(&text, base_of(object->path));
	if (is_one_of_many(object->probes->plan, p)) {
		text_string(&text, " at ");
		text_hex(&text, p->address);
	}
	text_string(&text, ": ");
	text_string(&text, phrase_of(refusal));
	if (p->nearest) {
		text_string(&text, "; the nearest place that works is ");
		if (p->nearest_at)
			text_string(&text, plan + p->nearest_at);
		else
			text_hex(&text, p->nearest);
	}
	notes_say(buffer);
}

/* Of a name and a reason; never 0. */
static uint64_t sum_of(const char *name, unsigned refusal)
{
	const uint64_t sum = sum_add(SUM_NONE ^ refusal, name, sys_length(name));

	return sum ? sum : 1;
}

static bool was_said(uint64_t sum)
{
	for (uint32_t i = 0; i < lines; i++)
		if (said[i] == sum)
			return true;
	return false;
}

static void say_more(const struct object *object, uint32_t more)
{
	char buffer[400];
	struct text text = { buffer, sizeof(buffer), 0 };

	text_number(&text, more);
	text_string(&text, " more can't be had in ");
	text_string(&text, base_of(object->path));
	text_string(&text, ": `xaudit ctl ");
	text_number(&text, (uint64_t)sys_getpid());
	text_string(&text, " probes` lists them while the program runs");
	notes_say(buffer);
}

void probe_say_refused(const struct object *object)
{
	struct object_probes *of = object->probes;
	uint32_t more = 0; /* places: of a name and a reason the first one is said */
	bool any = false;

	for (uint32_t i = 0; i < of->count; i++) {
		const struct plan_probe *p = probe_of(of->plan, i);
		const unsigned refusal = of->state[i].refusal;
		const uint64_t sum = refusal ? sum_of((const char *)of->plan + p->name, refusal) : 0;
		if (!refusal)
			continue;
		any = true;
		if (was_said(sum) || lines == SAY_MOST) {
			more++;
			continue;
		}
		said[lines++] = sum;
		say_one(object, p, refusal);
	}
	if (more && !of->said)
		say_more(object, more);
	of->said |= any;
}
