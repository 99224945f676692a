/* SPDX-License-Identifier: MIT */
/*
 * Copies one process of a trace (format/trace.h) while its threads go on writing, so that what is in the copy is what
 * was there at one moment, thread by thread: every event whole, in order, none twice, none missing between the first
 * and the last. In the copy it is the only process, with all records that it shares with its forefathers; its events
 * are in t<n>, one chunk behind the other.
 *
 * Of a thread's chunks the newest is copied first, twice: the copy ends at the first word that changed in between. The
 * others are finished, but may be overwritten in their places: from the newest back, each is copied and its head
 * read again behind it; the first that is another one by then ends the copy, since all that are older are gone too, or
 * about to. In mode stream they are in t<n> by then, which is looked at next. `meta` is complete last, so it names
 * whatever occurs in the events.
 *
 * No libc; async-signal-safe; a mapping of a MiB for the time of the call, touched as far as it is needed. The command
 * uses it too.
 */
#ifndef XAUDIT_SNAPSHOT_COPY_H
#define XAUDIT_SNAPSHOT_COPY_H

#include <stdint.h>

struct snapshot_copied {
	uint64_t threads; /* that had chunks or counters */
	uint64_t chunks;
	uint64_t gone;	  /* chunks that were overwritten while they were about to be copied */
	uint64_t bytes;	  /* of all files, holes not counted */
};

/*
 * Copies the process whose head is at place `process` in the folder `from` into the new folder `to`; both are
 * descriptors (runtime/output.h), and stay open. Returns 0, or -errno of what could not be read or written; -EBADMSG:
 * this is no meta of this version, or there is no such process.
 */
long snapshot_copy(int from, int to, uint32_t process, struct snapshot_copied *copied);

#endif
