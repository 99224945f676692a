/* SPDX-License-Identifier: MIT */
/*
 * Other audit modules for t/loader/auditors.t and t/loader/untouched.t. By default: takes part in all bindings, and
 * changes nothing. More by:
 *	LOG		appends what it is told to the file that AUDITOR_LOG names
 *	VERSION=n	is of this version
 *	OPENS		opens libraries in each callback, or fails to
 *	SEARCH		libother.so is to be used for libcounted.so
 *	OWN_TLS		has initial-exec TLS, and checks it
 *	BARE		without a C library: -nostdlib
 */
#define _GNU_SOURCE
#include <link.h>
#ifndef BARE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#endif

#ifdef LOG
static void tell(const char *format, ...)
{
	static int fd = -2;
	char line[4500];
	va_list arguments;

	if (fd == -2)
		fd = open(getenv("AUDITOR_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	va_start(arguments, format);
	int n = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (fd >= 0 && write(fd, line, (size_t)n) != n)
		_exit(99);
}
#else
#define tell(...) ((void)0)
#endif

#ifdef OWN_TLS
static __thread int local __attribute__((tls_model("initial-exec"))) = 17;
#endif

static void work(void)
{
#ifdef OPENS
	void *library = dlopen(OPENS "/libopened.so", RTLD_NOW);

	if (!library || !dlsym(library, "counted") || dlclose(library) || dlopen(OPENS "/not-there.so", RTLD_NOW) ||
		!dlerror())
		_exit(98);
#endif
#ifdef OWN_TLS
	if (local != 17)
		_exit(97);
#endif
}

unsigned la_version(unsigned version)
{
#ifdef VERSION
	return VERSION + version * 0;
#endif
	tell("version\n");
	work();
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	tell("objopen %s in %ld\n", map->l_name, (long)namespace);
	*cookie = (uintptr_t)map;
	(void)namespace;
	work();
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

unsigned la_objclose(uintptr_t *cookie)
{
	tell("objclose %s\n", ((struct link_map *)*cookie)->l_name);
	(void)cookie;
	work();
	return 0;
}

void la_activity(uintptr_t *cookie, unsigned flag)
{
	tell("activity %u\n", flag);
	(void)cookie;
	(void)flag;
	work();
}

void la_preinit(uintptr_t *cookie)
{
	tell("preinit\n");
	(void)cookie;
	work();
}

#ifdef SEARCH
char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
	const char *base = strrchr(name, '/');

	(void)cookie;
	(void)flag;
	if (strcmp(base ? base + 1 : name, "libcounted.so"))
		return (char *)name;
	return (char *)SEARCH "/libother.so";
}
#endif

uintptr_t la_symbind64(
	Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags, const char *name)
{
	tell("symbind %s, %u, from %s to %s, flags %u\n", name, index, ((struct link_map *)*from)->l_name,
		((struct link_map *)*to)->l_name, *flags);
	(void)index;
	(void)from;
	(void)to;
	(void)flags;
	(void)name;
	return symbol->st_value;
}
