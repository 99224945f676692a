/* SPDX-License-Identifier: MIT */
#include "tool/show/term/names.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/match/cxx.h"
#include "audit/match/match.h"
#include "runtime/base/text.h"
#include "tool/base/hash.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/term/simple.h"
#include "tool/show/term/term.h"

#define LONGEST 16384 /* bytes of a symbol that are looked at; compilers make no such names by themselves */
/* A name says a part again in two bytes, and that again: this is where we stop. */
#define LONGEST_RESULT(length) (4096 + 16 * (length))
#define KEPT (16u << 20) /* bytes of results, before the table is emptied */
#define MET_NONE UINT32_MAX
#define MET_MOST (1u << 20) /* names that were met: 24 MB */

static bool raw_wanted, full_wanted;

bool names_take_raw(const struct options_given *given)
{
	(void)given;
	raw_wanted = true;
	return true;
}

bool names_take_full(const struct options_given *given)
{
	(void)given;
	full_wanted = true;
	return true;
}

/* ---- demangling ---- */

enum language { LANGUAGE_NONE, LANGUAGE_C, LANGUAGE_RUST };

/* What the demangler says, piece by piece. */
struct result {
	char *text;
	size_t length, room, most;
	jmp_buf too_long;
};

static void append(const char *piece, size_t length, void *user)
{
	struct result *result = user;

	/* The demangler holds nothing but its stack while it tells us pieces, so it can be left here. */
	if (length > result->most - result->length)
		longjmp(result->too_long, 1);
	if (result->length + length + 1 > result->room) {
		result->room = 2 * (result->length + length) + 64;
		result->text = memory_resize(result->text, result->room, 1);
	}
	memcpy(result->text + result->length, piece, length);
	result->length += length;
	result->text[result->length] = '\0';
}

/* Returns whether the name could be demangled as a whole. */
static bool run(struct result *result, const char *raw, int options, enum language language)
{
	if (setjmp(result->too_long))
		return false;
	result->length = 0;
	return (language == LANGUAGE_RUST ? rust_demangle_callback(raw, options, append, result)
					  : cplus_demangle_v3_callback(raw, options, append, result)) &&
		result->length;
}

/*
 * Returns the text, which the caller frees, or NULL. parameters: with them, and with what else libiberty says of a
 * function of C++.
 */
static char *demangle(const char *raw, bool parameters, enum language *language)
{
	int options = parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
	struct result result = { 0 };
	size_t length = strnlen(raw, LONGEST + 1);

	*language = LANGUAGE_NONE;
	if (raw[0] != '_' || (raw[1] != 'Z' && raw[1] != 'R') || length > LONGEST)
		return NULL;
	result.most = LONGEST_RESULT(length);
	/* Rust first: its older names are valid ones of C++, but for the hash at their end. */
	if (run(&result, raw, options, LANGUAGE_RUST))
		*language = LANGUAGE_RUST;
	else if (run(&result, raw, options, LANGUAGE_C))
		*language = LANGUAGE_C;
	if (*language != LANGUAGE_NONE && strcmp(result.text, raw) && strlen(result.text) == result.length)
		return result.text;
	*language = LANGUAGE_NONE;
	free(result.text);
	return NULL;
}

/* ---- the table ---- */

struct name {
	char *raw;
	char *demangled; /* NULL: the same */
	char *simple; /* NULL: as demangled */
	enum language language;
	uint32_t met; /* its number among those; MET_NONE: it has none yet */
};

static struct {
	struct name *name;
	uint32_t names;
	struct hash by_raw;
	size_t bytes;
} table;

static void empty_table(void)
{
	for (uint32_t i = 0; i < table.names; i++) {
		free(table.name[i].raw);
		free(table.name[i].demangled);
		free(table.name[i].simple);
	}
	free(table.name);
	hash_free(&table.by_raw);
	memset(&table, 0, sizeof(table));
}

static struct name *find(const char *raw)
{
	static struct name same = { .language = LANGUAGE_NONE };

	if (!raw || raw[0] != '_' || (raw[1] != 'Z' && raw[1] != 'R'))
		return &same;
	if (table.bytes > KEPT)
		empty_table();
	uint32_t hash = hash_text(0, raw), found = HASH_FIND(i, &table.by_raw, hash, !strcmp(table.name[i].raw, raw));
	if (found != HASH_NONE)
		return &table.name[found];
	table.name = memory_grow(table.name, table.names, sizeof(*table.name));
	memory_hash(&table.by_raw, hash, table.names);
	struct name *name = &table.name[table.names++];
	name->raw = memory_text(raw, strlen(raw));
	name->demangled = demangle(raw, true, &name->language);
	name->simple = name->language == LANGUAGE_C ? simple_name(name->demangled) : NULL;
	name->met = MET_NONE;
	table.bytes += sizeof(*name) + strlen(raw) + (name->demangled ? strlen(name->demangled) : 0) +
		       (name->simple ? strlen(name->simple) : 0);
	return name;
}

/* ---- names that were met ---- */

/* Texts are told apart by hashes of 64 bits: if two have the same one after all, names are full which need not be. */
static struct {
	struct met {
		uint64_t shown, whole; /* hashes of the simple name, and of the demangled one that was met first */
		bool several;	       /* there are others of this simple name */
	} *row;
	uint32_t rows;
	struct hash by_shown;
} met;

static uint64_t hash_wide(const char *text)
{
	return (uint64_t)hash_text(0, text) << 32 | hash_text(1, text);
}

/* The number of the row for what the name is shown as; MET_NONE: there is no room. */
static uint32_t meet(const struct name *name)
{
	uint64_t whole = hash_wide(name->demangled), shown = name->simple ? hash_wide(name->simple) : whole;
	uint32_t found = HASH_FIND(i, &met.by_shown, (uint32_t)shown, met.row[i].shown == shown);

	if (found != HASH_NONE) {
		met.row[found].several |= met.row[found].whole != whole;
		return found;
	}
	if (met.rows == MET_MOST)
		return MET_NONE;
	met.row = memory_grow(met.row, met.rows, sizeof(*met.row));
	memory_hash(&met.by_shown, (uint32_t)shown, met.rows);
	met.row[met.rows] = (struct met){ shown, whole, false };
	return met.rows++;
}

/* Can the name be shown as a simple one, and means it no other? */
static bool is_simple(struct name *name)
{
	if (!name->demangled || full_wanted)
		return false;
	if (name->met == MET_NONE)
		name->met = meet(name);
	return name->met != MET_NONE && !met.row[name->met].several;
}

/* ---- for commands ---- */

const char *names_demangled(const char *raw)
{
	return raw_wanted ? NULL : find(raw)->demangled;
}

const char *names_full(const char *raw)
{
	const char *demangled = names_demangled(raw);

	return demangled ? demangled : raw;
}

const char *names_shown(const char *raw)
{
	struct name *name = raw_wanted ? NULL : find(raw);

	if (!name || !name->demangled)
		return raw;
	return is_simple(name) && name->simple ? name->simple : name->demangled;
}

void names_meet(const char *raw)
{
	if (!raw_wanted)
		is_simple(find(raw));
}

const char *names_call(const char *raw)
{
	return !raw_wanted && find(raw)->language == LANGUAGE_C ? "" : "()";
}

void names_print(FILE *file, const char *raw)
{
	term_name(file, names_shown(raw));
}

/* Without parameters, and NULL if it can't be told; the caller frees it. simple: in that form. */
static char *bare_name(const char *raw, bool simple)
{
	enum language language;
	char *bare = demangle(raw, false, &language), *shorter = bare && simple ? simple_name(bare) : NULL;

	if (!shorter)
		return bare;
	free(bare);
	return shorter;
}

void names_print_bare(FILE *file, const char *raw)
{
	struct name *name = raw_wanted ? NULL : find(raw);
	char *bare = name && name->language == LANGUAGE_C ? bare_name(raw, is_simple(name)) : NULL;

	term_name(file, bare ? bare : names_shown(raw));
	free(bare);
}

void names_fold(FILE *file, const char *name)
{
	const char *shown;
	size_t length;

	while (*name) {
		name += text_next(name, &shown, &length);
		if (length == 1)
			putc(*shown == ';' ? ':' : *shown, file);
		else
			fwrite(shown, 1, length, file);
	}
}

void names_json(FILE *file, const char *raw)
{
	const char *demangled = names_demangled(raw);

	if (!demangled)
		return;
	fputs(",\"demangled\":", file);
	json_string(file, demangled);
}

/* A demangled name may be written as it is, though it has a [. */
static bool names(const char *pattern, const char *name)
{
	return name && (!strcmp(pattern, name) || rules_glob(pattern, name));
}

bool names_match(const char *pattern, const char *raw)
{
	const struct name *name = find(raw);

	if (names(pattern, raw) || names(pattern, name->demangled) || names(pattern, name->simple))
		return true;
	/* As rules have it: without the arguments of templates. */
	if (raw && cxx_match(pattern, raw))
		return true;
	char *bare = name->demangled ? bare_name(raw, false) : NULL;
	/* Where all of the name is simple, so is a part of it. */
	char *simple = bare && name->simple ? simple_name(bare) : NULL;
	bool match = names(pattern, bare) || names(pattern, simple);
	free(simple);
	free(bare);
	return match;
}

static bool is_library(const char *pattern, const char *path)
{
	return !strcmp(pattern, path) || !strcmp(pattern, tool_base(path)) ||
	       rules_glob(pattern, strchr(pattern, '/') ? path : tool_base(path));
}

bool names_mean(const char *pattern, const char *raw, const char *library)
{
	bool is = names_match(pattern, raw);

	/* Names of functions and paths may have one, too. */
	for (const char *at = pattern; !is && library && (at = strchr(at, '@')); at++) {
		if (!is_library(at + 1, library))
			continue;
		char *function = memory_text(pattern, (size_t)(at - pattern));
		is = names_match(function, raw);
		free(function);
	}
	return is;
}

bool names_mean_any(const char *pattern, const char *raw, const char *aliases, const char *library)
{
	if (names_mean(pattern, raw, library))
		return true;
	for (const char *name = aliases; *name; name += strlen(name) + 1)
		if (names_mean(pattern, name, library))
			return true;
	return false;
}
