/* SPDX-License-Identifier: MIT */
/*
 * max_rss COMMAND [ARG]...: runs the command, discards its output, and prints the greatest amount of memory that it
 * had, in KiB.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;

	if (argc < 2)
		errx(2, "Usage: max_rss COMMAND [ARG]...");
	pid_t pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		int fd = open("/dev/null", O_WRONLY);
		dup2(fd, STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		err(127, "%s", argv[1]);
	}
	if (wait4(pid, &status, 0, &usage) != pid)
		err(1, "wait");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "%s failed", argv[1]);
	printf("%ld\n", usage.ru_maxrss);
	return 0;
}
