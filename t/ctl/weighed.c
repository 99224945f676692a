/* SPDX-License-Identifier: MIT */
/*
 * Reads lines as t/fixtures/controlled.c does: "call N" makes N more calls of weigh() and of weigh_text(); "signals N"
 * calls weigh() until N signals came in, whose handler calls weigh_text(); "open PATH" opens a library.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

int weigh(int a, long b);
double weigh_text(const char *text, double by);
int weighed(void);

static volatile sig_atomic_t handled;

static void handle(int number)
{
	(void)number;
	weigh_text("1", 1);
	handled++;
}

/* Returns how many calls were made. */
static int calls_under_signals(long signals, int made)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	const int before = made;

	handled = 0;
	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; handled < signals; made++)
		weigh(made, 3L * made);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	return made - before;
}

int main(void)
{
	char line[4200], text[8];
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
		if (!strncmp(line, "signals ", 8))
			made += calls_under_signals(atol(line + 8), made);
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "open ", 5) && !dlopen(line + 5, RTLD_NOW))
			return 3;
		made += !strncmp(line, "open ", 5); /* its constructor's */
		printf("called %ld\n", n);
		fflush(stdout);
	}
	return weighed() != made;
}
