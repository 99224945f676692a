/* SPDX-License-Identifier: MIT */
/*
 * perf (up to 6.1 at least) does not forget at an exec what was mapped before, and takes the lowest address where a
 * library ever was for its place; so it would unwind through the program's libraries by the places that those of this
 * command have. What lies where mappings were ends them, in its eyes.
 */
#ifndef XAUDIT_TOOL_PERF_ANONYMOUS_MAPS_H
#define XAUDIT_TOOL_PERF_ANONYMOUS_MAPS_H

/*
 * In a child that is about to execute a traced program: files that are mapped become plain memory, with the same
 * content.
 */
void perf_anonymous_maps(void);

#endif
