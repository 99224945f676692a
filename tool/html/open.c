/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/html/open.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/tool.h"

/* xdg-open waits for some browsers, and not for others: so it is waited for only as long as failing takes. */
#define WAIT_STEPS 100
#define WAIT_NS	   20000000 /* 2 s in all */

static bool has_display(void)
{
	static const char *const names[] = { "WAYLAND_DISPLAY", "DISPLAY" };

	for (unsigned i = 0; i < 2; i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return true;
	}
	return false;
}

/* The browser outlives the command, and its messages are none of ours. */
static _Noreturn void start(const char *path)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	signal(SIGPIPE, SIG_DFL);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	execlp("xdg-open", "xdg-open", path, (char *)NULL);
	_exit(127);
}

void open_page(const char *path)
{
	int status = 0;

	tool_text(stdout, path);
	putchar('\n');
	fflush(stdout);
	if (!has_display()) {
		tool_error("view", "there is no display here; open the page in a browser: %s", path);
		return;
	}
	pid_t child = fork();
	if (!child)
		start(path);
	for (int i = 0; child > 0 && i < WAIT_STEPS; i++) {
		if (waitpid(child, &status, WNOHANG))
			break;
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
	}
	if (child < 0 || status)
		tool_error("view", "xdg-open can't open a browser; open the page in one: %s", path);
}
