/* SPDX-License-Identifier: MIT */
/*
 * Where the last calls of a thread record begin: its chunks are read from the end, as many as it takes. Memory: for
 * each of these calls, 8 bytes, while the record is read.
 */
#ifndef XAUDIT_TOOL_READ_API_TIMELINE_TAIL_H
#define XAUDIT_TOOL_READ_API_TIMELINE_TAIL_H

#include "tool/read/process.h"

/*
 * A moment, in ticks, from which on at least that many calls begin in the thread record, and all of them if there are
 * fewer: 0, as where several threads had the record. What is damaged is not noted: who reads it comes to it, too.
 */
uint64_t read_api_tail(struct read_process *process, unsigned number, uint32_t calls);

#endif
