/* SPDX-License-Identifier: MIT */
/* What is found of a place, while it is looked for. Private to tool/probe/. One thread. */
#ifndef XAUDIT_TOOL_PROBE_FINDING_H
#define XAUDIT_TOOL_PROBE_FINDING_H

#include "tool/probe/places.h"

struct finding {
	const struct place *place;
	const struct image *image;
	struct symbols *symbols; /* of it */
	const char *path, *soname; /* of the file; soname may be NULL */
	struct place_found *found; /* in any order, some twice */
	size_t count;
	char *said; /* one line about it; NULL: nothing */
};

void finding_add(struct finding *to, uint64_t address, uint64_t semaphore, const char *arguments);

/* The first text counts; it is taken over. */
void finding_say(struct finding *to, char *text);

#endif
