/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/base/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h> /* __fpurge */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/text.h"

void tool_text(FILE *file, const char *text)
{
	const char *shown;
	size_t length;

	while (*text) {
		text += text_next(text, &shown, &length);
		if (length == 1)
			putc(*shown, file);
		else
			fwrite(shown, 1, length, file);
	}
}

void tool_error(const char *command, const char *format, ...)
{
	int keep = errno;
	char text[2048];
	size_t n;
	va_list args;

	n = (size_t)snprintf(text, sizeof(text), "xaudit%s%s: ", command ? " " : "", command ? command : "");
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n - 1, format, args);
	va_end(args);
	n = text_clean(text);
	text[n] = '\n';
	/* One write: lines of several processes on one terminal stay whole. */
	while (n + 1 && write(STDERR_FILENO, text, n + 1) < 0 && errno == EINTR)
		;
	errno = keep;
}

bool tool_reader_is_gone(int fd)
{
	struct pollfd pipe = { .fd = fd };

	/* The error may have come long ago, and its errno is gone: poll() tells a pipe without a reader. */
	return errno == EPIPE || (poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR);
}

int tool_flush(const char *command)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return TOOL_OK;
	bool gone = tool_reader_is_gone(STDOUT_FILENO);
	if (!gone)
		tool_error(command, "the output can't be written%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
	/* The error was told, or is none: main() need not find it again. */
	__fpurge(stdout);
	clearerr(stdout);
	return gone ? TOOL_OK : TOOL_FAILED;
}

const char *tool_folder(const char *command, int argc, char **argv, int first)
{
	if (first + 1 < argc) {
		tool_error(command, "one folder is enough, so what is '%s'; `xaudit %s --help` lists what there is",
			argv[first + 1], command);
		return NULL;
	}
	return first < argc ? argv[first] : TOOL_FOLDER;
}

int tool_open_folder(const char *command, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		tool_error(command,
			errno == ENOTDIR ? "%s is no folder that `xaudit record` made" : "can't open the trace %s: %m",
			path);
	return fd;
}

const char *tool_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

int tool_colour(const char *option, int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (option && !strcmp(option, "always"))
		return 1;
	if (option && !strcmp(option, "never"))
		return 0;
	if (option && strcmp(option, "auto"))
		return -1;
	if (no && *no)
		return 0;
	return isatty(fd) && !(term && !strcmp(term, "dumb"));
}
