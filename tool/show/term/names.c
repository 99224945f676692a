/* SPDX-License-Identifier: MIT */
#include "tool/show/term/names.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/match/cxx.h"
#include "audit/match/match.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/term/term.h"

#define LONGEST 16384 /* bytes of a symbol that are looked at; compilers make no such names by themselves */
/* A name says a part again in two bytes, and that again: this is where we stop. */
#define LONGEST_RESULT(length) (4096 + 16 * (length))
#define KEPT (16u << 20) /* bytes of results, before the table is emptied */

static bool raw_wanted;

bool names_take_raw(const struct options_given *given)
{
	(void)given;
	raw_wanted = true;
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
	char *raw;	 /* NULL: free */
	char *demangled; /* NULL: the same */
	enum language language;
};

static struct {
	struct name *name;
	size_t slots, used, bytes;
} table;

static struct name *slot_of(const char *raw)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (const char *p = raw; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3u;
	size_t at = (h ^ h >> 32) & (table.slots - 1);
	while (table.name[at].raw && strcmp(table.name[at].raw, raw))
		at = (at + 1) & (table.slots - 1);
	return &table.name[at];
}

static void empty_table(void)
{
	for (size_t i = 0; i < table.slots; i++) {
		free(table.name[i].raw);
		free(table.name[i].demangled);
	}
	free(table.name);
	memset(&table, 0, sizeof(table));
}

static void make_room(void)
{
	struct name *old = table.name;
	size_t slots = table.slots;

	if (table.used * 2 < table.slots)
		return;
	table.slots = slots ? slots * 2 : 256;
	table.name = memory_zeroed(table.slots, sizeof(*table.name));
	for (size_t i = 0; i < slots; i++)
		if (old[i].raw)
			*slot_of(old[i].raw) = old[i];
	free(old);
}

static const struct name *find(const char *raw)
{
	static const struct name same = { .language = LANGUAGE_NONE };
	struct name *name;

	if (!raw || raw[0] != '_' || (raw[1] != 'Z' && raw[1] != 'R'))
		return &same;
	if (table.bytes > KEPT)
		empty_table();
	make_room();
	name = slot_of(raw);
	if (!name->raw) {
		name->raw = memory_text(raw, strlen(raw));
		name->demangled = demangle(raw, true, &name->language);
		table.used++;
		table.bytes += sizeof(*name) + strlen(raw) + (name->demangled ? strlen(name->demangled) : 0);
	}
	return name;
}

/* ---- for commands ---- */

const char *names_demangled(const char *raw)
{
	return raw_wanted ? NULL : find(raw)->demangled;
}

const char *names_shown(const char *raw)
{
	const char *demangled = names_demangled(raw);

	return demangled ? demangled : raw;
}

const char *names_call(const char *raw)
{
	return !raw_wanted && find(raw)->language == LANGUAGE_C ? "" : "()";
}

void names_print(FILE *file, const char *raw)
{
	term_text(file, names_shown(raw));
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
	enum language language;
	const char *demangled = find(raw)->demangled;

	if (names(pattern, raw) || names(pattern, demangled))
		return true;
	/* As rules have it: without the arguments of templates. */
	if (raw && cxx_match(pattern, raw))
		return true;
	char *bare = demangled ? demangle(raw, false, &language) : NULL;
	bool match = names(pattern, bare);
	free(bare);
	return match;
}
