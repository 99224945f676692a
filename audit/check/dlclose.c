/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/check/dlclose.h"

#include <errno.h>    /* EFAULT */
#include <string.h>   /* strcmp */
#include <sys/mman.h> /* PROT_READ */
#include <sys/uio.h>  /* struct iovec */

#include "audit/bind/symbol.h"
#include "audit/check/check.h"
#include "audit/check/link_map.h"
#include "audit/prepare/image.h"
#include "runtime/base/maps.h"
#include "runtime/process/process.h"
#include "x86_64/confined.h"
#include "x86_64/elf.h"
#include "x86_64/sys.h"

static uint32_t last_at_start; /* loads up to this number belong to the program */
static struct check_offsets offsets;

/*
 * Bindings between objects that the program opened: from which, to which. Process lock; when full, some reasons for
 * staying are missing.
 */
static struct bound {
	uint32_t from, to;
	const char *name; /* in the caller's memory */
} bound[512] SYS_LARGE;
static uint32_t bound_count;

/* Loads that a nested dlclose (by a destructor) should close; known when the outermost one returns. Process lock. */
static struct {
	uint32_t tid, load;
} nested[64] SYS_LARGE;

static __thread int depth __attribute__((tls_model("initial-exec"))); /* nesting of dlclose on this thread */

/* ---- objects that were closed and stay ---- */

static int names(const struct load *load, const char *soname)
{
	const char *strings = NULL;

	for (const Elf64_Dyn *d = load->map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
	for (const Elf64_Dyn *d = load->map->l_ld; strings && d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && !strcmp(strings + d->d_un.d_val, soname))
			return 1;
	return 0;
}

static struct load *by_number(uint32_t number)
{
	struct load *load;

	for (load = loads; load; load = load->next)
		if (load->number == number && load->state == LOAD_OPEN)
			break;
	return load;
}

/* Adds the reasons why it is still loaded, as far as we can tell from inside. Lock held. */
static void add_reasons(struct check_message *message, const struct load *kept)
{
	const char *file = strrchr(kept->object->path, '/');
	const char *soname = kept->object->soname ? kept->object->soname : file ? file + 1 : kept->object->path;

	if (check_map_nodelete(&offsets, kept->map))
		message->flags |= CHECK_MARKED;
	for (const Elf64_Dyn *d = kept->map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_FLAGS_1 && d->d_un.d_val & DF_1_NODELETE)
			message->flags |= CHECK_NODELETE;
	for (const struct load *load = loads; load; load = load->next) {
		if (load == kept || load->state != LOAD_OPEN || load->object->flags & TRACE_OBJECT_VDSO)
			continue;
		if (load->namespace == kept->namespace && names(load, soname))
			message->needed_by = (uint64_t)(uintptr_t)load->object->path;
	}
	for (uint32_t i = 0; i < bound_count; i++) {
		const struct load *from = bound[i].to == kept->number ? by_number(bound[i].from) : NULL;

		/* A dependency by name tells more than a binding. */
		if (!from || names(from, soname))
			continue;
		message->bound_by = (uint64_t)(uintptr_t)from->object->path;
		message->bound_name = (uint64_t)(uintptr_t)bound[i].name;
	}
	message->destructors = check_map_destructors(&offsets, kept->map);
}

static void tell_kept(uint32_t number)
{
	struct check_message message = {.event = CHECK_KEPT};
	struct process_held held;
	int kept = 0;

	process_lock(&held);
	const struct load *load = by_number(number);
	if (load && (check_map_opens(&offsets, load->map) == 0 || check_map_nodelete(&offsets, load->map))) {
		message.load = number;
		message.base = load->base;
		message.start = load->start;
		message.end = load->end;
		message.path = (uint64_t)(uintptr_t)load->object->path;
		message.flags = number <= last_at_start ? CHECK_FROM_START : 0;
		add_reasons(&message, load);
		kept = 1;
	}
	process_unlock(&held);
	if (kept)
		check_speak(&message);
}

/* Number of the open load with this handle, if the next dlclose is its last; else 0. */
static uint32_t last_close(const void *handle)
{
	struct process_held held;
	uint32_t number = 0;

	process_lock(&held);
	for (const struct load *load = loads; load; load = load->next)
		if (load->state == LOAD_OPEN && load->map == handle && check_map_opens(&offsets, load->map) == 1)
			number = load->number;
	process_unlock(&held);
	return number;
}

static void note_nested(uint32_t number)
{
	struct process_held held;

	process_lock(&held);
	for (unsigned i = 0; i < sizeof(nested) / sizeof(*nested); i++) {
		if (!nested[i].load) {
			nested[i].load = number;
			nested[i].tid = (uint32_t)sys_gettid();
			break;
		}
	}
	process_unlock(&held);
}

static uint32_t take_nested(void)
{
	uint32_t tid = (uint32_t)sys_gettid(), number = 0;
	struct process_held held;

	process_lock(&held);
	for (unsigned i = 0; i < sizeof(nested) / sizeof(*nested) && !number; i++) {
		if (nested[i].load && nested[i].tid == tid) {
			number = nested[i].load;
			nested[i].load = 0;
		}
	}
	process_unlock(&held);
	return number;
}

static int (*real_dlclose)(void *handle);

/* The dlclose that programs are bound to. Unlike dlopen, it does not look at its caller: our frame does no harm. */
static int check_dlclose(void *handle)
{
	if (confined())
		return real_dlclose(handle);
	uint32_t number = last_close(handle);
	depth++;
	int r = real_dlclose(handle);
	depth--;
	if (depth) {
		if (number && !r)
			note_nested(number);
		return r;
	}
	/* When a namespace becomes empty, there is no LA_ACT_CONSISTENT. */
	check_tell_unloaded(0);
	if (number && !r)
		tell_kept(number);
	while ((number = take_nested()))
		tell_kept(number);
	return r;
}

int check_dlclose_active(void)
{
	return depth;
}

/* ---- binding programs to it ---- */

/* The program's libc. Lock held. */
static const struct link_map *find_libc(void)
{
	for (const struct load *load = loads; load; load = load->next)
		if (load->namespace == LM_ID_BASE && load->number <= last_at_start && load->object->soname &&
			!strcmp(load->object->soname, "libc.so.6"))
			return load->map;
	return NULL;
}

int check_dlclose_start(int64_t *thread_list)
{
	const struct link_map *libc;
	struct process_held held;

	process_lock(&held);
	for (const struct load *load = loads; load; load = load->next)
		if (load->number > last_at_start)
			last_at_start = load->number;
	libc = find_libc();
	process_unlock(&held);
	if (!real_dlclose)
		real_dlclose = (int (*)(void *))symbol_of_libc("dlclose");
	*thread_list = check_map_thread_list(libc);
	return check_map_find(&offsets);
}

/* Slots may be read-only by now. To find out, we ask the kernel to write the value that is already there. */
static void set_slot(uintptr_t *slot)
{
	uintptr_t same = *slot;
	struct iovec from = {&same, sizeof(same)}, to = {slot, sizeof(same)};
	long n = sys_call(__NR_process_vm_writev, sys_getpid(), (long)&from, 1, (long)&to, 1, 0);
	void *page = (void *)((uintptr_t)slot & ~4095ul);

	/* A filter may refuse the system call. */
	if (n != (long)sizeof(same) && n != -EFAULT)
		n = maps_is_writable((uint64_t)(uintptr_t)slot) == 1 ? (long)sizeof(same) : -EFAULT;
	if (n == (long)sizeof(same)) {
		*slot = (uintptr_t)check_dlclose;
	} else if (n == -EFAULT && !sys_mprotect(page, 4096, PROT_READ | PROT_WRITE)) {
		*slot = (uintptr_t)check_dlclose;
		sys_mprotect(page, 4096, PROT_READ);
	}
}

/*
 * Slots of the object that hold dlclose's address without a PLT entry (-fno-plt, or where the address is taken): ld.so
 * fills them without asking la_symbind64. Until the object is relocated, they hold 0, and this returns 0; else 1:
 * nothing is left to be done. ld.so's lock is held.
 */
static int bind_slots(const struct load *load)
{
	const Elf64_Rela *rela = NULL;
	const Elf64_Sym *symbols = NULL;
	const char *strings = NULL;
	uint64_t size = 0, first = 0;

	for (const Elf64_Dyn *d = load->map->l_ld; d && d->d_tag != DT_NULL; d++) {
		uint64_t value = d->d_un.d_val;

		switch (d->d_tag) {
		case DT_RELA:
			rela = (const Elf64_Rela *)value;
			break;
		case DT_RELASZ:
			size = value;
			break;
		case DT_RELACOUNT:
			first = value;
			break;
		case DT_SYMTAB:
			symbols = (const Elf64_Sym *)value;
			break;
		case DT_STRTAB:
			strings = (const char *)value;
			break;
		}
	}
	for (uint64_t i = first; rela && symbols && strings && i < size / sizeof(*rela); i++) {
		const Elf64_Sym *symbol = &symbols[ELF64_R_SYM(rela[i].r_info)];
		uint32_t type = ELF64_R_TYPE(rela[i].r_info);
		uintptr_t *slot = (uintptr_t *)(load->base + rela[i].r_offset);

		if ((type != MACHINE_RELOCATION_DATA && type != MACHINE_RELOCATION_WORD) ||
			symbol->st_shndx != SHN_UNDEF ||
			strcmp(strings + symbol->st_name, "dlclose") != 0)
			continue;
		if (!*slot)
			return 0;
		/* A preloaded library's dlclose stays: it calls the real one itself. */
		if (*slot == (uintptr_t)real_dlclose)
			set_slot(slot);
	}
	return 1;
}

void check_dlclose_bind(void)
{
	static uint32_t done; /* slots of loads up to this number */
	uint32_t last = done, pending = UINT32_MAX;
	struct process_held held;

	process_lock(&held);
	for (const struct load *load = loads; load && real_dlclose; load = load->next) {
		if (load->state != LOAD_OPEN || load->number <= done || load->namespace != LM_ID_BASE ||
			load->object->flags & (TRACE_OBJECT_VDSO | TRACE_OBJECT_LOADER))
			continue;
		if (load->number > last)
			last = load->number;
		if (!bind_slots(load) && load->number < pending)
			pending = load->number;
	}
	done = pending <= last ? pending - 1 : last;
	process_unlock(&held);
}

void check_dlclose_forget(const struct load *load)
{
	struct process_held held;

	process_lock(&held);
	for (uint32_t i = 0; i < bound_count;) {
		if (bound[i].from == load->number || bound[i].to == load->number)
			bound[i] = bound[--bound_count];
		else
			i++;
	}
	process_unlock(&held);
}

static void note_binding(const struct load *from, const struct load *to, const char *name)
{
	struct process_held held;
	uint32_t i;

	process_lock(&held);
	for (i = 0; i < bound_count; i++)
		if (bound[i].from == from->number && bound[i].to == to->number)
			break;
	if (i == bound_count && bound_count < sizeof(bound) / sizeof(*bound))
		bound[bound_count++] = (struct bound){.from = from->number, .to = to->number, .name = name};
	process_unlock(&held);
}

uintptr_t check_bind(
	const Elf64_Sym *symbol, const struct load *from, const struct load *to, unsigned flags, const char *name)
{
	const char *soname = to->object->soname;

	/* Newly opened objects are relocated now. */
	if (flags & LA_SYMB_DLSYM && last_at_start && !confined())
		check_dlclose_bind();
	/* Each namespace has a libc of its own; only the program's counts. */
	if (!strcmp(name, "dlclose") && to->namespace == LM_ID_BASE && soname &&
		(!strcmp(soname, "libc.so.6") || !strcmp(soname, "libdl.so.2"))) {
		real_dlclose = (int (*)(void *))symbol->st_value;
		return (uintptr_t)check_dlclose;
	}
	/* dlsym by a handle makes no dependency. */
	if (from != to && !(flags & LA_SYMB_DLSYM) && last_at_start && to->number > last_at_start)
		note_binding(from, to, name);
	return symbol->st_value;
}
