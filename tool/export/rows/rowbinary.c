/* SPDX-License-Identifier: MIT */
/*
 * The format rowbinary of `xaudit export`: a row per call as ClickHouse's RowBinary has it, for the columns of
 * clickhouse_tables.h; to a file, or to a server (clickhouse.h), in blocks that both have alike. One thread.
 *
 * A block's name is a hash of whose it is and which one of the process; it does not depend on options, so that a trace
 * that is loaded once more with others is noticed.
 */
#include <inttypes.h>
#include <sha2.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/format.h"
#include "tool/export/rows/clickhouse.h"
#include "tool/export/rows/clickhouse_tables.h"
#include "tool/export/rows/http.h"
#include "tool/export/tracks.h"
#include "tool/show/term/names.h"
#include "tool/show/values.h"

#define DAY 86400000000000u /* ns */
/* Of values of a call, so many bytes: what many hosts send to one should have a bound. */
#define VALUES_MOST 1024

struct rowbinary {
	struct clickhouse *to; /* NULL: into the file */
	struct clickhouse_block *block;
	struct clickhouse_process process; /* whose rows these are, and its host: */
	char *host;
	const struct xaudit_read_process *current;
	uint64_t last; /* the latest moment of the trace */
	uint64_t day; /* that they began on */
	uint32_t blocks; /* of this process, before this one */
	struct buffers function; /* by number: its columns, and its name alone: */
	struct buffers name;
	struct buffer of_process;
};

/* ---- values of columns ---- */

static void put_number(struct buffer *to, uint64_t number, unsigned bytes)
{
	char *at = buffer_room(to, 8);

	for (unsigned i = 0; i < bytes; i++)
		at[i] = (char)(number >> 8 * i);
	to->size += bytes;
}

static void put_bytes(struct buffer *to, const char *text, size_t size)
{
	size_t left = size;

	for (; left >= 0x80; left >>= 7)
		buffer_char(to, (char)(left | 0x80));
	buffer_char(to, (char)left);
	buffer_bytes(to, text, size);
}

static void put_text(struct buffer *to, const char *text)
{
	put_bytes(to, text ? text : "", text ? strlen(text) : 0);
}

/* Cut between characters. */
static void put_values(struct buffer *to, const struct xaudit_read_call *call)
{
	char *text = values_text(call);
	size_t size = text ? strlen(text) : 0;

	if (size > VALUES_MOST) {
		for (size = VALUES_MOST - 3; size && ((unsigned char)text[size] & 0xc0) == 0x80; size--)
			;
		memcpy(text + size, "...", 3);
		size += 3;
	}
	put_bytes(to, text ? text : "", size);
	free(text);
}

/* ---- blocks ---- */

/* Of a block of the process at hand, by its number; or, PROCESS, of the process. */
#define PROCESS UINT32_MAX
static uint64_t name_of(const struct rowbinary *rows, uint32_t number)
{
	const struct clickhouse_process *process = &rows->process;
	char *text = memory_format("%s\n%" PRIu32 "\n%" PRIu64 "\n%" PRIu32, process->host, process->pid,
		process->start, number);
	uint8_t digest[SHA256_DIGEST_LENGTH];
	uint64_t name = 0;
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)text, strlen(text));
	SHA256Final(digest, &context);
	free(text);
	for (int i = 0; i < 8; i++)
		name |= (uint64_t)digest[i] << 8 * i;
	return name;
}

static void end_block(struct export *export)
{
	struct rowbinary *rows = export->state;

	if (!rows->block->rows)
		return;
	if (!rows->to)
		buffer_write(&rows->block->data, export->out.file);
	else if (!clickhouse_send(rows->to, rows->block))
		export->failed = true;
	rows->block->data.size = 0;
	rows->block->rows = 0;
	rows->blocks++;
}

static void begin_process(struct export *export, struct xaudit_read_process *process)
{
	const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
	struct rowbinary *rows = export->state;
	struct buffer *to = &rows->of_process;

	rows->current = process;
	free(rows->host);
	rows->host = export_host(process);
	rows->process = (struct clickhouse_process){ .host = rows->host, .pid = info->pid,
		.start = export_real(export, info->start), .end = export_real(export, rows->last) };
	rows->process.name = name_of(rows, PROCESS);
	rows->blocks = 0;
	to->size = 0;
	put_text(to, rows->host);
	put_text(to, info->exe);
	put_number(to, info->pid, 4);
	put_number(to, rows->process.start, 8);
	if (rows->to && !clickhouse_process(rows->to, &rows->process))
		export->failed = true;
}

/* The next row is of this process, and of this day. */
static void begin_row(struct export *export, struct xaudit_read_process *process, uint64_t day)
{
	struct rowbinary *rows = export->state;

	if (rows->current != process || rows->day != day || rows->block->rows == BLOCK_ROWS)
		end_block(export);
	if (rows->current != process)
		begin_process(export, process);
	rows->day = day;
	if (!rows->block->rows)
		rows->block->name = name_of(rows, rows->blocks);
}

/* ---- rows ---- */

static const struct buffer *name_of_function(struct rowbinary *rows, const struct xaudit_read_function *function)
{
	struct buffer *name = buffers_one(&rows->name, function->number);

	if (!name->size)
		put_text(name, names_full(function->name));
	return name;
}

static const struct buffer *columns_of_function(struct rowbinary *rows, const struct xaudit_read_function *function)
{
	struct buffer *columns = buffers_one(&rows->function, function->number);

	if (!columns->size) {
		put_text(columns, names_full(function->name));
		put_text(columns, function->object->path);
		put_text(columns, function->object->build_id);
	}
	return columns;
}

static void put_row(struct export *export, const struct export_call *is, uint64_t start, uint64_t duration)
{
	const struct xaudit_read_call *call = is->call, *around = export_parent_call(call);
	struct rowbinary *rows = export->state;
	struct buffer *to = &rows->block->data;
	const struct buffer *columns;

	buffer_bytes(to, rows->of_process.data, rows->of_process.size);
	put_number(to, call->tid, 4);
	put_text(to, is->track->name);
	put_number(to, export_id(call), 8);
	put_number(to, around ? export_id(around) : 0, 8);
	put_number(to, is->depth, 4);
	put_number(to, start, 8);
	put_number(to, duration, 8);
	put_number(to, call->self, 8);
	put_number(to, call->cpu == XAUDIT_READ_UNKNOWN, 1);
	if (call->cpu != XAUDIT_READ_UNKNOWN)
		put_number(to, call->cpu, 8);
	put_number(to, call->how, 1);
	columns = columns_of_function(rows, call->function);
	buffer_bytes(to, columns->data, columns->size);
	if (around) {
		columns = name_of_function(rows, around->function);
		buffer_bytes(to, columns->data, columns->size);
	} else {
		put_text(to, NULL);
	}
	if (export->values)
		put_values(to, call);
	else
		put_text(to, NULL);
	put_text(to, call->request);
	put_number(to, rows->block->name, 8);
}

static void leave(struct export *export, const struct export_call *is)
{
	uint64_t start = export_real(export, is->start), duration = is->known ? export_duration(export, is->call) : 0;
	struct rowbinary *rows = export->state;
	struct clickhouse_block *block = rows->block;
	struct clickhouse_row before = { 0 };

	begin_row(export, is->call->process, start / DAY);
	if (export->failed)
		return;
	put_row(export, is, start, duration);
	if (block->rows)
		before = block->row[block->rows - 1];
	block->row[block->rows++] = (struct clickhouse_row){ .end = block->data.size,
		.starts = before.starts + start, .durations = before.durations + duration };
}

/* ---- begin, end ---- */

static void begin(struct export *export)
{
	struct rowbinary *rows = export->state = memory_zeroed(1, sizeof(*rows));

	rows->block = memory_zeroed(1, sizeof(*rows->block));
	if (!export->info->start_real) {
		tool_error("export", "the trace does not say what time it was: %s", export->info->path);
		export->failed = true;
	} else if (export->server) {
		/* A process that was killed may have run longer than its head says. */
		rows->last = xaudit_read_last(export->trace, XAUDIT_READ_UNKNOWN);
		rows->to = clickhouse_begin(export->server);
		export->failed = !rows->to;
	}
}

static void end(struct export *export)
{
	struct rowbinary *rows = export->state;
	const struct clickhouse_sums *sums;

	end_block(export);
	if (!rows->to || export->failed)
		return;
	sums = clickhouse_sums(rows->to);
	printf("%" PRIu64 " calls loaded in %" PRIu64 " blocks", sums->rows, sums->blocks);
	if (sums->rows_there)
		printf("; %" PRIu64 " were there already", sums->rows_there);
	putchar('\n');
}

static void free_state(struct export *export)
{
	struct rowbinary *rows = export->state;

	clickhouse_end(rows->to);
	buffer_free(&rows->block->data);
	buffer_free(&rows->of_process);
	buffers_free(&rows->function);
	buffers_free(&rows->name);
	free(rows->block);
	free(rows->host);
	free(rows);
}

const struct export_format export_rowbinary = {
	.name = "rowbinary",
	.help = "rows for ClickHouse; with --to=http://HOST:PORT/ into a server",
	.server_wrong = http_wrong,
	.schema = clickhouse_tables,
	.begin = begin,
	.leave = leave,
	.end = end,
	.free_state = free_state,
};
