/* SPDX-License-Identifier: MIT */
/*
 * What is behind xaudit-read-values.h: the bytes of an event with values (format/values.h), with the layout that tells
 * what they are. They are taken apart when somebody asks; of damaged ones all that is whole.
 *
 * One thread per trace.
 */
#ifndef XAUDIT_TOOL_READ_API_VALUES_H
#define XAUDIT_TOOL_READ_API_VALUES_H

#include <stdbool.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/read/events/decode.h"
#include "tool/read/values/layout.h"

struct xaudit_read_values {
	const struct read_layout *layout; /* of the process: as long as that is loaded */
	const uint8_t *bytes;
	uint32_t size;
	bool flawed;
	struct read_chain chain; /* words 0: none, or not known */
	struct xaudit_read_process *process;
	uint64_t ticks; /* when */
};

/* A copy, with memory that is used again. */
struct read_api_values {
	struct xaudit_read_values public;
	uint32_t room;
	_Alignas(8) uint8_t bytes[]; /* the backtrace comes first */
};

/* Copies to *kept, which is NULL or what was there before. Returns the copy; NULL: no memory, or there are none. */
const struct xaudit_read_values *read_api_keep_values(
	struct read_damage *damage, struct read_api_values **kept, const struct xaudit_read_values *values);

/* The bits of a number of that many bytes. */
static inline uint64_t read_api_bits(uint32_t size)
{
	return size < 8 ? (1ull << 8 * size) - 1 : UINT64_MAX;
}

/* The number that these bytes are, by its type and size. */
void read_api_number(struct xaudit_read_value *to, const void *bytes);

/* The result, in an array of values; NULL: it is not there. */
const struct xaudit_read_value *read_api_result(const struct xaudit_read_value *value, uint32_t count);

#endif
