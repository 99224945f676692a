/* SPDX-License-Identifier: MIT */
/* [NAME=]PLACE, as options and commands take it. Memory that runs out ends the command. One thread. */
#ifndef XAUDIT_TOOL_PROBE_WORDS_H
#define XAUDIT_TOOL_PROBE_WORDS_H

/*
 * Takes the word apart: returns PLACE, which stands in the word; *name: to be freed; without one the place is the name.
 * An operator of C++ has a '=' in its own name, which is none of ours.
 */
const char *words_probe(const char *word, char **name);

#endif
