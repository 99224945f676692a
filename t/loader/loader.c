/* SPDX-License-Identifier: MIT */
/*
 * loader WHAT: does one thing with the libraries of t/loader/loader.t (loader_part.c), and prints what it saw. What it
 * prints must not depend on whether it is traced.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "loader.h"

static void *other; /* a library that a destructor uses */
static int (*x_work)(int);

/* ---- what the libraries call ---- */

/* Has a sled of its own: called by destructors after the program itself was closed. */
__attribute__((noinline, patchable_function_entry(5))) void late(const char *name)
{
	printf("late: %s\n", name);
}

void at_begin(const char *name)
{
	printf("%s: begins\n", name);
	if (is("constructor") && !strcmp(name, "one")) {
		other = open_it("two");
		call(other, "two", 3);
	}
}

void at_end(const char *name)
{
	printf("%s: ends\n", name);
	if (is("nested") && !strcmp(name, "one")) {
		call(other, "two", 2);
		close_it(other, "two");
		tell_loaded("two");
	} else if (is("opens") && !strcmp(name, "one")) {
		other = open_it("two");
		call(other, "two", 2);
	} else if (is("turns") && !strcmp(name, "one")) {
		other = open_it("two");
		call(other, "two", 2);
		close_it(other, "two");
	} else if (is("after") && !strcmp(name, "dep")) {
		/* libx.so was closed before this one, which it needs. */
		printf("x: %d\n", x_work(1));
		other = open_it("two");
		call(other, "two", 2);
		printf("x: %d\n", x_work(2));
		open_it("bad");
		open_it("needs");
		printf("x: %d\n", x_work(3));
		close_it(other, "two");
		printf("x: %d\n", x_work(4));
	} else if (is("late") || is("late-thread")) {
		late(name);
		if (!strcmp(name, "dep"))
			printf("x: %d\n", x_work(5)); /* closed before, since it needs this one */
	}
}

/* ---- pending thread_local destructors ---- */

static sem_t registered, may_end;

static void *pend(void *library)
{
	static int told;
	void (*leave)(int *) = (void (*)(int *))symbol(library, "tls", "pend");

	leave(&told);
	sem_post(&registered);
	sem_wait(&may_end);
	return &told;
}

static void thread_local_destructor(void)
{
	pthread_t thread;
	void *told;
	void *library = open_it("tls"), *unrelated = open_it("one");

	sem_init(&registered, 0, 0);
	sem_init(&may_end, 0, 0);
	pthread_create(&thread, NULL, pend, library);
	sem_wait(&registered);
	int (*work)(int) = (int (*)(int))symbol(library, "tls", "work");
	close_it(library, "tls");
	tell_loaded("tls");
	printf("tls: %d\n", work(1)); /* its thread_local object holds it */
	sem_post(&may_end);
	pthread_join(thread, &told);
	printf("tls: %d destructors\n", *(int *)told);
	tell_loaded("tls");
	close_it(unrelated, "one");
	tell_loaded("tls");
	tell_loaded("one");
}

/* ---- exit in the midst of all ---- */

static void *hammer(void *argument)
{
	int (*work)(int) = (int (*)(int))argument;

	for (;;)
		work(1);
	return NULL;
}

static void *reload(void *name)
{
	char path[64];

	snprintf(path, sizeof(path), "./lib%s.so", (char *)name);
	for (;;) {
		void *library = dlopen(path, RTLD_NOW);
		int (*work)(int) = (int (*)(int))symbol(library, name, "work");
		if (work)
			work(1);
		if (library)
			dlclose(library);
	}
	return NULL;
}

static void busy_exit(void)
{
	pthread_t thread;
	void *library = open_it("calm"), *busy = open_it("busy");

	pthread_create(&thread, NULL, reload, (void *)"two");
	pthread_create(&thread, NULL, reload, (void *)"three");
	pthread_create(&thread, NULL, hammer, symbol(busy, "busy", "work"));
	usleep((useconds_t)(getpid() % 7) * 300);
	call(library, "calm", 3);
	exit(5);
}

/* The destructor comes when the other namespaces were already told to be closed; no code goes away at exit. */
static int lingers;

__attribute__((destructor)) static void linger(void)
{
	if (lingers)
		usleep(20000);
}

static void busy_namespaces(void)
{
	pthread_t thread;
	void *library = open_it("calm");

	for (int i = 0; i < 2; i++) {
		void *busy = dlmopen(LM_ID_NEWLM, "./libbusy.so", RTLD_NOW);
		printf("busy: %s\n", busy ? "open" : dlerror());
		pthread_create(&thread, NULL, hammer, symbol(busy, "busy", "work"));
	}
	usleep((useconds_t)(getpid() % 7) * 300);
	call(library, "calm", 3);
	lingers = 1;
	exit(5);
}

/* ---- how processes end ---- */

static volatile int *volatile nowhere;

static void end_somehow(char **argv)
{
	char *again[] = {argv[0], (char *)"nothing", NULL};
	void *library = open_it("one");

	call(library, "one", 5);
	fflush(stdout);
	if (is("_exit"))
		_exit(3);
	if (is("quick_exit"))
		quick_exit(4);
	if (is("abort"))
		abort();
	if (is("fault"))
		*nowhere = 1;
	if (is("signal"))
		kill(getpid(), SIGTERM);
	if (is("execve"))
		execve(argv[0], again, environ);
	exit(5);
}

static void at_the_end(void)
{
	call(other, "one", 2);
	late("atexit");
}

static void *exit_here(void *argument)
{
	(void)argument;
	exit(0);
}

static void stays(const char *name, int flags)
{
	for (int i = 0; i < 2; i++) {
		void *library = open_as(name, flags);
		int (*work)(int) = (int (*)(int))symbol(library, name, "work");
		close_it(library, name);
		tell_loaded(name);
		printf("%s: %d\n", name, work(i));
	}
}

/* Of libstart.so, which the program needs: binds to a function that only glob has. */
int start_glob(int n);

int main(int argc, char **argv)
{
	static char output[1 << 16];
	void *library, *second;

	if (argc < 2)
		return 2;
	what = argv[1];
	alarm(60);
	setvbuf(stdout, output, _IOFBF, sizeof(output));
	if (is("reopen")) {
		for (int i = 0; i < 3; i++) {
			library = open_it("one");
			call(library, "one", 2);
			close_it(library, "one");
			tell_loaded("one");
		}
	} else if (is("again")) {
		library = open_it("one");
		second = open_it("one");
		printf("%s\n", library == second ? "the same" : "another");
		close_it(library, "one");
		call(second, "one", 4);
		close_it(second, "one");
		tell_loaded("one");
	} else if (is("fails")) {
		for (int i = 0; i < 3; i++) {
			open_it("needs");
			open_it("bad");
			open_it("not-there-at-all");
			tell_loaded("needs");
			tell_loaded("bad");
			library = open_it("one");
			call(library, "one", 2);
			close_it(library, "one");
		}
	} else if (is("nested")) {
		library = open_it("one");
		other = open_it("two");
		close_it(library, "one");
		tell_loaded("one");
		tell_loaded("two");
	} else if (is("opens")) {
		close_it(open_it("one"), "one");
		tell_loaded("one");
		call(other, "two", 2);
		close_it(other, "two");
		tell_loaded("two");
	} else if (is("turns")) {
		close_it(open_it("one"), "one");
		tell_loaded("one");
		tell_loaded("two");
	} else if (is("after")) {
		library = open_it("x");
		x_work = (int (*)(int))symbol(library, "x", "work");
		printf("x: %d\n", x_work(0));
		close_it(library, "x");
		tell_loaded("x");
		tell_loaded("dep");
		tell_loaded("two");
	} else if (is("constructor")) {
		library = open_it("one");
		call(library, "one", 1);
		close_it(library, "one");
		close_it(other, "two");
		tell_loaded("two");
	} else if (is("nodelete")) {
		stays("nodelete", RTLD_NOW);
	} else if (is("nodelete-flag")) {
		stays("one", RTLD_NOW | RTLD_NODELETE);
	} else if (is("unique")) {
		stays("unique", RTLD_NOW);
	} else if (is("bound")) {
		library = open_as("glob", RTLD_NOW | RTLD_GLOBAL);
		printf("start: %d\n", start_glob(1));
		close_it(library, "glob");
		tell_loaded("glob");
		printf("start: %d\n", start_glob(2));
	} else if (is("thread-local")) {
		thread_local_destructor();
	} else if (is("namespace")) {
		/* More often than there are namespaces. */
		for (int i = 0; i < 20; i++) {
			library = dlmopen(LM_ID_NEWLM, "./libone.so", RTLD_NOW);
			second = library ? dlmopen(LM_ID_NEWLM, "./libx.so", RTLD_NOW) : NULL;
			if (!second)
				printf("%s\n", dlerror());
			call(library, "one", 2);
			call(second, "x", 1);
			/* The last one first: else what it had of static TLS is not used again. */
			close_it(second, "x");
			close_it(library, "one");
		}
	} else if (is("namespace-fails")) {
		for (int i = 0; i < 20; i++)
			printf("%s\n", dlmopen(LM_ID_NEWLM, "./libbad.so", RTLD_NOW) ? "open" : dlerror());
		library = dlmopen(LM_ID_NEWLM, "./libone.so", RTLD_NOW);
		call(library, "one", 2);
		exit(0); /* with the namespace open */
	} else if (is("text")) {
		library = open_it("text");
		call(library, "text", 2);
		close_it(library, "text");
	} else if (is("choice")) {
		for (int i = 0; i < 2; i++) {
			library = open_as("choice", i ? RTLD_LAZY : RTLD_NOW);
			call(library, "choice", 2);
			close_it(library, "choice");
		}
	} else if (is("caller")) {
		library = open_it("next");
		printf("RTLD_NEXT: %d\n", library ? ((int (*)(void))symbol(library, "next", "next"))() : -1);
		close_it(library, "next");
		library = dlopen("libone.so", RTLD_NOW); /* by the program's RUNPATH */
		printf("one: %s\n", library ? "open" : dlerror());
		call(library, "one", 1);
		close_it(library, "one");
		library = dlopen("sub/libfar.so", RTLD_NOW);
		printf("near: %d\n", library ? ((int (*)(void))symbol(library, "far", "near"))() : -1);
		printf("near: %s\n", dlopen("libnear.so", RTLD_NOW) ? "open" : "not the program's");
	} else if (is("many")) {
		for (int i = 0; i < 100; i++) {
			library = open_it("many");
			call(library, "many", 1);
			close_it(library, "many");
		}
	} else if (is("late") || is("late-thread")) {
		pthread_t thread;
		other = open_it("one");
		x_work = (int (*)(int))symbol(open_it("x"), "x", "work");
		atexit(at_the_end);
		if (is("late"))
			return 0;
		pthread_create(&thread, NULL, exit_here, NULL);
		pthread_join(thread, NULL);
	} else if (is("busy-exit")) {
		busy_exit();
	} else if (is("busy-namespaces")) {
		busy_namespaces();
	} else if (is("id")) {
		printf("%d %d\n", (int)getuid(), (int)geteuid());
		library = open_it("one");
		call(library, "one", 5);
	} else if (is("nothing")) {
		printf("nothing\n");
	} else {
		end_somehow(argv);
	}
	return 0;
}
