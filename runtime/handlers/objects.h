/* SPDX-License-Identifier: MIT */
/* Which object a function id belongs to. */
#ifndef XAUDIT_RUNTIME_HANDLERS_OBJECTS_H
#define XAUDIT_RUNTIME_HANDLERS_OBJECTS_H

#include <stdint.h>

#include "runtime/process/thread.h"

/* The object has the function ids from first on; ids are given in order, and without gaps. Lock held. */
void handlers_name_ids(uint32_t first, uint32_t object);

/* Ids from first up to the next range's belong to the object. */
struct handlers_range {
	uint32_t first, object;
};

/*
 * The range that the function id belongs to; NULL: not known. Any context. After each range in memory lies the next
 * one, or one that begins with 0.
 */
const struct handlers_range *handlers_range(uint32_t id);

/* The number of the object that the function id belongs to; 0: not known. On the thread itself. */
static inline uint32_t handlers_object(struct thread *thread, uint32_t id)
{
	const struct handlers_range *range = thread->range;

	/* Relaxed: ranges don't change, and code that has an id of the next range got it after that range was there. */
	if (__builtin_expect(
		    !range || id < range->first || id > __atomic_load_n(&range[1].first, __ATOMIC_RELAXED) - 1, 0)) {
		range = handlers_range(id);
		if (!range)
			return 0;
		thread->range = range;
	}
	return range->object;
}

#endif
