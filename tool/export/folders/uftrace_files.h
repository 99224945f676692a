/* SPDX-License-Identifier: MIT */
/* The files of the format uftrace (uftrace.h) that are written when all calls are known, and names in them. */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_UFTRACE_FILES_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_UFTRACE_FILES_H

#include "tool/export/folders/uftrace.h"

/* The path of an object, as it can be in lines of uftrace's files. */
const char *uftrace_path(struct uftrace *uftrace, uint32_t object);

/* A path, or a name, without the blanks and quotes that end it in such a line; the caller frees it. */
char *uftrace_word(const char *text);

/* Writes all but what is written while the trace is read. */
void uftrace_end_files(struct export *export);

#endif
