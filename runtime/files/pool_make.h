/* SPDX-License-Identifier: MIT */
/* Making the file of a family, mapping it, and leaving it again (pool.h). pool_map(): process lock held. */
#ifndef XAUDIT_RUNTIME_FILES_POOL_MAKE_H
#define XAUDIT_RUNTIME_FILES_POOL_MAKE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The size of chunks with which a file may have some places, by RLIMIT_FSIZE: at most `wanted`, and perhaps less than
 * the least size that there is.
 */
uint64_t pool_chunk_size(uint64_t wanted);

/*
 * Maps the empty file fd, with place 0, and writes the words of the head that tell of this. Replaces an older mapping,
 * which stays mapped. *backed: the upper half of place 0 is reserved, as with POOL_LATER. Returns 0 or -errno.
 */
long pool_map(int fd, uint64_t chunk_size, bool *backed);

/* The process is about to fork: others will have the mapping. Any thread, also where there is none. */
void pool_inherited(void);

/* Nobody calls pool_inherited(). Any thread. */
void pool_forks_unknown(void);

/* May another process have the mapping? Yes, unless this process made it and is known to have forked none since. */
bool pool_is_shared(void);

/*
 * Takes the file out of the process's memory: from now on there is no family here. What is about to store to the file
 * stores to memory of this process alone, which goes when the process leaves another one. Returns 0 or -errno. Process
 * lock held; no other thread of the process has places.
 */
long pool_leave(void);

#endif
