/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/perf/anonymous_maps.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tool/base/memory.h"
#include "x86_64/sys.h"

struct range {
	uintptr_t start, end;
	int prot;
};

/* The mapping may be libc's text: nothing of libc is called in between. */
static __attribute__((noinline)) long move_over(uintptr_t to, void *from, size_t size)
{
	void *p = sys_mmap((void *)to, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	if (sys_is_error(p))
		return (long)(intptr_t)p;
	return sys_call(__NR_mremap, (long)from, (long)size, (long)size, MREMAP_MAYMOVE | MREMAP_FIXED, (long)to, 0);
}

static void replace(const struct range *range)
{
	size_t size = range->end - range->start;
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return;
	if (range->prot & PROT_READ)
		memcpy(copy, (void *)range->start, size);
	if (mprotect(copy, size, range->prot) || move_over(range->start, copy, size) < 0)
		munmap(copy, size);
}

/* Is it a file's, and not the code that does this? (Where ld.so was called to start us, /proc/self/exe names that.) */
static int is_to_go(const struct range *range, const char *name)
{
	uintptr_t here = (uintptr_t)move_over;

	return *name == '/' && !(range->start <= here && here < range->end);
}

void perf_anonymous_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL;
	struct range *range = NULL;
	size_t ranges = 0, room = 0;

	if (!maps)
		return;
	while (getline(&line, &room, maps) > 0) {
		struct range next = { 0 };
		char rights[5];
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*s %*u %n", &next.start, &next.end, rights, &at) !=
				3 ||
			!at)
			continue;
		next.prot = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
			    (rights[2] == 'x' ? PROT_EXEC : 0);
		if (!is_to_go(&next, line + at))
			continue;
		range = memory_resize(range, ranges + 1, sizeof(*range));
		range[ranges++] = next;
	}
	fclose(maps);
	free(line);
	for (size_t i = 0; i < ranges; i++)
		replace(range + i);
	free(range);
}
