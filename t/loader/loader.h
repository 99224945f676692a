/* SPDX-License-Identifier: MIT */
/*
 * What the programs of t/loader/loader.t and t/loader/rtld.t do with libraries; each tells on stdout what came of it.
 * Included after _GNU_SOURCE.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static const char *what; /* the scenario */

static inline int is(const char *scenario)
{
	return !strcmp(what, scenario);
}

static inline void *open_as(const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "./lib%s.so", name);
	void *library = dlopen(path, flags);
	printf("%s: %s\n", name, library ? "open" : dlerror());
	return library;
}

static inline void *open_it(const char *name)
{
	return open_as(name, RTLD_NOW);
}

static inline void *symbol(void *library, const char *name, const char *suffix)
{
	char function[64];

	snprintf(function, sizeof(function), "%s_%s", name, suffix);
	return library ? dlsym(library, function) : NULL;
}

static inline void call(void *library, const char *name, int times)
{
	int (*work)(int) = (int (*)(int))symbol(library, name, "work");
	int sum = 0;

	for (int i = 0; work && i < times; i++)
		sum += work(i);
	printf("%s: %d calls, %d\n", name, work ? times : 0, sum);
}

static inline void close_it(void *library, const char *name)
{
	printf("%s: closed %d\n", name, library ? dlclose(library) : -1);
}

static inline int find(struct dl_phdr_info *info, size_t size, void *wanted)
{
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	return base && !strcmp(base + 1, wanted);
}

/* dlopen(RTLD_NOLOAD) and its dlclose would change what is to be seen. */
static inline void tell_loaded(const char *name)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "lib%s.so", name);
	printf("%s: %s\n", name, dl_iterate_phdr(find, wanted) ? "is there" : "is gone");
}
