/* SPDX-License-Identifier: MIT */
/* Names of the functions of a file (image.h). */
#ifndef XAUDIT_TOOL_INDEX_IMAGE_NAMES_H
#define XAUDIT_TOOL_INDEX_IMAGE_NAMES_H

#include <stdint.h>

#include "tool/index/image.h"

/*
 * Reads all names of functions into image->function, unsorted, with those of the file's debug file (by build-id or
 * debuglink) and of .gnu_debugdata. None is looked for on the network.
 */
void image_names(struct image *image, int fd, const char *path);

/* Adds what the caller knows; name may be NULL. The name is copied. */
void image_add(struct image *image, uint64_t address, uint64_t size, const char *name, int rank);

#endif
