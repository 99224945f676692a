/* SPDX-License-Identifier: MIT */
/*
 * stands PID FROM END FUNCTION N LINE: has the first thread of a program, which waits in read(), take LINE, which this
 * prints, and steps through what the thread does: to FUNCTION (an address), and N instructions further. There SIGSTOP
 * stops the program, and nobody traces it any more. FROM and END are the text of FUNCTION's library. Says on standard
 * error where the thread stands, "WHERE PASSED": WHERE is "text" or "stub" (elsewhere), and "end" when FUNCTION has
 * returned before; PASSED is 1 if it has been in a stub. All addresses in hex. Status 1: something failed.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 10000000 /* instructions before FUNCTION */

static int fail(const char *what)
{
	fprintf(stderr, "stands: %s: errno %d\n", what, errno);
	return 1;
}

/* Waits until the thread has stopped. Returns 0, or -1. */
static int await(pid_t pid)
{
	int status;

	return waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status) ? 0 : -1;
}

static int step(pid_t pid, struct user_regs_struct *r)
{
	return ptrace(PTRACE_SINGLESTEP, pid, 0, 0) || await(pid) || ptrace(PTRACE_GETREGS, pid, 0, r) ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct user_regs_struct r = { 0 };
	int passed = 0, ended = 0;

	if (argc != 7)
		return fail("usage");
	pid_t pid = atoi(argv[1]);
	const uint64_t from = strtoull(argv[2], NULL, 16), end = strtoull(argv[3], NULL, 16),
		       function = strtoull(argv[4], NULL, 16);
	const long n = atol(argv[5]);

	alarm(120);
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) || ptrace(PTRACE_INTERRUPT, pid, 0, 0) || await(pid))
		return fail("no thread to trace");
	printf("%s\n", argv[6]);
	fflush(stdout);
	for (long i = 0; r.rip != function; i++)
		if (i == MOST || step(pid, &r))
			return fail("the function is not reached");
	const uint64_t top = r.rsp;
	for (long i = 0; i < n && !ended; i++) {
		if (step(pid, &r))
			return fail("no step");
		ended = r.rsp > top;
		passed |= !ended && r.rip - from >= end - from;
	}
	/* A SIGTRAP's stop: so the signal comes in its place, before the next instruction. */
	if (ptrace(PTRACE_DETACH, pid, 0, SIGSTOP))
		return fail("can't be left");
	fprintf(stderr, "%s %d\n", ended ? "end" : r.rip - from < end - from ? "text" : "stub", passed);
	return 0;
}
