/* SPDX-License-Identifier: MIT */
/*
 * Copies one process folder of a trace while its threads go on writing, so that what is in the copy is what was there at one moment, thread by
 * thread: every event whole, in order, none twice, none missing between the first and the last.
 *
 * Of a thread's chunks the newest is copied first, twice: the copy ends at the first word that changed in between. The
 * others are finished, but may be overwritten in the thread's ring: from the newest back, each is copied and its head
 * read again behind it; the first that is another one by then ends the copy, since all that are older are gone too, or
 * about to. In mode stream they are in t<n> by then, which is looked at next. `meta` comes last, so it names whatever
 * occurs in the events.
 *
 * No libc; async-signal-safe; a mapping of a few hundred KiB for the time of the call. The command uses it too.
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
 * Copies what is in the process folder `from` into the new folder `to`; both are descriptors (runtime/output.h), and
 * stay open. Returns 0, or -errno of what could not be read or written.
 */
long snapshot_copy(int from, int to, struct snapshot_copied *copied);

#endif
