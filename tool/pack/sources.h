/* SPDX-License-Identifier: MIT */
/* What a packed trace will hold. */
#ifndef XAUDIT_TOOL_PACK_SOURCES_H
#define XAUDIT_TOOL_PACK_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/pack/slots.h"

struct pack_extent;
struct pack_write;

/* A file or folder that will be a member. */
struct pack_source {
	char *name;
	uint64_t size;
	uint64_t file; /* bytes of the file */
	struct slots slots; /* of t<n>, unless it is packed as it is */
	uint32_t mode;
	struct pack_extent *extent;
	size_t extents;
};

/* Finds the sources, in the order in which they are packed. Returns 0, or -1 and the error. */
int pack_sources_find(struct pack_write *write);

#endif
