/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/term/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The pager while it is waited for; 0: none. Written before its handlers are there, and after the last wait. */
static volatile pid_t pager;
static volatile sig_atomic_t has_messages;

/* ---- its end ---- */

static void wait_for_it(void)
{
	pid_t pid = pager;

	if (!pid)
		return;
	/* It ends when it has all, so nobody may hold the pipe open. */
	close(STDOUT_FILENO);
	if (has_messages)
		close(STDERR_FILENO);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}

static void on_signal(int number)
{
	wait_for_it();
	signal(number, SIG_DFL);
	raise(number);
}

void pager_wait(void)
{
	wait_for_it();
}

bool pager_runs(void)
{
	return pager != 0;
}

/* ---- its start ---- */

/* That end a process, and come from a terminal or its end. */
static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

#define DEADLY (sizeof(deadly) / sizeof(*deadly))

static void handle(int number)
{
	struct sigaction old, action = { .sa_handler = on_signal };

	/* What was ignored when the command began stays so (nohup). */
	if (!sigaction(number, NULL, &old) && old.sa_handler == SIG_DFL)
		sigaction(number, &action, NULL);
}

/* NULL: none. */
static const char *command(void)
{
	const char *word = getenv("XAUDIT_PAGER"), *term = getenv("TERM");

	if (!word)
		word = getenv("PAGER");
	/* Without a word of the user's: less asks back where it can't move the cursor. */
	if (!word)
		word = term && strcmp(term, "dumb") ? "less" : "";
	return *word && strcmp(word, "cat") ? word : NULL;
}

/* Returns its process, or 0. in: its standard input. mask: of signals that it blocks. */
static pid_t spawn(const char *word, int in, const sigset_t *mask)
{
	char *shell[] = { "sh", "-c", (char *)word, NULL }, *alone[] = { (char *)word, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	pid_t pid;
	int error;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE); /* we ignore it */
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setsigmask(&attributes, mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	/* One word needs no shell, and if there is no such program we know it before the output is gone. */
	if (strpbrk(word, "|&;<>()$`\\\"' \t\n*?[#~=%"))
		error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, shell, environ);
	else
		error = posix_spawnp(&pid, word, &actions, &attributes, alone, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return error ? 0 : pid;
}

void pager_start(void)
{
	const char *word = command();
	sigset_t blocked, mask;
	int ends[2];

	if (!word || pipe2(ends, O_CLOEXEC))
		return;
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	/* From its first moment on it is waited for. */
	sigemptyset(&blocked);
	for (size_t i = 0; i < DEADLY; i++)
		sigaddset(&blocked, deadly[i]);
	sigprocmask(SIG_BLOCK, &blocked, &mask);
	pid_t pid = spawn(word, ends[0], &mask);
	if (pid) {
		dup2(ends[1], STDOUT_FILENO);
		has_messages = isatty(STDERR_FILENO) && dup2(ends[1], STDERR_FILENO) >= 0;
		pager = pid;
		for (size_t i = 0; i < DEADLY; i++)
			handle(deadly[i]);
	}
	/* Before the first signal can come: its handler knows standard output alone. */
	close(ends[0]);
	close(ends[1]);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}
