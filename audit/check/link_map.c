/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/check/link_map.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>

#include "audit/bind/symbol.h"
#include "audit/prepare/image.h"
#include "x86_64/cpu.h"
#include "x86_64/sys.h"

/* ld.so's struct has 1100 to 1200 bytes; comparing some bytes after it, too, does no harm. */
#define LINK_MAP_MAX 1280

struct snapshot {
	uint32_t word[LINK_MAP_MAX / 4];
	uint32_t count;
};

/* The link_map may lie at the end of mapped memory: the kernel copies as far as memory is mapped. */
static void take(struct snapshot *snapshot, const struct link_map *map)
{
	struct iovec to = {snapshot->word, sizeof(snapshot->word)}, from = {(void *)map, sizeof(snapshot->word)};
	long n = sys_call(__NR_process_vm_readv, sys_getpid(), (long)&to, 1, (long)&from, 1, 0);

	if (n <= 0) {
		/* Refused (a seccomp filter): the public part is mapped for certain, and so is the rest of its page. */
		n = 4096 - ((long)map & 4095);
		n = n < LINK_MAP_MAX ? n : LINK_MAP_MAX;
		memcpy(snapshot->word, map, (size_t)n);
	}
	snapshot->count = (uint32_t)n / 4;
}

/* The only word that is greater by one in `more` than before and after; 0: none, or several. */
static uint32_t only_change(const struct snapshot *before, const struct snapshot *more, const struct snapshot *after)
{
	uint32_t found = 0;

	for (uint32_t i = sizeof(struct link_map) / 4; i < before->count; i++) {
		if (more->word[i] != before->word[i] + 1 || (after && after->word[i] != before->word[i]))
			continue;
		if (found)
			return 0;
		found = i * 4;
	}
	return found;
}

/* The only byte outside of the count of dlopen that became 1. */
static uint32_t only_mark(const struct snapshot *before, const struct snapshot *after, uint32_t opens)
{
	const uint8_t *b = (const uint8_t *)before->word, *a = (const uint8_t *)after->word;
	uint32_t found = 0;

	for (uint32_t i = sizeof(struct link_map); i < before->count * 4; i++) {
		if (a[i] == b[i] || (i >= opens && i < opens + 4))
			continue;
		if (found || b[i] || a[i] != 1)
			return 0;
		found = i;
	}
	return found;
}

/* Functions of the program's libc. Called from here, they work in our namespace. */
static struct {
	void *(*open)(const char *name, int mode);
	int (*close)(void *handle);
	int (*ask)(void *handle, int request, void *to);
	int (*at_end)(void (*call)(void *), void *object, void *of); /* of the thread */
} libc;

static int find_libc(void)
{
	libc.open = (void *(*)(const char *, int))symbol_of_libc("dlopen");
	libc.close = (int (*)(void *))symbol_of_libc("dlclose");
	libc.ask = (int (*)(void *, int, void *))symbol_of_libc("dlinfo");
	libc.at_end = (int (*)(void (*)(void *), void *, void *))symbol_of_libc("__cxa_thread_atexit_impl");
	return libc.open && libc.close && libc.ask && libc.at_end;
}

/* The program's first thread calls it at its end, if that has one. */
static void nothing(void *p)
{
	(void)p;
}

int check_map_find(struct check_offsets *found)
{
	struct snapshot before, more, after;
	const struct link_map *map;
	void *first, *second;

	*found = (struct check_offsets){0};
	if (!find_libc() || !symbol_owner((void *)check_map_find, &map) || !map)
		return -1;
	/* For an object that was not loaded by dlopen, the first dlopen changes more than the count. */
	first = libc.open(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	if (first != map)
		return -1;
	take(&before, map);
	second = libc.open(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	take(&more, map);
	if (second)
		libc.close(second);
	take(&after, map);
	found->opens = second ? only_change(&before, &more, &after) : 0;
	take(&before, map);
	if (libc.open(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)) {
		take(&after, map);
		found->nodelete = only_mark(&before, &after, found->opens);
	}
	take(&before, map);
	if (!libc.at_end(nothing, NULL, (void *)&nothing)) {
		take(&more, map);
		found->destructors = only_change(&before, &more, NULL);
	}
	return found->opens && found->nodelete ? 0 : -1;
}

uint64_t check_map_opens(const struct check_offsets *at, const struct link_map *map)
{
	uint32_t value;

	if (!at->opens || !at->nodelete)
		return UINT64_MAX;
	memcpy(&value, (const char *)map + at->opens, sizeof(value));
	return value;
}

int check_map_nodelete(const struct check_offsets *at, const struct link_map *map)
{
	return at->nodelete && ((const uint8_t *)map)[at->nodelete] == 1;
}

uint64_t check_map_destructors(const struct check_offsets *at, const struct link_map *map)
{
	uint64_t value;

	if (!at->destructors)
		return 0;
	memcpy(&value, (const char *)map + at->destructors, sizeof(value));
	return value;
}

/* libc's thread-local data has 144 bytes in glibc 2.36. */
#define TLS_WORDS 256

static size_t tls_words(const struct link_map *map)
{
	struct image image;
	uint64_t size = 0;

	if (!image_read(&image, map, 0))
		return 0;
	for (unsigned i = 0; i < image.phnum; i++)
		if (image.phdr[i].p_type == PT_TLS)
			size = image.phdr[i].p_memsz;
	return size / 8 < TLS_WORDS ? size / 8 : TLS_WORDS;
}

int64_t check_map_thread_list(const struct link_map *of)
{
	uint64_t before[TLS_WORDS], *data = NULL;
	size_t words, found = 0, changed = 0;
	int here; /* an object that no other entry has */

	if (!of || !find_libc() || libc.ask((void *)of, RTLD_DI_TLS_DATA, &data) || !data)
		return 0;
	words = tls_words(of);
	/* The first call may also set up malloc; the second changes only the list. */
	if (libc.at_end(nothing, NULL, (void *)&nothing))
		return 0;
	memcpy(before, data, words * 8);
	if (libc.at_end(nothing, &here, (void *)&nothing))
		return 0;
	for (size_t i = 0; i < words; i++) {
		if (data[i] == before[i])
			continue;
		found = i;
		changed++;
	}
	/* An entry is: function, object, link_map, next. */
	if (changed != 1 || !before[found] || (before[found] | data[found]) & 7)
		return 0;
	const uint64_t *entry = (const uint64_t *)data[found];
	if (entry[1] != (uint64_t)(uintptr_t)&here || entry[3] != before[found])
		return 0;
	return (char *)(data + found) - (char *)cpu_thread();
}
