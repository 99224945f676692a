/* SPDX-License-Identifier: MIT */
/*
 * named CALLS: a thread makes so many calls of part(), names itself "worker-1", "worker-2" ... in between, and ends
 * with "last-worker"; the main thread calls part() once, and then names itself "main-late".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

void part(void);

static void name(const char *text)
{
	prctl(PR_SET_NAME, text, 0, 0, 0);
}

static void *work(void *calls)
{
	char text[16];

	for (long i = 0; i < *(long *)calls; i++) {
		part();
		if (i % 1000)
			continue;
		snprintf(text, sizeof(text), "worker-%ld", i / 1000);
		name(text);
	}
	name("last-worker");
	return NULL;
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1;
	pthread_t thread;

	part();
	if (pthread_create(&thread, NULL, work, &calls) || pthread_join(thread, NULL))
		return 1;
	name("main-late");
	return 0;
}
