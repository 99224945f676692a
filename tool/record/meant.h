/* SPDX-License-Identifier: MIT */
/*
 * What was probably meant by a pattern of -F, -e or -l that named nothing in a process: looked for among its objects,
 * and the functions of those whose indexes are kept, which those are that the rules chose for kind entry. One thread at
 * a time.
 */
#ifndef XAUDIT_TOOL_RECORD_MEANT_H
#define XAUDIT_TOOL_RECORD_MEANT_H

#include <stdbool.h>
#include <stdio.h>

struct record_words;

/* An object of the process; program: no library, though it has functions. */
void record_meant_object(const char *path, const char *soname, bool program);

/*
 * Writes the patterns with their letter, and what to write instead. Where that is not known: the libraries that there
 * are; of functions nothing more, and it returns false.
 */
void record_meant_libraries(FILE *to, const struct record_words *patterns);
bool record_meant_functions(FILE *to, const struct record_words *patterns);

#endif
