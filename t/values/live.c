/* SPDX-License-Identifier: MIT */
/*
 * live WHAT: calls functions of live_part.c with arguments that live.t knows.
 *
 *	all	each function, with values of every kind
 *	names	one function by two names
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum colour { RED = 1, GREEN, BLUE = 300 };

int v_ints(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long g, unsigned long h);
long v_stack(long a, long b, long c, long d, long e, long f, int g, const char *h, signed char i);
double v_reals(double a, float b, int c, double d);
float v_real(float a);
const char *v_text(const char *text);
bool v_flags(bool is, enum colour colour, void *at, const int *number);
int v_out(int in, int *out, char *text);
int v_fails(int with);
int v_named(int a), v_named_too(int a);
long v_where(long a);
long v_in(long (*inner)(long), long a);
const char *live_constant(void);
char *live_writable(void);

static long inner(long a)
{
	return v_where(a) + 1;
}

static int all(void)
{
	const size_t page = 4096;
	char stack[80], seventy[71], out[8], *heap = malloc(8);
	char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int number = 0;

	if (!heap || pages == MAP_FAILED || munmap(pages + page, page) || prctl(PR_SET_NAME, "a live one"))
		return 1;
	mprotect(pages + 2 * page, page, PROT_NONE);
	memset(seventy, 'x', 70);
	seventy[70] = '\0';
	strcpy(stack, "on the stack");
	strcpy(heap, "heap");
	strcpy(pages + page - 4, "end");
	v_ints(-128, 255, -32768, 65535, -2147483647 - 1, 4294967295u, -9223372036854775807 - 1,
		18446744073709551615ul);
	v_ints(127, 1, 2, 3, 4, 5, 6, 7);
	v_stack(-1, 2, -3, 4, -5, 6, -7, "h", -9);
	v_reals(1.5, -0.25f, -7, 1e300);
	v_real(0.75f);
	v_text(stack);
	v_text("in the program");
	v_text(live_constant());
	v_text(live_writable());
	v_text(heap);
	seventy[64] = '\0';
	v_text(seventy);
	seventy[64] = 'x';
	v_text(seventy);
	seventy[63] = '\0';
	v_text(seventy);
	v_text("");
	v_text(NULL);
	v_text((const char *)16);
	v_text(pages + page - 4); /* its NUL is the page's last byte */
	pages[page - 1] = '!';
	v_text(pages + page - 4); /* has no NUL: goes on where nothing is */
	v_text(pages + 2 * page); /* may not be read */
	v_text((const char *)0x8000000000001234); /* no address at all */
	v_flags(true, BLUE, NULL, &number);
	v_flags(false, GREEN, (void *)0x123456, (const int *)8);
	v_out(21, &number, out);
	v_fails(0);
	v_fails(2);
	v_fails(12);
	v_where(1);
	v_in(inner, 5);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "all"))
		return all();
	if (!strcmp(what, "names"))
		return v_named(1) + v_named_too(2) + v_named(3) + v_named_too(4) != -10;
	return 2;
}
