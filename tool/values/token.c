/* SPDX-License-Identifier: MIT */
#include "tool/values/token.h"

#include <ctype.h>
#include <string.h>

static void skip_space(struct token *t)
{
	for (;; t->at++) {
		if (t->at[0] == '/' && t->at[1] == '*') {
			for (t->at += 2; *t->at && !(t->at[0] == '*' && t->at[1] == '/'); t->at++)
				t->line += *t->at == '\n';
			t->at += *t->at != 0;
		} else if (t->at[0] == '/' && t->at[1] == '/') {
			while (t->at[1] && t->at[1] != '\n')
				t->at++;
		} else if (!isspace((unsigned char)*t->at)) {
			return;
		}
		t->line += *t->at == '\n';
		if (!*t->at)
			return;
	}
}

bool token_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

void token_next(struct token *t)
{
	static const char *const longer[] = { "...", "[[", "]]" };

	skip_space(t);
	t->word = t->at;
	t->word_line = t->line;
	t->length = *t->at != 0;
	for (size_t i = 0; i < sizeof(longer) / sizeof(*longer); i++)
		if (!strncmp(t->at, longer[i], strlen(longer[i])))
			t->length = strlen(longer[i]);
	while (token_letter(*t->at) && token_letter(t->at[t->length]))
		t->length++;
	t->at += t->length;
}
