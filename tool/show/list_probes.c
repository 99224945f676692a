/* SPDX-License-Identifier: MIT */
#include "tool/show/list_probes.h"

#include <stdlib.h>

#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/index/facts.h"
#include "tool/index/image.h"
#include "tool/index/write.h"
#include "tool/probe/coverage.h"
#include "tool/probe/windows.h"

struct list_probes {
	struct image image;
	struct facts facts;
	struct list_probe *probe; /* by address */
	size_t count;
};

struct list_probes *list_probes_open(int fd, const char *path)
{
	struct list_probes *probes = memory_zeroed(1, sizeof(*probes));

	if (!index_facts(&probes->image, &probes->facts, fd, path))
		return probes;
	free(probes);
	return NULL;
}

void list_probes_close(struct list_probes *probes)
{
	if (!probes)
		return;
	facts_free(&probes->facts);
	image_close(&probes->image);
	free(probes->probe);
	free(probes);
}

static void take(void *context, uint64_t address, unsigned length, const struct window *window,
	const struct window_place *place)
{
	struct list_probes *probes = context;
	struct list_probe probe = { .address = address, .length = length };

	if (window)
		probe.way = coverage_way(window, address);
	else
		probe.why = coverage_refusal(place->refusal);
	probes->probe = memory_grow(probes->probe, probes->count, sizeof(*probes->probe));
	probes->probe[probes->count++] = probe;
}

void list_probes_range(struct list_probes *probes, uint64_t from, uint64_t to)
{
	const struct image *image = &probes->image;

	free(probes->probe);
	probes->probe = NULL;
	probes->count = 0;
	for (size_t i = image_before(image, from); i < image->functions && image->function[i].address < to; i++)
		windows_each(image, &probes->facts, i, take, probes);
}

const struct list_probe *list_probe(const struct list_probes *probes, uint64_t address)
{
	size_t at = probes ? SEARCH(i, 0, probes->count, probes->probe[i].address < address) : 0;

	return probes && at < probes->count && probes->probe[at].address == address ? &probes->probe[at] : NULL;
}
