/* SPDX-License-Identifier: MIT */
/* A library whose functions are told where its variable is. -DNUMBER="...": another one. */
#ifndef NUMBER
#define NUMBER ""
#endif
#define FUNCTION __attribute__((noinline))

volatile long work;
long v_variable = 77;
char *v_itself = (char *)&v_itself;
static const char *constant = "constant" NUMBER; /* one file has another one than the next */

/* Where the variable lies. */
void *where_it_is(void)
{
	return &v_itself;
}

const char *what_it_says(void)
{
	return constant;
}

FUNCTION long v_self(void *at, const char *text, long n)
{
	for (int i = 0; i < 3; i++)
		work += text[0];
	v_variable = n;
	return at == &v_itself ? n : -1;
}

FUNCTION long v_plain(long n)
{
	for (int i = 0; i < 3; i++)
		work++;
	return n + 1;
}
