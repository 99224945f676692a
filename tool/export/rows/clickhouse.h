/* SPDX-License-Identifier: MIT */
/*
 * Sends rows to ClickHouse (clickhouse_tables.h) in blocks: each is there once or not at all, however often it is sent.
 *
 * A block is at most BLOCK_ROWS calls of one process that began on one day: which ones, and what it is called, follows
 * from the trace alone. ClickHouse takes each as one part of one partition, so all of it or nothing. Before the first
 * row of a process is sent, the server is asked which of its blocks are there, by their names, numbers of rows and
 * sums; and before that, whether it still works on one that an earlier command, which was killed, has sent. A block
 * that is there is left out; one that has other rows is an error, since it was loaded by other options, or of a trace
 * that has grown. If a server took only its beginning, which none should do, the rest is sent.
 *
 * When a request fails, nobody knows whether the server has taken it, or still will. So it is asked whether the request
 * is still running there, under the name of its process, and then, when it is not, whether the block is there. Only if
 * it is not is it sent again; a server that knows insert_deduplication_token compares names once more, and one that
 * does not refuses a second request of the same name while the first one runs. After ATTEMPTS of these the command
 * ends; what was not sent is sent by the next one.
 *
 * One thread. What fails is told in a line.
 */
#ifndef XAUDIT_TOOL_EXPORT_ROWS_CLICKHOUSE_H
#define XAUDIT_TOOL_EXPORT_ROWS_CLICKHOUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/export/rows/buffer.h"

#define BLOCK_ROWS 100000

struct clickhouse;

/* A process: all that the server is asked about it. */
struct clickhouse_process {
	const char *host;
	uint32_t pid;
	uint64_t start, end; /* ns since 1970; no call begins behind the end */
	uint64_t name;	     /* a hash of that */
};

/* Rows that are sent together. */
struct clickhouse_block {
	uint64_t name;
	struct buffer data; /* as RowBinary */
	uint32_t rows;
	/* For each row: where it ends in the data, and the sums of starts and durations up to it. */
	struct clickhouse_row {
		size_t end;
		uint64_t starts, durations;
	} row[BLOCK_ROWS];
};

/* What was done. */
struct clickhouse_sums {
	uint64_t rows, blocks; /* that were sent */
	uint64_t there, rows_there; /* blocks, and their rows, that were there already */
};

/* Begins. NULL after a line. url: as long valid. */
struct clickhouse *clickhouse_begin(const char *url);
const struct clickhouse_sums *clickhouse_sums(const struct clickhouse *to);
void clickhouse_end(struct clickhouse *to);

/* The blocks that follow are of this process. Returns false after a line. */
bool clickhouse_process(struct clickhouse *to, const struct clickhouse_process *process);

/* Sends a block, if it is not there. Returns false after a line. */
bool clickhouse_send(struct clickhouse *to, const struct clickhouse_block *block);

#endif
