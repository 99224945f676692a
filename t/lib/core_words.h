/* SPDX-License-Identifier: MIT */
/* The words of a chunk, by the format's text: for core.c alone, as core.h. */
#ifndef XAUDIT_T_LIB_CORE_WORDS_H
#define XAUDIT_T_LIB_CORE_WORDS_H

#include "t/lib/core.h"

/* Adds the events of a chunk of plain words; what is wrong with it is told in reading->damage. */
void core_read_words(struct reading *reading, const struct trace_chunk *chunk);

#endif
