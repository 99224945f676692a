/* SPDX-License-Identifier: MIT */
/* The progress bar: from the second second on, on a terminal, and erased. The time is the test's own. */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include "tool/base/now.h"

static uint64_t now = 1000000000;

static uint64_t own_now(void)
{
	return now;
}

#define tool_now own_now
#include "tool/show/term/progress.c"

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>

/* tool/show/term/pager.c has it; no pager is started here. */
static bool pager;

bool pager_runs(void)
{
	return pager;
}

static void quick(void)
{
	for (int i = 0; i < 1000; i++, now += 1000000)
		progress((uint64_t)i, 1000);
	progress_end();
}

static void slow(void)
{
	progress(0, 200);
	now += 1000000000;
	progress(50, 200);
	now += 100000000;
	progress(300, 200); /* more than was told: it had grown meanwhile */
	progress_end();
	progress_end();
	quick();
}

static void with_pager(void)
{
	pager = true;
	slow();
}

/* What the function writes to standard error on a terminal of its own, or elsewhere. */
static const char *said(void (*work)(void), bool terminal)
{
	static char text[4096];
	size_t have = 0;
	ssize_t n;
	int from, ends[2];
	pid_t pid;

	fflush(stdout);
	if (terminal) {
		pid = forkpty(&from, NULL, NULL, NULL);
	} else {
		if (pipe(ends))
			return "no pipe";
		from = ends[0];
		pid = fork();
		if (!pid)
			dup2(ends[1], STDERR_FILENO);
		close(ends[1]);
	}
	if (!pid) {
		work();
		_exit(0);
	}
	/* A terminal that is left gives an error at its end. */
	while (have < sizeof(text) - 1 && poll(&(struct pollfd){ from, POLLIN, 0 }, 1, 60000) == 1 &&
		(n = read(from, text + have, sizeof(text) - 1 - have)) > 0)
		have += (size_t)n;
	text[have] = '\0';
	close(from);
	waitpid(pid, NULL, 0);
	return text;
}

int main(void)
{
	plan(4);
	is_str(said(quick, true), "", "work of less than a second shows nothing");
	is_str(said(slow, true),
		"\r 25 % [##########                              ]\033[K"
		"\r100 % [########################################]\033[K\r\033[K",
		"longer one shows how far it came, and erases that once");
	is_str(said(slow, false), "", "nothing goes to a pipe");
	is_str(said(with_pager, true), "", "nothing where a pager has the terminal");
	return done_testing();
}
