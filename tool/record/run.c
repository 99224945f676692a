/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/run.h"

#include <elf.h> /* ELFMAG */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/record/signals.h"

const char *record_speaker = "record";
struct record_names record_names = {
	.folder = "-o", .kinds = "-k", .below = "-C", .exclude = "-N", .info = "`xaudit info`"
};

void record_speak_as(const char *command)
{
	record_speaker = command;
	record_names = (struct record_names){
		.folder = "--keep", .kinds = "--kinds", .below = "--below", .exclude = "--notrace",
		.info = "`xaudit info` of what --keep keeps",
	};
}

/* Is there a file at path that execve() would execute? 0 or an errno. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return EACCES;
	return 0;
}

static void complain(const char *command, int error, int *status)
{
	if (error == ENOENT || error == ENOTDIR) {
		*status = RECORD_NOT_FOUND;
		tool_error(record_speaker,
			!*command		? "the command%s is an empty word"
			: strchr(command, '/')	? "%s is not there"
			: !executable(command)	? "%s is in no folder of PATH; ./%s is the one that is here"
						: "%s is in no folder of PATH",
			command, command);
	} else {
		*status = RECORD_NOT_EXECUTABLE;
		tool_error(record_speaker, "%s can't be executed: %s", command, strerror(error));
	}
}

char *record_search(const char *command, int *error)
{
	const char *path = getenv("PATH");
	int worst = ENOENT;

	if (!*command || strchr(command, '/')) {
		*error = *command ? executable(command) : ENOENT;
		return *error ? NULL : memory_format("%s", command);
	}
	/* What execvp() takes when there is no PATH. */
	if (!path)
		path = "/bin:/usr/bin";
	for (;; path++) {
		size_t n = strcspn(path, ":");
		char *file = memory_format("%.*s%s%s", (int)n, path, n ? "/" : "./", command);

		*error = executable(file);
		if (!*error)
			return file;
		if (*error == EACCES)
			worst = *error;
		free(file);
		path += n;
		if (!*path)
			break;
	}
	*error = worst;
	return NULL;
}

char *record_find(const char *command, int *status)
{
	int error;
	char *path = record_search(command, &error);

	if (!path)
		complain(command, error, status);
	return path;
}

static bool is_elf(const char *path)
{
	char magic[SELFMAG];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool elf = fd >= 0 && read(fd, magic, sizeof(magic)) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return elf;
}

/* A program that the kernel does not take, as of another machine, execvp() would have a shell read as text. */
static void execute(char **command)
{
	int error;
	char *path = record_search(command[0], &error);

	if (path && is_elf(path))
		execv(path, command);
	else
		execvp(command[0], command);
	error = errno;
	free(path);
	errno = error;
}

/* The child does not begin before the watcher is ready for it. */
static void await(int go)
{
	char byte;

	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
}

/* The child, until it is the command. `report` gets an errno if it can't be. */
static _Noreturn void become(char **command, const struct record_watcher *watcher,
	const struct record_signals *before, int go, int report)
{
	await(go);
	if (watcher->child)
		watcher->child();
	record_signals_leave(before);
	execute(command);
	int error = errno;
	while (write(report, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(RECORD_FAILED);
}

/* Waits until the child has ended. Returns the errno that `report` got, or 0. */
static int follow(pid_t pid, const struct record_watcher *watcher, int report, int *status)
{
	siginfo_t info;
	ssize_t n;
	int error;

	if (watcher->wait)
		watcher->wait(pid, status);
	while ((n = read(report, &error, sizeof(error))) < 0 && errno == EINTR)
		;
	if (n != sizeof(error))
		error = 0;
	if (!error && watcher->begun)
		watcher->begun(watcher->context);
	/* WNOWAIT first: until the child is reaped its number belongs to it, so no signal goes to another process. */
	while (!watcher->wait && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	if (!watcher->wait && watcher->ended)
		watcher->ended(pid);
	record_signals_send_to(0);
	while (!watcher->wait && waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	return error;
}

int record_run(char **command, const struct record_watcher *watcher, int *status)
{
	struct record_signals before;
	int report[2], go[2], failure = 0;
	pid_t pid;

	/* Closes when the command begins, or tells why it does not. */
	if (pipe2(report, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0) {
		tool_error(record_speaker, "no pipe to be had: %s", strerror(errno));
		return RECORD_FAILED;
	}
	record_signals_take(&before);
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		become(command, watcher, &before, go[0], report[1]);
	}
	if (pid < 0) {
		tool_error(record_speaker, "no process to be had: %s", strerror(errno));
		failure = RECORD_FAILED;
	}
	record_signals_send_to(pid);
	record_signals_let_come(&before);
	close(report[1]);
	close(go[0]);
	if (!failure && watcher->begin && watcher->begin(pid) < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, status, 0);
		record_signals_send_to(0);
		failure = RECORD_FAILED;
	}
	close(go[1]);
	if (!failure) {
		int error = follow(pid, watcher, report[0], status);

		if (error == ENOENT) {
			/* record_find() saw the file: what is missing is the interpreter that it names. */
			tool_error(record_speaker, "%s can't be executed: the interpreter that it names is not there",
				command[0]);
			failure = RECORD_NOT_FOUND;
		} else if (error) {
			complain(command[0], error, &failure);
		}
	}
	close(report[0]);
	/* Signals that come now are meant for us. */
	record_signals_give_back(&before);
	return failure;
}

int record_pass_on(int status)
{
	if (WIFSIGNALED(status)) {
		int signal = WTERMSIG(status);
		struct sigaction action = { .sa_handler = SIG_DFL };
		struct rlimit none = { 0, 0 };
		sigset_t set;

		/* The command's own core, if any, must not be replaced by ours; a core handler ignores the limit. */
		setrlimit(RLIMIT_CORE, &none);
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		sigaction(signal, &action, NULL);
		sigemptyset(&set);
		sigaddset(&set, signal);
		raise(signal);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		return 128 + signal;
	}
	return WEXITSTATUS(status);
}
