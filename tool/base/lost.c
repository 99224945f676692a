/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/base/lost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int by_events(const void *a, const void *b)
{
	const struct lost_cause *x = a, *y = b;

	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return x->cause < y->cause ? -1 : x->cause > y->cause;
}

unsigned lost_causes(struct lost_cause cause[TRACE_LOST_ROOM], const uint64_t by[TRACE_LOST_ROOM])
{
	static const char *const phrase[TRACE_LOST_ROOM] = {
#define X(number, NAME, words) [number] = words,
		TRACE_LOST_CAUSES(X)
#undef X
	};
	unsigned count = 0;

	for (unsigned i = 0; i < TRACE_LOST_ROOM; i++)
		if (by[i])
			cause[count++] =
				(struct lost_cause){ phrase[i] ? phrase[i] : "for a reason that is not known here",
					by[i], i };
	qsort(cause, count, sizeof(*cause), by_events);
	return count;
}

char *lost_words(const uint64_t by[TRACE_LOST_ROOM])
{
	struct lost_cause cause[TRACE_LOST_ROOM];
	unsigned count = lost_causes(cause, by);
	char *text = NULL;
	size_t size;
	FILE *to = count ? open_memstream(&text, &size) : NULL;

	if (!to)
		return NULL;
	if (count == 1)
		fputs(cause[0].phrase, to);
	for (unsigned i = 0; count > 1 && i < count; i++)
		fprintf(to, "%s%" PRIu64 " %s", i ? ", " : "", cause[i].events, cause[i].phrase);
	fclose(to);
	return text;
}
