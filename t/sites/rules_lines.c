/* SPDX-License-Identifier: MIT */
/*
 * Long lines of rules: a program wrote them, or a user with long names. All of each is read.
 */
#define _GNU_SOURCE
#include "t/lib/rules_said.h"

/* The number of patterns, and the bytes of their names. */
static size_t count_patterns(const struct rules_pattern *p, size_t *bytes)
{
	size_t n = 0;

	for (*bytes = 0; p; p = p->next, n++)
		*bytes += strlen(p->function);
	return n;
}

/* A list that a program wrote, on one line of COUNT words of nine bytes; CONTINUED: two lines. */
static void allowlist(size_t count, int continued)
{
	char *text = malloc(2 * count * 10 + 400), *p = text;
	struct rules rules;
	size_t bytes;

	if (!text)
		bail("no memory");
	p += sprintf(p, "[program]\nfunctions =");
	for (size_t i = 0; i < count; i++)
		p += sprintf(p, " f%08zu", i);
	for (size_t i = 0; continued && i < count; i++)
		p += sprintf(p, "%s g%08zu", i ? "" : "\n", i);
	sprintf(p, " ; the end\nexclude = last\n");
	env_rules = text;
	is_int(read_rules(&rules, NULL), 0, "a list of %zu names%s is read", count, continued ? ", continued," : "");
	is_str(said, "", "without a word");
	is_int((long long)count_patterns(rules.sections->functions, &bytes), (long long)(count << continued),
		"it is whole");
	is_int((long long)bytes, (long long)(9 * count << continued), "so is each name");
	is_str(rules.sections->exclude->function, "last", "the key behind it is its own");
	arena_free(&rules.arena);
	no_environment();
	free(text);
}

/* Lines whose comment begins at any place around those where a reader's buffer might end. */
static void every_length(void)
{
	int wrong = 0;
	char text[2048];

	for (int length = 150; length < 450; length++) {
		struct rules rules;
		size_t bytes;

		snprintf(text, sizeof(text), "[program]\nfunctions = %0*d ; x = y\n %0*d ; x\n; %0*d\nexclude = last\n",
			length, 1, length, 2, length, 3);
		env_rules = text;
		if (read_rules(&rules, NULL) < 0 || count_patterns(rules.sections->functions, &bytes) != 2 ||
			bytes != 2 * (size_t)length || !rules.sections->exclude || *said)
			wrong++;
		arena_free(&rules.arena);
		no_environment();
	}
	is_int(wrong, 0, "lines of all lengths from 150 to 450 bytes are read");
}

static void long_lines(void)
{
	struct rules rules;
	char text[4096], name[301], section[301], deep[601];
	const struct rules_pattern *p;

	memset(name, 'n', 300);
	memset(section, 's', 300);
	memset(deep, 'd', 600);
	name[300] = section[300] = deep[600] = '\0';
	deep[0] = '/';
	snprintf(text, sizeof(text),
		"[library %s]\nfunctions = %s ; remark\n %s@%s\nexclude = %.150s %.150s\n[trace]\noutput = %s\n; %s%s "
		"= x\n",
		section, name, name, section, name, name, deep, name, name);
	env_rules = text;
	is_int(read_rules(&rules, NULL), 0, "lines of six hundred bytes are read");
	is_str(said, "", "without a word");
	is_str(rules.sections->library, section, "a section of 300 bytes is whole");
	p = rules.sections->functions;
	is_str(p->function, name, "a pattern of 300 bytes is whole");
	is_str(p->next->function, name, "on a continuation line too");
	is_str(p->next->library, section, "its library of 300 bytes is whole");
	ok(!p->next->next, "nothing more came of it");
	p = rules.sections->exclude;
	is_int((long long)strlen(p->next->function), 150, "the second word of a long line is whole");
	is_str(rules.output, deep, "an output of 600 bytes is whole");
	arena_free(&rules.arena);
	snprintf(text, sizeof(text), "[program]\nkinds = plt\n%300s\n", "calls");
	is_int(read_rules(&rules, NULL), 0, "text behind three hundred blanks is read");
	is_str(said, "", "without a word");
	is_int((long long)rules.sections->kinds, 1 << TRACE_KIND_PLT | 1 << TRACE_KIND_CALLS, "and counts");
	arena_free(&rules.arena);
	no_environment();
}

int main(void)
{
	long_lines();
	allowlist(20, 0);
	allowlist(7000, 0);
	allowlist(50000, 1);
	every_length();
	return done_testing();
}
