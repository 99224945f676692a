/* SPDX-License-Identifier: MIT */
#include "x86_64/patch.h"

#include <sys/mman.h> /* PROT_READ */

#include "runtime/sys.h"

#define PAGE 4096ul

static uint64_t page_of(uint64_t address)
{
	return address & ~(PAGE - 1);
}

static uint64_t last_page(const struct patch *p)
{
	return page_of(p->address + p->size - 1);
}

int patch_at_load(const struct patch *patch, size_t count, int prot, size_t *done)
{
	*done = 0;
	while (*done < count) {
		/* One run: patches whose pages follow each other without a gap. */
		uint64_t low = page_of(patch[*done].address), high = last_page(&patch[*done]);
		size_t end = *done + 1;
		while (end < count && page_of(patch[end].address) <= high + PAGE) {
			if (last_page(&patch[end]) > high)
				high = last_page(&patch[end]);
			end++;
		}
		size_t size = high + PAGE - low;
		long r = sys_mprotect((void *)(uintptr_t)low, size, PROT_READ | PROT_WRITE);
		if (r) {
			/* It may have been refused in the middle. */
			sys_mprotect((void *)(uintptr_t)low, size, prot);
			return (int)r;
		}
		for (size_t i = *done; i < end; i++)
			sys_copy((void *)(uintptr_t)patch[i].address, patch[i].bytes, patch[i].size);
		r = sys_mprotect((void *)(uintptr_t)low, size, prot);
		if (r) {
			/* Changed text may not run here (SELinux execmod): take the file's own pages back. */
			sys_madvise((void *)(uintptr_t)low, size, MADV_DONTNEED);
			sys_mprotect((void *)(uintptr_t)low, size, prot);
			return (int)r;
		}
		*done = end;
	}
	return 0;
}
