/* SPDX-License-Identifier: MIT */
/*
 * JSON output. What the readers print is small and regular, so it is written by hand; only text needs care.
 */
#ifndef XAUDIT_JSON_H
#define XAUDIT_JSON_H

#include <stdio.h>

/*
 * Writes text as a JSON string, quotes included; NULL as the word null. Control characters (text_is_control()), quotes
 * and backslashes are escaped. JSON must be UTF-8 but symbol and file names are any bytes: each byte that is not valid
 * UTF-8 becomes U+FFFD. Errors are left in the stream (ferror). Any thread; not async-signal-safe.
 */
void json_string(FILE *file, const char *text);

/* The same of so many bytes, zeros among them, that a NUL follows. */
void json_bytes(FILE *file, const char *text, size_t size);

#endif
