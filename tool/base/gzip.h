/* SPDX-License-Identifier: MIT */
/* Writes a file as gzip has it (RFC 1952), piece by piece. Errors are left in the stream (ferror). One thread. */
#ifndef XAUDIT_TOOL_BASE_GZIP_H
#define XAUDIT_TOOL_BASE_GZIP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct gzip;

struct gzip *gzip_begin(FILE *to);
void gzip_put(struct gzip *gzip, const uint8_t *bytes, size_t size);
void gzip_end(struct gzip *gzip); /* writes the end, and frees it; the stream stays open */

#endif
