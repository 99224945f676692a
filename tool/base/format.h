/* SPDX-License-Identifier: MIT */
/* Text that is as long as it comes out, for the two kinds of memory (tool/base/memory.h, tool/read/damage/memory.h). */
#ifndef XAUDIT_TOOL_FORMAT_H
#define XAUDIT_TOOL_FORMAT_H

#include <stdarg.h>
#include <stddef.h> /* NULL */
#include <stdio.h>  /* vasprintf: _GNU_SOURCE */

/* NULL: there is no memory. */
static inline __attribute__((format(printf, 1, 0))) char *format_text(const char *format, va_list args)
{
	char *text;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

#endif
