/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/unmatched.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/match/match.h"
#include "audit/rules/values.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/probe/places.h"
#include "tool/read/api/api.h"
#include "tool/read/names.h"
#include "tool/read/process.h"
#include "tool/record/record.h"
#include "tool/record/run.h"

#define PROBE	    'P' /* letter of no option here */
#define TOLD_MOST   20 /* names in a line */
#define LOOKED_MOST 64 /* processes: all names of each are read */

struct pattern {
	char letter; /* of its option; PROBE */
	struct rules_pattern is; /* of -l, `library` alone; of a probe its name is `function` */
	char *text;		 /* that `is` points into */
	const char *word;	 /* as it was given */
	enum place_kind place;	 /* of a probe: how its last place without a library is told; else SYMBOL */
	bool named;		 /* something */
};

/* Used by one thread after another, as `found` of outcome.c. */
static struct {
	struct pattern *pattern; /* those of options, then those of probes */
	size_t count, options, open; /* open: of those that have named nothing */
	struct hash by_name; /* those of probes */
	unsigned looked;
	bool all; /* processes were looked at */
} named;

static void add(char letter, const struct record_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		struct pattern *pattern = &named.pattern[named.count++];
		char *text = memory_text(words->word[i], strlen(words->word[i])), *at = strchr(text, '@');

		*pattern = (struct pattern){
			.letter = record_letter(words, i, letter), .text = text, .word = words->word[i]
		};
		pattern->is.function = text;
		pattern->is.library = letter == 'l' ? text : at ? at + 1 : NULL;
		if (letter != 'l' && at)
			*at = 0;
	}
}

/* How the place from `text` to `end` is told, if it has no library; else PLACE_SYMBOL. */
static enum place_kind kind_of(const char *text, const char *end)
{
	char *copy = memory_text(text, (size_t)(end - text)), *wrong;
	enum place_kind kind = PLACE_SYMBOL;
	struct place place;

	if (place_read(&place, copy, &wrong)) {
		kind = place.library ? PLACE_SYMBOL : place.kind;
		place_free(&place);
	} else {
		free(wrong);
	}
	free(copy);
	return kind;
}

/* That of the probe; HASH_NONE. */
static uint32_t find_probe(const char *name)
{
	return HASH_FIND(i, &named.by_name, hash_text(0, name), !strcmp(named.pattern[i].text, name));
}

/* The names of probes in RULES (format/plan.h), each once. */
static void add_probes(const char *rules)
{
	static const char key[] = "\t" RULES_VALUES_PROBE "at\t";
	size_t room = named.count;

	for (const char *line = rules, *end; line && *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		const char *name = strchr(line, '\t') + 1;
		size_t length = strcspn(name, "\t");
		if (strncmp(name + length, key, sizeof(key) - 1) != 0)
			continue;
		const enum place_kind kind = kind_of(name + length + sizeof(key) - 1, end);
		char *text = memory_text(name, length);
		const uint32_t known = find_probe(text);
		if (known != HASH_NONE) {
			named.pattern[known].place = kind != PLACE_SYMBOL ? kind : named.pattern[known].place;
			free(text);
			continue;
		}
		if (named.count == room)
			named.pattern = memory_resize(named.pattern, room = 2 * room + 16, sizeof(*named.pattern));
		memory_hash(&named.by_name, hash_text(0, text), (uint32_t)named.count);
		named.pattern[named.count++] = (struct pattern){
			.letter = PROBE, .is = { .function = text }, .text = text, .word = text, .place = kind };
	}
}

void record_unmatched_begin(const struct record_options *options, const struct rules *rules)
{
	size_t count = options->libraries.count + options->functions.count + options->below.count;

	if (options->libraries.count > 1 || options->functions.count > 1 || options->below.count > 1) {
		named.pattern = memory_zeroed(count, sizeof(*named.pattern));
		add('l', &options->libraries);
		add('F', &options->functions);
		add('C', &options->below);
	}
	named.options = named.count;
	add_probes(rules->values);
	named.open = named.count;
	named.all = named.count > 0;
}

bool record_unmatched_probes(void)
{
	return named.count > named.options;
}

static void note(struct pattern *pattern, bool names)
{
	named.open -= names && !pattern->named;
	pattern->named |= names;
}

/* As a section of the configuration is compared. */
static bool names_library(const struct pattern *pattern, const struct xaudit_read_process_object *object)
{
	struct rules_section section = { .library = pattern->is.library };
	const struct rules rules = { .sections = &section };

	return rules_for(&rules, object->path, object->soname, object->role & XAUDIT_READ_PROGRAM) != NULL;
}

static void look_at_function(const struct read_process *read, const struct read_function *function)
{
	const struct read_object *object = read_process_object(read, function->object);

	if (function->kind == TRACE_KIND_PROBE) {
		const uint32_t probe = find_probe(function->name);
		if (probe != HASH_NONE)
			note(&named.pattern[probe], true);
		return;
	}
	for (size_t i = 0; i < named.options && object; i++) {
		struct pattern *pattern = &named.pattern[i];
		if (pattern->letter == 'l' || pattern->named)
			continue;
		note(pattern, rules_match(&pattern->is, *function->name ? function->name : NULL, object->path,
				      object->soname));
		for (const char *name = function->aliases; *name && !pattern->named; name += strlen(name) + 1)
			note(pattern, rules_match(&pattern->is, name, object->path, object->soname));
	}
}

void record_unmatched_look(struct xaudit_read_process *process)
{
	if (!named.open || !named.all)
		return;
	const struct xaudit_read_facts *facts =
		named.looked++ < LOOKED_MOST ? xaudit_read_process_facts(process) : NULL;
	if (!facts) {
		named.all = false;
		return;
	}
	for (uint32_t i = 0; i < facts->objects; i++)
		for (size_t k = 0; k < named.options; k++)
			if (named.pattern[k].letter == 'l')
				note(&named.pattern[k], names_library(&named.pattern[k],
								xaudit_read_process_object(process, i)));
	/* The facts keep the process loaded. */
	for (uint32_t i = 0; i < read_process_functions(process->read) && named.open; i++)
		look_at_function(process->read, read_process_function_at(process->read, i));
}

/* Says in one line which patterns of these letters named nothing. `what` is in front of them. */
static void say(const char *letters, const char *what, const char *help)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	size_t told = 0;
	for (size_t i = 0; i < named.count; i++) {
		const struct pattern *pattern = &named.pattern[i];
		const char option[] = { '-', pattern->letter, '\0' };
		if (!pattern->named && strchr(letters, pattern->letter) && told++ < TOLD_MOST)
			fprintf(to, "%s%s '%s'", told > 1 ? ", " : "",
				pattern->letter == 'C'	   ? record_names.below
				: pattern->letter == PROBE ? "probe"
							   : option, pattern->word);
	}
	if (told > TOLD_MOST)
		fprintf(to, " and %zu more", told - TOLD_MOST);
	if (fclose(to) == 0 && text && *text)
		record_error("%s %s; %s", what, text, help);
	free(text);
}

/* What else may be the reason that nothing has the places of probes, to be freed. */
static char *help_for_probes(void)
{
	bool lines = false, addresses = false;

	for (size_t i = 0; i < named.count; i++) {
		const struct pattern *pattern = &named.pattern[i];
		lines |= pattern->letter == PROBE && !pattern->named && pattern->place == PLACE_LINE;
		addresses |= pattern->letter == PROBE && !pattern->named && pattern->place == PLACE_ADDRESS;
	}
	const char *more = addresses ? ", and an address is one in a library or PIE only with @LIBRARY behind it"
			   : lines   ? ", and lines are known of files alone that have debug information"
				     : "";
	return memory_format("or it can't have a probe, as %s tells; `xaudit list FILE` shows what a file has%s",
		record_names.info, more);
}

void record_unmatched_say(bool quiet)
{
	if (!quiet && named.open && named.all && named.looked) {
		char *lists = memory_format("%s lists them", record_names.info), *help = help_for_probes();
		say("l", "no library that was loaded is named by", lists);
		say("FeC", "no function that was traced is named by",
			"`xaudit list FILE PATTERN` shows those that match in a file");
		say((const char[]){ PROBE, '\0' }, "nothing that was loaded has the place of", help);
		free(lists);
		free(help);
	}
	for (size_t i = 0; i < named.count; i++)
		free(named.pattern[i].text);
	free(named.pattern);
	hash_free(&named.by_name);
	named.pattern = NULL;
	named.count = named.options = named.open = 0;
}
