/* SPDX-License-Identifier: MIT */
/* The format ndjson of `xaudit export`: an object per line, for a call and all else, times in ns. One thread. */
#ifndef XAUDIT_TOOL_EXPORT_NDJSON_H
#define XAUDIT_TOOL_EXPORT_NDJSON_H

#include "tool/export/format.h"

extern const struct export_format export_ndjson;

#endif
