/* SPDX-License-Identifier: MIT */
/*
 * backtraces WAY: calls leaf() of libleaf.so ten times from inner(), and that from outer():
 *
 *	plain	from main()
 *	thread	from two threads, ten times each, from two places
 *	turns	the same from ten threads, one after another
 *	later	from main(), when a line has come
 *	fork	five times in a child that was forked after the other five
 *	pointer	by way of bare(), which has no unwind information (backtraces_bare.c)
 *
 * With HOST it opens a library that calls it, ./libmiddle.so, which is outer() and inner(), ten times, and closes it;
 * each time it lies elsewhere.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef MIDDLE
int leaf(int n);
int outer(int n);

static __attribute__((noinline)) int inner(int n)
{
	int result = leaf(n);

	__asm__ volatile("");
	return result + 1;
}

int outer(int n)
{
	int result = inner(n);

	__asm__ volatile("");
	return result + 1;
}
#elif defined(HOST)
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++) {
		void *library = dlopen("./libmiddle.so", RTLD_NOW);
		int (*outer)(int) = library ? (int (*)(int))dlsym(library, "outer") : NULL;
		if (!outer)
			return 1;
		sum += outer(i);
		dlclose(library);
		/* The next one lies below. */
		if (mmap(NULL, (size_t)(i + 1) << 12, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			return 1;
	}
	printf("%d\n", sum);
	return 0;
}
#else
int leaf(int n);
int outer(int n);
int bare(int (*function)(int), int n);

static __attribute__((noinline)) int call(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += outer(i);
	return sum;
}

static void *run(void *unused)
{
	int sum = call(5);

	__asm__ volatile("");
	sum += call(5);
	__asm__ volatile("");
	return sum == 50 ? NULL : unused;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "plain";
	pthread_t thread[2];
	int status = 0;

	if (!strcmp(way, "thread")) {
		for (int i = 0; i < 2; i++)
			if (pthread_create(&thread[i], NULL, run, NULL))
				return 1;
		for (int i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
	} else if (!strcmp(way, "later")) {
		puts("ready");
		fflush(stdout);
		status |= getchar() == EOF || call(10) != 75;
	} else if (!strcmp(way, "turns")) {
		for (int i = 0; i < 10; i++)
			if (pthread_create(&thread[0], NULL, run, NULL) || pthread_join(thread[0], NULL))
				return 1;
	} else if (!strcmp(way, "fork")) {
		call(5);
		pid_t child = fork();
		if (!child) {
			call(5);
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			return 1;
	} else if (!strcmp(way, "pointer")) {
		for (int i = 0; i < 10; i++)
			status |= bare(outer, i) != i + 4;
	} else {
		status |= call(10) != 75;
	}
	return status != 0;
}
#endif
