/* SPDX-License-Identifier: MIT */
/*
 * What two files have in common that are the same in memory: a hash of their program headers and of what their segments
 * hold in the file. An index (format/index.h) rests on nothing else that counts when it is used, so files of one hash
 * may share one: copies, and a file and its stripped copy. What the ELF header says of sections lies in a segment, too,
 * but is no part of the program, and left out.
 *
 * It is SHA-256, cut: nobody can make a file that has the hash of another one, or files that are looked at, but never
 * run, could have a say in what is written into the C library.
 *
 * Pure.
 */
#ifndef XAUDIT_TOOL_INDEX_CONTENT_H
#define XAUDIT_TOOL_INDEX_CONTENT_H

#include <stdint.h>

#include "format/index.h"

struct site_file;

void content_read(const struct site_file *file, uint8_t content[INDEX_CONTENT]);

#endif
