/* SPDX-License-Identifier: MIT */
/*
 * A process with a child whose thread is held in a stub of a probe by a signal handler, as long as it takes. Says
 * "ready PID", of the child; then, for each line,
 *	call N	the child calls mixed() so often; "called SUM" of the results
 *	hold N	the child calls it once, in single steps until it is in code that is no file's, and N steps from there
 *		on, if it stays there so long; then a signal comes, whose handler waits. "called held", or "called
 *		none" if it comes to no such code
 *	go	the handler returns; "called RESULT"
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

uint64_t mixed(uint64_t a, uint64_t b);

static int order[2], answer[2], leave[2]; /* pipes: to the child, from it, and to its handler */
static pid_t child;

static void fail(int status)
{
	kill(child, SIGKILL);
	exit(status);
}

static void on_signal(int signal)
{
	const uint64_t held = 1;
	char byte;

	(void)signal;
	if (write(answer[1], &held, sizeof(held)) != sizeof(held) || read(leave[0], &byte, 1) != 1)
		_exit(3);
}

static int run_child(void)
{
	uint64_t n;

	signal(SIGUSR1, on_signal);
	while (read(order[0], &n, sizeof(n)) == sizeof(n)) {
		uint64_t sum = 0;
		for (uint64_t i = 0; i < n; i++)
			sum += mixed(i, 7);
		if (write(answer[1], &sum, sizeof(sum)) != sizeof(sum))
			return 4;
	}
	return 0;
}

/* Is the address in code that is no file's? */
static bool is_stub(uint64_t address)
{
	char path[64], line[4400], rights[8];
	unsigned long low, high, inode;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)child);
	FILE *maps = fopen(path, "r");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx %7s %*s %*s %lu", &low, &high, rights, &inode) == 4 && rights[2] == 'x' &&
			!inode && !strchr(line, '[') && address >= low && address < high;
	if (maps)
		fclose(maps);
	return found;
}

static uint64_t step(void)
{
	struct user_regs_struct registers;
	int status;

	if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) || waitpid(child, &status, 0) != child ||
		!WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, child, NULL, &registers))
		fail(5);
	return registers.rip;
}

/* Reads the child's answer, if there is one. */
static uint64_t told(void)
{
	uint64_t number = 0;

	if (read(answer[0], &number, sizeof(number)) != sizeof(number))
		fail(6);
	return number;
}

static void hold(long more)
{
	const uint64_t once = 1;
	uint64_t page = 0, at;
	int status, steps = 0;

	if (ptrace(PTRACE_SEIZE, child, NULL, NULL) || ptrace(PTRACE_INTERRUPT, child, NULL, NULL) ||
		waitpid(child, &status, 0) != child || write(order[1], &once, sizeof(once)) != sizeof(once))
		fail(7);
	/* Of each page it is asked once. */
	for (at = step(); steps < 20000; at = step(), steps++) {
		if (at >> 12 == page)
			continue;
		page = at >> 12;
		if (is_stub(at))
			break;
	}
	if (steps == 20000) {
		ptrace(PTRACE_DETACH, child, NULL, NULL);
		told();
		puts("called none");
		return;
	}
	for (; more && is_stub(at); more--)
		at = step();
	if (ptrace(PTRACE_DETACH, child, NULL, SIGUSR1) || told() != 1)
		fail(8);
	puts("called held");
}

int main(void)
{
	char line[64];
	uint64_t n;

	if (pipe(order) || pipe(answer) || pipe(leave))
		return 2;
	child = fork();
	if (!child) {
		close(order[1]);
		return run_child();
	}
	close(order[0]);
	printf("ready %d\n", (int)child);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		n = strtoull(line + 4, NULL, 10);
		if (!strncmp(line, "hold", 4)) {
			hold((long)n);
		} else if (!strncmp(line, "go", 2)) {
			if (write(leave[1], "g", 1) != 1)
				fail(9);
			printf("called %lu\n", (unsigned long)told());
		} else {
			if (write(order[1], &n, sizeof(n)) != sizeof(n))
				fail(10);
			printf("called %lu\n", (unsigned long)told());
		}
		fflush(stdout);
	}
	close(order[1]);
	int status = 0;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
