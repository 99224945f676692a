/* SPDX-License-Identifier: MIT */
/*
 * Parsing one text of rules, a file or XAUDIT_RULES, to sections. Between rules.c and audit/rules/ini.c; main thread,
 * at start.
 */
#ifndef XAUDIT_AUDIT_RULES_INI_H
#define XAUDIT_AUDIT_RULES_INI_H

#include "audit/rules/keys.h"
#include "audit/rules/values.h"

struct rules_text {
	const char *name; /* for messages */
	int numbered;	  /* say line numbers */
	struct rules_section *sections;
	struct rules_values values;
	struct rules_name *names;
};

/*
 * Parses length bytes at text. Sections go to *out; keys of [trace]
 * overwrite those in *rules (output is stored as written, not made absolute). All results lie in the arena of rules.
 * Returns 0, or -1 after one line on fd 2.
 */
int rules_parse(struct rules *rules, struct rules_text *out, const char *text, size_t length);

/* What is wrong: A'B'C, followed by " for key 'KEY'; allowed: ..." if there is a key. B and C may be NULL. */
struct rules_error {
	const char *a, *b, *c;
	size_t b_length;
	const struct rules_key *key;
};

/* Writes "xaudit: NAME:LINE: ERROR" as one line on fd 2; line 0: none. Control characters become '?'. */
void rules_complain(const char *name, int line, const struct rules_error *error);

#endif
