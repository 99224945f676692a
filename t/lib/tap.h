/* SPDX-License-Identifier: MIT */
/*
 * TAP for tests in C: a header, nothing to link. Include it in the one file that holds main().
 *
 *	plan(3);				or no plan, and done_testing() at the end
 *	ok(n == 3, "three sites are found");	the sentence says what is true when the check passes
 *	is_int(n, 3, "...");			shows both values when they differ
 *	return done_testing();			main's status: 0 when all passed and the plan was kept
 *
 * Every check returns whether it passed. All functions may be called by any thread (one mutex keeps lines and numbers
 * together), none by a signal handler. Each line is flushed, so a crash or a fork loses and doubles nothing. Sentences
 * are printf formats. A child after fork() must not check: it shares the output, not the count.
 */
#ifndef XAUDIT_T_LIB_TAP_H
#define XAUDIT_T_LIB_TAP_H

#include <pthread.h> /* pthread_mutex_t */
#include <stdarg.h>  /* va_list */
#include <stdio.h>
#include <stdlib.h> /* exit */
#include <string.h> /* strcmp */

#define TAP_PRINTF(n) __attribute__((unused, format(printf, n, n + 1)))

static struct {
	pthread_mutex_t mutex;
	unsigned planned, run, failed;
	int has_plan;
} tap = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* A number sign would start a TAP directive, a newline would end the line: both become spaces. Mutex held. */
static void tap_text(const char *format, va_list args)
{
	char text[1024];
	vsnprintf(text, sizeof(text), format, args);
	for (char *p = text; *p; p++)
		if (*p == '#' || *p == '\n')
			*p = ' ';
	fputs(text, stdout);
}

static int tap_check(int pass, const char *format, va_list args)
{
	printf("%sok %u - ", pass ? "" : "not ", ++tap.run);
	tap_text(format, args);
	putchar('\n');
	if (!pass)
		tap.failed++;
	fflush(stdout);
	return pass;
}

/* Says how many checks will come; before the first of them. */
__attribute__((unused)) static void plan(unsigned checks)
{
	pthread_mutex_lock(&tap.mutex);
	tap.planned = checks;
	tap.has_plan = 1;
	printf("1..%u\n", checks);
	fflush(stdout);
	pthread_mutex_unlock(&tap.mutex);
}

TAP_PRINTF(2) static int ok(int pass, const char *sentence, ...)
{
	va_list args;
	va_start(args, sentence);
	pthread_mutex_lock(&tap.mutex);
	tap_check(!!pass, sentence, args);
	pthread_mutex_unlock(&tap.mutex);
	va_end(args);
	return !!pass;
}

/* Any integer up to 64 bits; both are compared and shown as long long. */
TAP_PRINTF(3) static int is_int(long long got, long long expected, const char *sentence, ...)
{
	va_list args;
	va_start(args, sentence);
	pthread_mutex_lock(&tap.mutex);
	if (!tap_check(got == expected, sentence, args)) {
		printf("#      got: %lld (0x%llx)\n# expected: %lld (0x%llx)\n", got, (unsigned long long)got, expected,
			(unsigned long long)expected);
		fflush(stdout);
	}
	pthread_mutex_unlock(&tap.mutex);
	va_end(args);
	return got == expected;
}

/* Strings; NULL is equal to NULL only. */
TAP_PRINTF(3) static int is_str(const char *got, const char *expected, const char *sentence, ...)
{
	va_list args;
	int same = got && expected ? !strcmp(got, expected) : got == expected;
	va_start(args, sentence);
	pthread_mutex_lock(&tap.mutex);
	if (!tap_check(same, sentence, args)) {
		printf("#      got: %s\n# expected: %s\n", got ? got : "(null)", expected ? expected : "(null)");
		fflush(stdout);
	}
	pthread_mutex_unlock(&tap.mutex);
	va_end(args);
	return same;
}

/*
 * A remark for readers of the log; each line of it becomes a comment. On standard output, so that it stays in its place
 * in the log.
 */
TAP_PRINTF(1) static void diag(const char *format, ...)
{
	char text[4096];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pthread_mutex_lock(&tap.mutex);
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (*line || next)
			printf("# %s\n", line);
	}
	fflush(stdout);
	pthread_mutex_unlock(&tap.mutex);
}

/* The next `checks` checks can't be made here. They count as run. */
TAP_PRINTF(2) static void skip(unsigned checks, const char *why, ...)
{
	va_list args, again;
	va_start(args, why);
	pthread_mutex_lock(&tap.mutex);
	while (checks--) {
		va_copy(again, args);
		printf("ok %u # SKIP ", ++tap.run);
		tap_text(why, again);
		putchar('\n');
		va_end(again);
	}
	fflush(stdout);
	pthread_mutex_unlock(&tap.mutex);
	va_end(args);
}

/* The whole file can't be run here: instead of a plan and before any check. Ends the process, status 0. */
TAP_PRINTF(1) __attribute__((noreturn)) static void skip_all(const char *why, ...)
{
	va_list args;
	va_start(args, why);
	printf("1..0 # SKIP ");
	tap_text(why, args);
	putchar('\n');
	fflush(stdout);
	va_end(args);
	exit(0);
}

/* Nothing after this could be trusted: ends the process, the file counts as an error. */
TAP_PRINTF(1) __attribute__((noreturn)) static void bail(const char *why, ...)
{
	va_list args;
	va_start(args, why);
	printf("Bail out! ");
	tap_text(why, args);
	putchar('\n');
	fflush(stdout);
	va_end(args);
	exit(255);
}

/* The end: prints the plan if there was none. Returns main's status. */
__attribute__((unused)) static int done_testing(void)
{
	if (!tap.has_plan) {
		plan(tap.run);
	} else if (tap.planned != tap.run) {
		diag("planned %u checks, ran %u", tap.planned, tap.run);
		return 1;
	}
	if (tap.failed)
		diag("%u of %u checks failed", tap.failed, tap.run);
	return tap.failed ? 1 : 0;
}

#endif
