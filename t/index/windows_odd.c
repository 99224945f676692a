/* SPDX-License-Identifier: MIT */
/*
 * A library for windows_run.u whose code goes to its places in many ways: by tables of compilers, by labels whose
 * address is taken, by __builtin_longjmp, and as windows_odd.S does. Compiled in many ways, too.
 */
#include <stdint.h>

uint64_t windows_odd(void);

typedef int number(long);

number odd_steps, odd_leaps, odd_short_table, odd_both, odd_prefix, odd_pops, odd_stack, odd_loops, odd_x87, odd_last;

static const struct {
	number *call;
	long most; /* of its argument */
} numbers[] = { { odd_steps, 5 }, { odd_leaps, 4 }, { odd_short_table, 3 }, { odd_both, 7 }, { odd_prefix, 1 },
	{ odd_pops, 0 }, { odd_stack, 300 }, { odd_loops, 9 }, { odd_x87, 2 }, { odd_last, 1 } };

/* Labels in data that is relocated. */
__attribute__((noinline)) static int by_pointers(const char *code)
{
	static const void *const label[] = { &&add, &&twice, &&less, &&not, &&end };
	int n = 1;

	goto *label[(int)*code++];
add:
	n += 3;
	goto *label[(int)*code++];
twice:
	n *= 2;
	goto *label[(int)*code++];
less:
	n -= 1;
	goto *label[(int)*code++];
not:
	n = ~n;
	goto *label[(int)*code++];
end:
	return n;
}

/* Distances between labels, of 32 bits, and of 16. */
__attribute__((noinline)) static int by_distances(const char *code)
{
	static const int distance[] = { &&add - &&add, &&twice - &&add, &&less - &&add, &&end - &&add };
	int n = 1;

next:
	goto *(&&add + distance[(int)*code++]);
add:
	n += 3;
	goto next;
twice:
	n *= 2;
	goto next;
less:
	n -= 1;
	goto next;
end:
	return n;
}

__attribute__((noinline)) static int by_short_distances(const char *code)
{
	static const short distance[] = { &&add - &&add, &&twice - &&add, &&less - &&add, &&end - &&add };
	static const int table[] = { 0, 1, 2, 3 };
	int n = 1;

	for (;;) {
		goto *(&&add + distance[table[(int)*code++]]);
add:
		n += 3;
		continue;
twice:
		n *= 2;
		continue;
less:
		n -= 1;
		continue;
end:
		return n;
	}
}

__attribute__((noinline)) static int by_switch(const char *code)
{
	int n = 1;

	for (;; code++)
		switch (*code) {
		case 0: n += 3; break;
		case 1: n *= 2; break;
		case 2: n -= 1; break;
		case 3: n ^= 5; break;
		case 4: n = n % 7 + 1; break;
		case 5: n = -n; break;
		case 6: n |= 8; break;
		case 7: n += n >> 1; break;
		default: return n;
		}
}

static void *place[5];

__attribute__((noinline)) static void leap(void)
{
	__builtin_longjmp(place, 1);
}

__attribute__((noinline)) static int comes_back(volatile int n)
{
	if (__builtin_setjmp(place))
		return n + 1;
	n += 10;
	leap();
	return 0;
}

/* Of all functions, with all that they take. */
uint64_t windows_odd(void)
{
	static const char pointers[] = { 0, 1, 3, 2, 1, 0, 1, 4 }, distances[] = { 0, 1, 2, 1, 0, 1, 3 },
			  cases[] = { 1, 0, 3, 2, 5, 4, 6, 7, 7, 1, 8 };
	uint64_t sum = 0;

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		for (long n = 0; n <= numbers[i].most; n++)
			sum = sum * 31 + (uint64_t)numbers[i].call(n);
	for (unsigned i = 0; i < sizeof(pointers); i++)
		sum = sum * 31 + (uint64_t)by_pointers(pointers + i);
	for (unsigned i = 0; i < sizeof(distances); i++)
		sum = sum * 31 + (uint64_t)(by_distances(distances + i) + by_short_distances(distances + i));
	for (unsigned i = 0; i < sizeof(cases); i++)
		sum = sum * 31 + (uint64_t)by_switch(cases + i);
	return sum * 31 + (uint64_t)comes_back(5);
}
