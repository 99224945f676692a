/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/prepare/got_calls.h"

#include <string.h>   /* strcmp */
#include <sys/mman.h> /* PROT_READ */

#include "audit/bind/no_plt.h"
#include "audit/bind/symbol.h"
#include "audit/live/load_code.h"
#include "audit/prepare/entry.h"
#include "runtime/process/process.h"
#include "x86_64/elf.h"
#include "x86_64/patch.h"
#include "x86_64/sys.h"

#define STUB_MOST 16 /* bytes of a stub of .plt.got */

/* What an object is looked through for, while it is. */
struct search {
	struct load *load;
	struct symbol_tables tables;
	struct symbol_tables program; /* of the load's namespace; load NULL: it has none */
	struct arena memory; /* of this struct alone */
	struct stub {
		uint64_t own, call; /* link-time addresses: of the word, and of the displacement */
	} *stub; /* of the linker's */
	uint32_t stubs;
};

static bool is_function(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* The symbol of another object's function whose address the word is to hold; NULL: none. */
static const Elf64_Sym *symbol_of(const struct symbol_tables *t, const Elf64_Rela *relocation)
{
	const Elf64_Sym *symbol = t->symbols + ELF64_R_SYM(relocation->r_info);

	if (ELF64_R_TYPE(relocation->r_info) != MACHINE_RELOCATION_DATA || relocation->r_addend ||
		!symbol_is_inside(t->load, symbol, sizeof(*symbol)) || symbol->st_shndx != SHN_UNDEF ||
		symbol->st_value || !is_function(symbol))
		return NULL;
	return symbol;
}

/* Lock held. */
static void find_program(struct search *search)
{
	for (const struct load *l = loads; l; l = l->next)
		if (l->state == LOAD_OPEN && l->namespace == search->load->namespace &&
			l->object->flags & TRACE_OBJECT_PROGRAM && symbol_tables(&search->program, l))
			return;
	search->program.load = NULL;
}

/* Has the program a PLT stub that is the function's address for all? */
static bool is_canonical(const struct symbol_tables *program, const char *name)
{
	const Elf64_Sym *symbol = program->load ? symbol_look(program, name) : NULL;

	return symbol && symbol->st_shndx == SHN_UNDEF && symbol->st_value;
}

/* The word of the index at this link-time address; NULL: none, or damaged. */
static const struct index_word *word_at(const struct index *index, uint64_t address)
{
	const struct index_word *first = index_word(index, 0), *last = index_word(index, index->words - 1);

	if (!first || !last || address < first->address || address > last->address)
		return NULL;
	/* They ascend by 8 or more, mostly by 8: so many are before it at most, and behind it. */
	size_t before = (size_t)(address - first->address) / 8, behind = (size_t)(last->address - address) / 8;
	size_t high = before < index->words ? before + 1 : index->words;
	size_t low = behind < index->words ? index->words - 1 - behind : 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct index_word *word = index_word(index, middle);
		if (!word || word->address == address)
			return word;
		if (word->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* The calls of the word, as the index has them. Returns false: there are none, or it must stay as it is. Lock held. */
static bool indexed_calls(const struct index *index, struct got_word *to)
{
	const struct index_word *word = word_at(index, to->own);

	to->call = word ? index_word_calls(index, word) : NULL;
	if (!to->call || word->flags & INDEX_WORD_DATA)
		return false;
	to->calls = word->calls;
	/* What is only called goes by way of our word. */
	return !word->loads || !no_plt_concerns(to->name);
}

/* Without an index: a stub of the linker's. The word is loaded elsewhere. */
static bool stub_calls(const struct search *search, struct got_word *to)
{
	for (uint32_t i = 0; i < search->stubs; i++) {
		if (search->stub[i].own != to->own)
			continue;
		to->call = &search->stub[i].call;
		to->calls = 1;
		return !no_plt_concerns(to->name);
	}
	return false;
}

/*
 * dlclose() is ours (audit/live/dlclose.h). Each object calls __cxa_finalize() once, when it ends; for that alone no
 * page of code is changed.
 */
static bool is_left(const char *name)
{
	return !strcmp(name, "dlclose") || !strcmp(name, "__cxa_finalize");
}

/*
 * Fills in the word of the relocation. Returns false: it has no calls, or must stay as it is. Whether the program has a
 * stub is asked last: its symbols are looked up for that. Lock held.
 */
static bool find_calls(const struct search *search, const Elf64_Rela *relocation, struct got_word *to)
{
	const struct index *index = &search->load->object->words;
	const Elf64_Sym *symbol = symbol_of(&search->tables, relocation);

	if (!symbol)
		return false;
	*to = (struct got_word){
		.left = true,
		.name = symbol_name(&search->tables, symbol),
		.own = relocation->r_offset,
		.relocation = relocation,
	};
	return (index->head ? indexed_calls(index, to) : stub_calls(search, to)) && !is_left(to->name) &&
	       !is_canonical(&search->program, to->name);
}

/* How many words there are; of weak functions, too, or not. */
static uint64_t count_words(const struct symbol_tables *t, bool strong)
{
	uint64_t words = 0;

	for (uint64_t i = t->relative; i < t->rela_count; i++) {
		const Elf64_Sym *symbol = symbol_of(t, &t->rela[i]);
		words += symbol && (!strong || ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL);
	}
	return words;
}

/*
 * Lists stubs in .plt.got: of functions whose address the object takes, too. They lie behind those of PLT slots; until
 * an object is relocated, the slots hold the link-time addresses of theirs. Returns false: there are none.
 */
static bool find_stubs(struct search *search)
{
	const struct symbol_tables *t = &search->tables;
	const struct load *load = search->load;
	uint64_t last = 0, end = 0, words = count_words(t, false);

	for (uint64_t i = 0; words && i < t->plt_count; i++) {
		const uint64_t *slot = (const void *)(uintptr_t)(load->base + t->plt[i].r_offset);
		if (symbol_is_inside(load, slot, sizeof(*slot)) && *slot > last)
			last = *slot;
	}
	if (!last || !(load_code_segment(load, last, &end) & PROT_READ))
		return false;
	search->stub = arena_alloc(&search->memory, words * sizeof(*search->stub));
	if (end - last > STUB_MOST * (words + 2))
		end = last + STUB_MOST * (words + 2);
	for (uint64_t at = last; search->stub && at + 6 <= end && search->stubs < words; at++) {
		const uint8_t *p = (const uint8_t *)(uintptr_t)(load->base + at);
		int32_t displacement;

		/* jmp *word(%rip) */
		if (p[0] != 0xff || p[1] != 0x25)
			continue;
		sys_copy(&displacement, p + 2, sizeof(displacement));
		search->stub[search->stubs++] = (struct stub){ at + 6 + (uint64_t)(int64_t)displacement, at + 2 };
		at += 5;
	}
	return search->stubs > 0;
}

/* Links the words of each bucket in order of their relocations. Lock held. */
static void link_words(struct load *load)
{
	for (uint32_t n = load->got_words; n--;) {
		struct got_word *word = &load->got[n];
		word->hash = object_hash(word->name);
		uint32_t *bucket = &load->got_buckets[word->hash & (load->got_bucket_count - 1)];
		word->next = *bucket;
		*bucket = n + 1;
	}
}

/* Lists the words in order of their relocations. Returns false: there are none, or no memory. Lock held. */
static bool list_words(struct search *search)
{
	struct load *load = search->load;
	const struct symbol_tables *t = &search->tables;
	const struct index *index = &load->object->words;
	size_t room = index->head ? index->words : search->stubs;
	uint32_t words = 0;

	find_program(search);
	load->got = arena_alloc(&load->arena, room * sizeof(*load->got));
	for (uint64_t i = t->relative; load->got && i < t->rela_count && words < room; i++)
		words += find_calls(search, &t->rela[i], &load->got[words]);
	load->got_bucket_count = 1;
	while (load->got_bucket_count < words)
		load->got_bucket_count *= 2;
	load->got_buckets = words ? arena_alloc(&load->arena, load->got_bucket_count * sizeof(uint32_t)) : NULL;
	if (!load->got_buckets)
		return false;
	load->got_words = words;
	link_words(load);
	return true;
}

/* Our words, which lead to where the object's own ones do. Lock held. */
static bool make_words(struct load *load)
{
	if (stub_map_words(&load->words, load->start, load->end, load->got_words))
		return false;
	for (uint32_t n = 0; n < load->got_words; n++)
		stub_write_word(&load->words, n, load->base + load->got[n].own);
	return stub_finish_copies(&load->words) == 0;
}

/* How many calls there are, one for each word at least. */
static size_t calls(const struct load *load)
{
	size_t count = 0;

	for (uint32_t n = 0; n < load->got_words; n++)
		count += load->got[n].calls;
	return count;
}

/* Has ld.so tell of the words. Returns false: it can't be. */
static bool change_relocations(struct load *load)
{
	for (uint32_t n = 0; n < load->got_words; n++) {
		const Elf64_Rela *relocation = load->got[n].relocation;
		struct patch *patch = &load->got_patch[n];
		uint64_t info = ELF64_R_INFO(ELF64_R_SYM(relocation->r_info), MACHINE_RELOCATION_SLOT);

		*patch = (struct patch){ .address = (uint64_t)(uintptr_t)&relocation->r_info, .size = sizeof(info) };
		sys_copy(patch->bytes, &info, sizeof(info));
	}
	return object_write_all(load, load->got_patch, load->got_words) == 0;
}

/* Has the instructions read our words. Those that can't be changed go on as they are. */
static void change_calls(struct load *load)
{
	struct patch *all = load->got_patch;
	size_t count = 0, done;

	for (uint32_t n = 0; n < load->got_words; n++) {
		const uint64_t *call = load->got[n].call;
		for (uint32_t i = 0; i < load->got[n].calls; i++) {
			uint64_t at = load->base + call[i], end;
			uint32_t before = (uint32_t)(load->got[n].own - call[i] - 4), now;
			uint8_t opcode[2];
			struct patch *patch = &all[count];

			/* What is in memory must be what the index has; an entry may have been displaced there. */
			int prot = load_code_segment(load, call[i] - sizeof(opcode), &end);
			if (!(prot & PROT_READ) || call[i] >= end || end - call[i] < sizeof(now))
				continue;
			sys_copy(opcode, (const void *)(uintptr_t)(at - sizeof(opcode)), sizeof(opcode));
			sys_copy(&now, (const void *)(uintptr_t)at, sizeof(now));
			if (now != before || opcode[0] != 0xff || (opcode[1] != 0x15 && opcode[1] != 0x25))
				continue;
			now = (uint32_t)(stub_word(&load->words, n) - at - 4);
			*patch = (struct patch){ .address = at, .size = sizeof(now) };
			sys_copy(patch->bytes, &now, sizeof(now));
			count++;
		}
	}
	patch_sort(all, load->got_spare, count);
	for (size_t first = 0, n; first < count; first += n) {
		uint64_t end = 0;
		int prot = load_code_segment(load, all[first].address - load->base, &end);
		for (n = 1; first + n < count && all[first + n].address - load->base < end; n++)
			;
		if (patch_at_load(&all[first], n, prot, &done))
			return;
		for (size_t i = first; i < first + n; i++)
			load_code_touch(load, all[i].address, all[i].size);
	}
}

/* Does it call more functions of others so than by its PLT? Weak ones, as __cxa_finalize(), all have. */
static bool is_without_plt(const struct symbol_tables *t)
{
	uint64_t words = count_words(t, true), slots = 0;

	for (uint64_t i = 0; i < t->plt_count && slots < words; i++) {
		const Elf64_Sym *symbol = t->symbols + ELF64_R_SYM(t->plt[i].r_info);
		slots += symbol_is_inside(t->load, symbol, sizeof(*symbol)) && symbol->st_shndx == SHN_UNDEF;
	}
	return words > slots;
}

/* Words that are read otherwise: once per object. Lock held. */
static void count_others(struct object *object)
{
	const struct index_word *word;

	for (size_t n = 0; (word = index_word(&object->words, n)); n++)
		if (word->flags & INDEX_WORD_DATA || (word->loads && !(word->flags & INDEX_WORD_WEAK)))
			object->counts[TRACE_KIND_CALLS][TRACE_REASON_ADDRESS_TAKEN]++;
}

/* Finds the object's index, once. ld.so's lock. */
static void find_index(struct object *object, const struct image *image)
{
	struct process_held held;

	object->words_asked = true;
	enum trace_reason reason = entry_find(&object->words, object, image);
	process_lock(&held);
	if (reason == TRACE_REASON_TRACED)
		count_others(object);
	else
		object->counts[TRACE_KIND_CALLS][reason]++;
	process_unlock(&held);
}

void got_calls_open(struct load *load, const struct image *image, bool wanted)
{
	struct search search = { .load = load };
	struct object *object = load->object;
	struct process_held held;

	if (!wanted || load->textrel || object->refused || object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO) ||
		!symbol_tables(&search.tables, load) || !search.tables.rela)
		return;
	if (!object->words_asked && ((object->section && object->section->kinds & kinds_with(KIND_BY_INDEX)) ||
					    is_without_plt(&search.tables)))
		find_index(object, image);
	if (!object->words.head && !find_stubs(&search)) {
		arena_free(&search.memory);
		return;
	}
	process_lock(&held);
	if (list_words(&search)) {
		/* For the relocations, then for the calls; and to sort these. */
		size_t size = calls(load) * sizeof(*load->got_patch);
		load->got_patch = arena_alloc(&search.memory, size);
		load->got_spare = arena_alloc(&search.memory, size);
		if (!load->got_patch || !load->got_spare || !make_words(load) || !change_relocations(load))
			load->got_words = 0;
	}
	process_unlock(&held);
	/* The calls that an index does not have lie there, too. */
	load->got_calls = search.memory;
}

void got_calls_write(struct load *load)
{
	struct arena memory = load->got_calls;
	struct process_held held;

	load->got_calls = (struct arena){ 0 };
	if (load->got_words) {
		process_lock(&held);
		change_calls(load);
		load_code_count_pages(load);
		process_unlock(&held);
	}
	arena_free(&memory);
	load->got_patch = load->got_spare = NULL;
}

bool got_calls_take(
	struct load *load, const char *name, uint64_t value, unsigned flags, uint32_t *number, uint32_t *hash)
{
	/* When relocations are done at once, not for a PLT slot that is bound at its first call. */
	if (!load->got_words || !(flags & LA_SYMB_NOPLTENTER))
		return false;
	*hash = object_hash(name);
	uint32_t next = load->got_buckets[*hash & (load->got_bucket_count - 1)];
	/* A PLT slot of the same function comes after it. */
	for (; next; next = load->got[next - 1].next) {
		struct got_word *word = &load->got[next - 1];
		/* It has been filled just now: a function of that name and another version fills another word. */
		if (!word->left || word->hash != *hash || strcmp(word->name, name) != 0 ||
			*(const uint64_t *)(uintptr_t)(load->base + word->own) != value)
			continue;
		word->left = false;
		*number = next - 1;
		return true;
	}
	return false;
}

void got_calls_set(const struct load *load, uint32_t number, uint64_t address)
{
	/* Release; pairs with the load by the object's own call, when it runs: the stub's cell is filled before. */
	__atomic_store_n((uint64_t *)(uintptr_t)stub_word(&load->words, number), address, __ATOMIC_RELEASE);
}
