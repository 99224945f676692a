/* SPDX-License-Identifier: MIT */
/*
 * A window's stub as a template (x86_64/probe.h), of what was chosen for it. Pure; one thread.
 *
 * The stub's instructions are copy.h's: what it writes below the stack pointer it writes only where a call does so in
 * place, so the 128 bytes there stay the function's.
 */
#ifndef XAUDIT_TOOL_PROBE_WINDOW_CODE_H
#define XAUDIT_TOOL_PROBE_WINDOW_CODE_H

#include "tool/probe/window_ways.h"
#include "tool/probe/windows.h"

/*
 * which: the probes that lie in the window, in their order: address[which[0]], ... The number of prefixes is the
 * least that may be. Returns PROBE_USABLE, PROBE_MANY (so much code has no room), or PROBE_TARGET.
 */
unsigned window_make(struct window *to, const struct image *image, const struct window_choice *choice,
	const uint64_t *address, const uint32_t *which, unsigned count);

/* The same by another number of prefixes, which the choice has. */
void window_make_other(struct window *to, const struct window *of, const struct image *image, unsigned prefix);

#endif
