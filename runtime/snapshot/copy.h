/* SPDX-License-Identifier: MIT */
/*
 * Copies one process of a trace (format/trace.h) while its threads go on writing, so that the copy has what was there
 * at one moment, thread by thread: every event whole, in order, none twice, none missing between the first and the
 * last. In the copy it is the only process, with all records that it shares with its forefathers; its events are in
 * t<n>, one chunk after the other.
 *
 * Of a thread's chunks the newest is copied first, twice: the copy ends at the first word that changed in between. The
 * others are finished, but may be overwritten in their places: from the newest back, each is copied and then its head
 * is read again. In mode ring the first whose head has changed ends the copy, since all older chunks are gone too, or
 * will be soon. In mode stream those that are gone are in t<n> by then, which is copied next; the newest may be there
 * alone, and older ones still in places. `meta` is completed last, so it names all that occurs in the events.
 *
 * No libc; async-signal-safe; a mapping of a MiB for the time of the call, touched as far as it is needed. The command
 * uses it too.
 */
#ifndef XAUDIT_SNAPSHOT_COPY_H
#define XAUDIT_SNAPSHOT_COPY_H

#include <stdint.h>

struct snapshot_copied {
	uint64_t threads; /* those that had chunks or counters */
	uint64_t chunks;
	uint64_t gone;	  /* chunks that were overwritten before they were copied */
	uint64_t bytes;	  /* of all files, holes not counted */
};

/*
 * Copies the process whose head is at place `process` in the folder `from` into the new folder `to`; both are
 * descriptors (runtime/files/output.h), and stay open. threads: it has no more records of threads, whatever meta says
 * (UINT32_MAX: not known). rest: called after each small piece of the work, for a command that must not keep a
 * processor for long; NULL in the traced process. Returns 0, or -errno of what could not be read or written; -EBADMSG:
 * this is no meta of this version, or there is no such process.
 */
long snapshot_copy(int from, int to, uint32_t process, uint32_t threads, void (*rest)(void),
	struct snapshot_copied *copied);

#endif
