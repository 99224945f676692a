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

#define POOL_FAR   (4ull << 30) /* so large the file is made where it can't be opened later */
#define POOL_STEP  (16ull << 20) /* so much becomes accessible at a time */
#define POOL_SPARE 8ul		/* places that it has in reserve at first, and grows by at least */

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

/* Has the file at least so many places, and some in reserve if it may. Returns 0 or -errno. */
long pool_grow(uint64_t places);

/* As many places as there may be, whatever the file has. */
uint64_t pool_most_places(void);

/* As many places as the file may have, in this process. Makes a system call, unless under a filter. */
uint64_t pool_most_allowed(void);

/*
 * The process may soon not be able to open the file, or to make it larger: it becomes as large as may ever be needed.
 * Once there is a family.
 */
void pool_reach_far(void);

/* May this process make a file so large? Beyond RLIMIT_FSIZE the kernel would kill the program with SIGXFSZ. */
bool pool_may_reach(uint64_t size);

/* Makes so many bytes accessible, with some of what will be next. Returns 0 or -errno. */
long pool_make_accessible(uint64_t end);

/* Maps pages, and gives them blocks, without a descriptor. Returns 0 or -errno. */
long pool_populate(uint64_t at, uint64_t end);

/* What RLIMIT_FSIZE or RLIMIT_AS is, or RLIM_INFINITY. */
uint64_t pool_limit_of(int resource);

#endif
