/* SPDX-License-Identifier: MIT */
/* XXH64, the checksum of packed traces, as xxHash's specification has it. Any thread. */
#ifndef XAUDIT_TOOL_READ_PACK_HASH_H
#define XAUDIT_TOOL_READ_PACK_HASH_H

#include <stddef.h>
#include <stdint.h>

/* With seed 0. */
uint64_t pack_hash(const void *data, size_t size);

#endif
