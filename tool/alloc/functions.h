/* SPDX-License-Identifier: MIT */
/*
 * The functions that allocate and free, what their arguments say, and the rules by which they are recorded. A function
 * is known by its name, or by one of its other names. Pure.
 */
#ifndef XAUDIT_TOOL_ALLOC_FUNCTIONS_H
#define XAUDIT_TOOL_ALLOC_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"

enum alloc_kind {
	ALLOC_NONE, /* another function */
	ALLOC_NEW,	/* gives a block */
	ALLOC_REALLOC,	/* frees one, and gives one; neither, if it fails */
	ALLOC_FREE,
	ALLOC_MAP,	/* maps memory */
	ALLOC_UNMAP,
	ALLOC_REMAP,	/* unmaps some, and maps some; neither, if it fails */
};

/*
 * X(name or prefix and '*', kind, argument that is an address, that is a size, that is a factor of it: from 0, or -1,
 *   as what it is sampled: "": it is not)
 */
#define ALLOC_FUNCTIONS(X) \
	X("malloc", NEW, -1, 0, -1, "malloc") \
	X("calloc", NEW, -1, 0, 1, "calloc") \
	X("realloc", REALLOC, 0, 1, -1, "realloc") \
	X("reallocarray", REALLOC, 0, 1, 2, "reallocarray") \
	X("free", FREE, 0, -1, -1, "free") \
	X("cfree", FREE, 0, -1, -1, "free") \
	X("aligned_alloc", NEW, -1, 1, -1, "aligned_alloc") \
	X("memalign", NEW, -1, 1, -1, "aligned_alloc") \
	X("posix_memalign", NEW, 0, 2, -1, "posix_memalign") \
	X("valloc", NEW, -1, 0, -1, "malloc") \
	X("pvalloc", NEW, -1, 0, -1, "malloc") \
	X("_Znw*", NEW, -1, 0, -1, "new") /* operator new */ \
	X("_Zna*", NEW, -1, 0, -1, "new") /* operator new[] */ \
	X("_Zdl*", FREE, 0, -1, -1, "delete") /* operator delete */ \
	X("_Zda*", FREE, 0, -1, -1, "delete") /* operator delete[] */ \
	X("mmap", MAP, -1, 1, 3, "") /* factor: the flags */ \
	X("mmap64", MAP, -1, 1, 3, "") \
	X("munmap", UNMAP, 0, 1, -1, "") \
	X("mremap", REMAP, 0, 2, 1, "") /* factor: the size that it had */

struct alloc_function {
	const char *pattern;
	enum alloc_kind kind;
	int address, size, factor; /* places of arguments; -1: it has none */
	const char *sampled; /* as what: a word of the context `sample`; "": it is not */
	bool out; /* the argument `address` is where the block's address is stored, and the result is an error */
};

/* NULL: it neither allocates nor frees. */
const struct alloc_function *alloc_function_of(const struct xaudit_read_function *function);

/* By number, from 0 on; NULL: there are no more. */
const struct alloc_function *alloc_function_at(unsigned number);

/* Is it about mappings? */
static inline bool alloc_function_maps(const struct alloc_function *function)
{
	return function->kind >= ALLOC_MAP;
}

/*
 * The contexts by which what is needed of its calls is recorded, and so many callers, if it gives memory; of samples,
 * one in so many bytes, if that is not 0. The caller frees them.
 */
char *alloc_function_contexts(const struct alloc_function *function, uint32_t backtrace, uint64_t sample);

/* The address that `out` is about is recorded as a value of this name. */
#define ALLOC_OUT "block"

#endif
