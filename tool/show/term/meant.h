/* SPDX-License-Identifier: MIT */
/*
 * The function that somebody probably meant whose pattern names none: one of that name in some namespace or class, all
 * of a namespace or class, or a name with a slip of the hand in it (tool/base/nearest.h). One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_MEANT_H
#define XAUDIT_TOOL_SHOW_MEANT_H

#include "tool/base/nearest.h"

struct meant {
	struct nearest nearest;
	char *written; /* without @LIBRARY; NULL: a pattern, which may be meant for anything */
};

void meant_begin(struct meant *meant, const char *pattern);

/* Shows it a function, by its name in the object file. */
void meant_look(struct meant *meant, const char *raw);

/* What to write instead, until meant_end(). NULL: that can't be told. */
const char *meant_word(const struct meant *meant);
void meant_end(struct meant *meant);

/* Adds "; did you mean 'f'?" to a message that ends in `otherwise` where nothing is known. The caller frees it. */
char *meant_message(const struct meant *meant, const char *said, const char *otherwise);

#endif
