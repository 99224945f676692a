/* SPDX-License-Identifier: MIT */
#include "x86_64/labels.h"

#include <errno.h> /* ENOMEM */
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h> /* PROT_READ */
#include <sys/syscall.h>

#include "x86_64/sys.h"

/* The file, as it is executed and as it is written. */
extern uint8_t tramp_labels_file[LABELS_MAPPED];
extern struct labels_file tramp_labels_other;

static uint32_t mapped;
static int left; /* labels_leave() was called: the table that is executed has addresses. Process lock */

static uint32_t first_of(uint64_t address)
{
	return (uint32_t)(address * LABELS_HASH >> LABELS_SHIFT) / LABELS_ENTRY & (LABELS_HASHED - 1);
}

static bool is_address(uint64_t address)
{
	return address != LABELS_FREE;
}

bool labels_are_mapped(void)
{
	/* Acquire: pairs with labels_map(). Trampolines that ask come from the dispatch table, which changes later. */
	return __atomic_load_n(&mapped, __ATOMIC_ACQUIRE) != 0;
}

struct labels_entry *labels_make(uint64_t address)
{
	const uint32_t first = first_of(address);

	if (!labels_are_mapped())
		return NULL;
	for (uint32_t i = first; is_address(address) && i < first + LABELS_PROBES; i++) {
		uint64_t found = LABELS_FREE;
		/* Relaxed, both: the address is all that there is to know. */
		if (__atomic_compare_exchange_n(&tramp_labels_other.table[i].address, &found, address, 0,
			    __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
			found == address)
			return tramp_labels + i;
	}
	__atomic_fetch_add(&tramp_labels_other.head.missed, 1, __ATOMIC_RELAXED); /* relaxed: a count */
	return NULL;
}

uint64_t labels_find(uint64_t address)
{
	const uint32_t first = first_of(address);
	/* Where it is written: a debugger may have made a copy of the other page. */
	const struct labels_entry *table = labels_are_mapped() ? tramp_labels_other.table : tramp_labels;

	if (!labels_are_mapped() && !left)
		return 0;
	for (uint32_t i = first; is_address(address) && i < first + LABELS_PROBES; i++)
		/* Relaxed: as above. */
		if (__atomic_load_n(&table[i].address, __ATOMIC_RELAXED) == address)
			return (uint64_t)(uintptr_t)(tramp_labels + i) + LABELS_LABEL;
	return 0;
}

static void fill_code(void)
{
	for (uint32_t i = 0; i < LABELS_ENTRIES; i++) {
		/* ff 54 24 e8 call *-24(%rsp); e9 jmp; cc int3 */
		uint64_t *code = (uint64_t *)(tramp_labels_code + i * LABELS_ENTRY);
		uint64_t end = (uint64_t)(uintptr_t)code + 9;
		uint64_t to = (uint32_t)((uint64_t)(uintptr_t)tramp_labels_back - end);
		code[0] = 0xe9e82454ff | to << 40;
		code[1] = 0xcccccccccccccc00 | to >> 24;
	}
}

/* kept: the table that there was, or NULL. */
static void fill(const struct labels_entry *kept)
{
	for (uint32_t i = 0; i < LABELS_ENTRIES; i++)
		tramp_labels[i].address = kept ? kept[i].address : LABELS_FREE;
	fill_code();
}

/* A mapping over the place; fd < 0: what was there at first. Returns 0 or -errno. */
static long map_over(void *place, size_t size, int flags, int fd)
{
	if (fd < 0)
		flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *p = sys_mmap(place, size, PROT_READ | PROT_WRITE, MAP_FIXED | flags, fd, 0);

	return sys_is_error(p) ? (long)(intptr_t)p : 0;
}

/*
 * The mapping that is executed. A private page shows what others write into the file until it is written to: so all
 * pages of the code are. perf is told of the mapping when it becomes executable.
 */
static long map_executed(int fd)
{
	long r = map_over(tramp_labels_file, LABELS_MAPPED, MAP_PRIVATE, fd);

	if (r)
		return r;
	fill_code();
	return sys_mprotect(tramp_labels_file, LABELS_MAPPED, PROT_READ | PROT_EXEC);
}

void labels_keep_place(void)
{
	/* What can't be written is not filled by mlockall(), but who searches data for pointers may read it. */
	sys_mprotect(tramp_labels_file, (size_t)((uint8_t *)(&tramp_labels_other + 1) - tramp_labels_file), PROT_READ);
}

/* A copy of the table; NULL: no memory. */
static struct labels_entry *copy_table(void)
{
	void *p = sys_mmap(NULL, LABELS_TABLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_is_error(p))
		return NULL;
	sys_copy(p, tramp_labels, LABELS_TABLE);
	return p;
}

void labels_leave(void)
{
	if (!labels_are_mapped() || map_over(&tramp_labels_other, LABELS_CODE_AT, 0, -1))
		return;
	left = 1;
	/* Release: pairs with labels_are_mapped(). */
	__atomic_store_n(&mapped, 0, __ATOMIC_RELEASE);
}

/* Puts what is in the file, but for its code, where it will be mapped: nobody finds an address there yet. */
static long fill_place(void)
{
	struct labels_entry *kept = left ? copy_table() : NULL;

	if (left && !kept)
		return -ENOMEM;
	/* Another thread may have been here when this process was forked. */
	long r = map_over(tramp_labels_file, LABELS_MAPPED, 0, -1);
	if (!r)
		fill(kept);
	if (kept)
		sys_munmap(kept, LABELS_TABLE);
	return r;
}

long labels_map(int fd)
{
	struct labels_head head = { LABELS_MAGIC, (uint64_t)(uintptr_t)tramp_labels_file, 0 };
	long r = fill_place();

	if (r)
		return r;
	r = sys_write_at(fd, &head, sizeof(head), LABELS_HEAD_AT);
	if (!r)
		r = sys_write_at(fd, tramp_labels, LABELS_TABLE, LABELS_AT);
	if (!r)
		r = sys_write_at(fd, tramp_labels_code, LABELS_TABLE, LABELS_CODE_AT);
	/* Who searches the module's data for pointers reads it all: garbage collectors, LeakSanitizer. */
	if (!r)
		r = sys_call(__NR_ftruncate, fd, LABELS_MAPPED, 0, 0, 0, 0);
	if (!r)
		r = map_over(&tramp_labels_other, LABELS_CODE_AT, MAP_SHARED, fd);
	if (!r) {
		r = map_executed(fd);
		if (r)
			map_over(&tramp_labels_other, LABELS_CODE_AT, 0, -1);
	}
	/* What was filled takes memory; but calls that are open may return by it. */
	if (r && left)
		sys_mprotect(tramp_labels_file, LABELS_MAPPED, PROT_READ | PROT_EXEC);
	else if (r)
		map_over(tramp_labels_file, LABELS_MAPPED, 0, -1);
	/* Release: pairs with labels_are_mapped(). */
	__atomic_store_n(&mapped, !r, __ATOMIC_RELEASE);
	return r;
}
