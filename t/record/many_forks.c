/* SPDX-License-Identifier: MIT */
/*
 * t/record/places.t: forks ARG times, one child after another, each of which makes so many calls, and prints how many
 * calls there were and how many children did not end as they should. Its own call is the first.
 *	many_forks CHILDREN CALLS [MILLISECONDS]	pauses so long after each child
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void counted(void);

int main(int count, char **argument)
{
	int children = count > 1 ? atoi(argument[1]) : 0, calls = count > 2 ? atoi(argument[2]) : 1, wrong = 0;
	int pause = count > 3 ? atoi(argument[3]) : 0;

	counted();
	for (int i = 0; i < children; i++) {
		int status = 0;
		pid_t child = fork();
		if (!child) {
			for (int k = 0; k < calls; k++)
				counted();
			_exit(3);
		}
		wrong += child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
			 WEXITSTATUS(status) != 3;
		usleep(1000 * (useconds_t)pause);
	}
	printf("%d calls, %d wrong\n", 1 + children * calls, wrong);
	return 0;
}
