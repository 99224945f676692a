/* SPDX-License-Identifier: MIT */
/*
 * What an index tells of going up a stack (INDEX_FRAMES, format/frames.h), made of unwind information. One thread.
 *
 * Of FDEs that overlap, each holds from its beginning up to that of the next one, as unwinders find them. Padding
 * between two has the rule of what lies before it, since nobody comes there: so most functions that follow each other
 * need no entry for the end of the first.
 */
#ifndef XAUDIT_TOOL_INDEX_UNWIND_H
#define XAUDIT_TOOL_INDEX_UNWIND_H

#include <stddef.h>

#include "format/frames.h"

struct image;

/* The entries of an image, which the caller frees; *count may be 0. */
struct index_frame *unwind_make(const struct image *image, size_t *count);

#endif
