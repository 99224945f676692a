/* SPDX-License-Identifier: MIT */
/*
 * The arguments of an event of the format chrome: ,"args":{...}. Numbers that a double holds are numbers, all others
 * texts; a text of the program is the bytes that it had, a null pointer is null, and what is not known is a text as
 * `xaudit replay` has it, such as "(fault)". One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_CHROME_ARGS_H
#define XAUDIT_TOOL_EXPORT_CHROME_ARGS_H

#include "tool/export/format.h"

/* A call's. begin: what is known when it begins; end: what its end adds. */
void chrome_args_call(struct export *export, const struct export_call *call, bool begin, bool end);

/* A custom event's: its data, decoded if its format is known. */
void chrome_args_custom(struct export *export, const struct xaudit_read_item *item);

#endif
