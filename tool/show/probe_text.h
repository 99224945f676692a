/* SPDX-License-Identifier: MIT */
/*
 * Probes as commands show them: NAME(values), and where they are: FUNCTION+0x12, as the trace or the object's file
 * knows it, or else the address in the object. Names come from the trace: all that is written is harmless on a
 * terminal, and valid JSON.
 *
 * Errors are left in the stream (ferror). One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_PROBE_TEXT_H
#define XAUDIT_TOOL_SHOW_PROBE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/read/api/xaudit-read.h"

/* Does a word that chooses functions name this probe: by all of its name, or as a pattern of NAME or NAME@LIBRARY? */
bool probe_named(const char *word, const struct xaudit_read_probe *probe);

/* The name, and what it has of values; NULL: none, and there are no brackets. */
void probe_text(FILE *file, const struct xaudit_read_probe *probe, const struct xaudit_read_values *values);

/* The caller frees the text. */
char *probe_place_text(const struct xaudit_read_probe *probe);
void probe_place(FILE *file, const struct xaudit_read_probe *probe);

/* " FILE:LINE", if --srcline is given and it is known. */
void probe_source(FILE *file, const struct xaudit_read_probe *probe);

/* "probe":NAME,"function":...,"library":...,"offset":...,"start":...: members of an object. */
void probe_json(FILE *file, const struct xaudit_read_probe *probe);

#endif
