/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/unmatched.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/match/match.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/read/api/api.h"
#include "tool/read/names.h"
#include "tool/read/process.h"
#include "tool/record/record.h"
#include "tool/record/run.h"

#define LOOKED_MOST 64 /* processes: all names of each are read */

struct pattern {
	char letter;
	struct rules_pattern is; /* of -l, `library` alone */
	char *text;		 /* that `is` points into */
	const char *word;	 /* as it was given */
	bool named;		 /* something */
};

/* Used by one thread after another, as `found` of outcome.c. */
static struct {
	struct pattern *pattern;
	size_t count, open; /* open: of those that have named nothing */
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

void record_unmatched_begin(const struct record_options *options)
{
	size_t count = options->libraries.count + options->functions.count + options->below.count;

	if (options->libraries.count < 2 && options->functions.count < 2 && options->below.count < 2)
		return;
	named.pattern = memory_zeroed(count, sizeof(*named.pattern));
	add('l', &options->libraries);
	add('F', &options->functions);
	add('C', &options->below);
	named.open = count;
	named.all = true;
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

	for (size_t i = 0; i < named.count; i++) {
		struct pattern *pattern = &named.pattern[i];
		if (pattern->letter == 'l' || pattern->named || !object)
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
		for (size_t k = 0; k < named.count; k++)
			if (named.pattern[k].letter == 'l')
				note(&named.pattern[k], names_library(&named.pattern[k],
								xaudit_read_process_object(process, i)));
	/* The facts keep the process loaded. */
	for (uint32_t i = 0; i < read_process_functions(process->read) && named.open; i++)
		look_at_function(process->read, read_process_function_at(process->read, i));
}

/* Says in one line which patterns of these letters named nothing. */
static void say(const char *letters, const char *what, const char *help)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	for (size_t i = 0, told = 0; i < named.count; i++) {
		const struct pattern *pattern = &named.pattern[i];
		const char option[] = { '-', pattern->letter, '\0' };
		if (!pattern->named && strchr(letters, pattern->letter))
			fprintf(to, "%s%s '%s'", told++ ? ", " : "",
				pattern->letter == 'C' ? record_names.below : option, pattern->word);
	}
	if (fclose(to) == 0 && text && *text)
		record_error("%s is named by %s; %s", what, text, help);
	free(text);
}

void record_unmatched_say(bool quiet)
{
	if (!quiet && named.open && named.all && named.looked) {
		say("l", "no library that was loaded", "`xaudit info` lists them");
		say("FeC", "no function that was traced",
			"`xaudit list FILE PATTERN` shows those that match in a file");
	}
	for (size_t i = 0; i < named.count; i++)
		free(named.pattern[i].text);
	free(named.pattern);
	named.pattern = NULL;
	named.count = named.open = 0;
}
