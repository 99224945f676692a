/* SPDX-License-Identifier: MIT */
/* Histograms of known times. */
#include "tool/show/report/bars.h"

#include <inttypes.h>

#include "t/lib/tap.h"

#define RANGES(r) r, sizeof(r) / sizeof(*(r))

/* The rows as "FROM-TO:COUNT ..." */
static const char *text(const struct bars *bars)
{
	static char buf[4096];
	int at = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < bars->rows && at < (int)sizeof(buf) - 80; i++)
		at += sprintf(buf + at, "%s%" PRIu64 "-%" PRIu64 ":%" PRIu64, i ? " " : "", bars->row[i].from,
			bars->row[i].to, bars->row[i].count);
	return buf;
}

static void is_text(const char *got, const char *expected, const char *what)
{
	if (!ok(!strcmp(got, expected), "%s", what))
		diag("got %s\nexpected %s", got, expected);
}

int main(void)
{
	struct bars bars;

	bars_make(&bars, NULL, 0);
	is_int(bars.rows, 0, "nothing has no rows");

	const struct bars_range one[] = { { 1000, 1000, 7 } };
	bars_make(&bars, RANGES(one));
	is_text(text(&bars), "1000-1050:7", "one time is one row of the finest ladder");

	const struct bars_range narrow[] = {
		{ 1000, 1000, 1 }, { 1049, 1049, 2 }, { 1050, 1050, 4 }, { 1190, 1190, 8 }
	};
	bars_make(&bars, RANGES(narrow));
	is_text(text(&bars), "1000-1050:3 1050-1100:4 1100-1150:0 1150-1200:8",
		"times that lie close together have narrow rows, and empty ones stand between");
	is_int((long long)bars.count, 15, "all are counted");
	is_int((long long)bars.most, 8, "the largest row is known");
	is_int(bars_length(&bars, &bars.row[3], 40), 40, "it has the whole width");
	is_int(bars_length(&bars, &bars.row[1], 40), 20, "half as many have half of it");
	is_int(bars_length(&bars, &bars.row[2], 40), 0, "an empty row has nothing");
	is_int(bars_length(&bars, &bars.row[0], 2), 1, "any other at least one character");

	const struct bars_range wide[] = { { 3, 3, 1 }, { 40, 40, 1 }, { 1000000, 1000000, 1 } };
	bars_make(&bars, RANGES(wide));
	is_text(text(&bars),
		"2-5:1 5-10:0 10-20:0 20-50:1 50-100:0 100-200:0 200-500:0 500-1000:0 1000-2000:0 2000-5000:0 "
		"5000-10000:0 10000-20000:0 20000-50000:0 50000-100000:0 100000-200000:0 200000-500000:0 "
		"500000-1000000:0 1000000-2000000:1",
		"times of six decades have three rows in each");

	const struct bars_range decade[] = { { 100, 100, 1 }, { 999, 999, 1 } };
	bars_make(&bars, RANGES(decade));
	is_int(bars.rows, 20, "a decade has twenty");

	const struct bars_range shortest[] = { { 0, 0, 5 }, { 1, 1, 6 }, { 2, 2, 7 } };
	bars_make(&bars, RANGES(shortest));
	is_text(text(&bars), "0-1:5 1-2:6 2-3:7", "bounds are whole ns");

	const struct bars_range sketch[] = { { 96, 103, 9 }, { 104, 111, 3 }, { 112, 119, 5 } };
	bars_make(&bars, RANGES(sketch));
	is_text(text(&bars), "90-100:9 100-105:0 105-110:3 110-115:0 115-120:5",
		"a range is where its middle is, but the first one where it begins and the last where it ends");

	const struct bars_range all[] = { { 0, 0, 1 }, { UINT64_MAX, UINT64_MAX, 1 } };
	bars_make(&bars, RANGES(all));
	ok(bars.rows > BARS_ROWS && bars.rows <= BARS_MOST, "all times there are fit");
	is_int((long long)bars.row[bars.rows - 1].count, 1, "the longest is in the last row");
	is_int((long long)bars.row[0].count, 1, "and the shortest in the first");
	return done_testing();
}
