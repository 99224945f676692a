/* SPDX-License-Identifier: MIT */
/* Slips between two words, and the word that was meant. */
#define _GNU_SOURCE
#include "tool/base/nearest.h"

#include "t/lib/tap.h"

static unsigned slips(const char *a, const char *b, unsigned most)
{
	return nearest_slips(a, strlen(a), b, strlen(b), most);
}

static const char *meant(const char *written, const char *const *words)
{
	static char text[64];
	struct nearest nearest = { .written = written };

	while (*words)
		nearest_look(&nearest, *words++);
	snprintf(text, sizeof(text), "%s", nearest.word ? nearest.word : "none");
	nearest_free(&nearest);
	return text;
}

int main(void)
{
	static const char *const commands[] = { "record", "report", "replay", "ctl", NULL };
	static const char *const alike[] = { "--from", "from", "form", NULL };
	char longest[300];

	is_int(slips("record", "record", 3), 0, "the same word");
	is_int(slips("recrod", "record", 3), 1, "two letters that changed places are one slip");
	is_int(slips("recor", "record", 3), 1, "a letter that is missing");
	is_int(slips("recorrd", "record", 3), 1, "a letter too many");
	is_int(slips("recard", "record", 3), 1, "a wrong letter");
	is_int(slips("REcord", "record", 3), 0, "small and large letters are the same");
	is_int(slips("kitten", "sitting", 3), 3, "three slips");
	is_int(slips("kitten", "sitting", 2), 3, "of which two are allowed: one more is said");
	is_int(slips("kitten", "sitting", 0), 1, "or none");
	is_int(slips("", "abc", 3), 3, "no letter");
	is_int(slips("abcdef", "ghijkl", 5), 6, "nothing alike");
	is_int(slips("ab12345", "ba12345", 1), 1, "a slip at the beginning, when no more is allowed");
	is_int(slips("12345ab", "12345ba", 1), 1, "or at the end");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	is_int(slips(longest, longest, 3), 4, "words of more than 256 letters are not compared");
	longest[256] = '\0';
	is_int(slips(longest, longest, 3), 0, "those of 256 are");

	is_str(meant("recrod", commands), "record", "the command that was meant");
	is_str(meant("repor", commands), "report", "another one");
	is_str(meant("clt", commands), "ctl", "a short one");
	is_str(meant("ct", commands), "none", "one of two letters could be anything");
	is_str(meant("banana", commands), "none", "nothing is near");
	is_str(meant("", commands), "none", "nothing was written");
	is_str(meant("fom", alike), "from", "of two that are equally near the first");
	return done_testing();
}
