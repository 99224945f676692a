/* SPDX-License-Identifier: MIT */
/* The set of probes that a process has, as RULES, and words of the command that name one. */
#include <stdlib.h>
#include <string.h>

#include "t/lib/tap.h"
#include "tool/ctl/probe_rules.h"
#include "tool/probe/words.h"

#define LINE(name, key, value) "ctl\t" name "\tprobe " key "\t" value "\n"

static const char before[] = LINE("a", "at", "f+4@lib.so") LINE("a", "context", "regs") LINE("b*", "at", "usdt:p:*")
	LINE("bc", "at", "g");

static struct probe_rules rules;

static void has(const char *name, const char *expected, const char *what)
{
	char *text = probe_rules_text(&rules, name);

	is_str(text, expected, "%s", what);
	free(text);
}

static void test_reading(void)
{
	static const char others[] = "conf:1\tmalloc\tcontext\targs\nconf:2\t\ttypes\tint f(int);\n"
				     "conf:3\tmalloc\tif\targ1 > probe at\nbroken\tline\nconf:4\t\tmore\t\tx";
	char *text;

	probe_rules_read(&rules, NULL);
	has(NULL, "", "a process without rules has no probes");
	is_str(rules.others, "", "and no prototypes");
	probe_rules_free(&rules);
	text = malloc(sizeof(before) + sizeof(others));
	strcpy(text, before);
	strcat(text, others);
	probe_rules_read(&rules, text);
	free(text);
	is_int((long)rules.rules, 4, "rules about probes are taken from among the others");
	is_str(rules.others, "conf:2\t\ttypes\tint f(int);\nconf:4\t\tmore\t\tx\n", "prototypes are kept for plans");
	has(NULL, before, "they are written as they were");
	has("a", LINE("a", "at", "f+4@lib.so") LINE("a", "context", "regs"), "so are those of one name");
	ok(probe_rules_have(&rules, "bc") && !probe_rules_have(&rules, "malloc") && !probe_rules_have(&rules, "b"),
		"a probe is there by its whole name");
}

static void test_changes(void)
{
	probe_rules_add(&rules, "ctl", "a", "if", "rax > 1");
	probe_rules_add(&rules, "ctl", "d", "at", "h");
	has(NULL, LINE("a", "at", "f+4@lib.so") LINE("a", "context", "regs") LINE("a", "if", "rax > 1")
			LINE("b*", "at", "usdt:p:*") LINE("bc", "at", "g") LINE("d", "at", "h"),
		"rules of one name follow each other");
	probe_rules_add(&rules, "ctl", "a", "every", "3");
	probe_rules_add(&rules, "ctl", "a", "then", "mark");
	ok(probe_rules_drop_contexts(&rules, "a"), "a probe had values, conditions and an action");
	has("a", LINE("a", "at", "f+4@lib.so"), "without them, and without its action, it has its place");
	ok(!probe_rules_drop_contexts(&rules, "a") && !probe_rules_drop_contexts(&rules, "x"), "then it has none");
	is_int((long)probe_rules_drop(&rules, "b*", false), 1, "a name that looks like a pattern is a name");
	is_int((long)probe_rules_drop(&rules, "x*", true), 0, "a pattern that matches none");
	probe_rules_add(&rules, "ctl", "b[1]", "at", "g+1");
	is_int((long)probe_rules_drop(&rules, "b[1]", true), 1, "as a pattern it is one of that name, too");
	is_int((long)probe_rules_drop(&rules, "[bd]*", true), 2, "a pattern of two probes");
	has(NULL, LINE("a", "at", "f+4@lib.so"), "the others are left");
	is_int((long)probe_rules_drop(&rules, "*", true), 1, "one probe has several rules");
	has(NULL, "", "nothing is left");
	probe_rules_add(&rules, "ctl", "a", "at", "f");
	has(NULL, LINE("a", "at", "f"), "and there can be new ones");
	probe_rules_free(&rules);
}

static void test_many(void)
{
	char name[16];

	probe_rules_read(&rules, "");
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		probe_rules_add(&rules, "ctl", name, "at", name);
		probe_rules_add(&rules, "ctl", name, "context", "regs");
	}
	for (int i = 0; i < 1000; i += 2) {
		snprintf(name, sizeof(name), "n%d", i);
		probe_rules_drop(&rules, name, false);
	}
	is_int((long)rules.rules, 1000, "of a thousand probes, five hundred are left");
	has("n999", LINE("n999", "at", "n999") LINE("n999", "context", "regs"), "each as it was");
	probe_rules_free(&rules);
}

static void word(const char *text, const char *name, const char *place)
{
	char *found;

	is_str(words_probe(text, &found), place, "%s: its place", text);
	is_str(found, name, "%s: its name", text);
	free(found);
}

int main(void)
{
	test_reading();
	test_changes();
	test_many();
	word("work=do_stuff+0x6@libfoo.so", "work", "do_stuff+0x6@libfoo.so");
	word("do_stuff+0x6", "do_stuff+0x6", "do_stuff+0x6");
	word("a.b-c_1=f=g", "a.b-c_1", "f=g");
	word("ns::A::operator=", "ns::A::operator=", "ns::A::operator=");
	word("operator==", "operator==", "operator==");
	word("eq=operator==", "eq", "operator==");
	word("f=", "f=", "f=");
	word("=f", "=f", "=f");
	word("usdt:p:*", "usdt:p:*", "usdt:p:*");
	return done_testing();
}
