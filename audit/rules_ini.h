/* SPDX-License-Identifier: MIT */
/* One text of rules, a file or XAUDIT_RULES: from its bytes to sections. Between rules.c and rules_ini.c; main thread, at start. */
#ifndef XAUDIT_RULES_INI_H
#define XAUDIT_RULES_INI_H

#include "audit/rules.h"

struct rules_text {
	const char *name; /* for messages */
	int numbered;	  /* say line numbers */
	struct rules_section *sections;
	const char *output; /* as written; NULL: not given */
	size_t buffer;	    /* 0: not given */
	int has_clock;
	int has_follow, follow;
	enum rules_clock clock;
};

/*
 * Parses length bytes at text, which must be writable and end in a NUL behind them, into *out; all results lie in the arena.
 * Returns 0, or -1 after one line on fd 2.
 */
int rules_parse(struct arena *arena, struct rules_text *out, char *text, size_t length);

/* Writes "xaudit: NAME:LINE: A'B'C" as one line on fd 2; line 0: none; B and C may be NULL. Control characters become '?'. */
void rules_complain(const char *name, int line, const char *a, const char *b, size_t b_length, const char *c);

#endif
