/* SPDX-License-Identifier: MIT */
/*
 * Which processes of a family are gone, with their memory. Each process maps the first page of its head once more, and
 * its children do not inherit that (format/trace.h, TRACE_MARKED): so as long as any task has the memory, whatever its
 * number is, and in whichever namespace, /proc/PID/maps of such a task has that mapping. A process that was marked
 * before the look, and whose mark is in none of these maps, is gone: nobody will store to its places again, except for
 * children that stay in a handler (runtime/record/chunk.h). A number alone would not tell: it may be another process's
 * by now, and a task that was made by clone(CLONE_VM) outlives who made it.
 *
 * What can't be looked at is no proof:
 *	- Only processes are gone that /proc would show: of this boot, and of our namespace of processes, or of one in
 *	  which a task was seen that has the file mapped. If no task has, nothing is gone.
 *	- A task that has the file mapped but no mark is the process whose number it has, in any namespace: a program
 *	  may have taken the mark away.
 *	- So is one whose maps can't be read, or it shares the memory of one whose head was made after it began. Where
 *	  that can't be told either, or /proc hides processes (hidepid), nothing is gone.
 *	- A task that is made while /proc is read, by one that ends then, may have a number that was passed already. So
 *	  a look reads it twice.
 * Not covered: a task whose maps can't be read, and which shares the memory of a process whose head was made more than
 * ten seconds later, or after CLOCK_REALTIME was set back by so much.
 *
 * Which file a mapping is of is told as the kernel tells it of a mapping of our own, since stat() may tell otherwise
 * (overlayfs, btrfs); it is made without access, and taken away at once.
 *
 * One thread, or under a lock. Some milliseconds for a hundred processes. To read the maps of a task waits for its
 * mmap().
 */
#ifndef XAUDIT_TOOL_RECORD_DRAIN_MARKS_H
#define XAUDIT_TOOL_RECORD_DRAIN_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"

/* Looks at all processes for marks in the file of that descriptor. Returns false if that tells nothing. */
bool drain_marks_look(int meta, uint64_t place_size);

/* A process, as its head in that place tells. */
struct drain_marks_process {
	uint32_t place, pid;
	uint64_t real; /* when the head was made (trace_pair.real) */
	uint64_t space; /* trace_head.pid_namespace */
};

/* Notes it, before the look. Returns false if it can't be told whether it is gone. */
bool drain_marks_note(struct drain_marks_process *process, uint32_t place, const struct trace_head *head);

/* Is the process gone, as of the last look? */
bool drain_marks_is_gone(const struct drain_marks_process *process);

/* May a process of the family be alive, by the numbers that its heads tell? */
bool drain_marks_is_alive(int meta);

#endif
