/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

static volatile pid_t child; /* 0: none yet, or no longer */
static struct sigaction size_action; /* of SIGXFSZ, before record_signals_begin() */
static bool begun;

/*
 * The kernel sent the signal to all of the foreground group. It also sends SIGHUP to the leader of the session alone.
 */
static bool others_have_it(int signal, const siginfo_t *info)
{
	if (info->si_code != SI_KERNEL || getpgid(child) != getpgrp())
		return false;
	switch (signal) {
	case SIGHUP:
	case SIGCONT:
		return getsid(0) != getpid();
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGWINCH:
		return true;
	default:
		return false; /* timers, that is SIGALRM */
	}
}

/* The signal's default action, now. Returns when it did not end us: after SIGCONT. */
static void act_by_default(int signal)
{
	struct sigaction plain = {.sa_handler = SIG_DFL}, ours;
	sigset_t set, before;

	sigaction(signal, &plain, &ours);
	raise(signal);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(signal, &ours, NULL);
}

static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP ||
	       signal == SIGSYS || signal == SIGABRT;
}

static bool stops(int signal)
{
	return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
	int keep = errno;
	bool sent = info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE;
	bool own = sent && info->si_pid == getpid();

	(void)context;
	if (is_fault(signal) && (!sent || own))
		act_by_default(signal);
	else if (own || child <= 0)
		;
	else if (info->si_code == SI_QUEUE)
		sigqueue(child, signal, info->si_value);
	else if (!others_have_it(signal, info))
		kill(child, signal);
	if (stops(signal))
		act_by_default(signal);
	errno = keep;
}

void record_signals_begin(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	begun = sigaction(SIGXFSZ, &ignore, &size_action) == 0;
}

void record_signals_take(struct record_signals *before)
{
	struct sigaction action = {.sa_flags = SA_RESTART | SA_SIGINFO, .sa_sigaction = pass_on};
	sigset_t all;

	sigfillset(&all);
	action.sa_mask = all;
	sigprocmask(SIG_BLOCK, &all, &before->mask);
	for (int signal = 1; signal < RECORD_SIGNALS; signal++) {
		struct sigaction plain = {.sa_handler = SIG_DFL};

		before->taken[signal] = false;
		/* The C library keeps two signals for itself. */
		if (signal == SIGKILL || signal == SIGSTOP || sigaction(signal, NULL, &before->action[signal]) < 0)
			continue;
		/*
		 * A stop signal that we ignore is not passed on; other signals are, since the command may handle them.
		 */
		if (stops(signal) && before->action[signal].sa_handler == SIG_IGN)
			continue;
		/* When SIGCHLD is ignored, the status would be lost. */
		before->taken[signal] = sigaction(signal, signal == SIGCHLD ? &plain : &action, NULL) == 0;
	}
}

void record_signals_send_to(pid_t pid)
{
	child = pid;
}

void record_signals_let_come(const struct record_signals *before)
{
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

static void give_back(const struct record_signals *before, const struct sigaction *size)
{
	for (int signal = 1; signal < RECORD_SIGNALS; signal++)
		if (before->taken[signal])
			sigaction(signal, signal == SIGXFSZ ? size : &before->action[signal], NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

void record_signals_give_back(const struct record_signals *before)
{
	give_back(before, &before->action[SIGXFSZ]);
}

void record_signals_leave(const struct record_signals *before)
{
	give_back(before, begun ? &size_action : &before->action[SIGXFSZ]);
}
