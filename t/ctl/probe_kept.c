/* SPDX-License-Identifier: MIT */
/*
 * Says "ready PID"; then, for each line,
 *	call N	calls do_stuff() so often
 *	keep N	has the address of byte N of do_stuff() on the stack from then on, as a frame may that was not written
 *		to as a whole; 0: nothing
 * and answers "called 0". Between lines it sleeps.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int do_stuff(int n);

int main(void)
{
	volatile uint64_t kept[4] = { 0 };
	char line[64];

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		const long n = atol(line + 5);
		if (!strncmp(line, "keep ", 5))
			kept[1] = n ? (uint64_t)(uintptr_t)do_stuff + (uint64_t)n : 0;
		for (long i = 0; i < n && !strncmp(line, "call ", 5); i++)
			if (do_stuff((int)i) != 125 * (int)i + 7)
				return 1;
		puts("called 0");
		fflush(stdout);
	}
	return (int)kept[0];
}
