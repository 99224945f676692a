/* SPDX-License-Identifier: MIT */
#include "tool/probe/asked.h"

#include <stdio.h>
#include <stdlib.h>

#include "tool/base/tool.h"
#include "tool/values/action.h"
#include "tool/values/condition.h"

void asked_say(struct wanted_rule *rule, const char *text)
{
	if (!rule->told && *rule->where)
		tool_error(NULL, "%s: %s", rule->where, text);
	rule->told = true;
}

bool asked_action(struct action *action, struct wanted_rule *rule)
{
	char *wrong;

	if (action_read(action, rule->value, &wrong))
		return true;
	asked_say(rule, wrong);
	free(wrong);
	return false;
}

enum values_at asked_at(const struct place *place)
{
	return place->kind == PLACE_USDT     ? VALUES_AT_USDT
	       : place->kind == PLACE_RETURN ? VALUES_AT_RETURN
					     : VALUES_AT_PROBE;
}

bool asked_may_have(const struct place *place, const struct wanted_rule *rule, bool begins, struct values_wrong *wrong)
{
	const char *before = NULL;

	if (rule->key == WANTED_RESULT && place->kind != PLACE_RETURN)
		before = "retval is known where a function returns (SYMBOL%return), not at";
	else if (rule->key == WANTED_ARGUMENTS && place->kind == PLACE_RETURN)
		before = "args are gone where a function returns:";
	else if (rule->key == WANTED_ARGUMENTS && place->kind != PLACE_USDT && !begins)
		before = "args are where a function begins, and at usdt:PROVIDER:NAME, not at";
	if (!before)
		return true;
	*wrong = (struct values_wrong){ .before = before, .after = "" };
	snprintf(wrong->part, sizeof(wrong->part), "%s", place->text);
	return false;
}

static bool check_action(struct wanted_rule *rule, const struct values_known *known)
{
	struct values_asked asked = { .keeps = 0 }, conditions;
	struct values_wrong wrong;
	struct action action;

	if (!asked_action(&action, rule))
		return false;
	bool right = action_ask(&action, &asked, &conditions, known, &wrong);
	if (!right)
		wanted_wrong(rule, &wrong);
	action_free(&action);
	return right;
}

/* One rule of the probe at one of its places. */
static bool check_rule(struct wanted_rule *rule, const struct place *place)
{
	struct values_known known = wanted_anything;
	struct values_asked asked = { .keeps = 0 };
	struct values_wrong wrong;

	known.at = asked_at(place);
	switch (rule->key) {
	case WANTED_CONTEXT:
		if (values_ask(&asked, rule->value, &known, &wrong))
			return true;
		break;
	case WANTED_IF:
		if (values_ask_if(&asked, rule->value, &known, &wrong))
			return true;
		break;
	case WANTED_ARGUMENTS:
	case WANTED_RESULT:
		if (asked_may_have(place, rule, place->kind != PLACE_SYMBOL || !place->offset, &wrong))
			return true;
		break;
	case WANTED_THEN:
		return check_action(rule, &known);
	default:
		return true;
	}
	wanted_wrong(rule, &wrong);
	return false;
}

/* All rules of the probe at one of its places. */
static bool check_place(struct wanted *wanted, struct wanted_rule *at, const struct wanted_probe *probe)
{
	struct place place;
	bool right = true;
	char *wrong;

	if (!place_read(&place, at->value, &wrong)) {
		asked_say(at, wrong);
		free(wrong);
		return false;
	}
	for (size_t i = probe->others; i < probe->end; i++)
		right &= check_rule(&wanted->rule[i], &place);
	place_free(&place);
	return right;
}

static bool check_probes(struct wanted *wanted)
{
	struct wanted_probe probe = { 0 };
	bool right = true;

	while (wanted_next(wanted, &probe)) {
		for (size_t i = probe.at; i < probe.others; i++)
			right &= check_place(wanted, &wanted->rule[i], &probe);
		if (probe.at < probe.others)
			continue;
		tool_error(NULL, "%s: probe '%s' has no place; it needs a key at, as in at = main+0x10",
			wanted->rule[probe.at].where, wanted->rule[probe.at].pattern.function);
		right = false;
	}
	return right;
}

bool asked_check(const char *rules)
{
	struct wanted wanted;
	bool right = wanted_check(rules);

	/* What is wrong with lines was said. */
	if (!right)
		return false;
	wanted_read(&wanted, rules);
	right = check_probes(&wanted);
	wanted_free(&wanted);
	return right;
}
