/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* LM_ID_BASE */
#include "audit/prepare/copies.h"

#include <dlfcn.h> /* LM_ID_BASE */
#include <stdbool.h>

#include "audit/bind/symbol.h"

/* The program's copies. Process lock */
static struct copy {
	const char *name; /* in the program, which stays */
	uint64_t at, size;
} *copied;
static uint32_t copies_known;

/* to NULL: only counts. Returns how many there are. */
static uint32_t each(const struct symbol_tables *program, struct copy *to)
{
	uint32_t n = 0;

	for (uint64_t i = program->relative; program->rela && i < program->rela_count; i++) {
		const Elf64_Rela *rela = &program->rela[i];
		const Elf64_Sym *symbol = program->symbols + ELF64_R_SYM(rela->r_info);
		if (ELF64_R_TYPE(rela->r_info) != R_X86_64_COPY ||
			!symbol_is_inside(program->load, symbol, sizeof(*symbol)))
			continue;
		if (to)
			to[n] = (struct copy){ symbol_name(program, symbol), program->load->base + rela->r_offset,
				symbol->st_size };
		n++;
	}
	return n;
}

static void read_program(struct load *load)
{
	struct symbol_tables tables;

	if (copied || !symbol_tables(&tables, load))
		return;
	uint32_t n = each(&tables, NULL);
	copied = n ? arena_alloc(&load->arena, n * sizeof(*copied)) : NULL;
	copies_known = copied ? each(&tables, copied) : 0;
}

/* The load's own variable that the copy is of. Returns false: it has none. */
static bool is_of(const struct symbol_tables *tables, const struct copy *copy, struct values_copy *found)
{
	const Elf64_Sym *symbol = symbol_look(tables, copy->name);

	if (!symbol || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
		ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
		return false;
	*found = (struct values_copy){ symbol->st_value, symbol->st_size < copy->size ? symbol->st_size : copy->size,
		copy->at };
	return true;
}

void copies_look(struct load *load)
{
	struct symbol_tables tables;
	struct values_copy found;
	uint32_t n = 0;

	load->copy = NULL;
	load->copies = 0;
	if (load->namespace != LM_ID_BASE)
		return;
	if (load->object->flags & TRACE_OBJECT_PROGRAM) {
		read_program(load);
		return;
	}
	if (!copies_known || !symbol_tables(&tables, load))
		return;
	for (uint32_t i = 0; i < copies_known; i++)
		n += is_of(&tables, &copied[i], &found);
	load->copy = n ? arena_alloc(&load->arena, n * sizeof(*load->copy)) : NULL;
	for (uint32_t i = 0; load->copy && i < copies_known; i++)
		if (is_of(&tables, &copied[i], &load->copy[load->copies]))
			load->copies++;
}
