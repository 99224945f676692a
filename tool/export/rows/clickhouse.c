/* SPDX-License-Identifier: MIT */
#include "tool/export/rows/clickhouse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/base/hash.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/rows/clickhouse_tables.h"
#include "tool/export/rows/http.h"

#define ATTEMPTS 8 /* the last one a minute after the first */

/* A block of the process at hand that the server has. */
struct there {
	uint64_t name, rows, starts, durations;
};

struct clickhouse {
	const char *url;
	struct http *http;
	char *settings; /* for questions, and for rows */
	bool has_token; /* the server knows insert_deduplication_token */
	struct clickhouse_process process;
	char *where;	/* the rows of that process */
	struct there *there;
	uint32_t theres;
	struct hash by_name;
	struct clickhouse_sums sums;
	struct buffer answer, query;
};

/* ---- errors ---- */

/* The server's words, without what it says behind them of itself. */
static void say_error(const struct clickhouse *to, long status, const char *what)
{
	const char *text = to->answer.data;
	int length = (int)strcspn(text, "\r\n");

	if (length > 300)
		length = 300;
	if (status)
		tool_error("export", "%s %s: status %ld: %.*s", to->url, what, status, length, text);
	else
		tool_error("export", "%s %s: %.*s", to->url, what, length, text);
}

/* Would the same request fail in the same way again? Numbers of errors are ClickHouse's. */
static bool is_hopeless(const struct clickhouse *to, long status)
{
	static const int codes[] = { 16, 36, 46, 47, 53, 60, 62, 73, 81, 115, 164, 192, 193, 194, 291, 452, 497, 516 };
	const char *code = strstr(to->answer.data, "Code: ");

	if (status == 401 || status == 403)
		return true;
	for (unsigned i = 0; code && i < sizeof(codes) / sizeof(*codes); i++)
		if (atoi(code + 6) == codes[i])
			return true;
	return false;
}

/* Half a second, then twice as long each time. Not at all before the first attempt. */
static void wait_before(unsigned attempt)
{
	uint64_t ns = attempt ? 250000000ull << attempt : 0;
	struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (ns && nanosleep(&time, &time))
		;
}

/* ---- questions ---- */

/* Asks once. Returns the status. */
static long ask(struct clickhouse *to, const char *query)
{
	return http_post(to->http, to->settings, query, strlen(query), &to->answer);
}

/* Asks until there is an answer. */
static bool need(struct clickhouse *to, const char *query, const char *what)
{
	long status = 0;

	for (unsigned i = 0; i < ATTEMPTS; i++) {
		wait_before(i);
		status = ask(to, query);
		if (status == 200)
			return true;
		if (is_hopeless(to, status))
			break;
	}
	say_error(to, status, what);
	return false;
}

/* A setting that not every server knows, if this one does. */
static void set(struct clickhouse *to, const char *name, const char *value)
{
	char *line = memory_format("\n%s\n", name);

	if (strstr(to->answer.data, line))
		http_parameter(to->http, &to->settings, name, value);
	free(line);
}

static bool begin(struct clickhouse *to)
{
	long status;

	/* A setting that a server does not know is an error there. */
	http_parameter(to->http, &to->settings, "wait_end_of_query", "1");
	status = ask(to, "SELECT '' UNION ALL SELECT name FROM system.settings ORDER BY 1 FORMAT TabSeparated");
	if (status != 200) {
		say_error(to, status, "can't be loaded into");
		return false;
	}
	to->has_token = strstr(to->answer.data, "\ninsert_deduplication_token\n");
	/* Rows are there when the answer comes, on the shard too; all shards answer, or none. */
	set(to, "insert_distributed_sync", "1");
	set(to, "skip_unavailable_shards", "0");
	set(to, "async_insert", "0");
	/* Newer servers would add a block to the view again that they leave out of the table. */
	set(to, "deduplicate_blocks_in_dependent_materialized_views", "1");
	/* A block becomes one part. */
	set(to, "max_insert_block_size", "1048576");
	set(to, "max_insert_threads", "1");
	set(to, "input_format_parallel_parsing", "0");
	set(to, "replace_running_query", "0");
	return true;
}

struct clickhouse *clickhouse_begin(const char *url)
{
	struct clickhouse *to = memory_zeroed(1, sizeof(*to));

	to->url = url;
	to->http = http_begin("export", url);
	if (to->http && begin(to))
		return to;
	clickhouse_end(to);
	return NULL;
}

const struct clickhouse_sums *clickhouse_sums(const struct clickhouse *to)
{
	return &to->sums;
}

void clickhouse_end(struct clickhouse *to)
{
	if (!to)
		return;
	http_end(to->http);
	hash_free(&to->by_name);
	buffer_free(&to->answer);
	buffer_free(&to->query);
	free(to->settings);
	free(to->where);
	free(to->there);
	free(to);
}

/* ---- what is there ---- */

static char *quoted(const char *text)
{
	char *to = memory_zeroed(strlen(text) * 2 + 1, 1), *at = to;

	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			*at++ = '\\';
		*at++ = *text;
	}
	return to;
}

static const struct there *find(const struct clickhouse *to, uint64_t name)
{
	uint32_t number = HASH_FIND(i, &to->by_name, hash_key(name, 0), to->there[i].name == name);

	return number == HASH_NONE ? NULL : &to->there[number];
}

/* Lines of a name, a number of rows and two sums. */
static bool take_there(struct clickhouse *to)
{
	const char *line = to->answer.data;
	int length;

	to->theres = 0;
	hash_free(&to->by_name);
	for (struct there one; *line; line += length) {
		if (sscanf(line, "%" SCNu64 "\t%" SCNu64 "\t%" SCNu64 "\t%" SCNu64 "\n%n", &one.name, &one.rows,
			    &one.starts, &one.durations, &length) != 4) {
			tool_error("export", "%s gives an answer that is none of ClickHouse", to->url);
			return false;
		}
		to->there = memory_grow(to->there, to->theres, sizeof(*to->there));
		to->there[to->theres] = one;
		memory_hash(&to->by_name, hash_key(one.name, 0), to->theres++);
	}
	return true;
}

static bool ask_there(struct clickhouse *to, const char *more)
{
	char *query = memory_format("SELECT block, count(), sum(start), sum(duration) FROM " CLICKHOUSE_CALLS
				    " WHERE %s%s GROUP BY block FORMAT TabSeparated", to->where, more);
	bool good = need(to, query, "can't be asked what it has") && take_there(to);

	free(query);
	return good;
}

/* Does the server work on a block of the process at hand? */
static bool is_running(struct clickhouse *to)
{
	char *query = memory_format("SELECT count() FROM system.processes WHERE query_id LIKE 'xaudit-%016" PRIx64
				    "-%%' FORMAT TabSeparated", to->process.name);
	/* If that can't be answered, it may. */
	bool running = ask(to, query) != 200 || strcmp(to->answer.data, "0\n") != 0;

	free(query);
	return running;
}

bool clickhouse_process(struct clickhouse *to, const struct clickhouse_process *process)
{
	const uint64_t second = 1000000000;
	char *host = quoted(process->host);
	uint64_t from = process->start > second ? process->start - second : 0;
	uint64_t last = process->end < UINT64_MAX - second ? process->end + second : UINT64_MAX;

	to->process = *process;
	free(to->where);
	/* By the key of the table, so that nothing else is read; clocks of processors may differ a little. */
	to->where = memory_format("host = '%s' AND start >= %" PRIu64 " AND start <= %" PRIu64 " AND process = %" PRIu32
				  " AND process_start = %" PRIu64,
		host, from, last, process->pid, process->start);
	free(host);
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		wait_before(i);
		if (!is_running(to))
			return ask_there(to, "");
	}
	tool_error("export", "%s still works on what was sent of process %" PRIu32 " of host %s before, or does not "
		"answer", to->url, process->pid, process->host);
	return false;
}

/* ---- blocks ---- */

/* Which rows of a block are missing there: all from *first on. Returns false after a line. */
static bool compare(struct clickhouse *to, const struct clickhouse_block *block, uint32_t *first)
{
	const struct there *there = find(to, block->name);

	*first = 0;
	if (!there)
		return true;
	if (there->rows <= block->rows && there->rows) {
		const struct clickhouse_row *last = &block->row[there->rows - 1];

		*first = (uint32_t)there->rows;
		if (last->starts == there->starts && last->durations == there->durations)
			return true;
	}
	tool_error("export", "%s has other calls of process %" PRIu32 " of host %s than this: they were loaded with "
		"other options, or before all of it was recorded; remove them, then load it again", to->url,
		to->process.pid, to->process.host);
	return false;
}

/* What a request of the rows from `first` on is called; the caller frees it. */
static char *name_of(const struct clickhouse *to, const struct clickhouse_block *block, uint32_t first)
{
	return memory_format("xaudit-%016" PRIx64 "-%016" PRIx64 "-%" PRIu32, to->process.name, block->name, first);
}

/* Sends the rows from `first` on, once. Returns the status. */
static long send_rows(struct clickhouse *to, const struct clickhouse_block *block, uint32_t first)
{
	char *name = name_of(to, block, first);
	size_t from = first ? block->row[first - 1].end : 0;
	char *parameters = memory_text(to->settings, strlen(to->settings));
	long status;

	http_parameter(to->http, &parameters, "query_id", name);
	if (to->has_token)
		http_parameter(to->http, &parameters, "insert_deduplication_token", name);
	http_parameter(to->http, &parameters, "query",
		"INSERT INTO " CLICKHOUSE_CALLS " (" CLICKHOUSE_COLUMNS ") FORMAT RowBinary");
	status = http_post(to->http, parameters, block->data.data + from, block->data.size - from, &to->answer);
	free(parameters);
	free(name);
	return status;
}

/*
 * A request has failed: which rows are missing there now, from *first on? *running: that is not known yet. Returns
 * false after a line.
 */
static bool look_again(struct clickhouse *to, const struct clickhouse_block *block, uint32_t *first, bool *running)
{
	char *more = memory_format(" AND block = %" PRIu64, block->name);
	bool good = true;

	*running = is_running(to);
	if (!*running)
		good = ask_there(to, more) && compare(to, block, first);
	free(more);
	return good;
}

static bool send_missing(struct clickhouse *to, const struct clickhouse_block *block, uint32_t first)
{
	bool running = false;
	long status = 0;

	for (unsigned i = 0; i < ATTEMPTS; i++) {
		wait_before(i);
		if (i && !look_again(to, block, &first, &running))
			return false;
		if (first == block->rows)
			return true;
		if (running)
			continue;
		status = send_rows(to, block, first);
		if (status == 200)
			return true;
		if (is_hopeless(to, status))
			break;
	}
	say_error(to, status, "can't be loaded into");
	return false;
}

bool clickhouse_send(struct clickhouse *to, const struct clickhouse_block *block)
{
	uint32_t first;

	if (!compare(to, block, &first))
		return false;
	to->sums.rows_there += first;
	if (first == block->rows) {
		to->sums.there++;
		return true;
	}
	to->sums.blocks++;
	to->sums.rows += block->rows - first;
	return send_missing(to, block, first);
}
