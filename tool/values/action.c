/* SPDX-License-Identifier: MIT */
#include "tool/values/action.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/values/wanted.h"

#define ALLOWED "mark, snapshot, start, stop, start thread, stop thread; behind it once, every N, at-most TIME"

static bool fail(char **wrong, const char *what, const char *word)
{
	*wrong = memory_format("%s '%s'; allowed: " ALLOWED, what, word);
	return false;
}

static bool take_count(const char *word, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = word && isdigit((unsigned char)*word) ? strtoull(word, &end, 10) : 0;
	return *number && !errno && !*end;
}

static bool take_words(struct plan_action *to, char *text, char **wrong)
{
	static const struct {
		const char *word;
		uint8_t what;
	} whats[] = { { "mark", PLAN_ACTION_MARK }, { "snapshot", PLAN_ACTION_SNAPSHOT },
		{ "start", PLAN_ACTION_START }, { "stop", PLAN_ACTION_STOP } };
	char *rest = NULL, *word = strtok_r(text, " \t", &rest);

	for (size_t i = 0; word && i < sizeof(whats) / sizeof(*whats); i++)
		if (!strcmp(word, whats[i].word))
			to->what = whats[i].what;
	if (!to->what)
		return fail(wrong, "no action is called", word ? word : "");
	while ((word = strtok_r(NULL, " \t", &rest))) {
		if (!strcmp(word, "once")) {
			to->flags |= PLAN_ACTION_ONCE;
		} else if (!strcmp(word, "thread") && to->what >= PLAN_ACTION_START) {
			to->flags |= PLAN_ACTION_THREAD;
		} else if (!strcmp(word, "every")) {
			word = strtok_r(NULL, " \t", &rest);
			if (!take_count(word, &to->every))
				return fail(wrong, "behind every is no number from 1 on, but", word ? word : "");
		} else if (!strcmp(word, "at-most")) {
			word = strtok_r(NULL, " \t", &rest);
			if (!word || !wanted_time(word, &to->at_most))
				return fail(wrong, "behind at-most is no time, as in 10s, but", word ? word : "");
		} else {
			return fail(wrong, "an action has no limit", word);
		}
	}
	return true;
}

bool action_read(struct plan_action *to, const char *text, char **wrong)
{
	char *copy = memory_text(text, strlen(text));

	*to = (struct plan_action){ 0 };
	*wrong = NULL;
	bool right = take_words(to, copy, wrong);
	free(copy);
	return right;
}
