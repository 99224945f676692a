/* SPDX-License-Identifier: MIT */
/*
 * Says that chunks are being taken, while the one who takes them waits for a slow disk: by another thread, which writes
 * a few bytes to each family's head (trace_head.drain_beat). Threads that drop events would else take him for gone, and
 * wait for the disk themselves.
 *
 * Any thread; a lock of its own, held while it writes. Up to 64 families, each with a descriptor of its own; of more,
 * only drain.c itself says so.
 */
#ifndef XAUDIT_TOOL_RECORD_DRAIN_BEAT_H
#define XAUDIT_TOOL_RECORD_DRAIN_BEAT_H

#include <stdint.h>

/* For the family of this number; meta: a descriptor of its file. Nothing if it is there, or if there is no room. */
void drain_beat_add(uint32_t family, int meta);

/* Behind this nobody says so of it. 0: of all. */
void drain_beat_remove(uint32_t family);

/* Says so of all. now: CLOCK_MONOTONIC, ns. */
void drain_beat_all(uint64_t now);

#endif
