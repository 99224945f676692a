/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/live/dlclose.h"

#include <dlfcn.h>    /* RTLD_NOLOAD */
#include <errno.h>    /* EFAULT */
#include <stdbool.h>
#include <sys/mman.h> /* PROT_READ */
#include <sys/uio.h>  /* struct iovec */

#include "runtime/base/maps.h"
#include "runtime/handlers/handlers.h"
#include "runtime/process/process.h"
#include "x86_64/elf.h"
#include "x86_64/sys.h"

typedef void *open_function(long namespace, const char *name, int mode);

uint32_t dlclose_watched;

static open_function *open_real;
static int interposed; /* another object defines dlclose, too */

/* The load that holds this address and has to stay; NULL: none. Lock held. */
static struct load *find(uint64_t address)
{
	for (struct load *load = loads; load; load = load->next)
		if (load->state == LOAD_OPEN && address >= load->start && address < load->end)
			return load->pinned || load->object->flags &
						       (TRACE_OBJECT_PROGRAM | TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO)
				       ? NULL
				       : load;
	return NULL;
}

static void pin(uint64_t address)
{
	struct process_held held;

	/* The load stays open as long as we are in its handler: a thread that closes it waits for us. */
	process_lock(&held);
	struct load *load = find(address);
	process_unlock(&held);
	if (!load || !*load->map->l_name)
		return;
	void *handle = open_real(load->namespace, load->map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (handle == (const void *)load->map)
		load->pinned = 1;
}

/* Runs on any thread of the program that is about to call dlclose. General registers only, no libc. */
static void look(void)
{
	uint64_t function, argument;

	if (!handlers_inside(&function, &argument))
		return;
	pin(function);
	pin(argument);
}

void dlclose_bind(uint64_t dlclose, uint64_t dlmopen)
{
	if (!dlclose || !dlmopen || dlclose_real())
		return;
	open_real = (open_function *)(uintptr_t)dlmopen;
	dlclose_call_ways = (struct dlclose_call_ways){ .look = look, .real = dlclose };
}

/* ---- words that hold its address ---- */

static bool is_libc(const struct object *object)
{
	const char *soname = object->soname;

	if (!soname)
		return false;
	size_t length = sys_length(soname);
	return (length == 9 && sys_same(soname, "libc.so.6", 9)) ||
	       (length == 10 && sys_same(soname, "libdl.so.2", 10));
}

void dlclose_note(struct load *load, int defines, uint32_t symbol, const Elf64_Rela *const relocation[2],
	const uint64_t relocations[2])
{
	if (load->namespace)
		return;
	interposed |= defines && !is_libc(load->object);
	load->closes = symbol;
	for (int i = 0; i < 2; i++) {
		load->close_relocation[i] = relocation[i];
		load->close_relocations[i] = relocations[i];
	}
}

static bool in_segment(const struct load *load, uint32_t type, uint64_t address)
{
	for (unsigned i = 0; i < load->phnum; i++) {
		const Elf64_Phdr *p = &load->phdr[i];
		if (p->p_type == type && (type != PT_LOAD || p->p_flags & PF_W) &&
			address - (load->base + p->p_vaddr) < p->p_memsz)
			return true;
	}
	return false;
}

/* May the word be written to now? The kernel is asked to write the value that is there. -EFAULT: it may not. */
static long probe(uint64_t *slot)
{
	uint64_t value = __atomic_load_n(slot, __ATOMIC_RELAXED); /* relaxed: the kernel writes this value */
	struct iovec from = { &value, sizeof(value) }, to = { slot, sizeof(*slot) };

	long r = sys_call(__NR_process_vm_writev, sys_getpid(), (long)&from, 1, (long)&to, 1, 0);
	if (r == (long)sizeof(value) || r == -EFAULT)
		return r;
	/* A filter refuses the system call. */
	int writable = maps_is_writable((uint64_t)(uintptr_t)slot);
	return writable < 0 ? r : writable ? (long)sizeof(value) : -EFAULT;
}

/*
 * Replaces the address in a slot that ld.so has filled, maybe a moment ago, on another thread. While ld.so relocates
 * the object, the page is writable and must stay so; a read-only page means that ld.so is done with it. Returns whether
 * the address was replaced.
 */
static int replace(const struct load *load, uint64_t *slot)
{
	void *page = (void *)((uintptr_t)slot & ~4095ul);
	long r = probe(slot);

	if (r == -EFAULT && in_segment(load, PT_GNU_RELRO, (uint64_t)(uintptr_t)slot) &&
		!sys_mprotect(page, 4096, PROT_READ | PROT_WRITE)) {
		/* Relaxed: one aligned word; calls through the old value work as before. */
		__atomic_store_n(slot, (uint64_t)(uintptr_t)dlclose_call, __ATOMIC_RELAXED);
		sys_mprotect(page, 4096, PROT_READ);
		return 1;
	}
	if (r != (long)sizeof(*slot))
		return 0;
	__atomic_store_n(slot, (uint64_t)(uintptr_t)dlclose_call, __ATOMIC_RELAXED); /* relaxed, as above */
	return 1;
}

/*
 * Is this word, of a relocation of that type, to be replaced by ours? 0: never; -1: not now, the object is not
 * relocated yet. A slot that is not bound yet points into the object itself; ld.so will call la_symbind64 for it if it
 * may. A thread that is just binding the slot may store the real address after us.
 */
static int is_ours(const struct load *load, uint32_t type, uint64_t value)
{
	if (value == dlclose_real())
		return 1;
	if (value < load->end - load->start && load->base)
		return -1;
	return type == MACHINE_RELOCATION_SLOT && value >= load->start && value < load->end && !load->asked &&
	       !interposed;
}

/* Replaces the address in the words of these relocations. Returns how many words have to be looked at again. */
static uint64_t replace_in(const struct load *load, const Elf64_Rela *r, uint64_t n)
{
	uint64_t left = 0;

	for (; r && n; r++, n--) {
		uint64_t *slot = (uint64_t *)(uintptr_t)(load->base + r->r_offset);
		uint32_t type = ELF64_R_TYPE(r->r_info);
		if (ELF64_R_SYM(r->r_info) != load->closes ||
			(type != MACHINE_RELOCATION_DATA && type != MACHINE_RELOCATION_WORD &&
				type != MACHINE_RELOCATION_SLOT) ||
			(uintptr_t)slot % 8 || !in_segment(load, PT_LOAD, (uint64_t)(uintptr_t)slot))
			continue;
		/* Relaxed: ld.so's word, or the program's own. */
		int ours = is_ours(load, type, __atomic_load_n(slot, __ATOMIC_RELAXED));
		left += ours < 0 || (ours && !replace(load, slot));
	}
	return left;
}

/* Replaces the address in stubs of traced calls of dlclose. Lock held. */
static void replace_bindings(const struct load *load)
{
	for (uint32_t bucket = 0; load->bindings && bucket < OBJECT_BUCKETS; bucket++) {
		for (struct binding *b = load->bindings[bucket]; b; b = b->next) {
			if (b->body != dlclose_real())
				continue;
			/*
			 * Relaxed: aligned words; the function that they now point to was there from the start. The
			 * lock keeps other threads from writing the target.
			 */
			__atomic_store_n(&b->cell->body, (uint64_t)(uintptr_t)dlclose_call, __ATOMIC_RELAXED);
			if (__atomic_load_n(&b->cell->target, __ATOMIC_RELAXED) == dlclose_real())
				/* relaxed, as above */
				__atomic_store_n(
					&b->cell->target, (uint64_t)(uintptr_t)dlclose_call, __ATOMIC_RELAXED);
		}
	}
}

void dlclose_watch(void)
{
	struct process_held held;

	if (!dlclose_real())
		return;
	process_lock(&held);
	int first = !dlclose_watched;
	__atomic_store_n(&dlclose_watched, 1, __ATOMIC_RELAXED); /* relaxed: see dlclose_is_watched() */
	for (struct load *load = loads; load; load = load->next) {
		if (load->state != LOAD_OPEN)
			continue;
		if (first)
			replace_bindings(load);
		if (load->closes && replace_in(load, load->close_relocation[0], load->close_relocations[0]) +
					    replace_in(load, load->close_relocation[1], load->close_relocations[1]) ==
					    0)
			load->closes = 0;
	}
	process_unlock(&held);
}
