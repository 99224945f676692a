/* SPDX-License-Identifier: MIT */
#include "x86_64/patch.h"

#include <errno.h>    /* EPERM */
#include <stdbool.h>
#include <sys/mman.h> /* PROT_READ */

#include "x86_64/pages.h"
#include "x86_64/sys.h"

#define PAGE 4096ul

/* One pass of a radix sort: by the address's byte that is so many bits up. */
static void sort_by_byte(struct patch *to, const struct patch *from, size_t count, unsigned shift)
{
	uint32_t place[257] = { 0 };

	for (size_t i = 0; i < count; i++)
		place[(from[i].address >> shift & 255) + 1]++;
	for (unsigned byte = 1; byte < 256; byte++)
		place[byte] += place[byte - 1];
	for (size_t i = 0; i < count; i++)
		to[place[from[i].address >> shift & 255]++] = from[i];
}

void patch_sort(struct patch *patch, struct patch *spare, size_t count)
{
	struct patch *from = patch, *to = spare;
	uint64_t differ = 0;
	bool ordered = true;

	for (size_t i = 1; i < count; i++) {
		differ |= patch[i].address ^ patch[0].address;
		ordered &= patch[i - 1].address <= patch[i].address;
	}
	for (unsigned shift = 0; !ordered && shift < 64; shift += 8) {
		if (!(differ >> shift & 255))
			continue;
		sort_by_byte(to, from, count, shift);
		struct patch *sorted = to;
		to = from;
		from = sorted;
	}
	for (size_t i = 0; from != patch && i < count; i++)
		patch[i] = from[i];
}

static uint64_t page_of(uint64_t address)
{
	return address & ~(PAGE - 1);
}

static uint64_t last_page(const struct patch *p)
{
	return page_of(p->address + p->size - 1);
}

/* One run of pages at load, by changing its protection. */
static long write_run(const struct patch *patch, size_t count, uint64_t low, size_t size, int prot)
{
	long r = sys_mprotect((void *)(uintptr_t)low, size, PROT_READ | PROT_WRITE);

	if (r) {
		/* It may have been refused in the middle. */
		sys_mprotect((void *)(uintptr_t)low, size, prot);
		return r;
	}
	for (size_t i = 0; i < count; i++)
		sys_copy((void *)(uintptr_t)patch[i].address, patch[i].bytes, patch[i].size);
	r = sys_mprotect((void *)(uintptr_t)low, size, prot);
	/* It was allowed on scratch memory, but may not be here. */
	return r && prot & PROT_EXEC ? pages_make_code(low, size) : r;
}

/* Writes a run of pages where that is refused. */
static long write_run_as_it_is(int memory, const struct patch *patch, size_t count, uint64_t low, size_t size, int prot)
{
	struct pages pages;
	long r = memory < 0 ? memory : 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = pages_write(memory, patch[i].address, patch[i].bytes, patch[i].size);
	if (r == 0)
		return 0;
	/* No /proc, or the kernel refuses to write through it (proc_mem.force_override). */
	r = prot & PROT_WRITE ? -EACCES : pages_begin(&pages, low, size);
	if (r)
		return r;
	for (size_t i = 0; i < count && r == 0; i++)
		r = pages_put(&pages, patch[i].address, patch[i].bytes, patch[i].size);
	if (r == 0)
		return pages_end(&pages, prot);
	pages_drop(&pages);
	return r;
}

int patch_at_load(const struct patch *patch, size_t count, int prot, size_t *done)
{
	int refused = count && prot & PROT_EXEC && !pages_may_change();
	int memory = refused ? pages_open() : -1;
	long r = 0;

	*done = 0;
	while (*done < count && r == 0) {
		/* One run: patches whose pages follow each other without a gap. */
		uint64_t low = page_of(patch[*done].address), high = last_page(&patch[*done]);
		size_t end = *done + 1;
		while (end < count && page_of(patch[end].address) <= high + PAGE) {
			if (last_page(&patch[end]) > high)
				high = last_page(&patch[end]);
			end++;
		}
		size_t size = high + PAGE - low;
		if (refused)
			r = write_run_as_it_is(memory, patch + *done, end - *done, low, size, prot);
		else
			r = write_run(patch + *done, end - *done, low, size, prot);
		if (r == 0)
			*done = end;
	}
	if (memory >= 0)
		sys_close(memory);
	return (int)r;
}

/* ---- live ---- */

/* linux/membarrier.h's, which old kernel headers lack. */
#define CORE_SYNC	   (1 << 5)
#define REGISTER_CORE_SYNC (1 << 6)

/* Returns 0 or -errno. Registers when it must: after an exec, and in a process that never did. */
static long core_sync(void)
{
	long r = sys_call(__NR_membarrier, CORE_SYNC, 0, 0, 0, 0, 0);

	if (r == -EPERM) {
		r = sys_call(__NR_membarrier, REGISTER_CORE_SYNC, 0, 0, 0, 0, 0);
		if (r == 0)
			r = sys_call(__NR_membarrier, CORE_SYNC, 0, 0, 0, 0, 0);
	}
	return r;
}

bool patch_may_store(uint64_t head, size_t head_size)
{
	return head % 8 + head_size <= 8;
}

static void store(uint64_t address, uint8_t byte)
{
	/* Relaxed: no thread fetches it before the core-sync after the step. */
	__atomic_store_n((uint8_t *)(uintptr_t)address, byte, __ATOMIC_RELAXED);
}

static void store_head(uint64_t address, const uint8_t *bytes, uint8_t size)
{
	if (size == 1) {
		store(address, bytes[0]);
		return;
	}
	/*
	 * One instruction, at an odd address too; pairs with the fetch of a thread that runs this now, which finds both
	 * bytes or neither.
	 */
	__asm__ volatile("movw %w1, (%0)" : : "r"(address), "r"((uint16_t)(bytes[0] | bytes[1] << 8)) : "memory");
}

void patch_step(const struct patch_site *site, int step)
{
	const struct patch *patch = &site->patch;
	const uint8_t guard[2] = { 0xeb, site->guard };
	uint64_t head = patch->address + site->head;

	if (step == 3) {
		store_head(head, patch->bytes + site->head, site->head_size);
		return;
	}
	if (step == 1 && site->guard) {
		store_head(head, guard, 2);
		return;
	}
	if (site->head_size == 1 || step != (site->guard ? 2 : 1))
		return;
	for (uint8_t i = 0; i < patch->size; i++) {
		uint64_t at = patch->address + i;
		if (i >= site->head && i < site->head + 2)
			continue;
		/* What is as it should be stays untouched: threads may be executing it. */
		if (*(const volatile uint8_t *)(uintptr_t)at != patch->bytes[i])
			store(at, patch->bytes[i]);
	}
}

/*
 * The run of neighbouring pages of one protection that begins with patch i: its end is the index of the first patch
 * that is not in it.
 */
static size_t find_run(const struct patch_site *site, size_t count, size_t i, uint64_t *low, size_t *size)
{
	uint64_t high = last_page(&site[i].patch);
	size_t end = i + 1;

	*low = page_of(site[i].patch.address);
	for (; end < count && page_of(site[end].patch.address) <= high + PAGE && site[end].prot == site[i].prot; end++)
		if (last_page(&site[end].patch) > high)
			high = last_page(&site[end].patch);
	*size = high + PAGE - *low;
	return end;
}

/* Gives the first `count` sites' pages their protection back. */
static long protect(const struct patch_site *site, size_t count)
{
	uint64_t low;
	size_t size;
	long result = 0;

	for (size_t i = 0, end; i < count; i = end) {
		end = find_run(site, count, i, &low, &size);
		if (sys_mprotect((void *)(uintptr_t)low, size, site[i].prot) && pages_make_code(low, size))
			result = -EKEYREJECTED;
	}
	return result;
}

static long unprotect(const struct patch_site *site, size_t count)
{
	uint64_t low;
	size_t size;

	for (size_t i = 0, end; i < count; i = end) {
		end = find_run(site, count, i, &low, &size);
		long r = sys_mprotect((void *)(uintptr_t)low, size, site[i].prot | PROT_READ | PROT_WRITE);
		if (r) {
			/* It may have been refused in the middle. */
			sys_mprotect((void *)(uintptr_t)low, size, site[i].prot);
			protect(site, i);
			return r;
		}
	}
	return 0;
}

/* Puts what a site becomes, and no more, into the new pages. */
static long put_site(const struct pages *pages, const struct patch_site *site)
{
	const struct patch *patch = &site->patch;

	if (site->head_size == 1)
		return pages_put(pages, patch->address + site->head, patch->bytes + site->head, 1);
	return pages_put(pages, patch->address, patch->bytes, patch->size);
}

/* Where text can't be made writable while it is executable: a run of pages at a time, each at once. */
static long replace_runs(const struct patch_site *site, size_t count)
{
	uint64_t low;
	size_t size;

	for (size_t i = 0, end; i < count; i = end) {
		struct pages pages;
		end = find_run(site, count, i, &low, &size);
		long r = site[i].prot & PROT_WRITE ? -EACCES : pages_begin(&pages, low, size);
		if (r)
			return r;
		for (size_t n = i; n < end && r == 0; n++)
			r = put_site(&pages, &site[n]);
		if (r)
			pages_drop(&pages);
		else
			r = pages_end(&pages, site[i].prot);
		if (r)
			return r;
	}
	core_sync();
	return 0;
}

int patch_live(const struct patch_site *site, size_t count)
{
	/* Before anything is changed: afterwards it can't fail any more. */
	long r = core_sync();
	int guards = 0;

	if (r)
		return (int)r;
	r = pages_may_change() ? unprotect(site, count) : -EACCES;
	if (r == -EACCES || r == -EPERM)
		return replace_runs(site, count) == 0 ? 0 : (int)r;
	if (r)
		return (int)r;
	for (size_t i = 0; i < count; i++) {
		patch_step(&site[i], 1);
		guards |= site[i].guard;
	}
	core_sync();
	if (guards) {
		for (size_t i = 0; i < count; i++)
			patch_step(&site[i], 2);
		core_sync();
	}
	for (size_t i = 0; i < count; i++)
		patch_step(&site[i], 3);
	core_sync();
	return (int)protect(site, count);
}
