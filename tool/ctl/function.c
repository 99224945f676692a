/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/function.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/ctl/change.h"
#include "tool/ctl/contexts.h"
#include "tool/ctl/find_module.h"
#include "tool/ctl/indexes.h"
#include "tool/ctl/plans.h"
#include "tool/ctl/process.h"
#include "tool/ctl/request.h"
#include "tool/ctl/targets.h"
#include "tool/probe/places.h"
#include "tool/probe/words.h"
#include "tool/values/wanted.h"

/* Sites of a function's own, or where it has none, its displaced entry: as `functions` of a section chooses. */
#define KINDS "xray,patchable,entry:"

struct asking {
	const char *condition, *every; /* options */
	FILE *context; /* its lines; NULL: none */
	char *contexts;
	size_t contexts_size;
	char **rule, **pattern, **name; /* of each word; name NULL: its symbol's */
	size_t words;
	char *rules; /* RULES of its values; "": none */
};

static bool take_context(const struct options_given *given)
{
	struct asking *asking = given->context;

	if (!asking->context)
		asking->context = memory_need(open_memstream(&asking->contexts, &asking->contexts_size));
	fprintf(asking->context, "%s\n", given->value);
	return true;
}

static const struct options_row function_rows[] = {
	{ 0, "context", "CONTEXT", "", .take = take_context },
	{ 0, "if", "CONDITION", "", .take = options_text, .at = offsetof(struct asking, condition) },
	{ 0, "every", "N", "", .take = options_text, .at = offsetof(struct asking, every) },
	{ 0 },
};

static const struct options_syntax function_syntax = {
	.command = "ctl", .rows = function_rows, .wording = &ctl_wording
};

/* ---- words ---- */

/* The pattern of a word's function, to be freed; NULL after saying why it names none. */
static char *pattern_of(const char *word, const char *text)
{
	char *wrong, *pattern = NULL;
	struct place place;

	if (!place_read(&place, text, &wrong)) {
		tool_error("ctl", "function %s: %s", word, wrong);
		free(wrong);
		return NULL;
	}
	if (place.kind == PLACE_SYMBOL && !place.offset)
		pattern = memory_format("%s%s%s", place.symbol, place.library ? "@" : "",
			place.library ? place.library : "");
	else
		tool_error("ctl", "function %s: that is no function's name; `probe` takes any instruction", word);
	place_free(&place);
	return pattern;
}

static bool add_word(struct asking *asking, const char *word)
{
	char *name;
	const char *text = words_probe(word, &name);
	char *pattern = strpbrk(word, "\t\n") ? NULL : pattern_of(word, text);

	if (strpbrk(word, "\t\n"))
		tool_error("ctl", "function: a word holds a tab or a new line");
	if (!pattern || text == word) {
		free(name);
		name = NULL;
	}
	if (!pattern)
		return false;
	asking->rule[asking->words] = memory_format(KINDS "%s", pattern);
	asking->pattern[asking->words] = pattern;
	asking->name[asking->words++] = name;
	return true;
}

/* ---- values ---- */

static void put_rule(FILE *to, const char *pattern, const char *key, const char *value, size_t length)
{
	fprintf(to, "ctl function\t%s\t%s\t%.*s\n", pattern, key, (int)length, value);
}

/* Makes the RULES of what the options ask for. Returns false after saying what is wrong there. */
static bool make_rules(struct asking *asking)
{
	size_t size;
	FILE *to = memory_need(open_memstream(&asking->rules, &size));

	if (asking->context && fclose(asking->context))
		memory_failed();
	for (size_t i = 0; i < asking->words; i++) {
		const char *pattern = asking->pattern[i];
		for (const char *at = asking->contexts ? asking->contexts : "", *end; *at; at = end + 1) {
			end = strchrnul(at, '\n');
			put_rule(to, pattern, "context", at, (size_t)(end - at));
		}
		if (asking->condition)
			put_rule(to, pattern, "if", asking->condition, strlen(asking->condition));
		if (asking->every)
			put_rule(to, pattern, "every", asking->every, strlen(asking->every));
	}
	if (fclose(to))
		memory_failed();
	if (strlen(asking->rules) >= CONTROL_TEXT) {
		tool_error("ctl", "function: too many functions and contexts at once: %d bytes are allowed",
			CONTROL_TEXT);
		return false;
	}
	return !*asking->rules || wanted_check(asking->rules);
}

/* ---- one process ---- */

/* Fills the request with all names. Returns false: there are none. */
static bool put_names(struct control_request *request, const struct asking *asking)
{
	size_t have = 0;

	memset(request, 0, sizeof(*request));
	request->op = CONTROL_NAMES;
	for (size_t i = 0; i < asking->words; i++) {
		const char *const part[] = { asking->pattern[i], asking->name[i] };
		for (int n = 0; asking->name[i] && n < 2; n++) {
			memcpy(request->text + have, part[n], strlen(part[n]) + 1);
			have += strlen(part[n]) + 1;
		}
	}
	return have;
}

/* Before they are switched on. */
static int prepare(void *context, const struct ctl_targets *targets, struct ctl_process *process)
{
	static struct control_request request;
	const struct asking *asking = context;
	struct ctl_indexes plans = { 0 };
	uint64_t pause;

	(void)targets;
	if (put_names(&request, asking) && !ctl_request(process, &request, NULL, NULL, &pause))
		return TOOL_FAILED;
	if (!*asking->rules)
		return TOOL_OK;
	memset(&request, 0, sizeof(request));
	request.op = CONTROL_ADD_CONTEXT;
	strcpy(request.text, asking->rules);
	contexts_plans(&plans, process, asking->rules);
	bool good = ctl_request(process, &request, &plans, NULL, &pause);
	plans_free(&plans);
	return good ? TOOL_OK : TOOL_FAILED;
}

/* ---- the command ---- */

static void free_all(struct asking *asking)
{
	for (size_t i = 0; i < asking->words; i++) {
		free(asking->rule[i]);
		free(asking->pattern[i]);
		free(asking->name[i]);
	}
	free(asking->rule);
	free(asking->pattern);
	free(asking->name);
	free(asking->rules);
	free(asking->contexts);
}

int ctl_function(struct ctl_targets *targets, int argc, char **argv)
{
	struct asking asking = { 0 };
	const int first = options_take(&function_syntax, &asking, argc, argv);
	size_t bytes = 2;
	bool good = first > 0;

	if (good && first == argc) {
		tool_error("ctl", "function what? give functions: [NAME=]SYMBOL, such as work=do_work@libfoo.so");
		good = false;
	}
	asking.rule = memory_zeroed((size_t)argc, sizeof(*asking.rule));
	asking.pattern = memory_zeroed((size_t)argc, sizeof(*asking.pattern));
	asking.name = memory_zeroed((size_t)argc, sizeof(*asking.name));
	for (int i = first; good && i < argc; i++) {
		good = add_word(&asking, argv[i]);
		bytes += strlen(argv[i]) + 2;
	}
	if (good && bytes > CONTROL_TEXT) {
		tool_error("ctl", "function: too many functions at once: %d bytes are allowed", CONTROL_TEXT);
		good = false;
	}
	int status = TOOL_USAGE;
	if (good && make_rules(&asking))
		status = change_enable(targets, asking.rule, asking.pattern, asking.words, prepare, &asking);
	free_all(&asking);
	return status;
}
