/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tool/memory.h"
#include "tool/perf/perf.h"
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

/* Is it a file's, but not this program's, which no process that it executes will map? */
static int is_foreign(const char *name, const char *own)
{
	return *name == '/' && strcmp(name, own) != 0;
}

void perf_forget_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL, own[PATH_MAX] = "";
	struct range *range = NULL;
	size_t ranges = 0, room = 0;

	if (!maps)
		return;
	if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		*own = '\0';
	while (getline(&line, &room, maps) > 0) {
		struct range next = { 0 };
		char rights[5];
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*s %*u %n", &next.start, &next.end, rights, &at) !=
				3 ||
			!at || !is_foreign(line + at, own))
			continue;
		next.prot = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
			    (rights[2] == 'x' ? PROT_EXEC : 0);
		range = memory_resize(range, ranges + 1, sizeof(*range));
		range[ranges++] = next;
	}
	fclose(maps);
	free(line);
	for (size_t i = 0; i < ranges; i++)
		replace(range + i);
	free(range);
}
