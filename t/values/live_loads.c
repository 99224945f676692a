/* SPDX-License-Identifier: MIT */
/*
 * live_loads WHAT N: calls functions of libraries that come and go.
 *
 *	own FILE...	each file but the first N times, by the main thread, while seven others call functions of the
 *			first: N times and until it is over. Prints how often they did.
 *	shared FILE	eight threads load and close one file, each N times
 *	twice FILE	N times: one file in two namespaces at once, then in one
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct library {
	void *handle;
	void *(*where)(void);
	const char *(*says)(void);
	long (*self)(void *at, const char *text, long n);
	long (*plain)(long n);
};

static volatile int over;
static const char *file;
static int rounds;

static void fail(const char *what)
{
	const char *error = dlerror();

	fprintf(stderr, "%s: %s\n", what, error ? error : "");
	_exit(3);
}

static void use(struct library *l, long n)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", n);
	if (l->self(l->where(), text, n) != n || l->self(l->where(), l->says(), n) != n || l->plain(n) != n + 1)
		fail("a call");
}

static void open_in(struct library *l, const char *path, Lmid_t space)
{
	l->handle = dlmopen(space, path, RTLD_NOW);
	if (!l->handle)
		fail(path);
	l->where = (void *(*)(void))dlsym(l->handle, "where_it_is");
	l->says = (const char *(*)(void))dlsym(l->handle, "what_it_says");
	l->self = (long (*)(void *, const char *, long))dlsym(l->handle, "v_self");
	l->plain = (long (*)(long))dlsym(l->handle, "v_plain");
	if (!l->where || !l->says || !l->self || !l->plain)
		fail("dlsym");
}

static void load_and_use(const char *path, long n)
{
	struct library l;

	open_in(&l, path, LM_ID_BASE);
	use(&l, n);
	if (dlclose(l.handle))
		fail("dlclose");
}

static pthread_barrier_t begun;
static long stayed;

static void *stay(void *argument)
{
	struct library l;
	long n = 0;

	open_in(&l, file, LM_ID_BASE);
	pthread_barrier_wait(&begun);
	for (; !over || n < rounds; n++) {
		use(&l, n);
		usleep(500);
	}
	__atomic_fetch_add(&stayed, n, __ATOMIC_RELAXED); /* relaxed: read after the thread's end */
	return argument;
}

static void *come_and_go(void *argument)
{
	for (int i = 0; i < rounds; i++)
		load_and_use(file, i);
	return argument;
}

static void twice(void)
{
	struct library a, b;

	open_in(&a, file, LM_ID_BASE);
	for (int i = 0; i < rounds; i++) {
		use(&a, 10000 + i);
		open_in(&b, file, LM_ID_NEWLM);
		use(&a, 20000 + i);
		use(&b, 20000 + i);
		if (dlclose(b.handle))
			fail("dlclose");
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[1] : "";
	pthread_t id[8];
	int threads = 0;

	if (argc < 4)
		return 2;
	rounds = atoi(argv[2]);
	file = argv[3];
	if (!strcmp(what, "twice")) {
		twice();
		return 0;
	}
	int own = !strcmp(what, "own");
	pthread_barrier_init(&begun, NULL, 8);
	for (; threads < (own ? 7 : 8); threads++)
		if (pthread_create(&id[threads], NULL, own ? stay : come_and_go, NULL))
			fail("pthread_create");
	if (own)
		pthread_barrier_wait(&begun);
	for (int i = 0; own && i < rounds; i++)
		for (int n = 4; n < argc; n++)
			load_and_use(argv[n], 1000 * n + i);
	over = 1;
	while (threads)
		pthread_join(id[--threads], NULL);
	if (own)
		printf("%ld\n", stayed);
	return 0;
}
