/* SPDX-License-Identifier: MIT */
/*
 * Tells traced threads that chunks are being taken, while the thread that takes them (tool/record/drain_thread.c) waits
 * for a slow disk: another thread writes a few bytes to each family's head (trace_head.drain_beat). Without them,
 * threads that drop events would take the drain for gone, and wait for the disk themselves.
 *
 * Any thread may call; it has a lock of its own, held while it writes. It has room for 64 families, each with a
 * descriptor of its own; for further ones drain.c alone writes the beat.
 */
#ifndef XAUDIT_TOOL_RECORD_DRAIN_BEAT_H
#define XAUDIT_TOOL_RECORD_DRAIN_BEAT_H

#include <stdint.h>

/*
 * Adds the family of this number; meta: a descriptor of its file. Does nothing if it was added before, or if there is
 * no room.
 */
void drain_heartbeat_add(uint32_t family, int meta);

/* Removes the family: no beat is written for it after this returns. 0: all families. */
void drain_heartbeat_remove(uint32_t family);

/* Writes the beat of all families. now: CLOCK_MONOTONIC, ns. */
void drain_heartbeat_all(uint64_t now);

#endif
