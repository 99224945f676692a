/* SPDX-License-Identifier: MIT */
/* Function ids, and which object each belongs to. */
#include "runtime/handlers/objects.h"

#include <sys/mman.h> /* PROT_READ */

#include "runtime/base/search.h"
#include "x86_64/sys.h"

#define BLOCK_RANGES 511 /* and a copy of the next block's first range after the last: a page */
#define MAX_BLOCKS   1024

static struct handlers_range first_block[BLOCK_RANGES + 1] SYS_LARGE;
static struct handlers_range *blocks[MAX_BLOCKS] SYS_LARGE;
static uint32_t range_count; /* ascending; only grows. Process lock; read without it */

static struct handlers_range *range(uint32_t n)
{
	return &blocks[n / BLOCK_RANGES][n % BLOCK_RANGES];
}

void handlers_name_ids(uint32_t first, uint32_t object)
{
	if (range_count && range(range_count - 1)->object == object)
		return;
	if (range_count == MAX_BLOCKS * BLOCK_RANGES)
		/*
		 * half a million changes from one object to another: further ids would seem to be the last object's, so
		 * none is told
		 */
		return;
	struct handlers_range **block = &blocks[range_count / BLOCK_RANGES];
	if (!range_count) {
		*block = first_block;
	} else if (!*block) {
		void *p = sys_mmap(NULL, (BLOCK_RANGES + 1) * sizeof(**block), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_is_error(p))
			return;
		*block = p;
	}
	*range(range_count) = (struct handlers_range){ first, object };
	if (range_count && range_count % BLOCK_RANGES == 0)
		range(range_count - 1)[1] = *range(range_count);
	/*
	 * Release; pairs with the acquire in handlers_range(): a thread that sees the count sees the range and its
	 * block.
	 */
	__atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);
}

const struct handlers_range *handlers_range(uint32_t id)
{
	/* Acquire; pairs with the release in handlers_name_ids(). */
	uint32_t count = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
	uint32_t low = SEARCH(i, 0, count, range(i)->first <= id);

	return low ? range(low - 1) : NULL;
}
