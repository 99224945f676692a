#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * inject [OPTION]... FILE LIST COMMAND...: injects something at every instruction of a call. Runs the command, which
 * starts t/calls/inject.c under xaudit, and traces one thread there (inject.h).
 *
 * First it steps through one round, from marker to marker, and notes the instructions in the module and in its stubs:
 * an address at two depths of the stack counts as two. Then it makes a round for each of them: the thread runs to a
 * breakpoint there, something is injected, and the thread runs on to the markers at the end, where the helper thread
 * proves that locks are free. LIST gets a line for each round:
 *
 *	KIND tid TID child PID status N begun N ended N handled N jumped N ticks N wrong N helper N at SYMBOL+OFFSET
 *
 * Time: where the addresses of all rdtsc instructions are given, each is a breakpoint, and the thread gets the clock's
 * value plus all injected pauses, for which no thread really waits. ticks: how long the round was by that clock, if a
 * pause was injected; else 0.
 *
 *	-m PATH	  the module
 *	-k LIST	  kinds, taken in turn, such as event,fork; "-" takes its turn and does nothing
 *	-a	  every kind at every instruction
 *	-c FILE	  addresses of rdtsc in the module, in hexadecimal, one a line
 *	-s	  pauses before each round, too: another span begins
 *	-b SYMBOL begins where the thread comes to this function, and makes no more calls then
 *	-r	  mode ring, and back, before each round
 *	-t	  each round is another thread's
 *	-h	  has the helper remove handlers and set them
 *	-n N	  no more than about N instructions
 *	-x NAME	  at the instructions of this library, too
 *	-w N	  looks for instructions in N rounds, and makes up to N to come to one, where not every round does
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "t/lib/inject.h"
#include "t/lib/inject_thread.h"

#define MAX_PLACES 20000

static FILE *list;

/* ---- futexes ---- */

static void wake(volatile uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Waits until the word is not 0, at most so many seconds. Returns the word. */
static uint32_t wait_for(volatile uint32_t *word, unsigned seconds)
{
	struct timespec tenth = {0, 100000000};

	for (unsigned i = 0; !*word && i < seconds * 10; i++)
		syscall(SYS_futex, word, FUTEX_WAIT, 0, &tenth, NULL, 0);
	return *word;
}

static int ask_helper(enum inject_request request, const char *text)
{
	thread_doing = text;
	inject_shared->answered = 0;
	inject_shared->request = request;
	wake(&inject_shared->request);
	if (!wait_for(&inject_shared->answered, 60))
		thread_fail("the helper does not answer: a lock is held");
	return inject_shared->answer;
}

/* ---- rounds ---- */

static const char *trigger; /* -b */
static int other_span, other_mode, new_threads, has_handlers;

static void take_thread(void)
{
	thread_doing = "waiting for the thread";
	if (!wait_for(&inject_shared->tid, 60))
		thread_fail("none comes");
	thread_tid = (pid_t)inject_shared->tid;
	inject_shared->tid = 0;
	if (ptrace(PTRACE_SEIZE, thread_tid, NULL, NULL))
		thread_fail("it can't be traced");
	thread_runs = 1;
	inject_shared->go = 1;
	wake(&inject_shared->go);
}

/* Runs to the marker after which instructions count. Returns the stack pointer there. */
static uint64_t begin_round(void)
{
	if (new_threads && !thread_tid)
		take_thread();
	thread_at = 0;
	inject_shared->stop = 0;
	thread_expect(STOP_BEGIN, "going to the beginning");
	uint64_t sp = thread_registers.rsp;
	if (!thread_module)
		thread_read_maps();
	thread_take_tsc(1);
	if (other_span)
		thread_pauses += PAUSE;
	if (other_mode)
		thread_switch_mode();
	if (trigger) {
		if (!thread_break_at(thread_symbol(trigger)))
			thread_fail("no breakpoint can be set");
		thread_expect(STOP_BREAK, "going to the slow path");
		thread_no_break();
		inject_shared->stop = 1;
		/* The thread comes there at the beginning of a call, or at its end. */
		sp = thread_registers.rsp;
	}
	return sp;
}

/* Time after the last call of the present round, and of the one before. */
static uint64_t done_at, done_before;

/*
 * Runs from the end of the calls, where the thread stands, to the last marker. Returns how many of the helper thread's
 * proofs failed.
 */
static int end_round(void)
{
	int wrong = 0;

	thread_expect(STOP_DONE, "going to the end");
	done_before = done_at;
	done_at = thread_ticks();
	thread_take_tsc(0);
	wrong += ask_helper(REQUEST_LOAD, "another thread calls dlopen()") != 0;
	if (has_handlers)
		wrong += ask_helper(REQUEST_REMOVE, "another thread removes handlers") != 0;
	if (new_threads) {
		if (ptrace(PTRACE_DETACH, thread_tid, NULL, NULL))
			thread_fail("it can't be let go");
		thread_tid = 0;
	}
	return wrong;
}

/* ---- instructions ---- */

static struct place {
	uint64_t rip, depth;
} place[MAX_PLACES];
static size_t places;
static int looks = 1; /* -w */

static bool is_known(uint64_t rip, uint64_t depth)
{
	for (size_t i = 0; i < places; i++)
		if (place[i].rip == rip && place[i].depth == depth)
			return 1;
	return 0;
}

static void look_for_places(void)
{
	uint64_t sp = begin_round();
	enum stop stop = STOP_STEP;

	thread_read_maps();
	thread_doing = "stepping through a round";
	while (stop == STOP_STEP) {
		thread_get_registers();
		if (thread_is_ours(thread_registers.rip) && places < MAX_PLACES &&
			!is_known(thread_registers.rip, sp - thread_registers.rsp))
			place[places++] = (struct place){thread_registers.rip, sp - thread_registers.rsp};
		stop = thread_go_on(1, 0);
	}
	if (stop != STOP_END)
		thread_fail("it stops elsewhere");
	end_round();
}

static void find_places(void)
{
	for (int i = 0; i < looks; i++)
		look_for_places();
}

/* Runs to the place. 0: the thread did not come there. */
static int go_to(const struct place *wanted, uint64_t sp)
{
	enum stop stop = STOP_STEP;

	thread_doing = "going there";
	thread_get_registers();
	if (thread_registers.rip == wanted->rip && sp - thread_registers.rsp == wanted->depth)
		return 1;
	/* At an rdtsc there is a breakpoint already. */
	int can_break = !thread_is_tsc(wanted->rip) && thread_break_at(wanted->rip);
	while (stop != STOP_END) {
		stop = thread_go_on(!can_break, 0);
		if (sp - thread_registers.rsp == wanted->depth && thread_registers.rip == wanted->rip) {
			thread_no_break();
			return 1;
		}
		if (stop == STOP_BREAK) {
			thread_no_break();
			if (thread_go_on(1, 0) == STOP_END)
				return 0;
			thread_break_at(wanted->rip);
		}
	}
	thread_no_break();
	return 0;
}

static const char *const names[] = {INJECT_NAMES};
static unsigned injected[INJECT_KINDS], missed;

/* Returns whether the thread came to the place. */
static int inject(const struct place *wanted, enum inject_kind kind)
{
	const struct inject_shared before = *inject_shared;
	const uint64_t paused = thread_pauses;
	uint64_t sp = begin_round();
	int helper = 0, signal = 0;
	struct inject_shared after;

	thread_at = wanted->rip;
	inject_shared->child = inject_shared->child_ended = 0;
	inject_shared->action = kind;
	int is_there = go_to(wanted, sp);
	thread_doing = names[kind];
	if (is_there) {
		injected[kind]++;
		if (kind == INJECT_OTHER)
			helper += ask_helper(REQUEST_FORK, "another thread forks") != 0;
		else if (kind == INJECT_TASK)
			helper += ask_helper(REQUEST_TASK, "a task calls and forks") != 0;
		else if (kind == INJECT_PAUSE)
			thread_pauses += PAUSE;
		else if (kind == INJECT_MODE)
			thread_switch_mode();
		else if (kind != INJECT_NOTHING)
			signal = SIGUSR1;
		if (thread_go_on(0, signal) != STOP_END)
			thread_fail("it stops elsewhere");
	}
	after = *inject_shared;
	pid_t traced = thread_tid;
	helper += end_round();
	/* A busy machine may take as long as a pause, or longer. */
	const uint64_t ticks = thread_pauses > paused ? done_at - done_before : 0;
	/* With a trigger, calls that were made before the place count, too. */
	fprintf(list,
		"%s tid %d child %d status %d begun %lu ended %lu handled %lu jumped %lu ticks %lu wrong %lu helper %d "
		"at %s\n",
		is_there ? names[kind] : names[INJECT_NOTHING], (int)traced, is_there ? (int)after.child : 0,
		is_there ? (int)after.child_ended : 0, (unsigned long)(after.begun - before.begun),
		(unsigned long)(after.ended - before.ended), (unsigned long)(after.handled - before.handled),
		(unsigned long)(after.jumped - before.jumped), (unsigned long)ticks,
		(unsigned long)(inject_shared->wrong - before.wrong), helper, thread_name_of(wanted->rip));
	return is_there;
}

static void try_to_inject(const struct place *wanted, enum inject_kind kind)
{
	int tries = 0;

	while (tries < looks && !inject(wanted, kind))
		tries++;
	missed += tries == looks;
}

/* ---- start ---- */

static int kinds[64], kind_count, every;

static void read_kinds(char *text)
{
	for (char *word = strtok(text, ","); word && kind_count < 64; word = strtok(NULL, ",")) {
		kinds[kind_count] = -1;
		for (int i = 0; i < INJECT_KINDS; i++)
			if (!strcmp(word, names[i]))
				kinds[kind_count] = i;
		kind_count++;
	}
}

static void start(char **argv)
{
	int fd = open(argv[0], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*inject_shared)))
		thread_fail("FILE can't be made");
	inject_shared = mmap(NULL, sizeof(*inject_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	list = fopen(argv[1], "we");
	if (inject_shared == MAP_FAILED || !list)
		thread_fail("FILE or LIST can't be made");
	/* Tracer and thread take turns; on one processor that is ten times as fast. */
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	const char *enough = getenv("ENOUGH");
	inject_shared->enough = enough ? (uint32_t)atoi(enough) : 1000;
	thread_command = fork();
	if (thread_command < 0)
		thread_fail("fork");
	if (!thread_command) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
}

int main(int argc, char **argv)
{
	size_t most = MAX_PLACES, step = 1;
	int option, status;

	while ((option = getopt(argc, argv, "+m:k:ac:sb:rthn:x:w:")) != -1) {
		switch (option) {
		case 'm':
			thread_module_path = realpath(optarg, NULL);
			break;
		case 'k':
			read_kinds(optarg);
			break;
		case 'a':
			every = 1;
			break;
		case 'c':
			thread_read_tsc_places(optarg);
			break;
		case 's':
			other_span = 1;
			break;
		case 'b':
			trigger = optarg;
			break;
		case 'r':
			other_mode = 1;
			break;
		case 't':
			new_threads = 1;
			break;
		case 'h':
			has_handlers = 1;
			break;
		case 'n':
			most = (size_t)atol(optarg);
			break;
		case 'x':
			thread_library = optarg;
			break;
		case 'w':
			looks = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind < 3 || !thread_module_path || !kind_count)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	thread_read_symbols();
	struct sigaction action = {.sa_handler = thread_on_alarm};
	sigaction(SIGALRM, &action, NULL);
	alarm(every ? 1200 : 600);
	start(argv + optind);
	take_thread();
	/* One round without injection, for everything that is made only once. */
	begin_round();
	if (thread_go_on(0, 0) != STOP_END)
		thread_fail("it stops elsewhere");
	end_round();
	find_places();
	/* A stride by which every kind comes to every part of the code. */
	while (places / step > most)
		step += step == 1 ? 1 : 2;
	size_t covered = 0;
	for (size_t i = 0; i < places; i += step) {
		unsigned was = missed, here = 0;
		for (int n = 0; n < kind_count; n++) {
			int kind = kinds[n];
			if (kind >= 0 && (every || (size_t)n == (i / step) % (size_t)kind_count)) {
				try_to_inject(&place[i], kind);
				here++;
			}
		}
		covered += here > missed - was;
	}
	inject_shared->over = 1;
	thread_at = 0;
	thread_doing = "going to the end of the program";
	if (new_threads && !thread_tid && wait_for(&inject_shared->tid, 1))
		inject_shared->go = 1, wake(&inject_shared->go);
	if (thread_tid)
		ptrace(PTRACE_DETACH, thread_tid, NULL, NULL);
	thread_tid = 0;
	if (waitpid(thread_command, &status, 0) != thread_command)
		thread_fail("waitpid");
	thread_command = 0;
	fclose(list);
	printf("covered %zu of %zu instructions, %u missed:", covered, places, missed);
	for (int i = 0; i < INJECT_KINDS; i++)
		if (injected[i])
			printf(" %u %s", injected[i], names[i]);
	printf("\nstatus %x\n", (unsigned)status);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : 1;
}
