/* SPDX-License-Identifier: MIT */
#include "tool/plan/actions.h"

#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/plan/functions.h"
#include "tool/probe/asked.h"
#include "tool/values/action.h"

static void add(struct making *m, const struct action *action, const struct values_asked *conditions, const char *name)
{
	struct plan_action *to;

	m->action = memory_grow(m->action, m->actions, sizeof(*m->action));
	to = &m->action[m->actions++];
	*to = action->plan;
	to->counts = m->actions - 1;
	if (action->name)
		name = action->name;
	else if (action->plan.what != PLAN_ACTION_MARK)
		name = "";
	to->text = pieces_text(&m->pieces, name);
	to->entry = making_part(&m->pieces, &conditions->entry, NULL);
	to->end = making_part(&m->pieces, &conditions->end, NULL);
}

/* Returns whether there is one by that rule. */
static bool add_one(struct making *m, struct wanted_rule *rule, const char *name, struct values_asked *asked,
	const struct values_known *known)
{
	struct values_asked conditions;
	struct values_wrong wrong;
	struct action action;

	if (!asked_action(&action, rule)) {
		m->wrong = true;
		return false;
	}
	bool right = action_ask(&action, asked, &conditions, known, &wrong);
	if (right) {
		rule->right = true;
		add(m, &action, &conditions, name);
	} else {
		making_refuse(m, rule, &wrong);
	}
	action_free(&action);
	return right;
}

uint32_t actions_make(
	struct making *m, const char *name, struct values_asked *asked, const struct values_known *known)
{
	uint32_t first = PROBE_NONE;

	for (size_t i = m->from; i < m->to; i++) {
		const uint32_t before = m->actions;
		if (!m->matches[i] || m->wanted.rule[i].key != WANTED_THEN || making_is_asked(m, i) ||
			!add_one(m, &m->wanted.rule[i], name, asked, known))
			continue;
		if (first == PROBE_NONE)
			first = before;
		else
			m->action[before - 1].next = before;
	}
	return first;
}
