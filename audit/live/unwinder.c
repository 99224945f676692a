/* SPDX-License-Identifier: MIT */
#include "audit/live/unwinder.h"

#include <stdbool.h>

#include "audit/model/object.h"
#include "audit/match/match.h"
#include "runtime/base/text.h"
#include "runtime/process/process.h"
#include "x86_64/elf.h"
#include "x86_64/sys.h"
#include "x86_64/tramp.h" /* tramp_return_tsc */

int unwinder_blind;
int unwinder_begun;
int unwinder_shadow_stack;

void unwinder_init(void)
{
	/* Now: later a filter of the program's might end it for the question. */
	unwinder_shadow_stack = sys_has_shadow_stack();
	unwinder_blind = unwinder_shadow_stack; /* it would refuse our returns */
}

static char said[400]; /* why no returns are intercepted; "" while they are, or where nothing was said. Lock */

void unwinder_describe(void)
{
	struct trace_text text = { .head = { .type = TRACE_REC_TEXT }, .what = TRACE_TEXT_NOTE };

	text.length = (uint32_t)sys_length(said);
	if (text.length)
		process_append(&text.head, sizeof(text), said, text.length);
}

static void to_entries_only(const struct stub_pages *pages)
{
	for (uint32_t i = 0; i < pages->stubs; i++) {
		uint64_t *gate = &stub_cell(pages, i)->gate;
		/* Relaxed: one aligned word; a thread that takes the old gate called before the object was loaded. */
		if (tramp_gate_returns(__atomic_load_n(gate, __ATOMIC_RELAXED)))
			/* relaxed, as above */
			__atomic_store_n(gate, (uint64_t)(uintptr_t)tramp_gate_point, __ATOMIC_RELAXED);
	}
}

/* Lock held. */
static void intercept_no_more(void)
{
	/* Relaxed, as in unwinder_allows(). */
	__atomic_store_n(&unwinder_blind, 1, __ATOMIC_RELAXED);
	for (struct load *load = loads; load; load = load->next) {
		to_entries_only(&load->stubs);
		for (struct stub_block *block = load->blocks; block; block = block->next)
			to_entries_only(&block->pages);
		for (struct entry_block *block = load->entries; block; block = block->next)
			to_entries_only(&block->pages);
	}
}

/* Lock held. */
static void stop_intercepting(const char *object, const char *why)
{
	struct text text = { said, sizeof(said), 0 };

	intercept_no_more();
	text_string(&text, object);
	text_string(&text, why);
	text_string(&text, "; only entries are recorded from here on");
	process_say(said);
}

void unwinder_stop(void)
{
	struct process_held held;

	process_lock(&held);
	intercept_no_more();
	process_unlock(&held);
}

/* Tables of the dynamic section: relocations, and the symbols that they name. */
struct tables {
	const Elf64_Sym *symbols;
	const char *strings;
	const Elf64_Rela *rela, *plt;
	uint64_t rela_size, plt_size, relative;
};

static void find_tables(struct tables *t, const Elf64_Dyn *dynamic)
{
	*t = (struct tables){ 0 };
	for (const Elf64_Dyn *d = dynamic; d && d->d_tag != DT_NULL; d++) {
		uint64_t value = d->d_un.d_val;
		switch (d->d_tag) {
		case DT_SYMTAB: t->symbols = (const Elf64_Sym *)value; break;
		case DT_STRTAB: t->strings = (const char *)value; break;
		case DT_RELA: t->rela = (const Elf64_Rela *)value; break;
		case DT_RELASZ: t->rela_size = value; break;
		case DT_RELACOUNT: t->relative = value; break;
		case DT_JMPREL: t->plt = (const Elf64_Rela *)value; break;
		case DT_PLTRELSZ: t->plt_size = value; break;
		}
	}
}

/* Name of the undefined function that a relocation refers to, or NULL. */
static const char *imported(const struct tables *t, const Elf64_Rela *r)
{
	uint64_t index = ELF64_R_SYM(r->r_info);

	if (!index || t->symbols[index].st_shndx != SHN_UNDEF)
		return NULL;
	return t->strings + t->symbols[index].st_name;
}

static bool is_iterate(const char *name)
{
	static const char iterate[] = "dl_iterate_phdr";
	size_t n = 0;

	while (n < sizeof(iterate) && name[n] == iterate[n])
		n++;
	return n == sizeof(iterate);
}

static bool is_unwinder(const char *name)
{
	static const char unwinder[] = "_Unwind_";
	size_t n = 0;

	while (unwinder[n] && name[n] == unwinder[n])
		n++;
	return !unwinder[n];
}

static uint32_t get(const uint8_t *at)
{
	typedef uint32_t word __attribute__((aligned(1), may_alias));

	return *(const word *)at;
}

/*
 * Does the code hold the number PT_GNU_EH_FRAME, or its negative, as compiled comparisons with it do? Code that can't
 * be read counts as yes.
 */
static bool knows_unwind_tables(const struct load *load)
{
	static const uint32_t wanted[] = { PT_GNU_EH_FRAME, -(uint32_t)PT_GNU_EH_FRAME };
	const uint8_t *headers = (const uint8_t *)load->phdr, *behind = (const uint8_t *)(load->phdr + load->phnum);

	for (unsigned i = 0; i < load->phnum; i++) {
		const Elf64_Phdr *p = &load->phdr[i];
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (!(p->p_flags & PF_R))
			return true;
		const uint8_t *at = (const uint8_t *)(uintptr_t)(load->base + p->p_vaddr), *end = at + p->p_filesz;
		for (; at + sizeof(*wanted) <= end; at++) {
			/* The program headers themselves may lie in the segment of the code. */
			if ((get(at) == wanted[0] || get(at) == wanted[1]) &&
				(at < headers || at >= behind))
				return true;
		}
	}
	return false;
}

/*
 * Does the object contain an unwinder that fetches the address of dl_iterate_phdr without a PLT, or has a binding that
 * we were not asked about? Other code fetches it too: garbage collectors that look for data (libgc), symbolizers. But
 * an unwinder's code compares p_type to PT_GNU_EH_FRAME: so where an object fetches the address and imports no
 * unwinder, its code is searched for this constant.
 */
static bool is_blind(const struct load *load)
{
	struct tables t;
	int fetches = 0, imports_unwinder = 0;

	find_tables(&t, load->map->l_ld);
	if (!t.symbols || !t.strings)
		return false;
	/* The relative relocations come first and name nothing. */
	for (uint64_t i = t.relative; t.rela && i < t.rela_size / sizeof(Elf64_Rela); i++) {
		uint32_t type = ELF64_R_TYPE(t.rela[i].r_info);
		/* A slot among these was a word, which ld.so tells us of (audit/prepare/got_calls.h). */
		if (type != MACHINE_RELOCATION_DATA && type != MACHINE_RELOCATION_WORD &&
			type != MACHINE_RELOCATION_SLOT)
			continue;
		const char *name = imported(&t, &t.rela[i]);
		if (!name)
			continue;
		fetches |= type != MACHINE_RELOCATION_SLOT && is_iterate(name);
		imports_unwinder |= is_unwinder(name);
	}
	/* An object that imports _Unwind_* leaves unwinding to that library and walks the list for other reasons. */
	for (uint64_t i = 0; t.plt && !imports_unwinder && (fetches || load->unbound) &&
			     i < t.plt_size / sizeof(Elf64_Rela);
		i++) {
		const char *name = imported(&t, &t.plt[i]);
		imports_unwinder = name && is_unwinder(name);
		fetches |= load->unbound && name && is_iterate(name);
	}
	return fetches && !imports_unwinder && knows_unwind_tables(load);
}

static bool copies_stacks(const struct object *object)
{
	/* greenlet, also before its version 1.0; Ruby's callcc; Guile's continuations; PyPy's stacklets. */
	static const char *const known[] = {
		"_greenlet*", "greenlet.cpython*", "continuation.so", "libguile-*", "libpypy*"
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct rules_pattern pattern = { .function = "*", .library = known[i] };
		if (rules_match(&pattern, "", object->path, object->soname))
			return true;
	}
	for (const struct rules_pattern *p = object_rules->stack_copying; p; p = p->next)
		if (rules_match(p, "", object->path, object->soname))
			return true;
	return false;
}

/* Lock held. */
static void look(void)
{
	for (struct load *load = loads; load && unwinder_allows(); load = load->next) {
		if (load->state != LOAD_OPEN || load->unwinder_checked || load->waiting ||
			load->object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO))
			continue;
		load->unwinder_checked = 1;
		if (copies_stacks(load->object))
			stop_intercepting(load->object->path, ": copies stacks away and back");
		else if (is_blind(load))
			stop_intercepting(load->object->path, ": its unwinder would not see intercepted calls");
	}
}

void unwinder_look(void)
{
	struct process_held held;

	process_lock(&held);
	look();
	process_unlock(&held);
}

void unwinder_begin(void)
{
	/* Relaxed: who loads an object meanwhile is asked again when its functions are switched on. */
	__atomic_store_n(&unwinder_begun, 1, __ATOMIC_RELAXED);
	look();
}
