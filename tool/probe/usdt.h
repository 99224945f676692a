/* SPDX-License-Identifier: MIT */
/*
 * The program's own probes, as <sys/sdt.h> makes them: notes in sections .note.stapsdt, of type 3 and name "stapsdt".
 * Each has the address of a nop, that of the section .stapsdt.base as the linker knew it (whoever moves sections
 * afterwards, as prelink, does not correct notes: all addresses are moved by the difference), that of a counter of
 * listeners (a semaphore) or 0, and texts: provider, name, arguments. One probe may have several sites.
 *
 * Whatever the file says, nothing is read beyond it.
 */
#ifndef XAUDIT_TOOL_PROBE_USDT_H
#define XAUDIT_TOOL_PROBE_USDT_H

#include "tool/probe/finding.h"

struct usdt_note {
	uint64_t address, semaphore; /* 0: none */
	const char *provider, *name, *arguments; /* while the image stays */
};

/* Calls it for each note, in the order of the file. */
typedef void usdt_take(void *context, const struct usdt_note *note);
void usdt_each(const struct image *image, usdt_take *take, void *context);

/* Adds those of the place. */
void usdt_find(struct finding *to);

#endif
