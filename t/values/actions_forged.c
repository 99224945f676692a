/* SPDX-License-Identifier: MIT */
/*
 * actions_forged TRACE SECONDS: a child that is left behind writes to the head of its trace that snapshots are asked
 * for by two names, again and again, whatever becomes of them, for so many seconds. Prints its number.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/trace.h"

int acts(int n);

int main(int argc, char **argv)
{
	char path[4096];

	acts(1);
	snprintf(path, sizeof(path), "%s/p%d/meta", argc > 1 ? argv[1] : "", (int)getpid());
	int fd = open(path, O_RDWR);
	struct trace_head *head = mmap(NULL, sizeof(*head), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || head == MAP_FAILED)
		return 3;
	pid_t child = fork();
	for (int i = 0; !child && i < 1000 * atoi(argv[2]); i++) {
		strcpy(head->ask[1].name, "slow");
		head->ask[0].at_most = head->ask[1].at_most = 0;
		head->ask[0].asked++;
		head->ask[1].asked++;
		head->asked++;
		usleep(1000);
	}
	if (!child)
		_exit(0);
	printf("%d\n", (int)child);
	usleep(500000);
	return child < 0;
}
