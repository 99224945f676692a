/* SPDX-License-Identifier: MIT */
/*
 * The format sqlite of `xaudit export`: a database of SQLite 3, whose tables, indexes and views sqlite_tables.c has;
 * xaudit-export(1) documents them. It is made without a journal, in the file that gets its name when it is whole
 * (tool/base/out_file.h). One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_SQLITE_H
#define XAUDIT_TOOL_EXPORT_SQLITE_H

#include "tool/export/format.h"

extern const struct export_format export_sqlite;

#endif
