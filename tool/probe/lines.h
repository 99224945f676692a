/* SPDX-License-Identifier: MIT */
/*
 * Code of a line of source, by debug information: in each function, and in each copy of one that was inlined, the first
 * instruction of the line. Several instructions of one such copy may be of the line, as those of a loop's head: one
 * event for them is what people mean. FILE is the end of a path, with whole names: "foo.c", "src/foo.c".
 */
#ifndef XAUDIT_TOOL_PROBE_LINES_H
#define XAUDIT_TOOL_PROBE_LINES_H

#include "tool/probe/finding.h"

/* Adds them. Says it if the file knows the source, but has no code of the line. */
void lines_find(struct finding *to, struct debug_info *debug);

#endif
