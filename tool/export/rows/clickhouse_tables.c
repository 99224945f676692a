/* SPDX-License-Identifier: MIT */
#include "tool/export/rows/clickhouse_tables.h"

#include <string.h>

/*
 * Since a block becomes one part of one partition, the partition is by the day that its calls begin, UTC, and the table
 * remembers names of blocks. Names are few: LowCardinality. Times grow along the key: Delta.
 */
static const char columns[] =
	"(\n"
	"    host LowCardinality(String),\n"
	"    program LowCardinality(String),\n"
	"    process UInt32 CODEC(ZSTD),\n"
	"    process_start UInt64 CODEC(ZSTD),\n"
	"    thread UInt32 CODEC(ZSTD),\n"
	"    thread_name LowCardinality(String),\n"
	"    id UInt64 CODEC(Delta, ZSTD),\n"
	"    parent UInt64 CODEC(Delta, ZSTD),\n"
	"    depth UInt32 CODEC(ZSTD),\n"
	"    start UInt64 CODEC(Delta, ZSTD),\n"
	"    duration UInt64 CODEC(ZSTD),\n"
	"    self UInt64 CODEC(ZSTD),\n"
	"    cpu Nullable(UInt64) CODEC(ZSTD),\n"
	"    how Enum8('returned' = 1, 'jumped' = 2, 'unwound' = 3, 'cut' = 4, 'unfinished' = 5,\n"
	"        'switched off' = 6, 'entry only' = 7) CODEC(ZSTD),\n"
	"    function LowCardinality(String),\n"
	"    library LowCardinality(String),\n"
	"    build_id LowCardinality(String),\n"
	"    caller LowCardinality(String),\n"
	"    `values` String CODEC(ZSTD(3)),\n"
	"    request String CODEC(ZSTD(3)),\n"
	"    block UInt64 CODEC(ZSTD),\n"
	"    time DateTime64(9, 'UTC') ALIAS fromUnixTimestamp64Nano(toInt64(start), 'UTC'),\n"
	"    INDEX requests request TYPE bloom_filter GRANULARITY 4\n"
	")\n";

static const char columns_18[] =
	"(\n"
	"    host String,\n"
	"    program String,\n"
	"    process UInt32,\n"
	"    process_start UInt64,\n"
	"    thread UInt32,\n"
	"    thread_name String,\n"
	"    id UInt64,\n"
	"    parent UInt64,\n"
	"    depth UInt32,\n"
	"    start UInt64,\n"
	"    duration UInt64,\n"
	"    self UInt64,\n"
	"    cpu Nullable(UInt64),\n"
	"    how Enum8('returned' = 1, 'jumped' = 2, 'unwound' = 3, 'cut' = 4, 'unfinished' = 5,\n"
	"        'switched off' = 6, 'entry only' = 7),\n"
	"    function String,\n"
	"    library String,\n"
	"    build_id String,\n"
	"    caller String,\n"
	"    `values` String,\n"
	"    request String,\n"
	"    block UInt64,\n"
	"    time DateTime ALIAS toDateTime(intDiv(start, 1000000000), 'UTC')\n"
	")\n";

static void print_calls(FILE *file, bool old, const char *local)
{
	fprintf(file, "CREATE TABLE IF NOT EXISTS " CLICKHOUSE_CALLS "%s\n", local);
	fputs(old ? columns_18 : columns, file);
	fputs("ENGINE = MergeTree\n"
	      "PARTITION BY toYYYYMMDD(toDateTime(intDiv(start, 1000000000), 'UTC'))\n"
	      "ORDER BY (host, start)\n", file);
	if (!old)
		fputs("TTL toDateTime(intDiv(start, 1000000000), 'UTC') + INTERVAL 30 DAY\n"
		      "SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000\n", file);
	fputs(";\n\n", file);
}

/*
 * Sums, and digests from which any percentile can be merged: a table of its own, which a view fills, so that it has the
 * same name on all servers.
 */
static void print_minutes(FILE *file, bool old, const char *local)
{
	const char *names = old ? "String" : "LowCardinality(String)";

	fprintf(file,
		"CREATE TABLE IF NOT EXISTS xaudit.minutes%s\n"
		"(\n"
		"    minute DateTime('UTC'),\n"
		"    host %s,\n"
		"    program %s,\n"
		"    function %s,\n"
		"    library %s,\n"
		"    build_id %s,\n"
		"    calls UInt64,\n"
		"    time UInt64,\n"
		"    own UInt64,\n"
		"    durations AggregateFunction(quantilesTDigest(0.5, 0.9, 0.99, 0.999), UInt64)\n"
		")\n"
		"ENGINE = SummingMergeTree\n"
		"PARTITION BY toYYYYMM(minute)\n"
		"ORDER BY (function, library, build_id, host, program, minute)\n",
		local, names, names, names, names, names);
	if (!old)
		fputs("TTL minute + INTERVAL 400 DAY\n"
		      "SETTINGS non_replicated_deduplication_window = 10000\n", file);
	fprintf(file,
		";\n\n"
		"CREATE MATERIALIZED VIEW IF NOT EXISTS xaudit.to_minutes TO xaudit.minutes%s\n"
		"AS SELECT toStartOfMinute(toDateTime(intDiv(start, 1000000000), 'UTC')) AS minute,\n"
		"    host, program, function, library, build_id,\n"
		"    count() AS calls, sum(duration) AS time, sum(self) AS own,\n"
		"    quantilesTDigestState(0.5, 0.9, 0.99, 0.999)(duration) AS durations\n"
		"FROM " CLICKHOUSE_CALLS "%s\n"
		"WHERE how IN ('returned', 'jumped', 'unwound', 'cut')\n"
		"GROUP BY minute, host, program, function, library, build_id;\n\n",
		local, local);
}

/* All calls of a host are on one shard: so a block is, too. */
static void print_distributed(FILE *file, const char *cluster)
{
	fprintf(file,
		"CREATE TABLE IF NOT EXISTS " CLICKHOUSE_CALLS " AS " CLICKHOUSE_CALLS "_local\n"
		"ENGINE = Distributed(%s, xaudit, calls_local, cityHash64(host));\n\n"
		"CREATE TABLE IF NOT EXISTS xaudit.minutes AS xaudit.minutes_local\n"
		"ENGINE = Distributed(%s, xaudit, minutes_local);\n",
		cluster, cluster);
}

bool clickhouse_tables(FILE *file, const char *kind)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t length = strcspn(kind, ":");
	bool old = length == 13 && !strncmp(kind, "clickhouse-18", length);
	const char *cluster = kind[length] ? kind + length + 1 : NULL;
	const char *local = cluster ? "_local" : "";

	if (!old && (length != 10 || strncmp(kind, "clickhouse", length) != 0))
		return false;
	/* The name becomes a part of the statements. */
	if (cluster && (!*cluster || cluster[strspn(cluster, letters)]))
		return false;
	/* On each server: ON CLUSTER would want a ZooKeeper. */
	fputs("CREATE DATABASE IF NOT EXISTS xaudit;\n\n", file);
	print_calls(file, old, local);
	print_minutes(file, old, local);
	if (cluster)
		print_distributed(file, cluster);
	return true;
}
