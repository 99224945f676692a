/* SPDX-License-Identifier: MIT */
#include "audit/model/semaphore.h"

#include "runtime/base/maps.h"
#include "x86_64/confined.h"

#define SIZE 2u
#define LINE 64u /* of the cache */

static bool lies_in(const Elf64_Phdr *h, uint64_t address)
{
	return address >= h->p_vaddr && h->p_memsz >= SIZE && address - h->p_vaddr <= h->p_memsz - SIZE;
}

static bool meets(const Elf64_Phdr *h, uint64_t address)
{
	return address + SIZE > h->p_vaddr && address < h->p_vaddr + h->p_memsz;
}

uint64_t semaphore_of(const struct load *load, const struct plan_probe *probe)
{
	const uint64_t address = probe->semaphore;
	bool writable = false;

	if (!address || address % LINE > LINE - SIZE)
		return 0;
	for (unsigned i = 0; i < load->phnum; i++) {
		const Elf64_Phdr *h = &load->phdr[i];
		if (h->p_type == PT_GNU_RELRO && meets(h, address))
			return 0;
		writable |= h->p_type == PT_LOAD && h->p_flags & PF_W && lies_in(h, address);
	}
	return writable ? load->base + address : 0;
}

/* May it be written to? */
static bool is_writable(const struct load *load, uint64_t address)
{
	static struct mapping last; /* the lock guards it */

	if (load->preparing)
		return true;
	if (confined())
		return false;
	return maps_find(address, &last) == 1 && last.rights[1] == 'w';
}

void semaphore_raise(const struct load *load, struct probe_window *window, int by)
{
	for (unsigned i = 0; i < window->plan.probes; i++) {
		uint64_t *at = &window->semaphore[i];
		if (*at && !is_writable(load, *at))
			*at = 0; /* what can't be raised must not be lowered later */
		/* The program reads it, and others that trace it may count there: relaxed, a number. */
		if (*at)
			__atomic_fetch_add((uint16_t *)(uintptr_t)*at, (uint16_t)by, __ATOMIC_RELAXED);
	}
	window->raised = by > 0;
}
