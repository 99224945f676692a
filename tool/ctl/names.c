/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/match/match.h"
#include "tool/base/memory.h"
#include "tool/ctl/process.h"

#define MOST 4096 /* names of a process that are read */

/* ---- reading ---- */

/* A text of the process that RULES may hold, to be freed; NULL: it is none. */
static char *word_at(const struct ctl_process *process, const char *address)
{
	char *text = address ? ctl_text(process, ctl_at(address)) : NULL;
	char *word = text && *text && !strpbrk(text, "\t\n") ? memory_text(text, strlen(text)) : NULL;

	free(text);
	return word;
}

static void free_row(struct names_row *row)
{
	free(row->name);
	free(row->function);
	free(row->library);
}

/* Adds a name. Nothing is added if it can't be read. */
static void add(struct names *to, const struct ctl_process *process, const struct rules_name *name)
{
	struct rules_pattern pattern;

	if (!ctl_read(process, ctl_at(name->pattern), &pattern, sizeof(pattern)))
		return;
	struct names_row row = { word_at(process, name->name), word_at(process, pattern.function),
		word_at(process, pattern.library) };
	if (!row.name || !row.function || !row.library != !pattern.library) {
		free_row(&row);
		return;
	}
	to->row = memory_grow(to->row, to->count, sizeof(*to->row));
	to->row[to->count++] = row;
}

void names_read(struct names *to, const struct ctl_process *process)
{
	struct rules_name *next, name;

	*to = (struct names){ 0 };
	if (!process->block.names || !ctl_read(process, ctl_at(process->block.names), &next, sizeof(next)))
		return;
	for (unsigned i = 0; i < MOST && next && ctl_read(process, ctl_at(next), &name, sizeof(name)); i++) {
		add(to, process, &name);
		next = name.next;
	}
}

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free_row(&names->row[i]);
	free(names->row);
	*names = (struct names){ 0 };
}

/* ---- which one counts ---- */

static bool covers(const char *pattern, const char *other)
{
	return !strcmp(pattern, other) || rules_glob(pattern, other);
}

/* The one that counts for all functions of the pattern; NULL: there is none that all have. */
static const struct names_row *find(const struct names *names, const char *function, const char *library)
{
	for (size_t i = 0; i < names->count; i++) {
		const struct names_row *row = &names->row[i];
		if (covers(row->function, function) &&
			(!row->library || (library && covers(row->library, library))))
			return row;
	}
	return NULL;
}

const char *names_of(const struct names *names, const char *pattern)
{
	const char *library = strchr(pattern, '@');
	char *function = memory_text(pattern, strcspn(pattern, "@"));
	const struct names_row *row = find(names, function, library ? library + 1 : NULL);
	/* A pattern within that of the name stands for some of those that have it. */
	const bool is_it = row && !strcmp(row->function, function);

	free(function);
	return is_it ? row->name : NULL;
}

char **names_meant(const struct names *names, const char *word)
{
	char **pattern = memory_zeroed(names->count + 2, sizeof(*pattern));
	size_t n = 0;

	for (size_t i = 0; i < names->count; i++) {
		const struct names_row *row = &names->row[i];
		/* Those functions may have got a newer one. */
		if (!strcmp(row->name, word) && find(names, row->function, row->library) == row)
			pattern[n++] = memory_format("%s%s%s", row->function, row->library ? "@" : "",
				row->library ? row->library : "");
	}
	if (!n)
		pattern[0] = memory_text(word, strlen(word));
	return pattern;
}

void names_forget(char **pattern)
{
	for (size_t i = 0; pattern[i]; i++)
		free(pattern[i]);
	free(pattern);
}
