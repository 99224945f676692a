/* SPDX-License-Identifier: MIT */
#include "runtime/start.h"

#include "runtime/arena.h"
#include "x86_64/mirror.h"

static void *memory_for_stacks(size_t size)
{
	static struct arena memory;

	return arena_alloc(&memory, size);
}

void start_parts(void)
{
	mirror_init(memory_for_stacks);
}
