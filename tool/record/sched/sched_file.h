/* SPDX-License-Identifier: MIT */
/*
 * DIR/sched is written in large pieces, each at once, at the place that it has: a piece that was written in part is
 * written again. Where the disk is full, records are dropped until there is room again; then it is told from when on.
 */
#ifndef XAUDIT_TOOL_RECORD_SCHED_SCHED_FILE_H
#define XAUDIT_TOOL_RECORD_SCHED_SCHED_FILE_H

#include <stdint.h>

#include "format/sched.h"

/* fd: of the new file, which it takes over. 0, or an errno: then nothing is written. */
int sched_file_begin(int fd);

/* Writes the head again. */
void sched_file_head(const struct sched_head *head);

/* Adds a record. What can't be written is told in the file as lost, if that can be, and by sched_file_error(). */
void sched_file_put(const struct sched_record *record);

/* All before that time was put. Writes what there is. */
void sched_file_known(uint64_t time);

/* Writes record `number`, counted from 0; instead of all the above but the head. */
void sched_file_place(uint64_t number, const struct sched_record *record);

/* The last errno of writing, or 0. */
int sched_file_error(void);
void sched_file_end(void);

#endif
