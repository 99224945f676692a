/* SPDX-License-Identifier: MIT */
/*
 * Which processes of a family are gone, with their memory. Each process maps the first page of its head once more, and
 * its children do not inherit that (format/trace.h, TRACE_MARKED): so as long as any task has the memory, whatever its
 * number is, and in whichever namespace, /proc/PID/maps of such a task has that mapping. A process that was marked
 * before the look, and is in none of them, is gone; nobody will store to its places again. A number alone would not
 * tell: it may be another process's by now, and a task that was made by clone(CLONE_VM) outlives who made it.
 *
 * What can't be looked at is no proof. Where maps of a process can't be read it may be one that was to be found, or
 * share its memory: it is asked for its user, number and time of start. Where that can't be told either, nothing is
 * gone.
 *
 * Which file a mapping is of is told as the kernel tells it of a mapping of our own, since stat() may tell otherwise
 * (overlayfs, btrfs); it is made without access, and taken away at once.
 *
 * One thread, or under a lock. Some milliseconds for a hundred processes.
 */
#ifndef XAUDIT_TOOL_RECORD_DRAIN_MARKS_H
#define XAUDIT_TOOL_RECORD_DRAIN_MARKS_H

#include <stdbool.h>
#include <stdint.h>

/* Looks at all processes for marks in the file of that descriptor. Returns false if that tells nothing. */
bool drain_marks_look(int meta, uint64_t place_size);

/*
 * Is the process gone, as of the last look? It was marked before that. place: of its head; pid: as its head has it;
 * real: when the head was made (trace_pair.real).
 */
bool drain_marks_is_gone(uint32_t place, uint32_t pid, uint64_t real);

/* May a process of the family be alive, by the numbers that its heads tell? */
bool drain_marks_is_alive(int meta);

#endif
