/* SPDX-License-Identifier: MIT */
#include "tool/probe/coverage.h"

#include <inttypes.h>
#include <stdio.h>

#include "tool/index/facts.h"
#include "tool/index/image.h"
#include "tool/index/write.h"
#include "tool/probe/windows.h"

const char *coverage_refusal(unsigned refusal)
{
	static const char *const phrase[] = {
#define X(number, NAME, phrase) [number] = phrase,
		PROBE_REFUSALS(X)
#undef X
	};

	return refusal < PROBE_REFUSAL_COUNT ? phrase[refusal] : "?";
}

const char *coverage_way(const struct window *window, uint64_t address)
{
	switch (window->plan.way) {
	case PROBE_WAY_JUMP:
		return window->plan.address < address ? "jump-before" : "jump";
	case PROBE_WAY_SHORT:
		return "short";
	default:
		return "shared";
	}
}

/* Tenths of percent, rounded down: 100.0 is all. */
static void print_share(const char *what, uint64_t part, uint64_t whole)
{
	uint64_t of = whole ? 1000 * part / whole : 0;

	if (part)
		printf("  probes %s: %" PRIu64 " (%" PRIu64 ".%" PRIu64 " %%)\n", what, part, of / 10, of % 10);
}

void coverage_print(int fd, const char *path)
{
	struct windows_coverage cover;
	struct image image;
	struct facts facts;
	uint64_t had = 0;

	if (index_facts(&image, &facts, fd, path))
		return;
	windows_cover(&image, &facts, &cover);
	facts_free(&facts);
	image_close(&image);
	for (unsigned way = 0; way < PROBE_WAYS; way++)
		had += cover.by_way[way];
	printf("  instructions of functions: %" PRIu64 "\n", cover.instructions);
	print_share("at one of them", had, cover.instructions);
	print_share("by a jump in its place", cover.single, cover.instructions);
	print_share("by a jump over more than it", cover.by_way[PROBE_WAY_JUMP] - cover.single - cover.before,
		cover.instructions);
	print_share("by a jump before it", cover.before, cover.instructions);
	print_share("by a short jump to padding", cover.by_way[PROBE_WAY_SHORT], cover.instructions);
	print_share("by a jump that shares bytes", cover.by_way[PROBE_WAY_SHARED], cover.instructions);
	for (unsigned refusal = 1; refusal < PROBE_REFUSAL_COUNT; refusal++) {
		char what[256];
		snprintf(what, sizeof(what), "refused, %s", coverage_refusal(refusal));
		print_share(what, cover.refused[refusal], cover.instructions);
	}
}
