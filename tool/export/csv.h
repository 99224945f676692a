/* SPDX-License-Identifier: MIT */
/* The format csv of `xaudit export`: a row per call, times in ns (RFC 4180). One thread. */
#ifndef XAUDIT_TOOL_EXPORT_CSV_H
#define XAUDIT_TOOL_EXPORT_CSV_H

#include "tool/export/format.h"

extern const struct export_format export_csv;

#endif
