/* SPDX-License-Identifier: MIT */
#include "audit/site/relocation.h"

#include "audit/site/elf_file.h"
#include "x86_64/elf.h"

static int symbol_value(const struct site_file *file, uint32_t index, uint64_t *value)
{
	Elf64_Sym symbol;
	size_t size;
	const uint8_t *p;

	if (!index || !file->dynamic.symtab || !(p = site_file_at(file, file->dynamic.symtab, &size)) ||
		size / sizeof(symbol) <= index)
		return 0;
	site_read(&symbol, p + (size_t)index * sizeof(symbol));
	if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS)
		return 0;
	*value = symbol.st_value;
	return 1;
}

void site_relocate(const struct site_file *file, uint64_t address, uint64_t *word, size_t count)
{
	uint64_t bytes = (uint64_t)count * sizeof(*word), value;
	size_t size;
	const uint8_t *p = file->dynamic.rela ? site_file_at(file, file->dynamic.rela, &size) : NULL;

	if (!p)
		return;
	if (size > file->dynamic.rela_size)
		size = file->dynamic.rela_size;
	for (; size >= sizeof(Elf64_Rela); p += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
		Elf64_Rela rela;
		site_read(&rela, p);
		uint64_t place = rela.r_offset - address;
		if (place >= bytes || place % sizeof(*word))
			continue;
		switch (ELF64_R_TYPE(rela.r_info)) {
		case MACHINE_RELOCATION_RELATIVE:
			word[place / sizeof(*word)] = (uint64_t)rela.r_addend;
			break;
		case MACHINE_RELOCATION_WORD:
			if (symbol_value(file, ELF64_R_SYM(rela.r_info), &value))
				word[place / sizeof(*word)] = value + (uint64_t)rela.r_addend;
			break;
		}
	}
}

size_t site_jump_slots(const struct site_file *file)
{
	size_t size, n = 0;
	const uint8_t *p = file->dynamic.jmprel ? site_file_at(file, file->dynamic.jmprel, &size) : NULL;

	if (!p)
		return 0;
	if (size > file->dynamic.jmprel_size)
		size = file->dynamic.jmprel_size;
	for (; size >= sizeof(Elf64_Rela); p += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
		Elf64_Rela rela;
		site_read(&rela, p);
		n += ELF64_R_TYPE(rela.r_info) == MACHINE_RELOCATION_SLOT;
	}
	return n;
}
