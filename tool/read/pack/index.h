/* SPDX-License-Identifier: MIT */
/* What is in a packed file: from its index, or by a search through its frames. One thread. */
#ifndef XAUDIT_TOOL_READ_PACK_INDEX_H
#define XAUDIT_TOOL_READ_PACK_INDEX_H

#include "tool/read/pack/pack.h"

/*
 * Fills in members and blocks of a pack whose reader is open. Damage is noted; what is left is sorted, lies in the
 * file, and belongs together. If memory runs out that is noted, too.
 */
void pack_index_read(struct pack *pack);

/* May a member of a trace have this name? */
bool pack_name_is_good(const char *name);

#endif
