/* SPDX-License-Identifier: MIT */
/*
 * Names that functions of a running process have in its trace, in place of their symbols': those of its rules, and
 * those that `xaudit ctl function` gave (audit/live/requests.h), read from its memory. A command that takes a pattern
 * of functions takes such a name, too, and means the patterns by which it was given. One thread.
 */
#ifndef XAUDIT_TOOL_CTL_NAMES_H
#define XAUDIT_TOOL_CTL_NAMES_H

#include <stddef.h>

struct ctl_process;

struct names_row {
	char *name, *function, *library; /* library NULL: any */
};

struct names {
	struct names_row *row; /* the newest first, which counts */
	size_t count;
};

/* Silent about what can't be read. Bounded, whatever the process shows. */
void names_read(struct names *to, const struct ctl_process *process);
void names_free(struct names *names);

/* The name of the functions of that pattern, FUNCTION[@LIBRARY]; NULL: they have none, or not all have the same one. */
const char *names_of(const struct names *names, const char *pattern);

/*
 * The patterns that a word of a command means: those of the functions which have this name, else the word itself.
 * There is one at least, and NULL behind the last one. To be freed by names_forget().
 */
char **names_meant(const struct names *names, const char *word);
void names_forget(char **pattern);

#endif
