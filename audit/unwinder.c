/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/unwinder.h"

#include <link.h> /* dl_iterate_phdr */

#include "audit/image.h"
#include "audit/iterate.h"
#include "audit/object.h"
#include "runtime/process.h"
#include "runtime/sys.h"
#include "runtime/text.h"
#include "x86_64/tramp.h" /* tramp_return_tsc */

int unwinder_blind;

uintptr_t iterate_real;

/* A CET shadow stack would refuse our returns. */
static int has_shadow_stack(void)
{
	uint64_t features = 0;

	/* arch_prctl(ARCH_SHSTK_STATUS) */
	return sys_call(__NR_arch_prctl, 0x5005, (long)&features, 0, 0, 0, 0) == 0 && (features & 1);
}

void unwinder_init(void)
{
	unwinder_blind = has_shadow_stack();
}

static void to_entries_only(const struct stub_pages *pages)
{
	const uint64_t intercept = (uint64_t)(uintptr_t)tramp_gate_intercept;

	for (uint32_t i = 0; i < pages->stubs; i++) {
		uint64_t *gate = &stub_cell(pages, i)->gate;
		/* Relaxed: one aligned word; a thread that still takes the old gate called before the object came. */
		if (__atomic_load_n(gate, __ATOMIC_RELAXED) == intercept)
			__atomic_store_n(gate, (uint64_t)(uintptr_t)tramp_gate_point, __ATOMIC_RELAXED); /* relaxed, as said */
	}
}

/* Lock held. */
static void stop_intercepting(const char *object)
{
	char buffer[400];
	struct text text = { buffer, sizeof(buffer), 0 };

	/* Relaxed, as in unwinder_allows(). */
	__atomic_store_n(&unwinder_blind, 1, __ATOMIC_RELAXED);
	for (struct load *load = loads; load; load = load->next) {
		to_entries_only(&load->stubs);
		for (struct stub_block *block = load->blocks; block; block = block->next)
			to_entries_only(&block->pages);
	}
	text_string(&text, object);
	text_string(&text, ": its unwinder would not see intercepted calls; only entries are recorded from here on");
	process_say(buffer);
}

void unwinder_look(void)
{
	struct process_held held;
	struct image image;

	process_lock(&held);
	for (struct load *load = loads; load && unwinder_allows(); load = load->next) {
		if (load->state != LOAD_OPEN || load->unwinder_checked || load->object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO))
			continue;
		load->unwinder_checked = 1;
		if (image_read(&image, load->map, (load->object->flags & TRACE_OBJECT_PROGRAM) != 0) &&
			image_has_blind_unwinder(load->map))
			stop_intercepting(load->object->path);
	}
	process_unlock(&held);
}

struct visit {
	int (*callback)(struct dl_phdr_info *, size_t, void *);
	void *data;
	int result;
};

/* Called for the objects of our own namespace, under ld.so's lock: passes on the one that holds the return label. */
static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct visit *v = data;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;
		if (p->p_type != PT_LOAD || (uint64_t)(uintptr_t)tramp_return_tsc - start >= p->p_memsz)
			continue;
		/* A copy: dlpi_adds and dlpi_subs in it are the whole process's, as callers with a cache expect. */
		struct dl_phdr_info copy = *info;
		v->result = v->callback(&copy, size, v->data);
		return 1;
	}
	return 0;
}

int iterate_show_us(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	struct visit v = { callback, data, 0 };

	dl_iterate_phdr(visit, &v);
	return v.result;
}

uintptr_t unwinder_bind(uintptr_t real)
{
	/* All namespaces share one ld.so and so one real function per libc; the last binder's is as good as the first's.
	 * Relaxed: an aligned word; the reader runs behind a binding that ld.so publishes. */
	__atomic_store_n(&iterate_real, real, __ATOMIC_RELAXED);
	return (uintptr_t)iterate_with_us;
}
