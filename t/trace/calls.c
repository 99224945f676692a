/* SPDX-License-Identifier: MIT */
/* Does what the first argument says, by calls of libc's functions that tests of `xaudit trace` look for. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Opens N files of a folder, reads from each, and closes it; each third is not there. */
static int open_files(const char *dir, int n)
{
	char name[4096], text[8];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/file%d%s", dir, i, i % 3 == 2 ? ".no" : "");
		int fd = i % 2 ? open(name, O_RDONLY | O_CLOEXEC) : openat(AT_FDCWD, name, O_RDONLY);
		if (fd < 0)
			continue;
		if (read(fd, text, sizeof(text)) < 0)
			return 1;
		close(fd);
	}
	return 0;
}

/* Calls a function N times, and then opens a file for writing, if that has a name: so others see that it is done. */
static int many(long n, const char *done)
{
	char *volatile text = strdup("many");
	volatile size_t sum = 0;

	for (long i = 0; i < n; i++)
		sum = sum + strlen(text);
	return done && fclose(fopen(done, "w"));
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int nested(void)
{
	const char *words[] = { "b", "a" };

	qsort(words, 2, sizeof(*words), compare);
	return strlen(words[0]) != 1;
}

static int compare_late(const void *a, const void *b)
{
	int is = strcmp(a, *(const char *const *)b);

	usleep(200000);
	return is;
}

/* Looks for a word that is not there, which takes a while, within a call, and then calls others. */
static int compare_last(const void *a, const void *b)
{
	const char *word = "b";
	const void *volatile found = bsearch("a", &word, 1, sizeof(word), compare_late);

	(void)a;
	(void)b;
	return atoi("1") + (found != NULL);
}

static int missing(void)
{
	const char *words[] = { "c", "d" };

	qsort(words, 2, sizeof(*words), compare_last);
	return atoi("3");
}

static void *thread(void *text)
{
	return (void *)(strlen(text) + atoi("7"));
}

static int threads(void)
{
	pthread_t id[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&id[i], NULL, thread, "four");
	for (int i = 0; i < 3; i++)
		pthread_join(id[i], NULL);
	return 0;
}

static volatile size_t sum;

static void *call(void *n)
{
	for (intptr_t i = (intptr_t)n; i; i--)
		sum += (size_t)atoi("5");
	return NULL;
}

/* Twice eight threads, each of which calls a function N times. */
static int busy(int n)
{
	pthread_t id[8];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 8; i++)
			pthread_create(&id[i], NULL, call, (void *)(intptr_t)n);
		for (int i = 0; i < 8; i++)
			pthread_join(id[i], NULL);
	}
	return 0;
}

/* For each line "WHAT N" of its input it calls a function N times, strlen() or else atoi(), and then says so. */
static int turns(void)
{
	char line[64];

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		long n = atol(line + strcspn(line, " "));
		if (line[0] == 's')
			many(n, NULL);
		else
			call((void *)n);
		printf("called %ld\n", n);
		fflush(stdout);
	}
	return 0;
}

static int children(void)
{
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		if (!pid) {
			sum += (size_t)atoi("11");
			_exit(40 + i);
		}
		waitpid(pid, NULL, 0);
	}
	return atoi("5");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *to = argc > 2 ? argv[2] : "0";

	if (!strcmp(what, "open") && argc > 3)
		return open_files(to, atoi(argv[3]));
	if (!strcmp(what, "many") && argc > 2)
		return many(atol(to), argv[3]);
	if (!strcmp(what, "nested"))
		return nested();
	if (!strcmp(what, "threads"))
		return threads();
	if (!strcmp(what, "busy"))
		return busy(atoi(to));
	if (!strcmp(what, "children"))
		return children();
	if (!strcmp(what, "exit"))
		exit(atoi(to));
	if (!strcmp(what, "kill"))
		return raise(atoi(to));
	if (!strcmp(what, "text"))
		return strlen(to) != strtoul(argv[3], NULL, 10);
	if (!strcmp(what, "wait")) {
		printf("%d\n", (int)getpid());
		fflush(stdout);
		usleep(1000000);
		_exit(9);
	}
	if (!strcmp(what, "daemon")) {
		/* Goes on when its parent has ended. */
		if (fork())
			return 3;
		usleep(300000);
		_exit(atoi("9"));
	}
	if (!strcmp(what, "turns"))
		return turns();
	if (!strcmp(what, "missing"))
		return missing();
	return 99;
}
