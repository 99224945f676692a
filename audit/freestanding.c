/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* these are what it would check */
#include "audit/freestanding.h"

#include <link.h>     /* Elf64_auxv_t */
#include <stdlib.h>   /* getenv */
#include <string.h>
#include <sys/auxv.h> /* getauxval */
#include <time.h>     /* clock_gettime */
#include <unistd.h>   /* environ */

#include "audit/bind/symbol.h"
#include "x86_64/sys.h"

/* For the compiler itself may call it, after it has looked who does (-flto). */
#define KEPT __attribute__((used))

typedef int time_function(clockid_t, struct timespec *);

char **environ;
static const Elf64_auxv_t *facts;
static time_function *fast_time; /* the vDSO's; NULL: there is none */
static uint64_t loader;
static char **arguments;

/* ---- memory and strings ---- */

KEPT void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	sys_copy(to, from, size);
	return to;
}

KEPT void *memmove(void *to, const void *from, size_t size)
{
	unsigned char *p = to;
	const unsigned char *q = from;

	if ((uintptr_t)to - (uintptr_t)from >= size) {
		sys_copy(to, from, size);
		return to;
	}
	while (size--)
		p[size] = q[size];
	return to;
}

KEPT void *memset(void *to, int byte, size_t size)
{
	sys_fill(to, byte, size);
	return to;
}

KEPT int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *p = a, *q = b;

	for (size_t i = 0; i < size; i++)
		if (p[i] != q[i])
			return p[i] - q[i];
	return 0;
}

/* What clang makes of a memcmp() whose sign does not matter. */
KEPT int bcmp(const void *a, const void *b, size_t size)
{
	return memcmp(a, b, size);
}

KEPT void *memchr(const void *memory, int byte, size_t size)
{
	const unsigned char *p = memory;

	for (size_t i = 0; i < size; i++)
		if (p[i] == (unsigned char)byte)
			return (void *)(uintptr_t)(p + i);
	return NULL;
}

KEPT size_t strlen(const char *s)
{
	return sys_length(s);
}

KEPT int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

KEPT int strncmp(const char *a, const char *b, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (a[i] != b[i] || !a[i])
			return (unsigned char)a[i] - (unsigned char)b[i];
	return 0;
}

KEPT char *strcpy(char *restrict to, const char *restrict from)
{
	sys_copy(to, from, sys_length(from) + 1);
	return to;
}

KEPT char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(uintptr_t)s;
		if (!*s)
			return NULL;
	}
}

KEPT char *strrchr(const char *s, int c)
{
	const char *found = NULL;

	for (;; s++) {
		if (*s == (char)c)
			found = s;
		if (!*s)
			return (char *)(uintptr_t)found;
	}
}

KEPT size_t strcspn(const char *s, const char *any)
{
	size_t n = 0;

	while (s[n] && !strchr(any, s[n]))
		n++;
	return n;
}

KEPT char *strstr(const char *s, const char *part)
{
	size_t length = sys_length(part);

	for (;; s++) {
		if (!strncmp(s, part, length))
			return (char *)(uintptr_t)s;
		if (!*s)
			return NULL;
	}
}

/* ---- what the process was given ---- */

char *getenv(const char *name)
{
	size_t length = sys_length(name);

	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, name, length) && (*e)[length] == '=')
			return *e + length + 1;
	return NULL;
}

unsigned long getauxval(unsigned long type)
{
	for (const Elf64_auxv_t *fact = facts; fact && fact->a_type != AT_NULL; fact++)
		if (fact->a_type == type)
			return fact->a_un.a_val;
	return 0;
}

uint64_t freestanding_loader(void)
{
	return loader;
}

const char *freestanding_command(size_t *length)
{
	const char *next = *arguments;

	for (char **argument = arguments; *argument && next; argument++)
		next = *argument == next ? next + sys_length(next) + 1 : NULL;
	*length = next ? (size_t)(next - *arguments) : 0;
	return getauxval(AT_BASE) && *length ? *arguments : NULL;
}

/* ---- functions of objects that are there before all others: ld.so, and the kernel's ---- */

/* Address of the function in the object whose file is mapped from `base` on, or 0. */
static uintptr_t function_in(uint64_t base, const char *name)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
	struct link_map map = { .l_addr = base };
	struct load load = { .base = base, .start = base, .end = base, .map = &map };

	if (!base || !sys_same(header->e_ident, ELFMAG, SELFMAG))
		return 0;
	const Elf64_Phdr *segment = (const Elf64_Phdr *)(base + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (segment[i].p_type == PT_DYNAMIC)
			map.l_ld = (Elf64_Dyn *)(base + segment[i].p_vaddr);
		if (segment[i].p_type == PT_LOAD && base + segment[i].p_vaddr + segment[i].p_memsz > load.end)
			load.end = base + segment[i].p_vaddr + segment[i].p_memsz;
	}
	return symbol_find(&load, name);
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
	if (fast_time)
		return fast_time(clock, to);
	return (int)sys_call(__NR_clock_gettime, clock, (long)to, 0, 0, 0, 0);
}

uintptr_t freestanding_of_loader(const char *name)
{
	return function_in(getauxval(AT_BASE), name);
}

/* ---- where the compiler's flags ask for it: -fstack-protector, _FORTIFY_SOURCE ---- */

static void end(const char *line)
{
	sys_write(2, line, sys_length(line));
	for (;;)
		__builtin_trap();
}

/* A function's frame was written over. */
KEPT void __stack_chk_fail(void);
void __stack_chk_fail(void)
{
	end("xaudit: stack smashing detected in libxaudit.so\n");
}

static void check(size_t size, size_t room)
{
	if (size > room)
		end("xaudit: buffer overflow detected in libxaudit.so\n");
}

KEPT void *__memcpy_chk(void *to, const void *from, size_t size, size_t room);
void *__memcpy_chk(void *to, const void *from, size_t size, size_t room)
{
	check(size, room);
	return memcpy(to, from, size);
}

KEPT void *__memmove_chk(void *to, const void *from, size_t size, size_t room);
void *__memmove_chk(void *to, const void *from, size_t size, size_t room)
{
	check(size, room);
	return memmove(to, from, size);
}

KEPT void *__memset_chk(void *to, int byte, size_t size, size_t room);
void *__memset_chk(void *to, int byte, size_t size, size_t room)
{
	check(size, room);
	return memset(to, byte, size);
}

KEPT char *__strcpy_chk(char *to, const char *from, size_t room);
char *__strcpy_chk(char *to, const char *from, size_t room)
{
	check(sys_length(from) + 1, room);
	return strcpy(to, from);
}

__attribute__((constructor)) static void start(int count, char **argument, char **environment)
{
	(void)count;
	arguments = argument;
	environ = environment;
	loader = (uint64_t)(uintptr_t)__builtin_return_address(0);
	while (*environment)
		environment++;
	/*
	 * Where the program has more rights than its caller, ld.so has taken variables away by moving the others down:
	 * then there are several ends, and the kernel's facts come behind the last one. The first of them is no zero.
	 */
	while (!*environment)
		environment++;
	facts = (const Elf64_auxv_t *)environment;
	fast_time = (time_function *)function_in(getauxval(AT_SYSINFO_EHDR), "__vdso_clock_gettime");
}
