/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/live/dladdr.h"

#include <dlfcn.h>    /* Dl_info */
#include <sys/mman.h> /* PROT_READ */

#include "audit/live/dlclose.h"
#include "audit/live/values.h"
#include "runtime/process/process.h"
#include "x86_64/stub.h"
#include "x86_64/sys.h"

#define MOST_STEPS 8 /* a stub may lead to another one */

typedef int address_function(const void *address, Dl_info *info);
typedef int address_more_function(const void *address, Dl_info *info, void **extra, int flags);
typedef char **names_function(void *const *address, int n);
typedef void write_names_function(void *const *address, int n, int fd);
typedef int protect_function(void *address, size_t size, int protection);
typedef int protect_key_function(void *address, size_t size, int protection, int key);

static address_function dladdr_here;
static address_more_function dladdr1_here;
static names_function names_here;
static write_names_function write_names_here;

static protect_function protect_here;
static protect_key_function protect_key_here;

enum { DLADDR, DLADDR1, NAMES, WRITE_NAMES, PROTECT = DLADDR_PROTECT, PROTECT_KEY };

struct dladdr_pair dladdr_pairs[DLADDR_PAIRS] = {
	[DLADDR] = { "dladdr", (uintptr_t)dladdr_here, 0 },
	[DLADDR1] = { "dladdr1", (uintptr_t)dladdr1_here, 0 },
	[NAMES] = { "backtrace_symbols", (uintptr_t)names_here, 0 },
	[WRITE_NAMES] = { "backtrace_symbols_fd", (uintptr_t)write_names_here, 0 },
	[PROTECT] = { "mprotect", (uintptr_t)protect_here, 0 },
	[PROTECT_KEY] = { "pkey_mprotect", (uintptr_t)protect_key_here, 0 },
};

/* ---- the function that an address stands for ---- */

/*
 * The body of the cell stub that holds the address; 0: no such stub does. *first: the address is the stub's first one.
 */
static uint64_t body_in(const struct stub_pages *pages, uint64_t address, int *first)
{
	uint64_t start = pages->stubs ? stub_address(pages, 0) : 0;

	if (!pages->stubs || address < start || address - start >= (uint64_t)pages->stubs * STUB_SIZE)
		return 0;
	*first = (address - start) % STUB_SIZE == 0;
	/* Relaxed: one aligned word, which only dlclose_watch() replaces, by a function of the same meaning. */
	return __atomic_load_n(&stub_cell(pages, (uint32_t)((address - start) / STUB_SIZE))->body, __ATOMIC_RELAXED);
}

/* Lock held. */
static uint64_t body_of(uint64_t address, int *first)
{
	for (const struct load *load = loads; load; load = load->next) {
		uint64_t body = load->stubs.written ? body_in(&load->stubs, address, first) : 0;

		for (const struct stub_block *block = load->blocks; block && !body; block = block->next)
			body = body_in(&block->pages, address, first);
		if (body)
			return body;
	}
	return 0;
}

/* The real function that one of ours replaces, or 0. */
static uint64_t real_of(uint64_t address)
{
	for (int i = 0; i < DLADDR_PAIRS; i++)
		if (address == dladdr_pairs[i].ours)
			return dladdr_pairs[i].real;
	return address == (uint64_t)(uintptr_t)dlclose_call ? dlclose_real() : 0;
}

/* Would libc say of the address only that it lies in the module? */
static int is_ours(uint64_t address)
{
	return stub_is_fixed(address) || real_of(address);
}

/*
 * The function that the program means by this address; 0: the address stands for itself. *first: it is the function's
 * first address.
 */
static uint64_t behind(uint64_t address, int *first)
{
	struct process_held held;
	uint64_t at = address, next = real_of(at);
	int steps = 0;

	*first = 1;
	process_lock(&held);
	for (; steps < MOST_STEPS; steps++, at = next) {
		int beginning = 1;
		next = real_of(at);
		if (!next)
			next = body_of(at, &beginning);
		if (!next)
			break;
		*first &= beginning;
	}
	process_unlock(&held);
	return steps ? at : 0;
}

/* ---- called by the program ---- */

static void finish(const void *asked, uint64_t body, int first, Dl_info *info)
{
	if (first && (uint64_t)(uintptr_t)info->dli_saddr == body)
		info->dli_saddr = (void *)(uintptr_t)asked;
}

static int dladdr_here(const void *address, Dl_info *info)
{
	address_function *real = (address_function *)dladdr_pairs[DLADDR].real;
	int first, r = is_ours((uint64_t)(uintptr_t)address) ? 0 : real(address, info);
	uint64_t body = r ? 0 : behind((uint64_t)(uintptr_t)address, &first);

	if (!body)
		return r;
	r = real((const void *)(uintptr_t)body, info);
	if (r)
		finish(address, body, first, info);
	return r;
}

static int dladdr1_here(const void *address, Dl_info *info, void **extra, int flags)
{
	address_more_function *real = (address_more_function *)dladdr_pairs[DLADDR1].real;
	int first, r = is_ours((uint64_t)(uintptr_t)address) ? 0 : real(address, info, extra, flags);
	uint64_t body = r ? 0 : behind((uint64_t)(uintptr_t)address, &first);

	if (!body)
		return r;
	r = real((const void *)(uintptr_t)body, info, extra, flags);
	if (r)
		finish(address, body, first, info);
	return r;
}

/*
 * A copy of the addresses, with functions instead of their stubs; NULL: no address lies in a stub, or there is no
 * memory.
 */
static void **copy(void *const *address, int n, size_t *size)
{
	void **copied = NULL;
	int first;

	*size = n > 0 ? (size_t)n * sizeof(*copied) : 0;
	for (int i = 0; i < n; i++) {
		uint64_t body = behind((uint64_t)(uintptr_t)address[i], &first);
		if (body && !copied) {
			copied = sys_mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (sys_is_error(copied))
				return NULL;
			sys_copy(copied, address, *size);
		}
		if (body)
			copied[i] = (void *)(uintptr_t)body;
	}
	return copied;
}

static char **names_here(void *const *address, int n)
{
	names_function *real = (names_function *)dladdr_pairs[NAMES].real;
	size_t size;
	void **copied = copy(address, n, &size);
	char **names = real(copied ? copied : address, n);

	if (copied)
		sys_munmap(copied, size);
	return names;
}

static void write_names_here(void *const *address, int n, int fd)
{
	write_names_function *real = (write_names_function *)dladdr_pairs[WRITE_NAMES].real;
	size_t size;
	void **copied = copy(address, n, &size);

	real(copied ? copied : address, n, fd);
	if (copied)
		sys_munmap(copied, size);
}

/* ---- memory that can't be read any more ---- */

static int protect_here(void *address, size_t size, int protection)
{
	if (!(protection & (PROT_READ | PROT_WRITE)))
		values_hide((uint64_t)(uintptr_t)address, size);
	return ((protect_function *)dladdr_pairs[PROTECT].real)(address, size, protection);
}

/* A thread may be kept from reading what has a key of its own. */
static int protect_key_here(void *address, size_t size, int protection, int key)
{
	if (key > 0 || !(protection & (PROT_READ | PROT_WRITE)))
		values_hide((uint64_t)(uintptr_t)address, size);
	return ((protect_key_function *)dladdr_pairs[PROTECT_KEY].real)(address, size, protection, key);
}
