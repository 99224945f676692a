/* SPDX-License-Identifier: MIT */
#include "runtime/values/actions.h"

#include <errno.h>    /* EBADMSG */
#include <sys/mman.h> /* PROT_READ */

#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/record/recorder.h"
#include "runtime/record/recorder_words.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

static struct actions_hooks hooks;

void actions_init(const struct actions_hooks *wanted)
{
	hooks = *wanted;
}

/* ---- taking a plan ---- */

/* A name for a folder beside the trace, whoever made the plan; of a mark any text that an event can have. */
static bool is_right_text(const struct plan_action *row, const char *text)
{
	bool plain = row->what != PLAN_ACTION_SNAPSHOT || *text != '.';

	for (const char *p = text; row->what == PLAN_ACTION_SNAPSHOT && *p; p++)
		plain &= *p != '/';
	return plain && sys_length(text) <= TRACE_CUSTOM_MAX;
}

static bool is_condition(const struct values_part *part)
{
	const struct values_facts *facts = &part->facts;

	return facts->most <= ACTIONS_PUT && !facts->values && !facts->callers && !facts->sample && !facts->keeps;
}

/* What is for calls that have not returned needs a time, and knows no result. */
static bool is_right_running(const struct plan_action *row)
{
	return !(row->flags & PLAN_ACTION_RUNNING) || (row->what == PLAN_ACTION_SNAPSHOT && row->longer &&
						 row->flags & PLAN_ACTION_AT_END && !row->end.size);
}

/* The row of that number is whole. It can only lead to a later one. */
static bool check(struct values_action *to, const struct plan_head *plan, size_t size, uint32_t number)
{
	const struct plan_action *row = to->plan;

	return row->what >= PLAN_ACTION_MARK && row->what <= PLAN_ACTION_STOP &&
	       values_is_text((const char *)plan, row->text, size) &&
	       is_right_text(row, (const char *)plan + row->text) && is_right_running(row) &&
	       (row->next == PROBE_NONE || (row->next > number && row->next < plan->actions)) &&
	       values_take_part(&to->entry, plan, &row->entry) && values_take_part(&to->end, plan, &row->end) &&
	       row->counts <= number && is_condition(&to->entry) && is_condition(&to->end) && !to->entry.facts.takes;
}

static uint32_t snapshot_number(const struct values_action *action)
{
	const struct plan_action *row = action->plan;
	struct running_wanted wanted = { .name = action->text, .at_most = row->at_most };

	if (row->flags & PLAN_ACTION_RUNNING)
		wanted.row = (struct running_row){ .longer = row->longer, .every = row->every,
			.once = (row->flags & PLAN_ACTION_ONCE) != 0 };
	return hooks.number(&wanted);
}

static struct action_counts *make_counts(uint32_t actions)
{
	const size_t bytes = actions * sizeof(struct action_counts);
	void *made = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_is_error(made))
		return NULL;
	/* An old kernel does not know it: then a child goes on with its parent's counts. */
	sys_call(__NR_madvise, (long)made, (long)bytes, MADV_WIPEONFORK, 0, 0, 0);
	return made;
}

struct values_action *actions_take(const struct plan_head *plan, size_t size, struct arena *memory, int *error)
{
	const struct plan_action *rows = (const void *)((const uint8_t *)plan + plan->action);
	struct action_counts *counts;

	*error = plan->actions ? -EBADMSG : 0;
	if (!plan->actions)
		return NULL;
	struct values_action *made = arena_alloc(memory, plan->actions * sizeof(*made));
	for (uint32_t i = 0; made && i < plan->actions; i++) {
		made[i].plan = &rows[i];
		if (!check(&made[i], plan, size, i))
			return NULL;
		made[i].text = (const char *)plan + rows[i].text;
		made[i].next = rows[i].next == PROBE_NONE ? NULL : &made[rows[i].next];
		made[i].longer = rows[i].longer ? clock_ticks(rows[i].longer) : 0;
		made[i].at_most = rows[i].at_most ? clock_ticks(rows[i].at_most) : 0;
		if (rows[i].what == PLAN_ACTION_SNAPSHOT)
			made[i].snapshot = snapshot_number(&made[i]);
	}
	*error = -ENOMEM;
	counts = made ? make_counts(plan->actions) : NULL;
	if (!counts)
		return NULL;
	for (uint32_t i = 0; i < plan->actions; i++)
		made[i].counts = &counts[rows[i].counts];
	made->mapped = counts;
	*error = 0;
	return made;
}

void actions_give_back(const struct values_action *first, const struct plan_head *plan)
{
	if (first)
		sys_munmap(first->mapped, plan->actions * sizeof(*first->mapped));
}

bool actions_have_start(const struct values_action *first)
{
	bool found = false;

	for (; first; first = first->next)
		found |= first->plan->what == PLAN_ACTION_START;
	return found;
}

static bool is_same_code(const struct values_part *a, const struct plan_part *x, const struct values_part *b,
	const struct plan_part *y)
{
	return x->size == y->size && (!x->size || sys_same(a->code, b->code, x->size));
}

static bool is_same(const struct values_action *a, const struct values_action *b)
{
	const struct plan_action *x = a->plan, *y = b->plan;

	return x->what == y->what && x->flags == y->flags && x->at_most == y->at_most && x->longer == y->longer &&
	       x->every == y->every && sys_same_text(a->text, b->text) &&
	       is_same_code(&a->entry, &x->entry, &b->entry, &y->entry) &&
	       is_same_code(&a->end, &x->end, &b->end, &y->end);
}

bool actions_are_same(const struct values_action *a, const struct values_action *b)
{
	while (a && b && is_same(a, b)) {
		a = a->next;
		b = b->next;
	}
	return !a && !b;
}

void actions_go_on(struct values_action *first, const struct values_action *before)
{
	for (struct values_action *a = first; a; a = a->next)
		for (const struct values_action *b = before; b; b = b->next)
			if (is_same(a, b))
				a->counts = b->counts;
}

/* ---- doing it ---- */

/* Of those for which the conditions hold, is this one that counts? The last of so many does. */
static bool is_due(const struct values_action *action)
{
	struct action_counts *counts = action->counts;
	/* Relaxed, all: each thread that counts gets another number, and nothing else is told by it. */
	uint64_t n = action->plan->every ? __atomic_add_fetch(&counts->calls, 1, __ATOMIC_RELAXED) : 0;

	if (n && n % action->plan->every)
		return false;
	/* Of snapshots their maker holds it. */
	if (action->at_most && action->plan->what != PLAN_ACTION_SNAPSHOT) {
		uint64_t last = __atomic_load_n(&counts->last, __ATOMIC_RELAXED), now = clock_now(); /* relaxed */
		if (last && now - last < action->at_most)
			return false;
		/* Relaxed, both: of several threads one does it. */
		if (!__atomic_compare_exchange_n(
			    &counts->last, &last, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return false;
	}
	/* Relaxed, as above. */
	return !(action->plan->flags & PLAN_ACTION_ONCE) || !__atomic_exchange_n(&counts->done, 1, __ATOMIC_RELAXED);
}

static void set_recording(int on)
{
	struct process_held held;

	process_lock(&held);
	if (process_state() != PROCESS_OFF)
		recorder_set_recording(on);
	process_unlock(&held);
}

bool actions_may_start(const struct values_action *action, const struct thread *thread)
{
	return action->plan->what == PLAN_ACTION_START &&
	       (action->plan->flags & PLAN_ACTION_THREAD ? thread_is_muted(thread)
							 : dispatch_now() == DISPATCH_WATCH);
}

void actions_do(const struct values_action *action, struct thread *thread, struct stack *stack)
{
	const bool of_thread = action->plan->flags & PLAN_ACTION_THREAD;

	/* What is recorded need not be started. */
	if ((action->plan->what == PLAN_ACTION_START && !actions_may_start(action, thread)) || !is_due(action))
		return;
	switch (action->plan->what) {
	case PLAN_ACTION_MARK:
		recorder_custom(stack, TRACE_TYPE_MARK, action->text, (uint32_t)sys_length(action->text), NULL);
		break;
	case PLAN_ACTION_SNAPSHOT:
		hooks.snapshot(action->snapshot);
		break;
	default:
		if (of_thread)
			filter_mute(thread, action->plan->what == PLAN_ACTION_STOP);
		else
			set_recording(action->plan->what == PLAN_ACTION_START);
	}
}
