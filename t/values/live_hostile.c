/* SPDX-License-Identifier: MIT */
/*
 * live_hostile SEED ROUNDS: calls all functions of live_hostile_part.c in each round, from two threads and a coroutine
 * in each, with arguments that are addresses of all kinds of memory: unmapped and mapped again by another thread in the
 * middle of it, unreadable, behind the end of a file, the kernel's, none at all.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE   4096ul
#define PAGES  16
#define COUNT  150
#define CALLER 2

extern unsigned long (*const live_functions[COUNT])(unsigned long, unsigned long, unsigned long, unsigned long, double,
	unsigned long, unsigned long, unsigned long, unsigned long);

static char *region, *unreadable, *behind;
static volatile int over;
static int rounds;
static unsigned long seed;

static unsigned long next(unsigned long *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static unsigned long argument(unsigned long *state)
{
	unsigned long which = next(state) % 14, by = next(state) % (PAGES * PAGE);
	/* Often near the end of a page. */
	unsigned long at = by % 4 ? by : (by | (PAGE - 1)) - by / 4 % 70;

	switch (which) {
	case 0:
		return next(state) % 4;
	case 1:
		return next(state);
	case 2:
		return (unsigned long)unreadable + at % PAGE;
	case 3:
		return (unsigned long)behind + at % (2 * PAGE);
	case 4:
		return 0xffffffffff600000 + at % PAGE;
	case 5:
		return 0xffff888000000000 + at;
	case 6:
		return 0x00007ffffffff000 - 8 + at % 16;
	case 7:
		return (unsigned long)&which + at % (4 * PAGE); /* on the stack */
	case 8:
		return (unsigned long)live_functions + at;
	case 9:
		return -(next(state) % 100);
	default:
		return (unsigned long)region + at;
	}
}

static void call_all(unsigned long *state)
{
	for (int i = 0; i < COUNT; i++) {
		unsigned long a[8];
		double x;

		for (int k = 0; k < 8; k++)
			a[k] = argument(state);
		memcpy(&x, &a[0], sizeof(x));
		if (live_functions[i](a[0], a[1], a[2], a[3], x, a[4], a[5], a[6], a[7]) != (a[0] ^ a[7]))
			_exit(5);
	}
}

static __thread unsigned long state;
static __thread ucontext_t home, away;

static void on_coroutine(void)
{
	call_all(&state);
}

static void *calls(void *argument_)
{
	char *stack = malloc(64 << 10);

	state = seed * 2654435761u + (unsigned long)argument_ + 1;
	for (int i = 0; i < rounds; i++) {
		call_all(&state);
		getcontext(&away);
		away.uc_stack.ss_sp = stack;
		away.uc_stack.ss_size = 64 << 10;
		away.uc_link = &home;
		makecontext(&away, on_coroutine, 0);
		swapcontext(&home, &away);
	}
	return argument_;
}

/* Maps and unmaps pages, and makes chains of addresses in them. */
static void *changes(void *argument_)
{
	unsigned long random = seed + 99;

	while (!over) {
		char *page = region + next(&random) % PAGES * PAGE;
		unsigned long *word;

		switch (next(&random) % 3) {
		case 0:
			munmap(page, PAGE);
			break;
		case 1:
			mprotect(page, PAGE, PROT_NONE);
			break;
		default:
			word = mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			if (word == MAP_FAILED)
				_exit(6);
			for (unsigned long i = 0; i < PAGE / 8; i++)
				word[i] = argument(&random);
		}
	}
	return argument_;
}

int main(int argc, char **argv)
{
	pthread_t id[CALLER + 1];
	FILE *file = tmpfile();

	seed = strtoul(argc > 2 ? argv[1] : "1", NULL, 10);
	rounds = atoi(argc > 2 ? argv[2] : "1");
	/* Where the kernel puts nothing of others when it is unmapped. */
	region = mmap((void *)(1ul << 32), PAGES * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	unreadable = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!file || fputs("a file", file) < 0 || fflush(file) || region == MAP_FAILED || unreadable == MAP_FAILED)
		return 3;
	behind = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fileno(file), 0);
	if (behind == MAP_FAILED || pthread_create(&id[CALLER], NULL, changes, NULL))
		return 3;
	for (long i = 0; i < CALLER; i++)
		if (pthread_create(&id[i], NULL, calls, (void *)i))
			return 3;
	for (int i = 0; i < CALLER; i++)
		pthread_join(id[i], NULL);
	over = 1;
	pthread_join(id[CALLER], NULL);
	return 0;
}
