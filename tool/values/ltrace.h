/* SPDX-License-Identifier: MIT */
/*
 * Prototypes in the files of ltrace(1), ltrace.conf(5), where people have them. Memory that runs out ends the command.
 */
#ifndef XAUDIT_TOOL_VALUES_LTRACE_H
#define XAUDIT_TOOL_VALUES_LTRACE_H

/*
 * The same as a text of prototype.h, to be freed; a parameter N is called argN. Functions that take or give back what
 * prototype.h does not know, and lines that can't be read, are left out: ltrace says what is wrong with its files.
 */
char *ltrace_prototypes(const char *text);

/* The texts of all files that ltrace would read, one behind another; to be freed. */
char *ltrace_files(void);

#endif
