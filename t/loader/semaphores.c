/* SPDX-License-Identifier: MIT */
/*
 * semaphores LIBRARY: says "ready PID"; then, for each line,
 *	open	loads semaphores_library.c
 *	visit N	calls it so often
 *	fork N	a child does
 *	close	unloads it
 * and answers "called LISTENERS WORKED CONSTANT", as the library has it then; after `close` "called closed".
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *library;

static void answer(void)
{
	void (*tell)(unsigned told[3]) = (void (*)(unsigned told[3]))dlsym(library, "tell");
	unsigned told[3];

	tell(told);
	printf("called %u %u %u\n", told[0], told[1], told[2]);
	fflush(stdout);
}

static void visit(long times)
{
	void (*f)(long n) = (void (*)(long n))dlsym(library, "visit");

	for (long i = 0; i < times; i++)
		f(i);
	answer();
}

static int in_child(long times)
{
	int status = 1;
	pid_t child = fork();

	if (!child) {
		visit(times);
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc < 2)
		return 2;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strncmp(line, "open", 4)) {
			library = dlopen(argv[1], RTLD_NOW);
			if (!library) {
				fprintf(stderr, "%s\n", dlerror());
				return 3;
			}
			answer();
		} else if (!strncmp(line, "visit ", 6)) {
			visit(atol(line + 6));
		} else if (!strncmp(line, "fork ", 5)) {
			if (!in_child(atol(line + 5)))
				return 4;
		} else {
			dlclose(library);
			puts("called closed");
			fflush(stdout);
		}
	}
	return 0;
}
