/* SPDX-License-Identifier: MIT */
/* The file meta of a copy (copy.h): its places, head and records. */
#ifndef XAUDIT_RUNTIME_SNAPSHOT_META_H
#define XAUDIT_RUNTIME_SNAPSHOT_META_H

#include <stdint.h>

#include "format/trace.h"

struct copy;

/*
 * Writes which process places of the copy belong to. -EBADMSG: the directory has not so
 * many words.
 */
long snapshot_name(struct copy *c, uint32_t first, uint64_t places, enum trace_place what, uint32_t number);

/* Opens both files of meta; reads the head of the process. Returns 0 or -errno. Open files stay open. */
long snapshot_begin(struct copy *c);

/* Written last of all: the records, then the head, which tells of the rest. */
long snapshot_meta(struct copy *c);

#endif
