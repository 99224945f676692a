/* SPDX-License-Identifier: MIT */
#include "tool/check/growth.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/check/finding.h"
#include "tool/check/report.h"
#include "tool/check/stack.h"
#include "tool/check/tasks.h"

/* The first cycles fill caches; of what follows, so many are needed. */
#define WARM_UP 3
#define CYCLES	10

/* Less than this in all may be anything. */
#define GROWTH_MIN (32 * 1024)

struct check_growth {
	struct check_growth *next;
	char *path;
	int64_t *bytes;
	size_t count;
};

/* 0: unknown. */
static int64_t own_memory(pid_t pid)
{
	char path[64], line[256];
	uint64_t kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Private_Dirty: %" SCNu64, &kib) == 1)
			break;
	if (file)
		fclose(file);
	return (int64_t)(kib * 1024);
}

void check_growth_sample(struct check_process *process, const struct check_unload *unload)
{
	struct check_growth *g;

	for (g = process->growth; g; g = g->next)
		if (!strcmp(g->path, unload->path))
			break;
	if (!g) {
		g = memory_zeroed(1, sizeof(*g));
		g->path = memory_format("%s", unload->path);
		g->next = process->growth;
		process->growth = g;
	}
	if (!(g->count & (g->count - 1)))
		g->bytes = memory_resize(g->bytes, g->count ? 2 * g->count : 16, sizeof(*g->bytes));
	g->bytes[g->count++] = own_memory(process->pid) - (int64_t)process->cost;
}

/* Steady: each third of the cycles adds about a third of it. */
static int64_t per_cycle(const int64_t *bytes, size_t count)
{
	size_t cycles = count - 1, part = cycles / 3;
	int64_t total = bytes[count - 1] - bytes[0], share = total / 3;

	if (total < GROWTH_MIN)
		return 0;
	for (int i = 0; i < 3; i++) {
		size_t from = i * part, to = i == 2 ? cycles : from + part;
		int64_t grown = bytes[to] - bytes[from];

		if (grown < share / 2 || grown > share * 2)
			return 0;
	}
	return total / (int64_t)cycles;
}

void check_growth_judge(struct check_process *process)
{
	struct check_growth *g, *next;

	for (g = process->growth; g; g = next) {
		next = g->next;
		if (g->count > WARM_UP + CYCLES) {
			size_t cycles = g->count - WARM_UP - 1;
			int64_t bytes = per_cycle(g->bytes + WARM_UP, g->count - WARM_UP);

			if (bytes > 0) {
				struct check_finding *f = check_finding(CHECK_GROWTH, process, process->pid, g->path,
					"each cycle of opening and closing %s leaves memory behind",
					check_base(g->path));
				f->more = memory_format("%" PRId64 " bytes in each of %zu cycles", bytes, cycles);
				check_found(f);
			}
		}
		free(g->path);
		free(g->bytes);
		free(g);
	}
	process->growth = NULL;
}
