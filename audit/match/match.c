/* SPDX-License-Identifier: MIT */
#include "audit/match/match.h"

#include <stdbool.h>

#include "audit/match/cxx.h"
#include "audit/match/kinds.h"
#include "x86_64/sys.h" /* sys_same */

/*
 * Compares one character with the set that begins after '['. *end becomes the place after the closing ']'. Returns 1
 * when the character is in the set, 0 when not, -1 when the set is never closed.
 */
static int set_holds(const char *set, unsigned char c, const char **end)
{
	const char *p = set;
	int negated = *p == '!';
	int found = 0;

	p += negated;
	/* A ']' that comes first belongs to the set, as in a shell. */
	for (const char *first = p; *p != ']' || p == first;) {
		if (*p == '\\' && p[1])
			p++;
		unsigned char low = *p, high = low;
		if (!low)
			return -1;
		p++;
		if (p[0] == '-' && p[1] && p[1] != ']') {
			p++;
			if (*p == '\\' && p[1])
				p++;
			high = *p++;
		}
		if (c >= low && c <= high)
			found = 1;
	}
	*end = p + 1;
	return found != negated;
}

bool rules_glob(const char *pattern, const char *text)
{
	/*
	 * Where to go on when a character after the last star does not match: that star takes one character more. Stars
	 * before the last one never need to take more than they did, so this does not become exponential.
	 */
	const char *star = NULL, *retry = NULL;

	for (;;) {
		const char *next = pattern + 1;
		int same;

		if (*pattern == '*') {
			star = next;
			retry = text;
			pattern = next;
			continue;
		}
		if (!*text) {
			if (!*pattern)
				return true;
			return false;
		}
		if (*pattern == '?') {
			same = 1;
		} else if (*pattern == '[') {
			same = set_holds(pattern + 1, *text, &next);
			if (same < 0)
				same = *text == '[';
		} else if (*pattern == '\\' && pattern[1]) {
			same = pattern[1] == *text;
			next = pattern + 2;
		} else {
			same = *pattern == *text;
		}
		if (same) {
			pattern = next;
			text++;
		} else {
			if (!star)
				return false;
			pattern = star;
			text = ++retry;
		}
	}
}

static int has(const char *text, char c)
{
	for (; *text; text++)
		if (*text == c)
			return 1;
	return 0;
}

static bool library_matches(const char *glob, const char *path, const char *soname)
{
	const char *base;

	if (!path)
		path = "";
	if (has(glob, '/'))
		return rules_glob(glob, path);
	base = path;
	for (const char *p = path; *p; p++)
		if (*p == '/')
			base = p + 1;
	return rules_glob(glob, base) || (soname && rules_glob(glob, soname));
}

const struct rules_section *rules_for(const struct rules *rules, const char *path, const char *soname, int program)
{
	for (const struct rules_section *section = rules->sections; section; section = section->next) {
		if (program ? !section->library : section->library && library_matches(section->library, path, soname))
			return section;
	}
	return NULL;
}

bool rules_match(const struct rules_pattern *pattern, const char *name, const char *path, const char *soname)
{
	if (pattern->library && !library_matches(pattern->library, path, soname))
		return false;
	if (!name)
		return pattern->function[0] == '*' && !pattern->function[1];
	return cxx_match(pattern->function, name) || rules_glob(pattern->function, name);
}

const char *rules_name_of(const struct rules_name *names, const char *name, const char *path, const char *soname)
{
	while (names && !rules_match(names->pattern, name, path, soname))
		names = names->next;
	return names ? names->name : NULL;
}

int rules_select(const struct rules_section *section, const char *name, const char *path, const char *soname)
{
	int selected = !section->functions;

	for (const struct rules_pattern *p = section->functions; p && !selected; p = p->next)
		selected = rules_match(p, name, path, soname);
	for (const struct rules_pattern *p = section->exclude; p && selected; p = p->next)
		selected = !rules_match(p, name, path, soname);
	return selected;
}

bool rules_may_select(const struct rules_section *section, const char *path, const char *soname)
{
	for (const struct rules_pattern *p = section->functions; p; p = p->next)
		if (!p->library || library_matches(p->library, path, soname))
			return true;
	return !section->functions;
}

bool rules_name_functions(const struct rules_pattern *patterns)
{
	for (const struct rules_pattern *p = patterns; p; p = p->next)
		if (p->function[0] == '*' && !p->function[1])
			return false;
	return patterns != NULL;
}

void rules_refuse(struct rules *rules, unsigned kinds)
{
	for (struct rules_section *section = rules->sections; section; section = section->next) {
		section->kinds &= ~kinds;
		section->fallback &= ~kinds;
	}
}

unsigned rules_kinds(const struct rules *rules)
{
	unsigned kinds = 0;

	for (const struct rules_section *section = rules->sections; section; section = section->next)
		kinds |= section->kinds | section->fallback;
	return kinds;
}

uint64_t rules_bytes(const char *text)
{
	uint64_t size = 0;
	unsigned shift = 0;

	if (*text < '0' || *text > '9')
		return 0;
	for (; *text >= '0' && *text <= '9'; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (size > ((uint64_t)INT64_MAX - digit) / 10)
			return 0;
		size = size * 10 + digit;
	}
	switch (*text) {
	case 'k':
	case 'K':
		shift = 10;
		break;
	case 'm':
	case 'M':
		shift = 20;
		break;
	case 'g':
	case 'G':
		shift = 30;
		break;
	}
	if (text[shift ? 1 : 0] || size > (uint64_t)INT64_MAX >> shift)
		return 0;
	return size << shift;
}

int rules_kind(const char *word, size_t length)
{
	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		if (sys_length(kind_rows[i].word) == length && sys_same(kind_rows[i].word, word, length))
			return i;
	return -1;
}
