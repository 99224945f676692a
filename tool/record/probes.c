/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/probes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/match/match.h"
#include "audit/rules/values.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/index/image.h"
#include "tool/index/own_file.h"
#include "tool/probe/asked.h"
#include "tool/probe/places.h"
#include "tool/probe/symbols.h"
#include "tool/probe/words.h"
#include "tool/record/objects.h"
#include "tool/record/run.h"
#include "tool/record/values.h"
#include "tool/values/action.h"

/* ---- options ---- */

static struct record_line *add(const struct options_given *given, enum record_line_kind kind)
{
	struct record_options *options = given->context;

	options->line = memory_grow(options->line, options->lines, sizeof(*options->line));
	struct record_line *line = &options->line[options->lines++];
	*line = (struct record_line){ .kind = kind, .word = given->value };
	return line;
}

/* Reads the line's place. Returns false after a line on stderr. */
static bool read_place(struct record_line *line, const char *option, struct place *place)
{
	char *wrong;

	line->place = words_probe(line->word, &line->name);
	if (strpbrk(line->name, "\n\r\v\f\t") || strstr(line->name, " ;")) {
		record_error("--%s '%s' holds a line break, a tab, or a blank before ';'; the configuration can't "
			     "express that", option, line->word);
		return false;
	}
	if (place_read(place, line->place, &wrong))
		return true;
	record_error("--%s %s: %s", option, line->word, wrong);
	free(wrong);
	return false;
}

bool record_probes_take(const struct options_given *given)
{
	struct place place;

	if (!read_place(add(given, RECORD_PROBE), "probe", &place))
		return false;
	place_free(&place);
	return true;
}

bool record_probes_take_function(const struct options_given *given)
{
	struct record_line *line = add(given, RECORD_FUNCTION);
	struct place place;

	if (!read_place(line, "function", &place))
		return false;
	bool right = place.kind == PLACE_SYMBOL || place.kind == PLACE_ADDRESS;
	if (!right)
		record_error("--function %s: that is no function's beginning; --probe is for it", line->word);
	/* An address is found when the files are known. */
	if (place.kind == PLACE_SYMBOL && !place.offset)
		line->pattern = memory_format("%s%s%s", place.symbol, place.library ? "@" : "",
			place.library ? place.library : "");
	place_free(&place);
	return right;
}

bool record_probes_take_context(const struct options_given *given)
{
	add(given, RECORD_CONTEXT);
	return true;
}

/* Bytes of NAME in NAME:ACTION; 0: there is none. *action: what is behind it. */
static size_t then_name(const char *word, const char **action)
{
	static const char *const whats[] = { "mark", "snapshot", "start", "stop" };
	size_t n = 0;

	*action = word;
	for (size_t i = 0; i < sizeof(whats) / sizeof(*whats); i++) {
		size_t length = strlen(whats[i]);
		if (!strncmp(word, whats[i], length) && (!word[length] || word[length] == ' '))
			return 0;
	}
	/* `::` belongs to names of C++. */
	while (word[n] && (word[n] != ':' || word[n + 1] == ':'))
		n += word[n] == ':' ? 2 : 1;
	if (!word[n])
		return 0;
	*action = word + n + 1;
	return n;
}

bool record_probes_take_then(const struct options_given *given)
{
	const struct record_line *line = add(given, RECORD_THEN);
	const char *text;
	struct action action;
	char *wrong;

	then_name(line->word, &text);
	if (action_read(&action, text, &wrong)) {
		action_free(&action);
		return true;
	}
	record_error("--then %s: %s", line->word, wrong);
	free(wrong);
	return false;
}

void record_probes_free(struct record_options *options)
{
	for (size_t i = 0; i < options->lines; i++) {
		free(options->line[i].name);
		free(options->line[i].pattern);
	}
	free(options->line);
	options->line = NULL;
	options->lines = 0;
}

/* ---- functions ---- */

/* What was found of a place that should be a function's beginning. */
struct search {
	char *pattern;	 /* of the function that begins there; NULL: none was found */
	char *wrong;	 /* NULL, or why it is none, by the last file that has it */
};

static void take_found(struct search *search, const struct image *image, const char *path, const struct place_found *at)
{
	const struct image_function *function = image_at(image, at->address);

	if (search->pattern)
		return;
	if (function && function->name) {
		search->pattern = memory_format("%s@%s", function->name, tool_base(path));
		return;
	}
	free(search->wrong);
	search->wrong = memory_format("no function with a name begins at 0x%lx in %s; --probe takes any instruction",
		(unsigned long)at->address, path);
}

static void look(struct search *search, const struct place *place, const char *path)
{
	struct place_found *found = NULL;
	struct image_name name;
	struct image image;
	char *wrong = NULL;
	int fd = own_open(path);

	if (fd < 0)
		return;
	int r = image_identify(fd, &name);
	if (!r && !image_open(&image, fd, path, NULL)) {
		struct symbols symbols;
		symbols_begin(&symbols, &image);
		size_t count = place_find(place, &image, &symbols, NULL, path, name.soname, &found, &wrong);
		symbols_end(&symbols);
		for (size_t i = 0; i < count; i++)
			take_found(search, &image, path, &found[i]);
		if (wrong && !search->wrong)
			search->wrong = wrong;
		else
			free(wrong);
		free(found);
		image_close(&image);
	}
	if (!r)
		free(name.soname);
	close(fd);
}

/* Returns false after a line on stderr. */
static bool find(struct record_line *line, const struct record_objects *objects)
{
	struct search search = { .pattern = NULL };
	struct place place;
	char *wrong;

	/* It was read before. */
	if (!place_read(&place, line->place, &wrong)) {
		free(wrong);
		return false;
	}
	if (objects->program)
		look(&search, &place, objects->program);
	for (size_t i = 0; i < objects->libraries && !search.pattern; i++)
		look(&search, &place, objects->library[i]);
	if (!search.pattern)
		record_error("--function %s: %s", line->word,
			search.wrong ? search.wrong : "nothing of it is in the program and the libraries that it is "
						      "linked with");
	place_free(&place);
	free(search.wrong);
	line->pattern = search.pattern;
	return search.pattern;
}

bool record_probes_functions(struct record_options *options, const struct record_objects *objects)
{
	struct record_words words = { .selected = options->functions.selected };
	bool any = false;

	for (size_t i = 0; i < options->lines; i++) {
		struct record_line *line = &options->line[i];
		if (line->kind != RECORD_FUNCTION)
			continue;
		any = true;
		if (!line->pattern && !find(line, objects)) {
			free(words.word);
			return false;
		}
		record_words_add(&words, line->pattern);
	}
	/* Behind them, since the last ones are those of -e. */
	for (size_t i = 0; any && i < options->functions.count; i++)
		record_words_add(&words, options->functions.word[i]);
	if (any)
		options->functions = words;
	return true;
}

/* ---- sections ---- */

/* Do options say what else is to be traced? */
static bool names_others(const struct record_options *options)
{
	return options->functions.count || options->libraries.count || options->kinds;
}

/* Are there probes in RULES (format/plan.h), and no values of functions, which want these to be traced? */
static bool are_of_probes(const char *rules)
{
	bool any = false;

	for (const char *line = rules, *end; line && *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		const char *name = strchr(line, '\t') + 1, *key = name + strcspn(name, "\t") + 1;
		bool is_probe = !strncmp(key, RULES_VALUES_PROBE, sizeof(RULES_VALUES_PROBE) - 1);
		if (!is_probe && *name != '\t')
			return false;
		any |= is_probe;
	}
	return any;
}

bool record_probes_alone(const struct record_options *options, const struct rules *found)
{
	bool any = are_of_probes(found->values);

	for (size_t i = 0; i < options->lines; i++)
		any |= options->line[i].kind == RECORD_PROBE;
	return any && found->defaults && !names_others(options);
}

/* Behind NAME: or NAME=, if the context begins so; NULL: it does not. */
static const char *behind(const char *context, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(context, name, length) && (context[length] == ':' || context[length] == '=') &&
			       context[length + 1] != ':'
		       ? context + length + 1
		       : NULL;
}

/* What a line's context is for. */
struct target {
	size_t line; /* the one that it names; options->lines: none */
	const char *contexts; /* what it asks for, behind the name */
};

static struct target target_of(const struct record_options *options, const char *context)
{
	const char *contexts;

	for (size_t i = 0; i < options->lines; i++)
		if (options->line[i].name && (contexts = behind(context, options->line[i].name)))
			return (struct target){ i, contexts };
	return (struct target){ options->lines, context };
}

bool record_probes_named(const struct record_options *options, const struct rules *found)
{
	const bool alone = record_probes_alone(options, found);

	for (size_t i = 0; i < options->lines && alone; i++) {
		const char *word = options->line[i].word;
		if (options->line[i].kind != RECORD_CONTEXT || target_of(options, word).line < options->lines ||
			!record_values_of_function(word))
			continue;
		record_error("--context %s: no --probe has that name, and no functions are traced; allowed: "
			     "NAME:CONTEXTS as in NAME=PLACE, or CONTEXTS behind --probe", word);
		return false;
	}
	return true;
}

/* Is the line's context for the probe or function of another line? */
static bool is_for(
	const struct record_options *options, const struct target *target, size_t context, size_t line)
{
	const struct record_line *from = &options->line[context], *to = &options->line[line];

	if (from->kind != RECORD_CONTEXT)
		return false;
	if (target[context].line < options->lines)
		return !strcmp(options->line[target[context].line].name, to->name);
	return context > line && !record_values_of_function(from->word);
}

/* Is the line's action for the probe or function of another line? *action: which. */
static bool acts_for(const struct record_options *options, size_t then, size_t line, const char **action)
{
	const struct record_line *from = &options->line[then], *to = &options->line[line];
	size_t length = from->kind == RECORD_THEN ? then_name(from->word, action) : 0;

	if (from->kind != RECORD_THEN || !to->name)
		return false;
	return length ? strlen(to->name) == length && !strncmp(to->name, from->word, length) : then > line;
}

/* KEY=VALUE of a probe, or a context. RULES of it go to `rules`, for a check. */
static void put_one(FILE *to, FILE *rules, const char *where, const char *name, const char *text, size_t length)
{
	const char *equal = memchr(text, '=', length), *value = text;
	size_t word = equal ? (size_t)(equal - text) : 0;
	const char *key = "context";

	if (rules_values_probe_key(text, word).length || rules_values_is_key(text, word)) {
		key = text;
		value = equal + 1;
	} else {
		word = strlen(key);
	}
	int rest = (int)(text + length - value);
	fprintf(to, "%.*s = %.*s\n", (int)word, key, rest, value);
	fprintf(rules, "%s\t%s\t" RULES_VALUES_PROBE "%.*s\t%.*s\n", where, name, (int)word, key, rest, value);
}

static void put_context(FILE *to, FILE *rules, const char *name, const char *option, const char *contexts)
{
	char *where = memory_format("%s: --context %s", record_speaker, option);

	for (size_t length; contexts;) {
		const char *from = contexts;
		contexts = values_first(from, &length);
		put_one(to, rules, where, name, from, length);
	}
	free(where);
}

/* The section of the probe at a line, with the places of all that have its name. RULES of it go to `check`. */
static void put_probe(
	FILE *to, FILE *check, const struct record_options *options, const struct target *target, size_t first)
{
	const char *name = options->line[first].name, *action;

	for (size_t i = 0; i < first; i++)
		if (options->line[i].kind == RECORD_PROBE && !strcmp(options->line[i].name, name))
			return;
	fprintf(to, "[probe %s]\n", name);
	for (size_t i = first; i < options->lines; i++) {
		const struct record_line *line = &options->line[i];
		if (line->kind != RECORD_PROBE || strcmp(line->name, name) != 0)
			continue;
		fprintf(to, "at = %s\n", line->place);
		fprintf(check, "%s: --probe %s\t%s\t" RULES_VALUES_PROBE "at\t%s\n", record_speaker, line->word, name,
			line->place);
	}
	for (size_t i = 0; i < options->lines; i++)
		if (is_for(options, target, i, first))
			put_context(to, check, name, options->line[i].word, target[i].contexts);
	for (size_t i = 0; i < options->lines; i++)
		if (acts_for(options, i, first, &action)) {
			fprintf(to, "then = %s\n", action);
			fprintf(check, "%s: --then %s\t%s\t" RULES_VALUES_PROBE "then\t%s\n", record_speaker,
				options->line[i].word, name, action);
		}
}

/* A context of functions, as it ever was. alone: the line names nothing but probes. */
static bool put_functions(
	FILE *to, const struct record_options *options, const struct target *target, size_t context, bool alone)
{
	const char *word = options->line[context].word;
	const size_t line = target[context].line;
	bool is_unnamed = line == options->lines && !record_values_of_function(word), before = false;

	if (line < options->lines && options->line[line].kind == RECORD_PROBE)
		return true;
	if (line < options->lines)
		return record_values_contexts(to, word, options->line[line].pattern, target[context].contexts);
	for (size_t i = 0; i < context; i++)
		before |= options->line[i].kind == RECORD_PROBE;
	/* Of the probes before it, and of nothing else that is traced. */
	if (is_unnamed && before && alone)
		return true;
	return record_values_context(to, word);
}

/* An action of functions: of those with this name, or that are before it; or of others, by a pattern. */
static bool put_then(FILE *to, const struct record_options *options, size_t then)
{
	const char *word = options->line[then].word, *action;
	size_t length = then_name(word, &action);
	bool any = false;

	if (strpbrk(word, "\n\r\v\f\t") || strstr(word, " ;")) {
		record_error("--then '%s' holds a line break, a tab, or a blank before ';'; the configuration can't "
			     "express that", word);
		return false;
	}
	for (size_t i = 0; i < options->lines; i++) {
		const struct record_line *line = &options->line[i];
		if (!acts_for(options, then, i, &action))
			continue;
		any = true;
		if (line->kind == RECORD_FUNCTION && !record_values_then(to, word, line->pattern, action))
			return false;
	}
	if (!any && !length)
		record_error("--then %s: of what? behind --probe or --function it is theirs; FUNCTION:%s is of a "
			     "function", word, word);
	if (any || !length)
		return any;
	char *pattern = memory_text(word, length);
	bool right = record_values_then(to, word, pattern, action);
	free(pattern);
	return right;
}

/* The name that a function is to have; by default its symbol's. */
static void put_name(FILE *to, const struct record_line *line)
{
	if (line->place != line->word)
		fprintf(to, "[context %s]\nname = %s\n", line->pattern, line->name);
}

bool record_probes_put(FILE *to, const struct record_options *options)
{
	struct target *target = memory_zeroed(options->lines, sizeof(*target));
	const bool alone = !names_others(options);
	bool right = true;
	char *rules;
	size_t size;
	FILE *check = memory_need(open_memstream(&rules, &size));

	for (size_t i = 0; i < options->lines; i++)
		if (options->line[i].kind == RECORD_CONTEXT)
			target[i] = target_of(options, options->line[i].word);
	for (size_t i = 0; right && i < options->lines; i++) {
		const struct record_line *line = &options->line[i];
		if (line->kind == RECORD_CONTEXT)
			right = put_functions(to, options, target, i, alone);
		if (line->kind == RECORD_PROBE)
			put_probe(to, check, options, target, i);
		if (line->kind == RECORD_FUNCTION)
			put_name(to, line);
		if (line->kind == RECORD_THEN)
			right = put_then(to, options, i);
	}
	if (fclose(check))
		memory_failed();
	/* All at once: what they are checked against takes time to read. */
	right = right && (!*rules || asked_check(rules));
	free(rules);
	free(target);
	return right;
}
