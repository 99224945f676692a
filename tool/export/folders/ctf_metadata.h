/* SPDX-License-Identifier: MIT */
/* The metadata of the format ctf (ctf.h): what its events look like, in TSDL, the language of CTF 1.8. */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_CTF_METADATA_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_CTF_METADATA_H

#include "tool/export/folders/ctf.h"

/* A string of metadata, with its quotes. */
void ctf_quote(FILE *file, const char *text);

/* Writes all, when all functions and types of custom events are known. */
void ctf_describe(FILE *file, const struct export *export);

#endif
