/* SPDX-License-Identifier: MIT */
/*
 * For tests of what the reader does when memory runs out: an allocator that fails when it is told to, which serves
 * libc's own allocations, too; checks that let each allocation fail; and traces that have something of everything.
 * Include it in the one file that holds main(), after _GNU_SOURCE. One thread.
 */
#ifndef XAUDIT_T_LIB_NO_MEMORY_H
#define XAUDIT_T_LIB_NO_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "t/lib/descriptors.h"
#include "t/lib/sanitizers.h"
#include "t/lib/tap.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *memory);

/* Which allocation fails, counted from 1; 0: none. `on`: all that follow, too. */
static unsigned long fail_at, allocations;
static bool fail_on, failed;
static long live; /* blocks */

/* A sanitizer's own may not be replaced: it crashes before main(). */
#if !WITH_ASAN && !WITH_TSAN
static bool fails(void)
{
	allocations++;
	if (!fail_at || (fail_on ? allocations < fail_at : allocations != fail_at))
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	void *memory = fails() ? NULL : __libc_malloc(size);

	live += memory != NULL;
	return memory;
}

void *calloc(size_t count, size_t size)
{
	void *memory = fails() ? NULL : __libc_calloc(count, size);

	live += memory != NULL;
	return memory;
}

void *realloc(void *old, size_t size)
{
	void *memory = fails() ? NULL : __libc_realloc(old, size);

	live += memory && !old;
	return memory;
}

void free(void *memory)
{
	live -= memory != NULL;
	__libc_free(memory);
}
#endif

/* ---- each allocation fails ---- */

enum outcome { WHOLE, NO_MEMORY, WRONG };

/*
 * Lets each allocation of read(of) fail once, alone or with all that follow. WHOLE: what was read is the same as where
 * none fails. Returns how often something was wrong; adds to *told how often it was NO_MEMORY.
 */
static int fail_each(enum outcome (*read)(const void *of), const void *of, bool on, unsigned long *told)
{
	int wrong = 0, files = descriptors();

	fail_on = on;
	for (unsigned long n = 1;; n++) {
		long before = live;
		fail_at = n;
		allocations = 0;
		failed = false;
		enum outcome outcome = read(of);
		fail_at = 0;
		*told += outcome == NO_MEMORY;
		bool right = outcome == NO_MEMORY ? failed : outcome == WHOLE;
		if (!right || live != before) {
			wrong++;
			diag("allocation %lu%s: outcome %d, %ld blocks not freed", n, on ? " and on" : "", outcome,
				live - before);
		}
		if (!failed)
			break;
	}
	return wrong + descriptors() - files;
}

/* Three checks. */
static void check_no_memory(enum outcome (*read)(const void *of), const void *of, const char *what)
{
	unsigned long alone = 0, on = 0;

	is_int(fail_each(read, of, false, &alone), 0, "%s: each allocation fails alone, and nothing is wrong", what);
	is_int(fail_each(read, of, true, &on), 0, "%s: with all that follow, and nothing is wrong", what);
	diag("%s: there was no memory %lu and %lu times", what, alone, on);
	ok(alone > 50 && on > 50, "%s: that there is no memory is told dozens of times", what);
}

/* Adds a name to a sum, which changes with any change of any name. */
static void add_text(uint64_t *sum, const char *text)
{
	for (; text && *text; text++)
		*sum = *sum * 31 + (unsigned char)*text;
	*sum = *sum * 31 + 1;
}

/* ---- traces, for make_trace ---- */

/* Processes with a common file, what they share, counters, stacks, many chunks, custom events. */
static const char family[] =
	"record command: server 'with words'\n"
	"process p100 chunk=65536 ring_size=131072\n"
	"pair first 1000 1000 5\n"
	"pair last 900000 900000 8005\n"
	"text exe /usr/bin/server\n"
	"text command server\n"
	"text note of the parent alone\n"
	"object 1 /usr/lib/libfoo.so soname=libfoo.so build=0123456789abcdef kinds=7\n"
	"sites 1 0:0:12\n"
	"function 1 0 1 0x100 outer\n"
	"function 1 0 2 0x200 inner\n"
	"load 1 1 1000 0x7f0000000000 100\n"
	"type 16 request\n"
	"change started 1500 100 0\n"
	"fork 101\n"
	"function 1 0 3 0x300 late\n"
	"fork 102\n"
	"thread 100 main\n"
	"both\n"
	"loop 100 1\n"
	"entry 1 1000\n"
	"end\n"
	"loop 100 1\n"
	"exit 1 1200\n"
	"end\n"
	"custom 16 1400 =hello\n"
	"custom 16 1500 =world\n"
	"counts 0 100 main 1:5 2:6\n"
	"child 101\n"
	"object 2 /usr/lib/libbar.so\n"
	"sites 1 0:0:12 1:10:3\n"
	"function 2 0 4 0x310 own\n"
	"load 2 2 1600 0x7f1000000000 101\n"
	"unload 2 200000 101\n"
	"thread 101 main\n"
	"ring\n"
	"loop 6000 10\n"
	"entry 4 2000\n"
	"exit 4 2005\n"
	"end\n"
	"child 102\n"
	"text note of the child\n"
	"thread 102 main\n"
	"stream\n"
	"raw 0x80000007000007d0\n"
	"entry 3 2001\n"
	"entry 2 2002\n"
	"raw 0x80000008000007d4\n"
	"entry 1 2005\n"
	"exit 1 2006\n"
	"raw 0x80000007000007d8\n"
	"exit 2 2009\n"
	"raw 0xf0000105000007d9 0x0000000000000009\n"
	"exit 3 2010\n";

/* One process: a thread with dense words, and with a flight recorder; counters of another one. */
static const char alone[] =
	"process p7 chunk=65536 ring_size=131072\n"
	"pair first 1000 1000 5\n"
	"pair last 900000 900000 8005\n"
	"object 1 /usr/lib/libfoo.so\n"
	"function 1 0 1 0x100 outer\n"
	"function 1 0 2 0x200\n"
	"load 1 1 1000 0x7f0000000000 7\n"
	"thread 7 main\n"
	"dense\n"
	"loop 10000 10\n"
	"entry 1 2000\n"
	"exit 1 2005\n"
	"end\n"
	"ring\n"
	"chunk 200000\n"
	"entry 2 200001\n"
	"exit 2 200002\n"
	"thread 8 other\n"
	"entry 1 3000\n"
	"exit 1 3001\n"
	"counts 1 8 other 2:9\n";

#endif
