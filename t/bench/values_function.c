/* SPDX-License-Identifier: MIT */
/* The functions whose values values.sh has recorded: as little work as one can do. NAME: the untraced one alone. */
#ifdef NAME
long bench_none(long a, long b);

long bench_none(long a, long b)
{
	return b < 0 ? b : a + 1;
}
#else
const char *bench_text(void);

const char *bench_text(void)
{
	return "sixteen bytes...";
}

#define INTS(name)                 \
	long name(long a, long b); \
	long name(long a, long b)  \
	{                          \
		return b < 0 ? b : a + 1; \
	}
#define TEXT(name)                           \
	long name(const char *text, long b); \
	long name(const char *text, long b)  \
	{                                    \
		return b < 0 ? *text : 1;    \
	}
INTS(bench_plain)
INTS(bench_ints)
TEXT(bench_stack)
TEXT(bench_load)
TEXT(bench_heap)
#endif
