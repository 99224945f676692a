/* SPDX-License-Identifier: MIT */
/*
 * What RULES (format/plan.h) ask of probes: whether it can be had at their places, before anybody knows the files that
 * have these. What is wrong is said in one line each: "xaudit: WHERE: what".
 *
 * Memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_PROBE_ASKED_H
#define XAUDIT_TOOL_PROBE_ASKED_H

#include "tool/probe/places.h"
#include "tool/values/action.h"
#include "tool/values/wanted.h"

/* Says it, once of a rule. */
void asked_say(struct wanted_rule *rule, const char *text);

/* Reads the rule's action. Returns false after saying what is wrong; then *action holds nothing. */
bool asked_action(struct action *action, struct wanted_rule *rule);

/* Where values are found at such a place. */
enum values_at asked_at(const struct place *place);

/*
 * Can the place have arguments, or a result, by a prototype (rule->key: ARGUMENTS, RESULT)? begins: a function begins
 * there, as far as known. Returns false, and *wrong.
 */
bool asked_may_have(const struct place *place, const struct wanted_rule *rule, bool begins, struct values_wrong *wrong);

/* As wanted_check(), and of probes too. */
bool asked_check(const char *rules);

#endif
