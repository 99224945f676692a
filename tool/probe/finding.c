/* SPDX-License-Identifier: MIT */
#include "tool/probe/finding.h"

#include <stdlib.h>

#include "tool/base/memory.h"

void finding_add(struct finding *to, uint64_t address, uint64_t semaphore, const char *arguments)
{
	to->found = memory_grow(to->found, to->count, sizeof(*to->found));
	to->found[to->count++] = (struct place_found){ address, semaphore, arguments };
}

void finding_say(struct finding *to, char *text)
{
	if (to->said)
		free(text);
	else
		to->said = text;
}
