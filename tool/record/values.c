/* SPDX-License-Identifier: MIT */
#include "tool/record/values.h"

#include <stdlib.h>
#include <string.h>

#include "audit/match/match.h"
#include "audit/rules/values.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/probe/asked.h"
#include "tool/record/probes.h"
#include "tool/record/record.h"
#include "tool/record/run.h"
#include "tool/values/parser.h"
#include "tool/values/wanted.h"

/* Is it the first word of a context, so that no function is meant? */
static bool is_context(const char *word, size_t length)
{
	struct values_wrong wrong;
	struct parser p = parser_of(word, length, NULL, &wrong);
	static const char *const words[] = { "out", "reg", "regs", "comm", "args", "retval" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (parser_is(word, length, words[i]))
			return true;
	return parser_type(word, length) || parser_name(&p, word, length);
}

static bool is_key(const char *word, size_t length)
{
	return rules_values_is_key(word, length);
}

/* Bytes of the function in front of ':' or '='; *contexts: what is behind it. 0: there is none. */
static size_t function_of(const char *option, const char **contexts)
{
	size_t n = 0;

	*contexts = option;
	/* `::` belongs to names of C++. */
	while (option[n] && option[n] != '=' && (option[n] != ':' || option[n + 1] == ':'))
		n += option[n] == ':' ? 2 : 1;
	if (!option[n] || !n || (option[n] == ':' && is_context(option, n)) || (option[n] == '=' && is_key(option, n)))
		return 0;
	/* Of an expression, or one of several contexts. */
	if (memchr(option, ',', n) || memchr(option, '(', n))
		return 0;
	*contexts = option + n + 1;
	return n;
}

/* One context, or KEY=VALUE. */
static void put_one(FILE *to, const char *text, size_t length)
{
	const char *equal = memchr(text, '=', length);

	if (equal && is_key(text, (size_t)(equal - text)))
		fprintf(to, "%.*s = %.*s\n", (int)(equal - text), text, (int)(length - (size_t)(equal - text) - 1),
			equal + 1);
	else
		fprintf(to, "context = %.*s\n", (int)length, text);
}

static void put_contexts(FILE *to, const char *contexts)
{
	for (size_t length; contexts;) {
		const char *from = contexts;
		contexts = values_first(from, &length);
		put_one(to, from, length);
	}
}

/* Would a configuration take it as it is? Returns false after a line. */
static bool check_text(const char *option, const char *text)
{
	if (!strpbrk(text, "\n\r\v\f\t") && !strstr(text, " ;") && *text)
		return true;
	tool_error("record", "%s '%s' %s; the configuration can't express that", option, text,
		*text ? "holds a line break, a tab, or a blank before ';'" : "is empty");
	return false;
}

/* The rules of one option alone, to find out what is wrong in it. */
static bool check_option(const char *option, const char *pattern, const char *contexts)
{
	char *rules;
	size_t size, length;
	FILE *to = memory_need(open_memstream(&rules, &size));

	while (contexts) {
		const char *from = contexts, *equal;
		contexts = values_first(from, &length);
		equal = memchr(from, '=', length);
		bool key = equal && is_key(from, (size_t)(equal - from));
		const char *word = key ? from : "context", *value = key ? equal + 1 : from;
		fprintf(to, "%s: %s\t%s\t%.*s\t%.*s\n", record_speaker, option, pattern,
			key ? (int)(equal - from) : 7, word, (int)(from + length - value), value);
	}
	if (fclose(to))
		memory_failed();
	bool right = wanted_check(rules);
	free(rules);
	return right;
}

bool record_values_of_function(const char *option)
{
	const char *contexts;

	return function_of(option, &contexts);
}

bool record_values_contexts(FILE *to, const char *option, const char *pattern, const char *contexts)
{
	if (!check_text("--context", option))
		return false;
	char *where = memory_format("--context %s", option);
	bool right = check_option(where, pattern, contexts);
	if (right) {
		fprintf(to, "[context %s]\n", pattern);
		put_contexts(to, contexts);
	}
	free(where);
	return right;
}

bool record_values_then(FILE *to, const char *option, const char *pattern, const char *action)
{
	if (!check_text("--then", option))
		return false;
	char *rule = memory_format("%s: --then %s\t%s\tthen\t%s\n", record_speaker, option, pattern, action);
	bool right = wanted_check(rule);
	if (right)
		fprintf(to, "[context %s]\nthen = %s\n", pattern, action);
	free(rule);
	return right;
}

bool record_values_context(FILE *to, const char *option)
{
	const char *contexts;
	size_t n = function_of(option, &contexts);
	char *pattern = n ? memory_text(option, n) : memory_text("*", 1);
	bool right = record_values_contexts(to, option, pattern, contexts);

	free(pattern);
	return right;
}

/* Patterns with commas between them, of which all have these contexts. */
static bool put_patterns(FILE *to, const char *option, const struct record_words *words, const char *contexts)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *list = words->word[i];
		if (!check_text(option, list))
			return false;
		for (size_t n; *list; list += n + (list[n] == ',')) {
			n = strcspn(list, ",");
			char *pattern = memory_text(list, n);
			bool right = check_option(option, pattern, contexts);
			if (right)
				fprintf(to, "[context %s]\ncontext = %s\n", pattern, contexts);
			free(pattern);
			if (!right)
				return false;
		}
	}
	return true;
}

/* One of them: each is behind the one before it. */
static void put_line(FILE *to, const char *pattern, const char *key, const char *value, const char *end)
{
	static const char probe[] = RULES_VALUES_PROBE;
	bool is_probe = !strncmp(key, probe, sizeof(probe) - 1);
	const char *word = is_probe ? key + sizeof(probe) - 1 : key;

	fprintf(to, "[%s %.*s]\n%.*s = %.*s\n", is_probe ? "probe" : "context", (int)(key - pattern - 1), pattern,
		(int)(value - word - 1), word, (int)(end - value), value);
}

/* RULES of format/plan.h, as sections again. */
static void put_found(FILE *to, const char *values)
{
	for (const char *line = values, *end; line && *line; line = end + 1) {
		const char *pattern = strchr(line, '\t') + 1, *key = strchr(pattern, '\t') + 1,
			   *value = strchr(key, '\t') + 1;
		end = strchr(value, '\n');
		if (*pattern == '\t')
			fprintf(to, "[prototypes]\n%.*s\n", (int)(end - value), value);
		else
			put_line(to, pattern, key, value, end);
	}
}

static void put_names(FILE *to, const struct rules_name *names)
{
	for (; names; names = names->next)
		fprintf(to, "[context %s%s%s]\nname = %s\n", names->pattern->function,
			names->pattern->library ? "@" : "", names->pattern->library ? names->pattern->library : "",
			names->name);
}

size_t record_values_request(const char *option)
{
	const char *contexts;
	size_t n = function_of(option, &contexts);

	return n && option[n] == ':' && option[n + 1] ? n : 0;
}

static bool put_request(FILE *to, const char *option)
{
	size_t n = record_values_request(option);

	if (!check_text("--request", option))
		return false;
	if (!n) {
		tool_error("record", "--request '%s' is not FUNCTION:CONTEXT or FUNCTION@LIBRARY:CONTEXT, as in "
				     "handle_request:arg1", option);
		return false;
	}
	char *pattern = memory_text(option, n), *where = memory_format("--request %s", option);
	char *key = memory_format("request=%s", option + n + 1);
	bool right = check_option(where, pattern, key);
	if (right)
		fprintf(to, "[context %s]\nrequest = %s\n", pattern, option + n + 1);
	free(key);
	free(where);
	free(pattern);
	return right;
}

bool record_values_put(FILE *to, const struct record_options *options, const struct rules *found)
{
	if ((found && !record_probes_named(options, found)) || !record_probes_put(to, options))
		return false;
	for (size_t i = 0; i < options->contexts.count; i++)
		if (!record_values_context(to, options->contexts.word[i]))
			return false;
	for (size_t i = 0; i < options->requests.count; i++)
		if (!put_request(to, options->requests.word[i]))
			return false;
	if (options->args_of_all)
		fputs("[context *]\ncontext = args retval\n", to);
	if (!put_patterns(to, "-A", &options->args, "args") || !put_patterns(to, "-R", &options->results, "retval"))
		return false;
	if (found) {
		put_found(to, found->values);
		put_names(to, found->names);
	}
	return true;
}

bool record_values_check(const struct rules *rules)
{
	return !rules->values || asked_check(rules->values);
}
