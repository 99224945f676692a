/* SPDX-License-Identifier: MIT */
/*
 * What holds where neither a configuration nor an option says otherwise, as rules have it and as help says it. Manuals
 * are compared with the help (t/docs/help-man.t).
 */
#ifndef XAUDIT_AUDIT_RULES_DEFAULTS_H
#define XAUDIT_AUDIT_RULES_DEFAULTS_H

#include "format/trace.h"

#define DEFAULTS_OUTPUT "xaudit.data"

/* Small enough to be written to a file within 0.3 ms. */
#define DEFAULTS_BUFFER	     (DEFAULTS_BUFFER_KIB * 1024ul)
#define DEFAULTS_BUFFER_KIB  256
#define DEFAULTS_BUFFER_TEXT DEFAULTS_STRING(DEFAULTS_BUFFER_KIB) "k"

/* Where calls are only counted a chunk is seldom needed, but each place is twice as large as one. */
#define DEFAULTS_BUFFER_COUNTING TRACE_CHUNK_MIN

#define DEFAULTS_RING	   (DEFAULTS_RING_MIB * 1024ul * 1024)
#define DEFAULTS_RING_MIB  8
#define DEFAULTS_RING_TEXT DEFAULTS_STRING(DEFAULTS_RING_MIB) "M"

#define DEFAULTS_STRING(number)	   DEFAULTS_STRING_OF(number)
#define DEFAULTS_STRING_OF(number) #number

#endif
