/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "t/fuzz/rounds.h"

#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_SECONDS 20 /* of one round; it takes a millisecond */

static uint64_t state;

void fuzz_seed(uint64_t round)
{
	state = (round + 1) * 0x9e3779b97f4a7c15u;
}

uint64_t fuzz_number(uint64_t below)
{
	/* splitmix64 */
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return below ? (z ^ z >> 31) % below : 0;
}

void fuzz_folder(char folder[256])
{
	const char *tmp = access("/dev/shm", W_OK) ? getenv("TMPDIR") : "/dev/shm";

	snprintf(folder, 256, "%s/xaudit-fuzz.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		err(1, "%s", folder);
}

static volatile uint64_t *now; /* the round at hand, for the parent */

static _Noreturn void run_rounds(const struct fuzz *fuzz, const char *script, uint64_t end)
{
	for (; *now < end; ++*now) {
		fuzz->damage(script, *now);
		clock_t begin = clock();
		alarm(MOST_SECONDS);
		fuzz->read();
		alarm(0);
		/* For people: what could be worth a look. */
		if (clock() - begin > CLOCKS_PER_SEC / 2)
			printf("# %s: round %llu took %ld ms\n", script, (unsigned long long)*now,
				(long)((clock() - begin) / (CLOCKS_PER_SEC / 1000)));
		if (fuzz->restore)
			fuzz->restore(false);
	}
	exit(0); /* leaks are looked for here */
}

/* A process of its own for some rounds. Returns the first round that is still to be done. */
static uint64_t run_batch(const struct fuzz *fuzz, const char *script, uint64_t first, uint64_t end, unsigned *bad)
{
	struct rusage usage;
	int status;

	if (!now)
		now = mmap(NULL, sizeof(*now), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (now == MAP_FAILED)
		err(1, "mmap");
	fflush(stdout);
	*now = first;
	pid_t pid = fork();
	if (!pid)
		run_rounds(fuzz, script, end);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		err(1, "fork");
	if (status) {
		printf("# %s: round %llu: status 0x%x%s\n", script, (unsigned long long)*now, status,
			WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ", it takes too long" : "");
		++*bad;
		if (fuzz->restore)
			fuzz->restore(true);
		return *now + 1;
	}
	if (usage.ru_maxrss > fuzz->most_memory) {
		printf("# %s: rounds %llu to %llu: %ld kB\n", script, (unsigned long long)first,
			(unsigned long long)end - 1, usage.ru_maxrss);
		++*bad;
	}
	return end;
}

unsigned fuzz_run(const struct fuzz *fuzz, const char *script, uint64_t first, uint64_t rounds)
{
	unsigned bad = 0;

	for (uint64_t round = first; round < first + rounds && bad < 10;) {
		uint64_t end = round + fuzz->batch < first + rounds ? round + fuzz->batch : first + rounds;
		round = run_batch(fuzz, script, round, end, &bad);
	}
	return bad;
}

int fuzz_run_long(const struct fuzz *fuzz, uint64_t seconds, uint64_t first)
{
	time_t end = time(NULL) + (time_t)seconds;
	uint64_t rounds = 0;
	unsigned bad = 0;

	for (; time(NULL) < end && bad < 20; first += fuzz->batch)
		for (unsigned i = 0; i < fuzz->scripts && time(NULL) < end; i++) {
			fuzz->make(fuzz->script[i]);
			bad += fuzz_run(fuzz, fuzz->script[i], first, fuzz->batch);
			rounds += fuzz->batch;
		}
	printf("%llu rounds, %u bad\n", (unsigned long long)rounds, bad);
	return bad != 0;
}
