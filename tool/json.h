/* SPDX-License-Identifier: MIT */
/*
 * JSON output. What the readers print is small and regular, so it is written by hand; only text needs care.
 */
#ifndef XAUDIT_JSON_H
#define XAUDIT_JSON_H

#include <stddef.h> /* size_t */
#include <stdio.h>

/*
 * Writes text as a JSON string, quotes included; NULL as the word null. Control characters, quotes and backslashes are
 * escaped. JSON must be UTF-8 but symbol and file names are any bytes: what is not valid UTF-8 becomes U+FFFD, byte
 * by byte. Errors are left in the stream (ferror). Any thread; not async-signal-safe.
 */
void json_string(FILE *file, const char *text);

/*
 * Length of the UTF-8 character at p (RFC 3629: shortest form, no surrogates, up to U+10FFFF); 0: none there. It looks no further than the first zero
 * byte, so one must lie behind the text. A NUL has length 1. Any thread; async-signal-safe.
 */
size_t utf8_length(const unsigned char *p);

#endif
