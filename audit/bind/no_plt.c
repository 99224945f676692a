/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/bind/no_plt.h"

#include <string.h> /* strcmp */

#include "audit/bind/bind.h"
#include "audit/bind/dladdr_bind.h"
#include "audit/bind/iterate.h"
#include "audit/bind/nointercept.h"
#include "audit/bind/runtime_symbols.h"
#include "audit/bind/symbol.h"
#include "audit/live/dladdr.h"
#include "runtime/process/process.h"
#include "x86_64/elf.h"

/* A relocation, or an undefined symbol, that is, or may be, changed. In the arena of its load. */
struct word {
	struct word *next;
	struct load *load; /* NULL: closed */
	const Elf64_Rela *at; /* NULL: the symbol */
	Elf64_Rela before;
	const Elf64_Sym *symbol;
	Elf64_Sym symbol_before;
	const char *name;
	enum { WAITS, BOUND, LEFT } state; /* LEFT: another object may define the function, or it can't be changed */
};

static struct word *recent; /* since the last LA_ACT_CONSISTENT. Process lock */

static bool is_iterate(const char *name)
{
	return !strcmp(name, "dl_iterate_phdr");
}

static bool is_dladdr(const char *name)
{
	for (int i = 0; i < DLADDR_PAIRS; i++)
		if (!strcmp(name, dladdr_pairs[i].name))
			return true;
	return false;
}

/* Most names end at their first letter. */
bool no_plt_concerns(const char *name)
{
	return strchr("bcdlmpsu_", name[0]) &&
	       (is_iterate(name) || is_dladdr(name) || nointercept_watch(name) != WATCH_NONE);
}

/* Does the object define it for others, or have them go to its PLT for it? */
static int defines(const struct load *load, const char *name)
{
	struct symbol_tables t;
	const Elf64_Sym *symbol = symbol_tables(&t, load) ? symbol_look(&t, name) : NULL;

	return symbol && (symbol->st_shndx != SHN_UNDEF || symbol->st_value);
}

/* Of the namespace of `load`, where it is open. */
static bool is_beside(const struct load *l, const struct load *load)
{
	return l->state == LOAD_OPEN && l->namespace == load->namespace &&
	       !(l->object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO));
}

/* Lock held. */
static bool is_defined_beside(const struct load *load, const char *name)
{
	for (const struct load *l = loads; l; l = l->next)
		if (is_beside(l, load) && !symbol_is_libc(l) && defines(l, name))
			return true;
	return false;
}

/* The libc of the load's namespace that has the function. Lock held. */
static struct load *libc_of(const struct load *load, const char *name)
{
	for (struct load *l = loads; l; l = l->next)
		if (is_beside(l, load) && symbol_is_libc(l) && symbol_find(l, name))
			return l;
	return NULL;
}

/* Writes type and addend, which follow the place. */
static int write_relocation(const struct word *word, const Elf64_Rela *relocation)
{
	return object_write(word->load, &word->at->r_info, &relocation->r_info,
		sizeof(*relocation) - offsetof(Elf64_Rela, r_info));
}

/* What the function's name is bound to for la_symbind64; 0: it stays what it is. Lock held. */
static uint64_t ours(struct load *libc, const char *name)
{
	uint64_t real = symbol_find(libc, name);
	uint64_t address = is_iterate(name)  ? iterate_bind(libc, real)
			   : is_dladdr(name) ? dladdr_through(libc, name, real)
					     : bind_watched(libc, name, real);

	return address == real ? 0 : address;
}

/* Has it hold the address. Returns 0 or -errno. Lock held. */
static int change(const struct word *word, uint64_t address)
{
	Elf64_Rela after = word->before;

	if (!word->at)
		return runtime_symbols_set(word->load, word->symbol, address);
	after.r_info = ELF64_R_INFO(0, MACHINE_RELOCATION_RELATIVE);
	after.r_addend = (int64_t)(address - word->load->base);
	return write_relocation(word, &after);
}

/* Lock held. */
static int change_back(const struct word *word)
{
	return word->at ? write_relocation(word, &word->before)
			: runtime_symbols_write(word->load, word->symbol, &word->symbol_before);
}

/* If its libc is there already. Lock held. */
static void bind_word(struct word *word)
{
	struct load *libc = libc_of(word->load, word->name);
	uint64_t address = libc ? ours(libc, word->name) : 0;

	if (!libc)
		return;
	word->load->waiting--;
	word->state = address && !change(word, address) ? BOUND : LEFT;
}

/* Another object may be meant. Lock held. */
static void leave(struct word *word)
{
	if (word->state == WAITS)
		word->load->waiting--;
	else if (!change_back(word))
		word->load->unwinder_checked = 0; /* it may hold an unwinder that won't see us */
	word->state = LEFT;
}

/* Words of other objects, which the load may define or be the libc of. Lock held. */
static void look_again(const struct load *load)
{
	for (struct word *word = recent; word; word = word->next) {
		if (!word->load || word->load == load || word->load->namespace != load->namespace ||
			word->state == LEFT)
			continue;
		if (!symbol_is_libc(load) && defines(load, word->name)) {
			leave(word);
		} else if (word->state == WAITS) {
			bind_word(word);
		}
	}
}

/* Of a relocation, or a symbol; the other one is NULL. Lock held. */
static void add(struct load *load, const Elf64_Rela *relocation, const Elf64_Sym *symbol, const char *name)
{
	struct word *word = arena_alloc(&load->arena, sizeof(*word));

	if (!word)
		return;
	*word = (struct word){ .next = recent, .load = load, .at = relocation, .symbol = symbol, .name = name,
		.state = is_defined_beside(load, name) ? LEFT : WAITS };
	if (relocation)
		word->before = *relocation;
	else
		word->symbol_before = *symbol;
	recent = word;
	if (word->state == LEFT)
		return;
	load->waiting++;
	bind_word(word);
}

/* The function of another object whose address the word is to hold; NULL: none, or no matter which. */
static const char *wanted(const struct symbol_tables *t, const Elf64_Rela *relocation)
{
	const Elf64_Sym *symbol = t->symbols + ELF64_R_SYM(relocation->r_info);
	uint32_t type = ELF64_R_TYPE(relocation->r_info);

	if ((type != MACHINE_RELOCATION_DATA && (type != MACHINE_RELOCATION_WORD || relocation->r_addend)) ||
		!symbol_is_inside(t->load, symbol, sizeof(*symbol)) || symbol->st_shndx != SHN_UNDEF ||
		symbol->st_value)
		return NULL;
	const char *name = symbol_name(t, symbol);
	return no_plt_concerns(name) ? name : NULL;
}

/* prctl() or syscall(), if the object imports it as most do: with no address that others take for the function's. */
static const Elf64_Sym *filtering(const struct imports *imports, enum import import)
{
	const Elf64_Sym *symbol = imports->symbol[import];

	return symbol && !symbol->st_value ? symbol : NULL;
}

static void add_words(struct load *load, const struct symbol_tables *t)
{
	/* The relative ones come first, and name nothing. */
	for (uint64_t i = t->relative; i < t->rela_count; i++) {
		const char *name = wanted(t, &t->rela[i]);
		if (name)
			add(load, &t->rela[i], NULL, name);
	}
}

void no_plt_open(struct load *load, const struct imports *imports, int watch)
{
	const Elf64_Sym *prctl = watch ? NULL : filtering(imports, IMPORT_PRCTL);
	const Elf64_Sym *syscall = watch ? NULL : filtering(imports, IMPORT_SYSCALL);
	struct symbol_tables t;
	struct process_held held;
	int is_user = !symbol_is_libc(load), has = watch && is_user && symbol_tables(&t, load) && t.rela;

	/* Without the lock: threads that add to it also hold ld.so's. */
	if (!has && !recent && !(is_user && (prctl || syscall)))
		return;
	process_lock(&held);
	look_again(load);
	if (has)
		add_words(load, &t);
	if (is_user && prctl)
		add(load, NULL, prctl, "prctl");
	if (is_user && syscall)
		add(load, NULL, syscall, "syscall");
	process_unlock(&held);
}

void no_plt_settled(void)
{
	struct process_held held;

	if (!recent) /* as in no_plt_open() */
		return;
	process_lock(&held);
	recent = NULL; /* the items belong to their loads */
	process_unlock(&held);
}

void no_plt_forget(const struct load *load)
{
	struct process_held held;

	/* At exit ld.so's lock is not held. */
	process_lock(&held);
	for (struct word *word = recent; word; word = word->next)
		if (word->load == load)
			word->load = NULL;
	process_unlock(&held);
}
