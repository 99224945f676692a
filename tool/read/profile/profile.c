/* SPDX-License-Identifier: MIT */
/*
 * The profiles of xaudit-read.h: options, and rows with times in ns, of what count.h has counted.
 */
#include "tool/read/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/api/cpu.h"
#include "tool/read/api/trace.h"
#include "tool/read/profile/jobs.h"
#include "tool/read/state.h"

/* ---- rows ---- */

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

/* Falling by total; equal rows in an order that does not depend on the order in the trace. */
static int by_total(const void *a, const void *b)
{
	const struct xaudit_read_row *x = a, *y = b;
	int order;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	order = strcmp(text_or_empty(x->name), text_or_empty(y->name));
	if (!order)
		order = strcmp(text_or_empty(x->library), text_or_empty(y->library));
	if (!order)
		order = (x->trace > y->trace) - (x->trace < y->trace);
	if (!order)
		order = (x->pid > y->pid) - (x->pid < y->pid);
	if (!order)
		order = (x->process > y->process) - (x->process < y->process);
	return order ? order : (x->tid > y->tid) - (x->tid < y->tid);
}

/* A row that has counted something. */
static void fill_in(struct xaudit_read_row *to, const struct read_row *from, uint32_t number,
	const struct xaudit_read_profile *profile)
{
	const struct read_clock *unit = &profile->setup.unit;
	uint64_t timed = read_histogram_count(&profile->count.rows.pool, &from->time);

	*to = (struct xaudit_read_row){
		.name = profile->setup.by == XAUDIT_READ_BY_THREAD ? from->thread : from->key.name,
		.library = from->key.library,
		.trace = from->key.trace,
		.pid = from->key.pid,
		.tid = from->key.tid,
		.process = from->key.process,
		.number = number,
		.calls = timed + from->untimed,
		.counted = from->counted,
		.timed = timed,
		.total = read_clock_span(unit, from->sum - from->recursive + from->given),
		.self = read_clock_span(unit, from->self),
		.sum = read_clock_span(unit, from->sum),
		.throttled = from->throttled,
		.throttled_after = from->throttled_after,
		.cpu = XAUDIT_READ_UNKNOWN,
		.cpu_self = XAUDIT_READ_UNKNOWN,
		.cpu_unknown = from->on_unknown,
		.aliases = from->aliases ? from->aliases : "",
	};
	if (profile->info.sched && !from->on_unknown) {
		to->cpu = read_clock_span(unit, from->on);
		to->cpu_self = read_clock_span(unit, from->on_self);
	}
	if (!timed)
		return;
	double ns = (double)unit->mult / (double)(1ull << READ_CLOCK_SHIFT);
	double mean = (double)from->sum / (double)timed;
	to->variance = read_histogram_variance(&profile->count.rows.pool, &from->time, mean) * ns * ns;
	to->min = read_clock_span(unit, from->min);
	to->max = read_clock_span(unit, from->max);
	to->max_start = from->max_start;
	to->max_trace = from->max_trace;
	to->max_pid = from->max_pid;
	to->max_tid = from->max_tid;
}

static bool make_rows(struct xaudit_read_profile *profile)
{
	const struct read_rows *rows = &profile->count.rows;
	uint32_t n = 0;

	profile->row = calloc(rows->rows, sizeof(*profile->row));
	if (!profile->row)
		return false;
	for (uint32_t i = 1; i < rows->rows; i++) {
		fill_in(&profile->row[n], &rows->row[i], i, profile);
		n += profile->row[n].calls > 0; /* else it has only ends of calls that began before the trace */
	}
	if (n)
		qsort(profile->row, n, sizeof(*profile->row), by_total);
	profile->info.rows = n;
	return true;
}

static bool make_customs(struct xaudit_read_profile *profile)
{
	struct read_customs *customs = &profile->count.customs;

	read_customs_sort(customs);
	profile->custom = calloc(customs->rows ? customs->rows : 1, sizeof(*profile->custom));
	for (uint32_t i = 0; profile->custom && i < customs->rows; i++) {
		const struct read_custom *from = &customs->row[i];
		profile->custom[i] = (struct xaudit_read_custom){
			.type = from->name,
			.number = from->number,
			.count = from->count,
			.bytes = from->bytes,
		};
	}
	profile->info.customs = customs->rows;
	return profile->custom != NULL;
}

static bool make_probes(struct xaudit_read_profile *profile)
{
	struct read_probes *probes = &profile->count.probes;

	read_probes_sort(probes);
	profile->probe = calloc(probes->rows ? probes->rows : 1, sizeof(*profile->probe));
	for (uint32_t i = 0; profile->probe && i < probes->rows; i++) {
		const struct read_probe_row *from = &probes->row[i];
		profile->probe[i] = (struct xaudit_read_probe_row){
			.name = from->name,
			.library = from->library,
			.count = from->count,
			.counted = from->counted,
			.valued = from->valued,
			.first = from->first == UINT64_MAX ? 0 : from->first,
			.last = from->last,
		};
	}
	profile->info.probes = probes->rows;
	return profile->probe != NULL;
}

static bool has_switches(const struct xaudit_read_profile *profile)
{
	for (size_t t = 0; t < profile->count_traces; t++)
		if (!read_api_sched(profile->traces[t]))
			return false;
	return true;
}

/* What `record` saw, and no event tells. */
static void add_killed(struct xaudit_read_profile *profile)
{
	for (size_t t = 0; t < profile->count_traces; t++) {
		const struct read_folder *folder = profile->traces[t]->folder;
		for (unsigned i = 0; i < folder->processes; i++) {
			int signal = read_process_killed(folder->process[i]);
			profile->info.crashes += signal != 0;
			profile->info.signal = signal ? signal : profile->info.signal;
		}
	}
}

static bool make_results(struct xaudit_read_profile *profile)
{
	const struct read_count_sums *sums = &profile->count.sums;

	profile->info = (struct xaudit_read_profile_info){
		.lost = sums->lost,
		.unfinished = sums->unfinished,
		.orphans = sums->orphans,
		.inherited = sums->inherited,
		.points = sums->points,
		.counted = sums->counted,
		.no_end = sums->no_end,
		.overwritten = sums->overwritten,
		.customs_unfinished = profile->count.customs.unfinished,
		.crashes = sums->crashes,
		.signal = sums->signal,
		.sched = has_switches(profile),
		.valued = sums->valued,
	};
	for (uint32_t i = 1; profile->info.sched && i < profile->count.rows.rows; i++)
		profile->info.cpu_unknown += profile->count.rows.row[i].on_unknown;
	add_killed(profile);
	return make_rows(profile) && make_customs(profile) && make_probes(profile);
}

/* ---- counting ---- */

/* The unit of all times: ticks, if all processes have the same. */
static void set_unit(struct xaudit_read_profile *profile)
{
	struct read_count_setup *setup = &profile->setup;

	setup->unit = profile->traces[0]->folder->process[0]->clock;
	for (size_t t = 0; t < profile->count_traces; t++) {
		const struct read_folder *folder = profile->traces[t]->folder;
		for (unsigned i = 0; i < folder->processes; i++)
			setup->scale |= !read_clock_same_rate(&setup->unit, &folder->process[i]->clock);
	}
	if (setup->scale)
		setup->unit.mult = READ_CLOCK_UNIT_MULT;
}

/* Is a trace there twice, opened once or twice? */
static bool has_twins(struct xaudit_read_trace *const *traces, size_t count)
{
	for (size_t a = 1; a < count; a++)
		for (size_t b = 0; b < a; b++)
			if (traces[a] == traces[b] || (xaudit_read_is_part(traces[a], traces[b]) &&
							      xaudit_read_is_part(traces[b], traces[a])))
				return true;
	return false;
}

struct xaudit_read_profile *xaudit_read_profile(struct xaudit_read_trace *const *traces, size_t count,
	const struct xaudit_read_profile_options *options, struct xaudit_read_error *error)
{
	struct xaudit_read_profile *profile;
	int by = READ_API_OPTION(options, by);
	const char *wrong = READ_API_NO_SIZE(options);

	if (by < XAUDIT_READ_BY_FUNCTION || by > XAUDIT_READ_BY_PROCESS)
		wrong = "a profile by something that is not known";
	else if (!count)
		wrong = "a profile of no trace";
	else if (has_twins(traces, count))
		wrong = "a profile that would count a trace twice";
	read_api_error(error, wrong ? XAUDIT_READ_USAGE : XAUDIT_READ_OK, wrong ? wrong : "");
	if (wrong)
		return NULL;
	profile = calloc(1, sizeof(*profile));
	if (!profile) {
		read_api_error(error, XAUDIT_READ_NO_MEMORY, "out of memory");
		return NULL;
	}
	profile->traces = traces;
	profile->count_traces = count;
	profile->pid = READ_API_OPTION(options, pid);
	profile->progress = READ_API_OPTION(options, progress);
	profile->user = READ_API_OPTION(options, user);
	profile->setup.by = by;
	profile->setup.apart = READ_API_OPTION(options, apart);
	profile->setup.tid = READ_API_OPTION(options, tid);
	profile->setup.from = READ_API_OPTION(options, from);
	profile->setup.to = READ_API_OPTION(options, to);
	set_unit(profile);
	if (read_profile_count(profile, READ_API_OPTION(options, jobs)) && make_results(profile))
		return profile;
	xaudit_read_profile_close(profile);
	read_api_error(error, XAUDIT_READ_NO_MEMORY, "out of memory");
	return NULL;
}

void xaudit_read_profile_close(struct xaudit_read_profile *profile)
{
	if (!profile)
		return;
	read_count_close(&profile->count);
	free(profile->row);
	free(profile->custom);
	free(profile->probe);
	free(profile);
}

/* ---- results ---- */

const struct xaudit_read_profile_info *xaudit_read_profile_info(const struct xaudit_read_profile *profile)
{
	return &profile->info;
}

const struct xaudit_read_row *xaudit_read_profile_row(const struct xaudit_read_profile *profile, uint32_t number)
{
	return number < profile->info.rows ? &profile->row[number] : NULL;
}

const struct xaudit_read_custom *xaudit_read_profile_custom(
	const struct xaudit_read_profile *profile, uint32_t number)
{
	return number < profile->info.customs ? &profile->custom[number] : NULL;
}

const struct xaudit_read_probe_row *xaudit_read_profile_probe(
	const struct xaudit_read_profile *profile, uint32_t number)
{
	return number < profile->info.probes ? &profile->probe[number] : NULL;
}

uint64_t xaudit_read_profile_percentile(
	const struct xaudit_read_profile *profile, const struct xaudit_read_row *row, double percent)
{
	const struct read_row *from = &profile->count.rows.row[row->number];

	if (!row->timed)
		return 0;
	/* Both ends are known exactly. */
	if (percent <= 0 || percent >= 100)
		return percent <= 0 ? row->min : row->max;
	return read_clock_span(&profile->setup.unit,
		clamp(read_histogram_percentile(&profile->count.rows.pool, &from->time, percent), from->min,
			from->max));
}

size_t xaudit_read_profile_buckets(const struct xaudit_read_profile *profile, const struct xaudit_read_row *row,
	struct xaudit_read_bucket *to, size_t room)
{
	const struct read_row *from = &profile->count.rows.row[row->number];
	uint64_t low, high, n;
	unsigned bucket = 0;
	size_t count = 0;

	while ((n = read_histogram_next(&profile->count.rows.pool, &from->time, &bucket, &low, &high))) {
		if (count < room)
			to[count] = (struct xaudit_read_bucket){
				.low = read_clock_span(&profile->setup.unit, clamp(low, from->min, from->max)),
				.high = read_clock_span(&profile->setup.unit, clamp(high, from->min, from->max)),
				.count = n,
			};
		count++;
	}
	return count;
}
