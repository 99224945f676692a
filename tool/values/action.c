/* SPDX-License-Identifier: MIT */
#include "tool/values/action.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/values/condition.h"
#include "tool/values/wanted.h"

#define ALLOWED                                                                                                        \
	"mark, snapshot, start, stop, start thread, stop thread; behind it if CONDITION, longer TIME, running longer " \
	"TIME, every N, once, at-most TIME, as NAME"

static bool fail(char **wrong, const char *what, const char *word)
{
	*wrong = memory_format("%s '%s'; allowed: " ALLOWED, what, word ? word : "");
	return false;
}

static bool take_count(const char *word, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = word && isdigit((unsigned char)*word) ? strtoull(word, &end, 10) : 0;
	return *number && !errno && !*end;
}

static bool is_word(const char *word)
{
	static const char *const words[] = { "if", "longer", "running", "every", "once", "at-most", "as", "thread" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* A name that is a file's in some folder, whatever it is: others may read it in the memory of a process. */
static bool is_name(const char *word)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-%";

	return word && *word && *word != '.' && *word != '-' && strlen(word) < ACTION_NAME &&
	       strspn(word, letters) == strlen(word);
}

/* The words of a condition, up to the next other one, which is returned; NULL: the text ends. */
static char *take_condition(struct action *to, char **rest)
{
	char *text = memory_text("", 0), *word;

	while ((word = strtok_r(NULL, " \t", rest)) && !is_word(word)) {
		char *more = memory_format("%s%s%s", text, *text ? " " : "", word);
		free(text);
		text = more;
	}
	if (*text)
		to->condition = text;
	else
		free(text);
	return word;
}

static bool take_what(struct action *to, const char *word, char **wrong)
{
	static const struct {
		const char *word;
		uint8_t what;
	} whats[] = { { "mark", PLAN_ACTION_MARK }, { "snapshot", PLAN_ACTION_SNAPSHOT },
		{ "start", PLAN_ACTION_START }, { "stop", PLAN_ACTION_STOP } };

	for (size_t i = 0; word && i < sizeof(whats) / sizeof(*whats); i++)
		if (!strcmp(word, whats[i].word))
			to->plan.what = whats[i].what;
	return to->plan.what || fail(wrong, "no action is called", word);
}

static bool take_longer(struct plan_action *plan, const char *value, char **wrong)
{
	if (plan->longer)
		return fail(wrong, "an action has one time, and no second", "longer");
	plan->flags |= PLAN_ACTION_AT_END;
	return (value && wanted_time(value, &plan->longer)) ||
	       fail(wrong, "behind longer is no time, as in 10ms, but", value);
}

/* Behind `running`: longer TIME. */
static bool take_running(struct plan_action *plan, const char *longer, const char *value, char **wrong)
{
	if (!longer || strcmp(longer, "longer") != 0)
		return fail(wrong, "behind running is no longer TIME, but", longer);
	if (plan->what != PLAN_ACTION_SNAPSHOT)
		return fail(wrong, "while a call is running no thread acts; a snapshot alone has", "running longer");
	plan->flags |= PLAN_ACTION_RUNNING;
	return take_longer(plan, value, wrong);
}

/* A word that has more behind it. */
static bool take_value(struct action *to, const char *word, char **rest, char **wrong)
{
	const char *value = strtok_r(NULL, " \t", rest);
	struct plan_action *plan = &to->plan;

	if (!strcmp(word, "longer"))
		return take_longer(plan, value, wrong);
	if (!strcmp(word, "running"))
		return take_running(plan, value, strtok_r(NULL, " \t", rest), wrong);
	if (!strcmp(word, "every"))
		return take_count(value, &plan->every) ||
		       fail(wrong, "behind every is no number from 1 on, but", value);
	if (!strcmp(word, "at-most"))
		return (value && wanted_time(value, &plan->at_most)) ||
		       fail(wrong, "behind at-most is no time, as in 10s, but", value);
	if (!strcmp(word, "as") && plan->what <= PLAN_ACTION_SNAPSHOT && !to->name && is_name(value)) {
		to->name = memory_text(value, strlen(value));
		return true;
	}
	return !strcmp(word, "as")
		       ? fail(wrong, "behind as is no name of a mark, or of a snapshot's folder, but", value)
		       : fail(wrong, "an action has no", word);
}

static bool take_words(struct action *to, char *text, char **wrong)
{
	char *rest = NULL, *word = strtok_r(text, " \t", &rest);

	if (!take_what(to, word, wrong))
		return false;
	word = strtok_r(NULL, " \t", &rest);
	while (word) {
		if (!strcmp(word, "if") && !to->condition) {
			word = take_condition(to, &rest);
			if (!to->condition)
				return fail(wrong, "behind if is no condition, but", word);
			continue;
		}
		if (!strcmp(word, "once"))
			to->plan.flags |= PLAN_ACTION_ONCE;
		else if (!strcmp(word, "thread") && to->plan.what >= PLAN_ACTION_START)
			to->plan.flags |= PLAN_ACTION_THREAD;
		else if (!is_word(word) || !strcmp(word, "thread") || !strcmp(word, "if"))
			return fail(wrong, "an action has no", word);
		else if (!take_value(to, word, &rest, wrong))
			return false;
		word = strtok_r(NULL, " \t", &rest);
	}
	if (to->plan.what == PLAN_ACTION_START && to->plan.longer)
		return fail(wrong, "recording starts where a call begins, so start has no", "longer");
	return true;
}

bool action_read(struct action *to, const char *text, char **wrong)
{
	char *copy = memory_text(text, strlen(text));

	*to = (struct action){ .plan = { .next = PROBE_NONE } };
	*wrong = NULL;
	bool right = take_words(to, copy, wrong);
	if (!right)
		action_free(to);
	free(copy);
	return right;
}

void action_free(struct action *action)
{
	free(action->condition);
	free(action->name);
	*action = (struct action){ 0 };
}

bool action_ask(struct action *action, struct values_asked *asked, struct values_asked *conditions,
	const struct values_known *known, struct values_wrong *wrong)
{
	*conditions = (struct values_asked){ .keeps = asked->keeps };
	memcpy(conditions->kept, asked->kept, sizeof(asked->kept));
	*wrong = (struct values_wrong){ .after = "" };
	if (action->plan.flags & PLAN_ACTION_AT_END && known->at != VALUES_AT_CALL) {
		wrong->before = "a time is a call's, and at a probe none ends:";
		snprintf(wrong->part, sizeof(wrong->part), "longer");
		return false;
	}
	if (action->condition && !values_ask_if(conditions, action->condition, known, wrong))
		return false;
	bool at_end = conditions->end_if.size > 0;
	if (at_end && action->plan.what == PLAN_ACTION_START) {
		wrong->before = "recording starts where a call begins, before there is a result:";
		snprintf(wrong->part, sizeof(wrong->part), "%s", action->condition);
		return false;
	}
	if (at_end && action->plan.flags & PLAN_ACTION_RUNNING) {
		wrong->before = "a call that has not returned has no result:";
		snprintf(wrong->part, sizeof(wrong->part), "%s", action->condition);
		return false;
	}
	if (at_end)
		action->plan.flags |= PLAN_ACTION_AT_END;
	struct values_asked whole = *asked;
	memcpy(whole.kept, conditions->kept, sizeof(whole.kept));
	whole.keeps = conditions->keeps;
	/* Its own code keeps nothing. */
	conditions->keeps = 0;
	struct values_asked complete = whole;
	if (!values_complete(conditions, wrong) || !values_complete(&complete, wrong))
		return false;
	*asked = whole;
	return true;
}
