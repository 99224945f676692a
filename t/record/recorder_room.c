#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* The recorder when it can't write: lost events are counted exactly, and it goes on when there is room. */
#include "t/lib/tap.h"

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/caller.h"
#include "t/lib/core.h"

struct outcome {
	pid_t pid;
	struct caller caller[1];
	uint64_t figure[10];
	enum trace_lost cause; /* the expected cause */
};

static struct outcome *outcome;

/* Reads the trace in the scenario's own process, since no other process sees a private tmpfs. */
static void sum_up(const char *folder, uint64_t size)
{
	struct reading reading;
	struct trace_head head;
	uint32_t greatest = 0;

	if (core_read_head(folder, getpid(), &head))
		return;
	outcome->figure[1] = head.lost;
	if (!core_read(folder, getpid(), 0, size, &reading)) {
		uint32_t last[2] = {0, 0};
		outcome->figure[0] = reading.count;
		outcome->figure[8] = 0;
		for (int i = 0; i < TRACE_LOST_COUNT; i++)
			outcome->figure[8] += reading.lost_by[i];
		outcome->figure[9] = reading.lost_by[outcome->cause];
		outcome->figure[2] = reading.damage != NULL;
		for (size_t i = 0; i < reading.count; i++) {
			/* There are gaps, but no step back. */
			uint32_t id = reading.event[i].id, *before = &last[id >= CALLER_HANDLER];
			outcome->figure[3] += id < *before;
			*before = id;
			if (id < CALLER_HANDLER)
				greatest = id;
		}
		outcome->figure[5] = reading.chunks;
	}
	outcome->figure[4] = greatest;
	core_forget(&reading);
}

/* Calls until the recorder takes events again: it tries about once a second. */
static int call_until_recorded(struct caller *caller)
{
	uint64_t end = core_now_ns() + 40000000000ull;

	do {
		caller_call(caller->function, 1 + caller->made++, &caller->wrong);
		if (tramp_self && tramp_self->cursor & tramp_self->chunk_bit)
			return 1;
		usleep(1000);
	} while (core_now_ns() < end);
	return 0;
}

static void calls_with_signals(struct caller *caller, uint32_t calls)
{
	caller_start_timer(200);
	caller_run(caller, caller->made + calls, 0);
	caller_stop_timer();
}

static void limit_files(uint64_t size)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = size;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* More than there is room for. */
#define MANY_EVENTS 400000
#define MANY_CALLS  (MANY_EVENTS / CALLER_EVENTS)

/* Of meta's 8 places 6 are left for chunks; 16 more go to the thread's file. */
#define FILE_LIMIT (16 * TRACE_CHUNK_MIN + 100)

static int file_limit(void *argument)
{
	struct caller *caller = &outcome->caller[0];
	uint64_t size = TRACE_CHUNK_MIN;

	(void)argument;
	core_start(core_folder(), size, TRACE_CLOCK_TSC);
	outcome->pid = getpid();
	caller_prepare(caller);
	limit_files(FILE_LIMIT);
	calls_with_signals(caller, MANY_CALLS);
	limit_files(RLIM_INFINITY);
	sum_up(core_folder(), size);
	outcome->figure[6] = outcome->figure[4];
	outcome->figure[7] = (uint64_t)call_until_recorded(caller);
	calls_with_signals(caller, 10000);
	sum_up(core_folder(), size);
	return 0;
}

/* From its first call on no file can be written to, or no descriptor is free. */
static int no_files(void *argument)
{
	struct caller *caller = &outcome->caller[0];
	struct rlimit none = { 0, 0 };

	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	outcome->pid = getpid();
	caller_prepare(caller);
	caller_run(caller, 1, 0);
	/* As the stub of setrlimit() does before. */
	if (argument)
		tramp_slow_descriptors((uint64_t)(uintptr_t)&none);
	else
		tramp_slow_reach((uint64_t)(uintptr_t)&none);
	setrlimit(argument ? RLIMIT_NOFILE : RLIMIT_FSIZE, &none);
	calls_with_signals(caller, 100000);
	return 0;
}

static void check_no_files(int descriptors)
{
	static const char *const what[] = {"no file may grow", "no descriptor is to be had"};
	const struct caller *caller = &outcome->caller[0];
	struct reading reading;

	memset(outcome, 0, sizeof(*outcome));
	is_int(core_child(no_files, descriptors ? outcome : NULL, 60), 0, "a program runs on when %s",
		what[descriptors]);
	is_int(core_read(core_folder(), outcome->pid, 0, TRACE_CHUNK_MIN, &reading), 0, "%s: there are events",
		what[descriptors]);
	is_int((long long)reading.count, CALLER_EVENTS * ((long long)caller->made + caller->handled),
		"%s: all of them", what[descriptors]);
	is_int((long long)reading.lost, 0, "%s: and none was lost", what[descriptors]);
	is_str(reading.damage, NULL, "%s: what is there keeps to the format", what[descriptors]);
	is_int(caller->made, 100001, "%s: so many calls there were", what[descriptors]);
	core_forget(&reading);
}

static int write_filler(const char *path, size_t size)
{
	static char bytes[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	for (size_t done = 0; done < size; done += sizeof(bytes))
		if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			return -1;
	return close(fd);
}

/* A tmpfs of our own of 2 MiB, 1 MiB of it taken. Status 77: the system lets us have none. */
static int full_disk(void *argument)
{
	static char folder[100], filler[120];
	struct caller *caller = &outcome->caller[0];

	(void)argument;
	snprintf(folder, sizeof(folder), "%s/full", core_folder());
	snprintf(filler, sizeof(filler), "%s/filler", folder);
	mkdir(folder, 0777);
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return 77;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("tmpfs", folder, "tmpfs", 0, "size=2m"))
		return 77;
	if (write_filler(filler, 1ul << 20))
		return 1;
	core_start(folder, TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	outcome->pid = getpid();
	caller_prepare(caller);
	calls_with_signals(caller, MANY_CALLS);
	sum_up(folder, TRACE_CHUNK_MIN);
	outcome->figure[6] = outcome->figure[4];
	unlink(filler);
	outcome->figure[7] = (uint64_t)call_until_recorded(caller);
	calls_with_signals(caller, 10000);
	sum_up(folder, TRACE_CHUNK_MIN);
	return 0;
}

/* This event at the latest finds no room. */
static void check_lost(const char *name, uint32_t first_left_out)
{
	const struct caller *caller = &outcome->caller[0];
	uint64_t made = (uint64_t)CALLER_EVENTS * (caller->made + caller->handled);

	is_int(caller->wrong, 0, "%s: the program's calls return what they should", name);
	is_int((long long)outcome->figure[2], 0, "%s: the file keeps to the format", name);
	is_int((long long)outcome->figure[3], 0, "%s: what is there is in order", name);
	ok(CALLER_EVENTS * outcome->figure[6] < first_left_out, "%s: room ended after call %llu", name,
		(unsigned long long)outcome->figure[6]);
	ok(outcome->figure[7], "%s: events are recorded again when there is room", name);
	is_int((long long)outcome->figure[4], caller->made, "%s: up to the last call", name);
	ok(outcome->figure[1] > 50000, "%s: %llu events were lost", name, (unsigned long long)outcome->figure[1]);
	is_int((long long)(made - outcome->figure[0]), (long long)outcome->figure[1], "%s: exactly so many are missing",
		name);
	is_int((long long)outcome->figure[8], (long long)outcome->figure[1], "%s: for some cause, each", name);
	is_int((long long)outcome->figure[9], (long long)outcome->figure[1], "%s: which is this one", name);
}

static void test_no_room(void)
{
	int status;

	outcome = core_shared(sizeof(*outcome));
	outcome->cause = TRACE_LOST_FILE_SIZE;
	is_int(core_child(file_limit, NULL, 60), 0, "a program runs on when its files may not grow (no SIGXFSZ)");
	check_lost("file size limit", 240000);
	check_no_files(0);
	check_no_files(1);
	memset(outcome, 0, sizeof(*outcome));
	outcome->cause = TRACE_LOST_DISK;
	status = core_child(full_disk, NULL, 60);
	if (status == 77) {
		skip(11, "no tmpfs may be mounted here");
		return;
	}
	is_int(status, 0, "a program runs on when the disk is full (no SIGBUS)");
	check_lost("disk full", MANY_EVENTS);
}

/* ---- no folder ---- */

static int no_folder(void *argument)
{
	struct caller *caller = &outcome->caller[0];
	static char where[100];
	int fd = open(argument, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	snprintf(where, sizeof(where), "%s/not/there", core_folder());
	dup2(fd, 2);
	core_start(where, TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	caller_prepare(caller);
	caller_run(caller, 10000, 0);
	return 0;
}

static void test_no_folder(void)
{
	static char path[100], line[300], expected[300];
	ssize_t n;

	outcome = core_shared(sizeof(*outcome));
	snprintf(path, sizeof(path), "%s/stderr", core_folder());
	is_int(core_child(no_folder, path, 60), 0, "a program runs on when the trace folder can't be made");
	is_int(outcome->caller[0].wrong, 0, "and its calls return what they should");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	snprintf(expected, sizeof(expected),
		"xaudit: can't make the trace folder %s/not/there: No such file or directory; the program runs on, "
		"untraced\n",
		core_folder());
	ok(!strncmp(line, "xaudit: can't make the trace folder ", 36) &&
			strstr(line, "/not/there: No such file or directory; the program runs on") &&
			strchr(line, '\n') == line + strlen(line) - 1,
		"that is said once, in one line: %s", line);
}

int main(void)
{
	core_folder();
	test_no_room();
	test_no_folder();
	return done_testing();
}
