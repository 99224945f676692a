/* SPDX-License-Identifier: MIT */
/*
 * How far a family's file reaches, and its pages (pool.h). Which places are taken is not known here. Any thread of any
 * member, no lock, async-signal-safe, no libc.
 */
#ifndef XAUDIT_RUNTIME_FILES_POOL_GROW_H
#define XAUDIT_RUNTIME_FILES_POOL_GROW_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/files/output.h"
#include "runtime/files/pool.h"

/* So large the file is made where it can't be opened later: with `xaudit record`, which makes it small again; */
#define POOL_FAR       (4ull << 30)
#define POOL_FAR_ALONE (256ull << 20) /* and without */
#define POOL_STEP      (16ull << 20)  /* so much becomes accessible at a time */

/* Does the file reach so far, as far as is known? */
bool pool_reaches(uint64_t places);

/* A descriptor of meta, if it is the file that is mapped, and that place; or -errno. */
int pool_open_meta(struct output_place *place);

/* Asks how large the file is. -EBADF: the descriptor is another file's by now. */
long pool_learn_end(int fd);

/*
 * Has the file so many places, though this process does not know of it? Without a descriptor: the kernel is asked for
 * the last page of the last one, which is accessible. Returns 0 or -errno.
 */
long pool_look_for_end(uint64_t places);

/* The same, with what other processes tell of the file's end, which may be further. */
long pool_take_hint(uint64_t places);

/*
 * Has the file at least so many places. Returns 0 or -errno. half: where it grows for that, the upper half of the last
 * one gets its blocks by the same call, whoever will take the place; *backed: it did.
 */
long pool_grow(uint64_t places, bool half, bool *backed);

/* As many places as there may be, whatever the file has. */
uint64_t pool_most_places(void);

/* As many places as the file may have, in this process. Makes a system call, unless under a filter. */
uint64_t pool_most_allowed(void);

/*
 * The process may soon not be able to open the file, or to make it larger: it becomes as large as may ever be needed,
 * or, where nobody will make it small again, large enough for some. Once there is a family.
 */
void pool_reach_far(void);

/* How many places that are, if the file may have them. */
uint64_t pool_far_places(void);

/* May this process make a file so large? Beyond RLIMIT_FSIZE the kernel would kill the program with SIGXFSZ. */
bool pool_may_reach(uint64_t size);

/* Makes so many bytes accessible, with some of what will be next. Returns 0 or -errno. */
long pool_make_accessible(uint64_t end);

/*
 * Gives the file pages and blocks by writing zeros: whole pages at a time, where a page fault in a shared mapping costs
 * ten times as much (measured, doc/design-recording.md). fd: as pool_open_meta() gave it. Returns 0 or -errno.
 */
long pool_write_zeros(int fd, uint64_t offset, uint64_t size);

/* Maps pages, and gives them blocks, without a descriptor. Returns 0 or -errno. */
long pool_populate(uint64_t at, uint64_t end);

/* What RLIMIT_FSIZE or RLIMIT_AS is, or RLIM_INFINITY. */
uint64_t pool_limit_of(int resource);

#endif
