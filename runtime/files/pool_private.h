/* SPDX-License-Identifier: MIT */
/* The mapping as this process knows it (pool.h). For pool.c, pool_grow.c and pool_make.c alone. */
#ifndef XAUDIT_RUNTIME_FILES_POOL_PRIVATE_H
#define XAUDIT_RUNTIME_FILES_POOL_PRIVATE_H

#include <stdint.h>

#include "format/places.h"
#include "format/trace.h"
#include "runtime/files/output.h"

/* Written before `base`; each member has its own, and acts on nothing else. */
struct pool_private {
	uint64_t place_size;
	uint64_t addresses; /* that are mapped */
	uint64_t accessible; /* of these, from the first on. Only grows; relaxed: a late reader repeats it */
	struct trace_directory directory;
	uint32_t places_max; /* that there may be */
	uint32_t first;	     /* place that may be taken: others are before it */
	uint32_t end;	     /* places that the file has, as far as is known. As accessible */
	uint32_t is_short;   /* there were fewer addresses than for a file of the usual size */
	uint32_t worded;     /* places whose words can be stored to: whole blocks. As accessible */
	struct output_place place;
	uint32_t maker;	     /* identity_generation() of the process that mapped it */
	uint32_t inherited;  /* has that one forked since? Relaxed: by the thread that does, before it does */
	uint32_t unknown;    /* nobody tells. As inherited */
	uint8_t *mapped; /* what base will be */
	uint8_t *base;	 /* NULL: there is no family yet */
};
extern struct pool_private pool;

/* What all members share. */
static inline struct trace_head *pool_head(void)
{
	return (struct trace_head *)(void *)pool.mapped;
}

/* Relaxed: as pool.accessible. */
static inline void pool_raise(uint32_t *least, uint32_t value)
{
	uint32_t known = __atomic_load_n(least, __ATOMIC_RELAXED); /* relaxed, as above */

	/* Relaxed, as above. */
	while (known < value &&
		!__atomic_compare_exchange_n(least, &known, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

#endif
