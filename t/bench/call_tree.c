/* SPDX-License-Identifier: MIT */
/*
 * Makes a trace to read: tree(CALLS) makes exactly CALLS calls, its own and those of 32 functions, in trees
 * that a random number shapes, so that a reader can't foresee whether the next event is an entry or an exit.
 */
void tree(long calls);

static unsigned long seed;
static long left;

#define F(n) static void tree_##n(int depth);
#define ALL                                                                                                            \
	F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)                          \
	F(16) F(17) F(18) F(19) F(20) F(21) F(22) F(23) F(24) F(25) F(26) F(27) F(28) F(29) F(30) F(31)
ALL
#undef F

#define F(n) tree_##n,
static void (*const function[])(int depth) = { ALL };
#undef F

/* 0 to 3 calls of any of them, 1.5 on average. */
static inline __attribute__((always_inline)) void branch(int depth)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	for (unsigned long n = seed >> 62; n && depth && left; n--) {
		left--;
		function[seed >> 40 & 31](depth - 1);
	}
}

#define F(n)                                                                                                           \
	static __attribute__((noinline)) void tree_##n(int depth)                                                      \
	{                                                                                                              \
		branch(depth);                                                                                         \
		seed += n;                                                                                             \
	}
ALL
#undef F

void tree(long calls)
{
	left = calls - 1; /* this call is one of them */
	while (left > 0)
		branch(40);
}
