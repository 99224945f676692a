/* SPDX-License-Identifier: MIT */
/* Reads lines as t/fixtures/controlled.c does: "call N" makes N more calls of weigh() and of weigh_text(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int weigh(int a, long b);
double weigh_text(const char *text, double by);
int weighed(void);

int main(void)
{
	char line[64], text[8];
	int made = 0;

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		long n = strncmp(line, "call ", 5) ? 0 : atol(line + 5);
		for (long i = 0; i < n; i++, made++) {
			if (weigh(made, 3L * made) != (made == 13 ? -1 : 4 * made))
				return 1;
			snprintf(text, sizeof(text), "%d", made);
			if (weigh_text(text, 0.5) != 0.5 * text[0])
				return 2;
		}
		printf("called %ld\n", n);
		fflush(stdout);
	}
	return weighed() != made;
}
