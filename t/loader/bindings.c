/* SPDX-License-Identifier: MIT */
/*
 * Opens a library three times, calls its function, and closes it. Gives way before and after each dlopen(),
 * so that strace shows what happens between.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>

/* libmany.so has one, too. */
int both(int a)
{
	return a + 1000;
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		sched_yield();
		void *library = dlopen("./libcaller.so", RTLD_NOW);
		sched_yield();
		if (!library) {
			puts(dlerror());
			return 1;
		}
		int (*all)(int) = (int (*)(int))dlsym(library, "f_all");
		printf("%d\n", all(0));
		dlclose(library);
	}
	return 0;
}
