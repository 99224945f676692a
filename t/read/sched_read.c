/* SPDX-License-Identifier: MIT */
/*
 * Times on processors out of DIR/sched: what is told is right, also beside lost switches, and what can't be known is
 * told to be unknown. Files are written by hand, and at random with the truth beside; then they are damaged at random.
 */
#define _GNU_SOURCE
#include "tool/read/sched/sched.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/sched_folder.h"
#include "t/lib/tap.h"
#include "tool/read/sched/sched_cursor.h"

static struct sched_head head;
static struct sched_record record[200000];
static unsigned records;

static void begin(uint32_t clock, uint64_t start)
{
	head = head_of(SCHED_SWITCHES, clock, start);
	records = 0;
}

static void put(enum sched_what what, uint64_t time, uint32_t tid)
{
	record[records++] = (struct sched_record){ .what = (uint16_t)what, .time = time, .pid = PID, .tid = tid };
}

static void lose(uint64_t since, uint64_t time, uint32_t count)
{
	record[records++] = (struct sched_record){
		.what = SCHED_LOST, .since = since, .time = time, .count = count };
}

/* Writes the file, but for its last bytes, and opens it. */
static struct read_sched *open_without(size_t bytes)
{
	size_t size = records * sizeof(*record) - bytes;
	int fd = openat(at, SCHED_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, &head, sizeof(head)) != sizeof(head) || write(fd, record, size) != (ssize_t)size)
		exit(1);
	close(fd);
	return read_sched_open(&folder);
}

static struct read_sched *open_it(void)
{
	return open_without(0);
}

static void by_hand(void)
{
	begin(TRACE_CLOCK_TSC, 1000);
	put(SCHED_OUT, 1100, 10);
	put(SCHED_BEGIN, 1500, 11);
	put(SCHED_IN, 2000, 11);
	put(SCHED_OUT, 3000, 11);
	put(SCHED_IN, 3500, 11);
	put(SCHED_PREEMPTED, 4000, 11);
	put(SCHED_IN, 4200, 11);
	put(SCHED_EXIT, 5000, 11);
	put(SCHED_IN, 5500, 10);
	put(SCHED_KNOWN, 6000, 0);
	struct read_sched *sched = open_it();
	is_int(on_between(sched, 11, 2000, 3000), 1000, "a thread is on a processor from its IN to its OUT");
	is_int(on_between(sched, 11, 2500, 3600), 600, "parts of two such stretches are added up");
	is_int(on_between(sched, 11, 3000, 3500), 0, "between them it is not");
	is_int(on_between(sched, 11, 3999, 4201), 2, "being preempted is as waiting");
	is_int(on_between(sched, 11, 1500, 5100), 2300, "its life");
	is_int(on_between(sched, 11, 1000, 1900), 0, "before it begins it is on none");
	is_int(on_between(sched, 10, 1000, 1200), 100, "a thread whose first record is an OUT was on one before");
	is_int(on_between(sched, 10, 5000, 6000), 500, "what is known of a thread goes up to the last KNOWN");
	is_int(on_between(sched, 10, 5000, 6001), -1, "and no further");
	is_int(on_between(sched, 10, 900, 1200), -1, "before the start nothing is known");
	is_int(on_between(sched, 12, 2000, 3000), -1, "nothing is known of a thread without a record");
	is_int((long)read_sched_facts(sched)->switches, 3, "times that a thread left a processor");
	is_int((long)read_sched_facts(sched)->preempted, 1, "one of these it had to");
	uint64_t least;
	ok(read_sched_total(sched, &process, 11, &least) && least == 2300, "a thread's total");
	ok(read_sched_total(sched, &process, 0, &least) && least == 2300 + 100 + 500, "its process's");
	read_sched_close(sched);

	begin(TRACE_CLOCK_TSC, 1000);
	put(SCHED_IN, 2000, 11);
	put(SCHED_IN, 3000, 11);
	put(SCHED_OUT, 3500, 11);
	put(SCHED_EXIT, 3600, 11);
	put(SCHED_IN, 4000, 11);
	put(SCHED_OUT, 4100, 11);
	put(SCHED_KNOWN, 5000, 0);
	sched = open_it();
	is_int(on_between(sched, 11, 2000, 2500), -1, "between two INs nothing is known");
	is_int(on_between(sched, 11, 3000, 3500), 500, "behind them it is known again");
	is_int(on_between(sched, 11, 3500, 3601), -1, "a thread can't end while it is on no processor");
	is_int(on_between(sched, 11, 3700, 4100), -1, "nor go on after its end");
	is_int(on_between(sched, 11, 4000, 4200), 100, "whatever came before");
	read_sched_close(sched);
}

static void losses(void)
{
	begin(TRACE_CLOCK_TSC, 1000);
	put(SCHED_IN, 2000, 11);
	lose(2500, 2700, 3);
	put(SCHED_IN, 3000, 11);
	put(SCHED_OUT, 3500, 11);
	lose(3700, 3800, 0);
	put(SCHED_KNOWN, 5000, 0);
	struct read_sched *sched = open_it();
	is_int(on_between(sched, 11, 2000, 2500), 500, "up to a loss all is known");
	is_int(on_between(sched, 11, 2000, 2501), -1, "in it nothing is");
	is_int(on_between(sched, 11, 2600, 2650), -1, "nor of a part of it");
	is_int(on_between(sched, 11, 2699, 3100), -1, "nor of what begins in it");
	is_int(on_between(sched, 11, 2700, 3100), 100, "behind it the next record tells the state before it");
	is_int(on_between(sched, 11, 3500, 3700), 0, "up to the last loss all is known");
	is_int(on_between(sched, 11, 3900, 4000), -1, "behind it no record tells the state");
	is_int((long)read_sched_facts(sched)->lost, 3, "switches that were lost, where their number is known");
	is_int((long)read_sched_facts(sched)->losses, 2, "and how often some were");
	read_sched_close(sched);
}

static void clocks(void)
{
	/* 4 ticks are 1 ns; tick 1000 is 500 ns. */
	const struct read_clock clock = { .source = TRACE_CLOCK_TSC, .valid = true, .ticks = 1000, .mono = 500,
		.mult = 1ull << (READ_CLOCK_SHIFT - 2) };

	begin(TRACE_CLOCK_MONOTONIC, 400);
	put(SCHED_IN, 450, 11);
	put(SCHED_OUT, 600, 11);
	put(SCHED_KNOWN, 1000, 0);
	process.clock = clock;
	struct read_sched *sched = open_it();
	is_int(on_between(sched, 11, 700, 2000), 600, "times by CLOCK_MONOTONIC become ticks of the process");
	read_sched_close(sched);
	process.clock.valid = false;
	sched = open_it();
	is_int(on_between(sched, 11, 700, 2000), -1, "unless its clock is not known");
	read_sched_close(sched);

	begin(TRACE_CLOCK_TSC, 1000000);
	put(SCHED_IN, 2000000, 11);
	put(SCHED_OUT, 6000000, 11);
	put(SCHED_KNOWN, 8000000, 0);
	process.clock = (struct read_clock){ .source = TRACE_CLOCK_MONOTONIC, .valid = true };
	folder.pair[0] = (struct trace_pair){ .ticks = 1000000, .mono = 100, .real = 1 };
	folder.pair[1] = (struct trace_pair){ .ticks = 9000000, .mono = 2000100, .real = 2000001 };
	folder.pairs = 2;
	sched = open_it();
	is_int(on_between(sched, 11, 500, 1700000), 1000000, "ticks become times of a process that has no TSC");
	read_sched_close(sched);
	folder.pairs = 0;
	process.clock = ticks_are_ns;
}

static void damaged(void)
{
	begin(TRACE_CLOCK_TSC, 1000);
	put(SCHED_IN, 2000, 11);
	put(SCHED_KNOWN, 2500, 0);
	put(SCHED_OUT, 3000, 11);
	put(SCHED_KNOWN, 4000, 0);
	struct read_sched *sched = open_without(1);
	is_int(on_between(sched, 11, 2000, 2500), 500, "a file that was cut is read up to there");
	is_int(on_between(sched, 11, 2000, 2600), -1, "and no further");
	ok(!folder.damage.first, "that is no damage: its writer was killed");
	read_sched_close(sched);
	sched = open_without(records * sizeof(*record));
	is_int(on_between(sched, 11, 1000, 1001), -1, "nothing is known from a file without records");
	read_sched_close(sched);

	head.version = 2;
	sched = open_it();
	ok(sched && on_between(sched, 11, 2000, 2100) == -1 && strstr(folder.damage.first, "unknown version"),
		"another version is not read");
	read_damage_free(&folder.damage);
	read_sched_close(sched);
	head.version = 1;
	head.record_size = 0;
	sched = open_it();
	ok(sched && on_between(sched, 11, 2000, 2100) == -1 && strstr(folder.damage.first, "impossible"),
		"nor records without a size");
	read_damage_free(&folder.damage);
	read_sched_close(sched);
	unlinkat(at, SCHED_NAME, 0);
	ok(!read_sched_open(&folder) && !folder.damage.first, "without a file there is nothing, which is no damage");
}

/* ---- at random ---- */

#define THREADS 20
#define TIME	20000

static uint8_t truth[THREADS][TIME + 1]; /* is it on a processor from this moment to the next? */
static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* Writes what threads do from time 100 on; records in lost stretches are left out. Returns how many were. */
static uint32_t make(uint32_t stretches)
{
	uint64_t since[8], until[8];
	uint32_t left_out = 0;
	uint8_t now[THREADS];

	begin(TRACE_CLOCK_TSC, 100);
	memset(truth, 0, sizeof(truth));
	for (uint32_t i = 0; i < stretches; i++) {
		since[i] = 100 + random_below(TIME - 400);
		until[i] = since[i] + 1 + random_below(300);
	}
	for (int t = 0; t < THREADS; t++)
		now[t] = (uint8_t)random_below(2);
	for (uint64_t time = 0; time <= TIME; time++) {
		for (uint32_t t = 0; t < THREADS; t++) {
			if (!random_below(30 + 20 * t)) {
				bool lost = time < 100;
				now[t] ^= 1;
				for (uint32_t i = 0; i < stretches; i++)
					lost |= time > since[i] && time <= until[i];
				left_out += lost;
				if (!lost)
					put(now[t] ? SCHED_IN : random_below(2) ? SCHED_OUT : SCHED_PREEMPTED, time, t);
			}
			truth[t][time] = now[t];
		}
	}
	for (uint32_t i = 0; i < stretches; i++)
		lose(since[i], until[i], 0);
	put(SCHED_KNOWN, TIME, 0);
	return left_out;
}

static uint64_t true_between(uint32_t tid, uint64_t from, uint64_t to)
{
	uint64_t on = 0;

	for (; from < to; from++)
		on += truth[tid][from];
	return on;
}

/* How many answers are wrong; *unknown: how many are none. */
static int ask(const struct read_sched *sched, int *unknown)
{
	int wrong = 0;

	for (uint32_t t = 0; t < THREADS; t++) {
		struct read_sched_cursor cursor;
		uint64_t before = 100, on = 0;

		read_sched_begin(&cursor, sched, &process, t);
		on = read_sched_on(&cursor, before);
		while (before < TIME) {
			uint64_t next = before + random_below(400);
			next = next < TIME ? next : TIME;
			uint64_t after = read_sched_on(&cursor, next);
			if (read_sched_unknown(&cursor) > before)
				++*unknown;
			else
				wrong += after - on != true_between(t, before, next);
			before = next;
			on = after;
		}
	}
	return wrong;
}

static void at_random(void)
{
	int wrong = 0, unknown = 0, wrong_with = 0, unknown_with = 0;
	uint32_t left_out = 0;

	for (seed = 1; seed < 20; seed++) {
		uint32_t own = seed;
		make(0);
		struct read_sched *sched = open_it();
		wrong += ask(sched, &unknown);
		read_sched_close(sched);
		left_out += make(6);
		sched = open_it();
		wrong_with += ask(sched, &unknown_with);
		read_sched_close(sched);
		seed = own;
	}
	is_int(wrong, 0, "at random: no time is wrong");
	is_int(unknown, 0, "and where nothing was lost all is known");
	is_int(wrong_with, 0, "where some was lost no time is wrong");
	ok(left_out > 0 && unknown_with > 0, "but some are not known");
	diag("%u records were left out, %d times are not known", left_out, unknown_with);
}

/* ---- damage ---- */

/* Asks of all threads at some moments. Returns how often time went backwards. */
static int ask_all(const struct read_sched *sched)
{
	int wrong = 0;

	for (uint32_t t = 0; t < THREADS; t++) {
		struct read_sched_cursor cursor;
		uint64_t before = 0;

		read_sched_begin(&cursor, sched, &process, t);
		for (uint64_t now = 1; now < UINT64_MAX / 3; now += now / 2 + 1) {
			uint64_t on = read_sched_on(&cursor, now);
			wrong += on < before || on > now;
			before = on;
		}
	}
	return wrong;
}

static void hostile(void)
{
	int wrong = 0, read = 0;

	for (seed = 1; seed < 300; seed++) {
		uint32_t own = seed;
		make(2);
		for (uint32_t flips = 1 + random_below(40); flips; flips--)
			((uint8_t *)record)[random_below(records * (uint32_t)sizeof(*record))] ^= 1u << random_below(8);
		if (!random_below(4))
			((uint8_t *)&head)[random_below(sizeof(head))] ^= 1u << random_below(8);
		struct read_sched *sched = open_it();
		if (sched) {
			read++;
			wrong += ask_all(sched);
			read_sched_close(sched);
		}
		read_damage_free(&folder.damage);
		seed = own;
	}
	is_int(read, 299, "damaged files are read as far as can be");
	is_int(wrong, 0, "and time goes on in them");
}

int main(void)
{
	begin_folder();
	by_hand();
	losses();
	clocks();
	damaged();
	at_random();
	hostile();
	remove_folder();
	return done_testing();
}
