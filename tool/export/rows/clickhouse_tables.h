/* SPDX-License-Identifier: MIT */
/* The tables that rows of calls are loaded into, in ClickHouse: doc/fleet.md tells what they are asked. One thread. */
#ifndef XAUDIT_TOOL_EXPORT_ROWS_CLICKHOUSE_TABLES_H
#define XAUDIT_TOOL_EXPORT_ROWS_CLICKHOUSE_TABLES_H

#include <stdbool.h>
#include <stdio.h>

#define CLICKHOUSE_CALLS "xaudit.calls"

/* In the order of rowbinary's rows. */
#define CLICKHOUSE_COLUMNS                                                                                      \
	"host, program, process, process_start, thread, thread_name, id, parent, depth, start, duration, self, cpu, " \
	"how, function, library, build_id, caller, `values`, request, block"

/*
 * Writes the statements that make them, for servers of this kind: "clickhouse", since 23.1, or "clickhouse-18", for
 * 18.16, which Debian 12 has; with ":CLUSTER" behind it, for each server of the cluster of that name. Returns false if
 * there is no such kind.
 */
bool clickhouse_tables(FILE *file, const char *kind);

#endif
