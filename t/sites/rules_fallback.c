/* SPDX-License-Identifier: MIT */
/* The kind that a section falls back to where the code has no site: from its key, or from its others. */
#define _GNU_SOURCE
#include "t/lib/rules_said.h"

#define PLT   (1u << TRACE_KIND_PLT)
#define ENTRY (1u << TRACE_KIND_ENTRY)

/* What a section falls back to, by the lines that it holds. */
static void fallbacks(void)
{
	static const struct {
		const char *lines, *what;
		int entry;
	} sections[] = {
		{ "functions = foo\n", "a function is named", 1 },
		{ "functions = foo_* bar@lib*\n", "patterns name functions", 1 },
		{ "exclude = foo\n", "exclude names none that are traced", 0 },
		{ "", "no function is named", 0 },
		{ "functions = *\n", "* names none", 0 },
		{ "functions = *@libc.so*\n", "nor does * of a library", 0 },
		{ "functions = foo *@libc.so*\n", "nor where it stands beside others", 0 },
		{ "functions = **\n", "** is no *", 1 },
		{ "kinds = xray\nfunctions = foo\n", "kinds are named before", 0 },
		{ "functions = foo\nkinds = xray patchable guard\n", "or behind, be they the default ones", 0 },
		{ "functions = foo\nkinds = none\n", "or none", 0 },
		{ "fallback = entry\nkinds = plt\n", "it is asked for", 1 },
		{ "fallback = none\nfunctions = foo\n", "it is not wanted", 0 },
		{ "fallback = entry\n  entry\n", "the same twice", 1 },
		{ "kinds = entry\nfunctions = foo\n", "entry is a kind", 0 },
	};
	struct rules rules;
	static char text[256];

	env_rules = text;
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		snprintf(text, sizeof(text), "[library a]\n%s[program]\n", sections[i].lines);
		is_int(read_rules(&rules, NULL), 0, "section %zu is read", i);
		is_int(rules.sections->fallback, sections[i].entry ? ENTRY : 0, "%s", sections[i].what);
		is_int(rules.sections->next->fallback, 0, "the next section has none");
		arena_free(&rules.arena);
		snprintf(text, sizeof(text), "[library a]\n[program]\n%s", sections[i].lines);
		is_int(read_rules(&rules, NULL), 0, "section %zu is read as the last one", i);
		is_int(rules.sections->next->fallback, sections[i].entry ? ENTRY : 0, "%s", sections[i].what);
		arena_free(&rules.arena);
	}
	env_rules = "[library a]\nfunctions = foo\n[library b]\nkinds = entry plt\n";
	is_int(read_rules(&rules, NULL), 0, "a fallback and a kind");
	is_int(rules.sections->kinds, RULES_DEFAULT_KINDS, "a fallback is no kind of the section");
	is_int(rules_kinds(&rules), RULES_DEFAULT_KINDS | PLT | ENTRY, "but one that the rules ask for");
	rules_refuse(&rules, PLT);
	is_int(rules_kinds(&rules), RULES_DEFAULT_KINDS | ENTRY, "refused kinds are gone");
	rules_refuse(&rules, ENTRY);
	is_int(rules_kinds(&rules), RULES_DEFAULT_KINDS, "as fallbacks, too");
	arena_free(&rules.arena);
}

/* Could a section select any function of libx.so? */
static void libraries(void)
{
	static const struct {
		const char *lines;
		int may;
	} sections[] = {
		{ "", 1 }, { "functions = foo\n", 1 }, { "functions = foo@liby*\n", 0 },
		{ "functions = foo@lib*\n", 1 },
		{ "functions = foo@liby* bar@soname*\n", 1 }, { "functions = foo@/opt/libx.so\n", 1 },
		{ "functions = foo@/usr/libx.so\n", 0 }, { "functions = a@b b\n", 1 },
	};
	struct rules rules;
	static char text[256];

	env_rules = text;
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		snprintf(text, sizeof(text), "[program]\n%s", sections[i].lines);
		is_int(read_rules(&rules, NULL), 0, "section %zu is read", i);
		is_int(rules_may_select(rules.sections, "/opt/libx.so", "soname.so"), sections[i].may,
			"section %zu, for what its patterns say of libraries", i);
		arena_free(&rules.arena);
	}
}

int main(void)
{
	libraries();
	fallbacks();
	return done_testing();
}
