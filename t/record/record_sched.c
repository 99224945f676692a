/* SPDX-License-Identifier: MIT */
/* DIR/sched where the disk is full for a while, and totals, which are written in their places. */
#define _GNU_SOURCE
#include "tool/record/sched/sched_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/sched_folder.h"
#include "t/lib/tap.h"
#include "tool/read/sched/sched.h"
#include "tool/read/sched/sched_cursor.h"

#define TID   11
#define START 1000
#define TURN  10 /* ticks: half of them on a processor */

static int file; /* DIR/sched */

static void begin(enum sched_holds holds)
{
	const struct sched_head head = head_of(holds, TRACE_CLOCK_TSC, START);

	unlinkat(at, SCHED_NAME, 0);
	file = openat(at, SCHED_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0 || sched_file_begin(file))
		exit(1);
	sched_file_head(&head);
}

/* Turns on and off a processor, from turn `from` on. */
static void put_turns(uint64_t from, uint64_t to)
{
	for (; from < to; from++) {
		uint64_t time = START + from * TURN;
		sched_file_put(&(struct sched_record){ .what = SCHED_IN, .time = time, .pid = PID, .tid = TID });
		sched_file_put(&(struct sched_record){
			.what = SCHED_OUT, .time = time + TURN / 2, .pid = PID, .tid = TID });
	}
	sched_file_known(START + to * TURN);
}

/* No file may grow beyond so many bytes. */
static void limit(rlim_t bytes)
{
	const struct rlimit size = { bytes, RLIM_INFINITY };

	if (setrlimit(RLIMIT_FSIZE, &size))
		exit(1);
}

static long size_now(void)
{
	struct stat st;

	return fstat(file, &st) ? -1 : (long)st.st_size;
}

/* Ticks on a processor between two turns; -1: not known. */
static long on_turns(const struct read_sched *sched, uint64_t from, uint64_t to)
{
	return on_between(sched, TID, START + from * TURN, START + to * TURN);
}

static void known_again(void)
{
	const long record = sizeof(struct sched_record), head = sizeof(struct sched_head);

	begin(SCHED_SWITCHES);
	put_turns(0, 10);
	is_int(size_now(), head + 21 * record, "20 records, and what is known");
	put_turns(10, 10);
	is_int(size_now(), head + 21 * record, "what is known is told anew in its place");
	put_turns(10, 20);
	is_int(size_now(), head + 41 * record, "and makes room for what comes next");

	/* Room for 3000 records more: a piece is 2048. */
	limit((rlim_t)(head + 3041 * record + 7));
	put_turns(20, 10000);
	is_int(sched_file_error(), EFBIG, "a file that may not grow is an error");
	is_int((size_now() - head) % record, 0, "what is in it is whole");
	put_turns(10000, 10010);
	limit(RLIM_INFINITY);
	put_turns(10010, 10020);
	put_turns(10020, 10030);
	struct read_sched *sched = read_sched_open(&folder);
	is_int(on_turns(sched, 0, 20), 20 * TURN / 2, "up to there all is known");
	is_int(on_turns(sched, 15, 30), -1, "behind that nothing is");
	is_int(on_turns(sched, 9990, 9999), -1, "nor of what was dropped");
	is_int(on_turns(sched, 10000, 10030), 30 * TURN / 2, "as soon as there is room again, all is known again");
	is_int((long)read_sched_facts(sched)->losses, 1, "the loss is told once");
	read_sched_close(sched);
	sched_file_end();
}

static void kept_known(void)
{
	begin(SCHED_SWITCHES);
	put_turns(0, 10);
	limit((rlim_t)size_now());
	put_turns(10, 20);
	struct read_sched *sched = read_sched_open(&folder);
	is_int(on_turns(sched, 0, 10), 10 * TURN / 2, "where nothing more can be written, what was known stays so");
	read_sched_close(sched);
	limit(RLIM_INFINITY);
	sched_file_end();
}

static void totals(void)
{
	uint64_t least;

	begin(SCHED_TOTALS);
	for (uint64_t ran = 100; ran <= 300; ran += 100) {
		sched_file_place(1, &(struct sched_record){ .what = SCHED_TOTAL, .time = ran, .pid = PID, .tid = TID });
		sched_file_place(0, &(struct sched_record){ .what = SCHED_TOTAL, .time = 2 * ran, .pid = PID });
	}
	struct read_sched *sched = read_sched_open(&folder);
	ok(read_sched_total(sched, &process, TID, &least) && least == 300, "a thread's total is the last one written");
	ok(read_sched_total(sched, &process, 0, &least) && least == 600, "a process has its own");
	ok(!read_sched_total(sched, &process, TID + 1, &least) && !least, "of another thread nothing is known");
	read_sched_close(sched);
	sched_file_end();
}

int main(void)
{
	signal(SIGXFSZ, SIG_IGN);
	begin_folder();
	known_again();
	kept_known();
	totals();
	remove_folder();
	return done_testing();
}
