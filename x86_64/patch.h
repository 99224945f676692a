/* SPDX-License-Identifier: MIT */
/*
 * Patching code that nobody can run yet (at load). Live patching will share the batch interface.
 *
 * A batch lists byte strings and where they go; applying it makes each run of neighbouring pages writable once, writes, and
 * gives the pages their protection back. In between they are read+write, not executable: at load no thread can be in them (la_objopen comes before
 * any code of the object runs; DESIGN 3). Never read+write+execute.
 */
#ifndef XAUDIT_PATCH_H
#define XAUDIT_PATCH_H

#include <stddef.h>
#include <stdint.h>

struct patch {
	uint64_t address;
	uint8_t size; /* up to 16 */
	uint8_t bytes[16];
};

/*
 * Writes the patches, which are in ascending order of address and all inside text that has protection prot (PROT_*), while no thread can execute it.
 * Returns 0, or -errno of the first mprotect that was refused: then nothing of that run and the later ones was written,
 * *done says how many patches were.
 */
int patch_at_load(const struct patch *patch, size_t count, int prot, size_t *done);

#endif
