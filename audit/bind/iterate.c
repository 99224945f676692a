/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/bind/iterate.h"

#include <link.h>   /* struct dl_phdr_info */
#include <string.h> /* strcmp */

#include "audit/bind/symbol.h"
#include "runtime/process/process.h"
#include "x86_64/tramp.h" /* tramp_return_tsc */

typedef int callback(struct dl_phdr_info *info, size_t size, void *data);
typedef int iterate_function(callback *call, void *data);
/* bsearch's own type, except for the function that it calls. */
typedef void *search_function(const void *key, void *base, size_t n, size_t size, iterate_function *compare);

/* Functions of one libc. */
struct libc {
	iterate_function *iterate;
	search_function *search;
};

static struct libc
	base_libc; /* of the base namespace, never unloaded; written before any object is bound to iterate_here() */

struct visit {
	callback *call;
	void *data;
	int result;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct visit *v = data;

	return v->result = v->call(info, size, v->data);
}

/* Called for the objects of our own namespace, under ld.so's lock: passes on the object that holds the return label. */
static int visit_us(struct dl_phdr_info *info, size_t size, void *data)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;
		/* dlpi_adds and dlpi_subs count for the whole process, as callers with a cache expect. */
		if (p->p_type == PT_LOAD && (uint64_t)(uintptr_t)tramp_return_tsc - start < p->p_memsz) {
			visit(info, size, data);
			return 1;
		}
	}
	return 0;
}

static int iterate(const struct libc *libc, callback *call, void *data)
{
	struct visit v = { call, data, 0 };

	/* Key and element are the real one's two arguments, both pointers. */
	libc->search((const void *)(uintptr_t)visit, &v, 1, sizeof(v), libc->iterate);
	/* Called from here, it lists our namespace. */
	if (!v.result)
		libc->iterate(visit_us, &v);
	return v.result;
}

static int iterate_here(callback *call, void *data)
{
	return iterate(&base_libc, call, data);
}

static int find_libc(struct libc *libc, const struct load *load)
{
	if (!load->object->soname || strcmp(load->object->soname, "libc.so.6"))
		return 0;
	libc->iterate = (iterate_function *)symbol_find(load, "dl_iterate_phdr");
	libc->search = (search_function *)symbol_find(load, "bsearch");
	return libc->iterate && libc->search;
}

/* For callers in namespaces that come and go together with their libc. */
static int iterate_elsewhere(callback *call, void *data)
{
	const uint64_t caller = (uint64_t)(uintptr_t)__builtin_return_address(0);
	struct libc libc = { 0 };
	struct process_held held;
	int64_t namespace = LM_ID_BASE;

	process_lock(&held);
	for (const struct load *load = loads; load; load = load->next)
		if (load->state == LOAD_OPEN && caller >= load->start && caller < load->end)
	namespace = load->namespace;
	for (const struct load *load = loads; load; load = load->next)
		if (load->state == LOAD_OPEN && load->namespace == namespace && find_libc(&libc, load))
			break;
	process_unlock(&held);
	return libc.search ? iterate(&libc, call, data) : 0;
}

uintptr_t iterate_bind(const struct load *to, uintptr_t real)
{
	struct libc libc;

	if (!find_libc(&libc, to))
		return real;
	if (to->namespace != LM_ID_BASE)
		return (uintptr_t)iterate_elsewhere;
	/* Relaxed: aligned words, always equal values; a reader runs only after a binding that ld.so has published. */
	__atomic_store_n(&base_libc.iterate, libc.iterate, __ATOMIC_RELAXED);
	__atomic_store_n(&base_libc.search, libc.search, __ATOMIC_RELAXED); /* relaxed, as above */
	return (uintptr_t)iterate_here;
}
