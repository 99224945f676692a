/* SPDX-License-Identifier: MIT */
/* Calls what xaudit.h offers, and prints the answers. Linked in several ways, run with and without the module. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xaudit.h>

#include "t/api/api.h"

int api_counted(int n); /* in a library */

static int same_function(const struct xaudit_function_info *info, void *arg)
{
	if (strcmp(info->name, "api_counted"))
		return 0;
	*(struct xaudit_function_info *)arg = *info;
	return 7;
}

static int count_functions(const struct xaudit_function_info *info, void *arg)
{
	(void)info;
	++*(int *)arg;
	return 0;
}

static void calls(void)
{
	static char big[5000];
	struct xaudit_status status = { .size = sizeof(status), .recording = 9 };
	struct xaudit_result result = { .size = sizeof(result) };
	struct xaudit_function_info info = { .size = sizeof(info) }, again = { .size = sizeof(again) };
	char folder[4200] = "";

	memset(big, 'b', sizeof(big) - 1);
	printf("flush %d\n", xaudit_flush());
	printf("event %d %d %d %d\n", xaudit_event("hello", 5), xaudit_event("", 0), xaudit_event(big, 4096),
		xaudit_event(big, 4097));
	int a = xaudit_register_type("alpha"), b = xaudit_register_type("beta");
	printf("register %d %d %d %d %d\n", a, b, xaudit_register_type("alpha"), xaudit_register_type(""),
		xaudit_register_type("a\nb"));
	printf("long name %d\n", xaudit_register_type(big));
	printf("typed %d %d %d %d %d\n", xaudit_typed_event(a, "one", 3), xaudit_typed_event(b, "", 0),
		xaudit_typed_event(99, "x", 1), xaudit_typed_event(0, "x", 1), xaudit_typed_event(a, big, 4097));
	printf("mark %d %d %d\n", xaudit_mark("a mark"), xaudit_mark(""), xaudit_mark(big));
	printf("macro %d\n", XAUDIT_EVENT("macro", 5));
	printf("flush %d\n", xaudit_flush());
	status.folder = folder;
	status.folder_size = sizeof(folder);
	int r = xaudit_status(&status);
	printf("status %d state %u mode %u recording %u types %u\n", r, status.state, status.mode, status.recording,
		status.types);
	printf("folder %s\n",
		strrchr(folder, '/') && atoi(strrchr(folder, '/') + 2) == getpid() ? "is this process's" : folder);
	status.size = 4;
	printf("small status %d\n", xaudit_status(&status));

	int sum = api_counted(1);
	r = xaudit_enable("patchable:api_counted@libcounted.so", &result);
	printf("enable %d functions %u changed %u already %u refused %u\n", r, result.functions, result.changed,
		result.already, result.refused);
	sum += api_counted(2);
	sum += api_counted(3);
	r = xaudit_for_each_function(same_function, &info);
	printf("find %d on %u name %s kind %s at its place %d\n", r, info.on, info.name ? info.name : "none",
		info.kind ? info.kind : "none", info.address == (uintptr_t)dlsym(RTLD_DEFAULT, "api_counted"));
	r = xaudit_function(info.id, &again);
	printf("function %d same %d\n", r,
		again.id == info.id && again.address == info.address && again.offset == info.offset);
	printf("no function %d %d\n", xaudit_function(0, &again), xaudit_function(123456789, &again));
	memset(&result, 0, sizeof(result));
	result.size = sizeof(result);
	r = xaudit_disable("patchable:api_counted", &result);
	printf("disable %d functions %u changed %u already %u refused %u\n", r, result.functions, result.changed,
		result.already, result.refused);
	sum += api_counted(4);
	r = xaudit_for_each_function(same_function, &info);
	printf("find %d on %u\n", r, info.on);
	printf("bad rules %d %d %d\n", xaudit_enable("", NULL), xaudit_enable("nokind:f", NULL),
		xaudit_disable(big, NULL));
	int n = 0;
	r = xaudit_for_each_function(count_functions, &n);
	printf("for each %d some %d\n", r, n > 0);
	fflush(stdout);
	printf("bad fd %d\n", xaudit_dump_table(-1));
	FILE *file = fopen("table", "w");
	printf("table %d\n", xaudit_dump_table(fileno(file)));
	fclose(file);
	printf("sum %d\n", sum);
}

#define THREADS 8
#define EVENTS	6000

static __thread unsigned self;
static __thread volatile unsigned handled;
static int bad;

static void handler(int signal)
{
	unsigned char data[4096];
	unsigned n = handled++;

	(void)signal;
	api_fill(data, THREADS + self, n);
	if (xaudit_event(data, api_size(n)))
		__atomic_store_n(&bad, 1, __ATOMIC_RELAXED);
}

static volatile int ready, done;

static void *thread(void *arg)
{
	unsigned char data[4096];

	self = (unsigned)(uintptr_t)arg;
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	for (unsigned n = 0; n < EVENTS; n++) {
		api_fill(data, self, n);
		if (xaudit_event(data, api_size(n)))
			__atomic_store_n(&bad, 1, __ATOMIC_RELAXED);
	}
	/* The last event is the thread's own, or of a handler close by. */
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	__atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
	while (done < THREADS + 1)
		usleep(1000);
	printf("handled %u %u\n", THREADS + self, handled);
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread, (void *)(uintptr_t)i);
	while (ready < THREADS)
		usleep(100);
	while (done < THREADS) {
		for (unsigned i = 0; i < THREADS; i++)
			pthread_kill(t[i], SIGUSR1);
		usleep(50);
	}
	__atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%s\n", bad ? "an event was refused" : "all were taken");
}

static void forks(void)
{
	int a = xaudit_register_type("from the parent");

	xaudit_typed_event(a, "parent", 6);
	pid_t child = fork();
	if (!child) {
		int b = xaudit_register_type("from the child");
		int same = xaudit_register_type("from the parent") == a;
		xaudit_typed_event(a, "child", 5);
		xaudit_typed_event(b, "new", 3);
		_exit(same ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	xaudit_typed_event(a, "parent again", 12);
	printf("child %d status %d\n", (int)child, status);
}

static void plugin(const char *path)
{
	for (int i = 0; i < 3; i++) {
		void *handle = dlopen(path, RTLD_NOW);
		int (*event)(const char *) = handle ? (int (*)(const char *))dlsym(handle, "plugin_event") : NULL;
		if (!event) {
			puts(dlerror());
			return;
		}
		printf("plugin %d\n", event("from the plugin"));
		dlclose(handle);
	}
	printf("program %d\n", xaudit_event("from the program", 16));
}

/* Says each time when events begin to be refused or taken, as somebody stops and starts the recording. */
static void turns(int times)
{
	int before = 1;

	printf("pid %d\n", (int)getpid());
	for (int i = 0; times && i < 20000; i++, usleep(1000)) {
		int r = xaudit_event("turn", 4);
		if (r != before) {
			struct xaudit_status status = { .size = sizeof(status) };
			xaudit_status(&status);
			printf("event %d mode %u recording %u\n", r, status.mode, status.recording);
			times--;
		}
		before = r;
	}
}

/* What an event of this size costs within a chunk, the best of many rounds, and a read of the TSC. */
static void cost(size_t size)
{
	static char data[4096];
	struct timespec a, b, c;
	enum { N = 500 };
	double best_event = 1e9, best_read = 1e9;

	for (int round = 0; round < 500; round++) {
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int i = 0; i < N; i++)
			xaudit_event(data, size);
		clock_gettime(CLOCK_MONOTONIC, &b);
		for (int i = 0; i < N; i++)
			__builtin_ia32_rdtsc();
		clock_gettime(CLOCK_MONOTONIC, &c);
		double event = ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / N;
		double tsc = ((c.tv_sec - b.tv_sec) * 1e9 + (c.tv_nsec - b.tv_nsec)) / N;
		best_event = event < best_event ? event : best_event;
		best_read = tsc < best_read ? tsc : best_read;
	}
	printf("%zu bytes: %.1f ns, a read of the TSC %.1f ns\n", size, best_event, best_read);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "calls"))
		calls();
	else if (argc > 1 && !strcmp(argv[1], "threads"))
		threads();
	else if (argc > 1 && !strcmp(argv[1], "forks"))
		forks();
	else if (argc > 2 && !strcmp(argv[1], "plugin"))
		plugin(argv[2]);
	else if (argc > 2 && !strcmp(argv[1], "turns"))
		turns(atoi(argv[2]));
	else if (argc > 2 && !strcmp(argv[1], "cost"))
		cost((size_t)atoi(argv[2]));
	else
		return 2;
	return 0;
}
