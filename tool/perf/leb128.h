/* SPDX-License-Identifier: MIT */
/*
 * LEB128, the numbers of DWARF: seven bits in each byte, the lowest first, and the eighth bit says that another byte
 * follows. A signed number ends where the last byte's bit 6 is its sign: so 64 and -65 are the first ones of two bytes.
 */
#ifndef XAUDIT_TOOL_PERF_LEB128_H
#define XAUDIT_TOOL_PERF_LEB128_H

#include <stdint.h>

#include "tool/perf/bytes.h"

void leb128_add_unsigned(struct perf_bytes *to, uint64_t n);
void leb128_add_signed(struct perf_bytes *to, int64_t n);

#endif
