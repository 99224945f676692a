/* SPDX-License-Identifier: MIT */
/*
 * Functions whose results depend on each of their instructions: branches, loops, flags that live across instructions, a
 * table of jumps, recursion, the red zone, floating point. Compiled twice: as a library, and with OWN into the program,
 * which compares the two.
 */
#include <stdint.h>

#ifdef OWN
#define NAME(name) own_##name
#else
#define NAME(name) name
#endif

uint64_t NAME(mixed)(uint64_t a, uint64_t b);
uint64_t NAME(carried)(uint64_t a, uint64_t b);
uint64_t NAME(chosen)(uint64_t a, uint64_t b);
uint64_t NAME(nested)(uint64_t a, uint64_t b);
uint64_t NAME(stored)(uint64_t a, uint64_t b);
uint64_t NAME(floated)(uint64_t a, uint64_t b);

__attribute__((noinline)) uint64_t NAME(mixed)(uint64_t a, uint64_t b)
{
	for (unsigned i = 0; i < (b & 7); i++) {
		a ^= a << 13;
		a ^= a >> 7;
		a += b ^ (a << 17);
		b = a & 1 ? b * 0x9e3779b97f4a7c15u : b >> 3;
	}
	return a ^ b;
}

/* Carry and overflow pass from one instruction to the next. */
__attribute__((noinline)) uint64_t NAME(carried)(uint64_t a, uint64_t b)
{
	uint64_t low = a, high = b, none = 0;
	unsigned char over;

	__asm__("add %[b], %[low]\n\t"
		"adc %[a], %[high]\n\t"
		"adc $0, %[none]\n\t"
		"sub %[high], %[low]\n\t"
		"sbb $7, %[high]\n\t"
		"seto %[over]\n\t"
		"rcl $3, %[low]\n\t"
		"bt $5, %[low]\n\t"
		"cmovc %[a], %[high]\n\t"
		"adc %[none], %[high]"
		: [low] "+&r"(low), [high] "+&r"(high), [none] "+&r"(none), [over] "=&q"(over)
		: [a] "r"(a), [b] "r"(b)
		: "cc");
	return low ^ (high << 1) ^ none ^ over;
}

__attribute__((noinline)) uint64_t NAME(chosen)(uint64_t a, uint64_t b)
{
	switch (b % 9) {
	case 0:
		return a + 1;
	case 1:
		return a * 3;
	case 2:
		return a ^ b;
	case 3:
		return ~a;
	case 4:
		return NAME(mixed)(a, 3);
	case 5:
		return a - b;
	case 6:
		return NAME(carried)(b, a) + 1;
	default:
		return a >> (b & 31);
	}
}

__attribute__((noinline)) uint64_t NAME(nested)(uint64_t a, uint64_t b)
{
	if (b % 8 == 0)
		return NAME(chosen)(a, b / 8);
	return NAME(nested)(a + b, b - 1) * 5 + NAME(mixed)(a, b);
}

/* A leaf: its array lies below the stack pointer. */
__attribute__((noinline)) uint64_t NAME(stored)(uint64_t a, uint64_t b)
{
	volatile uint64_t slot[12];

	for (unsigned i = 0; i < 12; i++)
		slot[i] = a * i + b;
	for (unsigned i = 1; i < 12; i++)
		slot[i] ^= slot[(b + i) % 12] + slot[i - 1];
	return slot[a % 12] + slot[11];
}

__attribute__((noinline)) uint64_t NAME(floated)(uint64_t a, uint64_t b)
{
	double x = (double)(a & 0xffff) / 3, y = (double)(b & 0xff) + 0.5;

	for (unsigned i = 0; i < 5; i++) {
		if (x > y)
			x -= y * 1.25;
		else
			y = y / 2 + x;
	}
	return (uint64_t)(int64_t)(x * 1000) ^ (uint64_t)(int64_t)(y * 1000);
}

#ifndef OWN
/* At its 6th byte there is room for a short jump alone: branches lead there, and two bytes behind it. */
__asm__(".text\n.globl tight\n.type tight, @function\n.p2align 6, 0xcc\n"
	"tight: test %edi, %edi\njs 2f\nxor %eax, %eax\n1: inc %eax\n2: dec %edi\njg 1b\n"
	"cmp $0, %edi\nje 3f\njmp 2b\n3: ret\n.size tight, . - tight\n.p2align 6, 0xcc");
#endif
