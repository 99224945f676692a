/* SPDX-License-Identifier: MIT */
/*
 * Calls the functions of probed_library.c while probes in them come and go. "probed [THREADS]" says "ready PID"; so
 * many threads call all functions all the time, and compare each result with that of the program's own copy. Lines:
 *	call N		each function N times, with the same arguments each time; "called N"
 *	one FUNCTION	once, from place_call (probed_call.S), with a number of its own in each register; "called 1"
 *	wrong		"called N rounds M wrong"; N more than at the last time
 *	signals N	N times a signal for each thread, whose handler calls them, too; "called N"
 * At the end of its input it ends: status 0 if no result was wrong.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN
#include "probed_library.c"

#define FUNCTIONS 6
#define THREADS	  16

uint64_t mixed(uint64_t a, uint64_t b);
uint64_t carried(uint64_t a, uint64_t b);
uint64_t chosen(uint64_t a, uint64_t b);
uint64_t nested(uint64_t a, uint64_t b);
uint64_t stored(uint64_t a, uint64_t b);
uint64_t floated(uint64_t a, uint64_t b);

typedef uint64_t function(uint64_t a, uint64_t b);

/* probed_call.S */
uint64_t place_call(function *f);

static const struct {
	const char *name;
	function *probed, *own;
} row[FUNCTIONS] = { { "mixed", mixed, own_mixed }, { "carried", carried, own_carried },
	{ "chosen", chosen, own_chosen }, { "nested", nested, own_nested }, { "stored", stored, own_stored },
	{ "floated", floated, own_floated } };

static atomic_ulong rounds, wrong;
static atomic_int end;

static void check(uint64_t a, uint64_t b)
{
	for (int i = 0; i < FUNCTIONS; i++)
		if (row[i].probed(a, b) != row[i].own(a, b))
			wrong++;
}

static void on_signal(int number)
{
	check((uint64_t)number * 977, 31);
}

static void *work(void *arg)
{
	uint64_t a = (uint64_t)(uintptr_t)arg + 1;

	while (!end) {
		for (uint64_t b = 0; b < 50; b++)
			check(a = a * 6364136223846793005u + 1442695040888963407u, b);
		rounds++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread[THREADS];
	unsigned long before = 0;
	char line[64];

	signal(SIGUSR1, on_signal);
	for (int i = 0; i < threads && i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i))
			return 3;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		long n = 1;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "call %ld", &n) == 1)
			for (long i = 0; i < n; i++)
				check(12345, 29);
		for (int i = 0; !strncmp(line, "one ", 4) && i < FUNCTIONS; i++)
			if (!strcmp(line + 4, row[i].name))
				place_call(row[i].probed);
		if (sscanf(line, "signals %ld", &n) == 1)
			for (long i = 0; i < n; i++, usleep(100))
				for (int t = 0; t < threads; t++)
					pthread_kill(thread[t], SIGUSR1);
		if (!strcmp(line, "wrong")) {
			unsigned long now = rounds;
			printf("called %lu rounds %lu wrong\n", now - before, (unsigned long)wrong);
			before = now;
		} else {
			printf("called %ld\n", n);
		}
		fflush(stdout);
	}
	end = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return wrong != 0;
}
