/* SPDX-License-Identifier: MIT */
/*
 * Included with CALLS, which calls functions of low numbers first, then of high ones. Four threads do so, a child, and
 * the first thread, which kills the process.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void *call(void *unused)
{
	CALLS
	return unused;
}

int main(void)
{
	pthread_t thread[4];
	int status;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, call, NULL))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	pid_t child = fork();
	if (!child) {
		call(NULL);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status)
		return 1;
	call(NULL);
	return raise(SIGKILL);
}
