/* SPDX-License-Identifier: MIT */
/*
 * probed LIBRARY ROUNDS CALLS [fork]: loads the library, calls its functions so often, and unloads it again; with
 * `fork`, a child calls them once more in each round. Prints "RIGHT WRONG LISTENERS MAPPINGS MORE": how many results
 * were as they must be, and were not; how many listen by its semaphore in the last round; how many mappings the process
 * has in the second round, and how many more in the last one.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned right, wrong;

static void check(unsigned got, unsigned wanted)
{
	right += got == wanted;
	wrong += got != wanted;
}

static void call_all(void *library, unsigned calls)
{
	unsigned (*jump)(unsigned, unsigned) = (unsigned (*)(unsigned, unsigned))dlsym(library, "probed_jump");
	unsigned (*loop)(unsigned) = (unsigned (*)(unsigned))dlsym(library, "probed_loop");
	unsigned (*far)(unsigned, long) = (unsigned (*)(unsigned, long))dlsym(library, "probed_far");

	for (unsigned i = 0; i < calls; i++) {
		check(jump(i, 7), 3 * i + 7);
		check(loop(4), 10);
		check(far(i, 0), i + 1);
	}
}

static int mappings(void)
{
	char line[4096];
	FILE *file = fopen("/proc/self/maps", "r");
	int n = 0;

	while (file && fgets(line, sizeof(line), file))
		n += strchr(line, '\n') != NULL;
	if (file)
		fclose(file);
	return n;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 3 ? (unsigned)atoi(argv[2]) : 0, calls = rounds ? (unsigned)atoi(argv[3]) : 0;
	unsigned listeners = 0;
	int second = 0, last = 0;

	for (unsigned i = 0; i < rounds; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 2;
		}
		call_all(library, calls);
		pid_t child = argc > 4 ? fork() : -1;
		if (!child) {
			call_all(library, calls);
			_exit(wrong != 0);
		}
		int status = 0;
		if (child > 0 && (waitpid(child, &status, 0) != child || status))
			wrong++;
		listeners = ((unsigned (*)(void))dlsym(library, "probed_listeners"))();
		last = mappings();
		second = i == 1 ? last : second;
		dlclose(library);
	}
	printf("%u %u %u %d %d\n", right, wrong, listeners, second, last - second);
	return wrong != 0;
}
