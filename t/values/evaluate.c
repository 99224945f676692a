/* SPDX-License-Identifier: MIT */
/* Code that finds values: each operation, damaged code, memory that is not there, and random code on hostile memory. */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/identity.h"
#include "runtime/values/evaluate.h"
#include "x86_64/contract.h"

static struct tramp_registers registers;
static uint64_t floats[8];
static struct values_segment segment;
static uint8_t out[VALUES_RECORDED + 16];
static struct values_facts facts;

/* is_int() of so many bytes, written as digits. */
static void is_bytes(const void *got, const void *expected, size_t size, const char *sentence)
{
	const uint8_t *p = got;

	if (ok(!memcmp(got, expected, size), "%s", sentence))
		return;
	for (size_t i = 0; i < size; i++)
		diag("byte %zu: %d, expected %d", i, p[i], ((const uint8_t *)expected)[i]);
}

/* A call with these registers; one page may be read directly, at the end of `segment`. */
static struct values_call call(void)
{
	return (struct values_call){ .registers = &registers, .floats = floats, .segment = &segment, .segments = 1 };
}

/* Runs code of so many bytes. Returns how many bytes it wrote; -1: it was not accepted. */
static long run(struct values_call *of, const void *code, size_t size)
{
	if (!values_check(code, size, &facts))
		return -1;
	memset(out, 0xee, sizeof(out));
	size_t n = values_evaluate(code, of, out);
	if (n > facts.most)
		return -2;
	for (size_t i = n; i < sizeof(out); i++)
		if (out[i] != 0xee && i >= facts.most)
			return -3;
	return (long)n;
}

#define RUN(of, ...) run(of, (const uint8_t[]){ __VA_ARGS__, VALUES_END }, sizeof((const uint8_t[]){ __VA_ARGS__ }) + 1)

/* The word of 8 bytes that this code puts; its operations come before. */
static uint64_t word(void)
{
	uint64_t value;

	memcpy(&value, out + 1, sizeof(value));
	return value;
}
#define WORD_OF(...) (RUN(&c, __VA_ARGS__, VALUES_PUT, 8) == 9 && *out == VALUES_WRITTEN ? word() : 0xbadbadbad)

static uint64_t bits(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof(u));
	return u;
}

static void numbers(void)
{
	struct values_call c = call();

	registers.rdi = 40;
	registers.rsi = (uint64_t)-2;
	registers.r15 = 15;
	is_int((long)WORD_OF(VALUES_REGISTER, VALUES_RDI), 40, "a register");
	is_int((long)WORD_OF(VALUES_REGISTER, VALUES_R15), 15, "the last one");
	is_int((long)WORD_OF(VALUES_BYTE, 0xff), -1, "a byte has a sign");
	is_int((long)WORD_OF(VALUES_HALF, 0, 0, 0, 0x80), INT32_MIN, "so have four");
	is_int((long)WORD_OF(VALUES_WORD, 1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201, "a word");
	is_int((long)WORD_OF(VALUES_REGISTER, VALUES_RDI, VALUES_REGISTER, VALUES_RSI, VALUES_ADD), 38, "a sum");
	is_int((long)WORD_OF(VALUES_REGISTER, VALUES_RDI, VALUES_REGISTER, VALUES_RSI, VALUES_SUBTRACT), 42,
		"the lower less the upper");
	is_int((long)WORD_OF(VALUES_REGISTER, VALUES_RDI, VALUES_REGISTER, VALUES_RSI, VALUES_MULTIPLY), -80,
		"a product");
	is_int((long)WORD_OF(VALUES_BYTE, 12, VALUES_BYTE, 10, VALUES_AND), 8, "bits of both");
	is_int((long)WORD_OF(VALUES_BYTE, 12, VALUES_BYTE, 10, VALUES_OR), 14, "bits of either");
	is_int((long)WORD_OF(VALUES_BYTE, 3, VALUES_SHIFT_LEFT, 62), (long)(3ull << 62), "to the left");
	is_int((long)WORD_OF(VALUES_BYTE, 0xff, VALUES_SHIFT_RIGHT, 63), 1, "to the right, with zeros");
	is_int((long)WORD_OF(VALUES_HALF, 0xfe, 0x80, 0, 0, VALUES_SIGNED, 1), -2, "a byte of it, with its sign");
	is_int((long)WORD_OF(VALUES_BYTE, 0xfe, VALUES_UNSIGNED, 4), 0xfffffffe, "four bytes of it, without");
	is_int((long)WORD_OF(VALUES_BYTE, 5, VALUES_BYTE, 5, VALUES_EQUAL), 1, "equal");
	is_int((long)WORD_OF(VALUES_BYTE, 0xff, VALUES_BYTE, 5, VALUES_LESS), 1, "less, with signs");
	is_int((long)WORD_OF(VALUES_BYTE, 0xff, VALUES_BYTE, 5, VALUES_BELOW), 0, "and not without");
	is_int((long)WORD_OF(VALUES_BYTE, 5, VALUES_NOT), 0, "not");
	is_int((long)WORD_OF(VALUES_BYTE, 0, VALUES_NOT), 1, "not nothing");
	c.base = 0x7000;
	c.has_base = true;
	is_int((long)WORD_OF(VALUES_BASE, VALUES_BYTE, 16, VALUES_ADD), 0x7010, "an address in the object");
	is_int((long)WORD_OF(VALUES_BYTE, 16, VALUES_VARIABLE), 0x7010, "a variable there");
	static const struct values_copy copies[] = { { 0x20, 8, 0x9000 }, { 0x10, 4, 0x8000 } };
	c.copy = copies;
	c.copies = 2;
	is_int((long)WORD_OF(VALUES_BYTE, 16, VALUES_VARIABLE), 0x8000, "of which there is a copy elsewhere");
	is_int((long)WORD_OF(VALUES_BYTE, 19, VALUES_VARIABLE), 0x8003, "in the middle of it");
	is_int((long)WORD_OF(VALUES_BYTE, 20, VALUES_VARIABLE), 0x7014, "behind it");
	c.copies = 0;
	c.has_base = false;
	is_int(RUN(&c, VALUES_BASE, VALUES_PUT, 8), 10, "in one of several loads");
	is_int(RUN(&c, VALUES_BYTE, 16, VALUES_VARIABLE, VALUES_PUT, 8), 10, "so is a variable");
	is_int(out[1], VALUES_FAULT, "it is not known");
	c.calls = 7;
	is_int((long)WORD_OF(VALUES_TASK, VALUES_TASK_CALLS), 7, "open calls");
	is_int((long)WORD_OF(VALUES_TASK, VALUES_TASK_TID), gettid(), "the thread's number");
	c.errno_at = (uint64_t)(uintptr_t)&errno;
	errno = ENOENT;
	is_int((long)WORD_OF(VALUES_TASK, VALUES_TASK_ERRNO), ENOENT, "errno");
}

static void doubles(void)
{
	static const double value[] = { -__builtin_inf(), -1e300, -2.5, -1e-310, -0.0, 0.0, 5e-324, 1, 2, 1e300,
		__builtin_inf(), __builtin_nan("") };
	static const float single[] = { 0, -0.0f, 1, -1.5f, 1e-40f, -1e-45f, 3.4e38f, __builtin_inff() };
	struct values_call c = call();
	int wrong = 0;

	for (size_t i = 0; i < sizeof(value) / sizeof(*value); i++)
		for (size_t k = 0; k < sizeof(value) / sizeof(*value); k++) {
			floats[0] = bits(value[i]);
			floats[7] = bits(value[k]);
			uint64_t less = WORD_OF(VALUES_FLOAT, 0, VALUES_FLOAT, 7, VALUES_LESS_FLOAT);
			uint64_t same = WORD_OF(VALUES_FLOAT, 0, VALUES_FLOAT, 7, VALUES_EQUAL_FLOAT);
			wrong += less != (value[i] < value[k]) || same != (value[i] == value[k]);
		}
	is_int(wrong, 0, "doubles compare as in C");
	wrong = 0;
	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++) {
		floats[1] = 0xffffffff00000000;
		memcpy(&floats[1], &single[i], sizeof(*single));
		wrong += WORD_OF(VALUES_FLOAT, 1, VALUES_WIDEN) != bits(single[i]);
	}
	is_int(wrong, 0, "a float becomes the double that equals it");
	ok(facts.floats, "such code needs vector registers");
	c.floats = NULL;
	is_int(RUN(&c, VALUES_FLOAT, 1, VALUES_PUT, 8), 10, "without them it has a state,");
	is_int(out[1], VALUES_FAULT, "which tells so");
}

/* Pages: may be read as the object's own; not there; may be read if the kernel is asked; not to be read. */
static uint8_t *pages;

static void map_pages(void)
{
	pages = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(pages + 4096, 4096);
	mprotect(pages + 3 * 4096, 4096, PROT_NONE);
	segment = (struct values_segment){ (uint64_t)(uintptr_t)pages, (uint64_t)(uintptr_t)pages + 4096 };
}

static void memory(void)
{
	uint64_t page = (uint64_t)(uintptr_t)pages;
	struct values_call c = call();

	*(int32_t *)(pages + 100) = -7;
	registers.rdi = page + 100;
	is_int((long)WORD_OF(VALUES_REGISTER, VALUES_RDI, VALUES_READ, 4, VALUES_SIGNED, 4), -7,
		"memory of the object");
	*(int32_t *)(pages + 2 * 4096) = 77;
	registers.rdi = page + 2 * 4096;
	is_int((long)WORD_OF(VALUES_REGISTER, VALUES_RDI, VALUES_READ, 4), 77, "memory that the kernel copies");
	*(uint64_t *)(pages + 8) = page + 16;
	*(uint64_t *)(pages + 16) = page + 24;
	*(uint64_t *)(pages + 24) = 99;
	registers.rdi = page + 8;
	is_int((long)WORD_OF(VALUES_REGISTER, VALUES_RDI, VALUES_READ, 8, VALUES_READ, 8, VALUES_READ, 8), 99,
		"a pointer to a pointer");
	for (int bad = 1; bad <= 3; bad += 2) {
		registers.rdi = page + (uint64_t)bad * 4096;
		is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_READ, 4, VALUES_BYTE, 1, VALUES_ADD, VALUES_PUT, 4,
			       VALUES_BYTE, 3, VALUES_PUT, 1),
			8, "memory that is not there has no value");
		is_bytes(out, ((uint8_t[]){ VALUES_FLAWED, VALUES_FAULT, VALUES_WHOLE, 0, 0, 0, 0, 3 }), 8,
			"nor has what is made of it");
		is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_READ, 4, VALUES_NOT, VALUES_UNLESS, VALUES_BYTE, 3,
			       VALUES_PUT, 1),
			0, "a condition on it does not hold");
	}
	registers.rdi = page + 4094;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_READ, 4, VALUES_PUT, 4), 6, "half of it is there");
	is_int(out[1], VALUES_FAULT, "that is not enough");
	c.arguments = page;
	is_int((long)WORD_OF(VALUES_STACK, 3), 99, "an argument on the stack");
	tramp_confined = 1;
	registers.rdi = page + 2 * 4096;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_READ, 4, VALUES_PUT, 4), 6, "under a filter");
	is_int(out[1], VALUES_UNREAD, "the kernel is not asked");
	registers.rdi = page + 8;
	is_int((long)WORD_OF(VALUES_REGISTER, VALUES_RDI, VALUES_READ, 8), (long)page + 16, "the object's own is read");
	tramp_confined = 0;
}

static void texts(void)
{
	struct values_call c = call();

	strcpy((char *)pages + 200, "hello");
	registers.rdi = (uint64_t)(uintptr_t)pages + 200;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_PUT_TEXT, 64, 0), 8, "a text");
	is_bytes(out, "\1\5\0hello", 8, "without its NUL");
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_PUT_TEXT, 4, 0), 8, "a longer one is cut");
	is_bytes(out, "\2\1\4\0hell", 8, "and says so");
	memcpy(pages + 4090, "123456", 6);
	registers.rdi = (uint64_t)(uintptr_t)pages + 4090;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_PUT_TEXT, 64, 0), 10, "one without its end");
	is_bytes(out, "\2\2\6\0" "123456", 10, "has what is there");
	memcpy(pages + 3 * 4096 - 4, "abc", 4);
	registers.rdi = (uint64_t)(uintptr_t)pages + 3 * 4096 - 4;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_PUT_TEXT, 64, 0), 6, "one that ends with its page");
	is_bytes(out, "\1\3\0abc", 6, "is whole");
	registers.rdi = (uint64_t)(uintptr_t)pages + 200;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_BYTE, 3, VALUES_PUT_BYTES, 64, 0), 6, "so many bytes");
	is_bytes(out, "\1\3\0hel", 6, "are these");
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_BYTE, 0xff, VALUES_PUT_BYTES, 2, 0), 6, "at most as many");
	is_bytes(out, "\2\1\2\0he", 6, "cut");
	registers.rdi = 16;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_BYTE, 0, VALUES_PUT_BYTES, 2, 0), 3, "none are never read");
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_PUT_TEXT, 64, 0), 4, "a bad pointer");
	is_bytes(out, "\2\2\0\0", 4, "is a fault");
	is_int(RUN(&c, VALUES_PUT_NONE), 1, "what is nowhere has no bytes,");
	is_int(RUN(&c, VALUES_PUT_NONE, VALUES_REGISTER, VALUES_RDI, VALUES_PUT_TEXT, 64, 0), 5, "but a state,");
	is_int(out[1], VALUES_WHOLE, "which says nothing");
	pthread_setname_np(pthread_self(), "a name");
	is_int(RUN(&c, VALUES_PUT_NAME), 9, "the thread's name");
	is_bytes(out, "\1\6\0a name", 9, "as a text");
}

static void kept(void)
{
	struct values_call c = call();

	registers.rdi = 5;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_KEEP, 7, VALUES_BYTE, 1, VALUES_READ, 8, VALUES_KEEP, 0), 1,
		"an entry keeps two words");
	ok(facts.keeps && !facts.takes && facts.kept == 0x81, "which is known beforehand");
	is_int((long)WORD_OF(VALUES_KEPT_WORD, 7), 5, "the end has one");
	ok(facts.takes && !facts.keeps, "which is known, too");
	is_int(RUN(&c, VALUES_KEPT_WORD, 0, VALUES_PUT, 1), 3, "the other had no value");
	is_int(out[1], VALUES_FAULT, "and has none now");
	is_int(RUN(&c, VALUES_BYTE, 1, VALUES_UNLESS, VALUES_BYTE, 0, VALUES_UNLESS, VALUES_BYTE, 1, VALUES_PUT, 1), 0,
		"each condition must hold");
}

/* Text elsewhere, of which the kernel would have to be asked: what is read directly needs the page's key no more. */
static void trusted(void)
{
	static const uint8_t word[] = { VALUES_BYTE, 1, VALUES_TRUST, VALUES_PUT, 1, VALUES_END },
			     twice[] = { VALUES_TRUST, VALUES_TRUST, VALUES_END }, end[] = { VALUES_TRUST, VALUES_END };
	struct values_call c = call();

	memcpy(pages + 2 * 4096 + 100, "direct", 7);
	registers.rdi = (uint64_t)(uintptr_t)pages + 2 * 4096 + 100;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_TRUST, VALUES_PUT_TEXT, 64, 0), 9, "a text, as it is");
	ok(facts.trusts && !memcmp(out + 3, "direct", 6), "which is known beforehand");
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_BYTE, 4, VALUES_TRUST, VALUES_PUT_BYTES, 64, 0), 7,
		"so are bytes");
	registers.rdi = 0;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_TRUST, VALUES_PUT_TEXT, 64, 0), 4, "nothing at 0");
	is_int(out[1], VALUES_NULL, "is NULL");
	registers.rdi = 1;
	is_int(RUN(&c, VALUES_REGISTER, VALUES_RDI, VALUES_TRUST, VALUES_PUT_BYTES, 64, 0), -1, "a size is needed");
	is_int(RUN(&c, VALUES_BYTE, 0, VALUES_TRUST, VALUES_PUT_TEXT, 64, 0, VALUES_REGISTER, VALUES_RDI,
		VALUES_PUT_TEXT, 64, 0), 7, "what follows is read as ever");
	is_int(out[2], VALUES_FAULT, "and may be wrong");
	ok(!values_check(word, sizeof(word), &facts), "no word is read so");
	ok(!values_check(twice, sizeof(twice), &facts), "nor nothing");
	ok(!values_check(end, sizeof(end), &facts), "or the end");
}

static void damaged(void)
{
	static const uint8_t no_end[] = { VALUES_BYTE, 1, VALUES_PUT, 1 }, more[] = { VALUES_END, VALUES_END },
			     empty[] = { VALUES_ADD, VALUES_END }, open[] = { VALUES_BYTE, 1, VALUES_END },
			     half[] = { VALUES_WORD, 1, 2, VALUES_END }, beyond[] = { VALUES_OPERATIONS, VALUES_END };
	uint8_t deep[2 * VALUES_DEPTH + 4], many[200], large[64];
	size_t n = 0;

	ok(!values_check(no_end, sizeof(no_end), &facts), "code without an end");
	ok(!values_check(no_end, 0, &facts), "no code");
	ok(!values_check(more, sizeof(more), &facts), "code behind its end");
	ok(!values_check(empty, sizeof(empty), &facts), "words that are not there");
	ok(!values_check(open, sizeof(open), &facts), "words that are left");
	ok(!values_check(half, sizeof(half), &facts), "half an operand");
	ok(!values_check(beyond, sizeof(beyond), &facts), "no operation");
	for (int i = 0; i <= VALUES_DEPTH; i++) {
		deep[n++] = VALUES_BYTE;
		deep[n++] = 1;
	}
	ok(!values_check(deep, n, &facts), "more words than the stack has");
	for (n = 0; n < 4 * (VALUES_MOST + 1); n += 4)
		memcpy(many + n, (uint8_t[]){ VALUES_BYTE, 1, VALUES_PUT, 1 }, 4);
	many[n] = VALUES_END;
	ok(!values_check(many, n + 1, &facts), "too many values");
	many[n - 4] = VALUES_END;
	ok(values_check(many, n - 3, &facts), "as many as there may be");
	is_int((long)facts.most, 1 + 2 * VALUES_MOST, "with a byte of state for each");
	for (n = 0; n < 5 * 8; n += 5)
		memcpy(large + n, (uint8_t[]){ VALUES_BYTE, 1, VALUES_PUT_TEXT, 0, 1 }, 5);
	large[n] = VALUES_END;
	ok(!values_check(large, n + 1, &facts), "too many bytes");
	static const struct {
		uint8_t op, operand;
	} wrong[] = { { VALUES_REGISTER, 16 }, { VALUES_FLOAT, 8 }, { VALUES_KEPT_WORD, 8 }, { VALUES_TASK, 4 } };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ok(!values_check((uint8_t[]){ wrong[i].op, wrong[i].operand, VALUES_PUT, 1, VALUES_END }, 5, &facts),
			"operation %d with %d", wrong[i].op, wrong[i].operand);
	static const struct {
		uint8_t op, operand;
	} sized[] = { { VALUES_READ, 3 }, { VALUES_SIGNED, 8 }, { VALUES_SHIFT_LEFT, 64 }, { VALUES_UNSIGNED, 0 } };
	for (size_t i = 0; i < sizeof(sized) / sizeof(*sized); i++)
		ok(!values_check((uint8_t[]){ VALUES_BYTE, 1, sized[i].op, sized[i].operand, VALUES_PUT, 1,
					 VALUES_END }, 7, &facts), "operation %d with %d", sized[i].op,
			sized[i].operand);
	ok(!values_check((uint8_t[]){ VALUES_BYTE, 1, VALUES_PUT, 16, VALUES_END }, 5, &facts), "a value of 16 bytes");
}

/* ---- random code on hostile memory ---- */

static uint64_t seed = 88172645463325252;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static int ending;

/* Unmaps the page that the kernel is asked for, makes it unreadable, maps it again. */
static void *unmapper(void *unused)
{
	uint8_t *page = pages + 2 * 4096;

	(void)unused;
	/* Relaxed, both: nothing else is told by it. */
	while (!__atomic_load_n(&ending, __ATOMIC_RELAXED)) {
		munmap(page, 4096);
		sched_yield();
		/* Somebody else may have got it meanwhile, as malloc() of this thread. */
		if (mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			    0) == MAP_FAILED)
			break;
		memset(page, 'x', 4096);
		mprotect(page, 4096, PROT_NONE);
		mprotect(page, 4096, PROT_READ);
	}
	return NULL;
}

static uint64_t any_address(void)
{
	switch (any() % 6) {
	case 0:
		return any();
	case 1:
		return any() % 4096;
	case 2:
		return (uint64_t)-(int64_t)(any() % 64);
	default:
		return (uint64_t)(uintptr_t)pages + any() % (4 * 4096);
	}
}

/* Code that is accepted more often than not. */
static size_t any_code(uint8_t code[64])
{
	size_t n = 0;

	for (int i = (int)(any() % 4) + 1; i; i--) {
		code[n++] = VALUES_REGISTER;
		code[n++] = (uint8_t)(any() % VALUES_REGISTERS);
		for (int k = (int)(any() % 3); k; k--) {
			code[n++] = VALUES_READ;
			code[n++] = (uint8_t)(1u << any() % 4);
		}
		if (any() % 3) {
			code[n++] = VALUES_PUT_TEXT;
			code[n++] = (uint8_t)any();
			code[n++] = 0;
		} else {
			code[n++] = VALUES_PUT;
			code[n++] = (uint8_t)(1u << any() % 4);
		}
	}
	code[n++] = VALUES_END;
	if (any() % 2)
		code[any() % n] = (uint8_t)(any() % 40);
	return n;
}

/* Does what was written have a state that there is, for each value? */
static bool is_sound(size_t n)
{
	if (!n)
		return true;
	if (*out == VALUES_WRITTEN)
		return n >= 1;
	for (uint32_t i = 0; i < facts.values; i++)
		if (1 + i >= n || out[1 + i] >= VALUES_STATES)
			return false;
	return *out == VALUES_FLAWED;
}

static void hostile(void)
{
	struct values_call c = call();
	long accepted = 0, flawed = 0, wrong = 0;
	pthread_t thread;
	uint8_t code[64];

	diag("seed %llu", (unsigned long long)seed);
	if (pthread_create(&thread, NULL, unmapper, NULL)) {
		skip(3, "no thread");
		return;
	}
	c.arguments = (uint64_t)(uintptr_t)pages + 3 * 4096 - 64;
	for (int i = 0; i < 100000; i++) {
		uint64_t *r = &registers.rax;
		for (int k = 0; k < VALUES_REGISTERS; k++)
			r[k] = any_address();
		size_t size = any_code(code);
		if (memchr(code, VALUES_TRUST, size)) /* it would do as it says */
			continue;
		c.lost = (uint32_t)any();
		long n = run(&c, code, size);
		accepted += n >= 0;
		flawed += n > 0 && *out == VALUES_FLAWED;
		wrong += n < -1 || (n >= 0 && !is_sound((size_t)n));
	}
	__atomic_store_n(&ending, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	is_int(wrong, 0, "100000 times, nothing is written but what was foreseen");
	ok(accepted > 50000, "%ld of them were run", accepted);
	ok(flawed > 1000 && flawed < accepted - 1000, "%ld met memory that was not there", flawed);
}

int main(void)
{
	identity_init(NULL);
	map_pages();
	numbers();
	doubles();
	memory();
	texts();
	kept();
	trusted();
	damaged();
	hostile();
	return done_testing();
}
