/* SPDX-License-Identifier: MIT */
#include "tool/index/asks.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "audit/nointercept.h"
#include "tool/memory.h"

struct asks_word {
	uint64_t address;
	uint32_t function; /* of the file, or ASKS_IT */
};

static int by_address(const void *a, const void *b)
{
	const struct asks_word *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* What ld.so binds by this symbol. */
static uint32_t meant(const struct image *image, const struct site_symtab *table, const Elf64_Sym *symbol)
{
	const char *name = (const char *)table->text + symbol->st_name;
	const struct image_function *own = symbol->st_shndx ? image_at(image, symbol->st_value) : NULL;

	if (symbol->st_name < table->text_size && memchr(name, 0, table->text_size - symbol->st_name) &&
		(nointercept_watch(name) == WATCH_CALLER || !strcmp(name, "dl_iterate_phdr")))
		return ASKS_IT;
	return own ? (uint32_t)(own - image->function) : ASKS_NONE;
}

static void add(struct asks *asks, uint64_t address, uint32_t function)
{
	if (!(asks->count & (asks->count - 1)))
		asks->word = memory_resize(asks->word, asks->count ? 2 * asks->count : 1, sizeof(*asks->word));
	asks->word[asks->count++] = (struct asks_word){ address, function };
}

/* Returns whether a word is that of one which asks. */
static bool read_words(struct asks *asks, const struct image *image, uint64_t address, uint64_t length)
{
	struct site_symtab table = site_dynsym(&image->file);
	size_t size;
	const uint8_t *p = address ? site_file_at(&image->file, address, &size) : NULL;
	bool any = false;

	for (size = p && size > length ? length : size; p && size >= sizeof(Elf64_Rela);
		p += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
		Elf64_Rela rela;
		Elf64_Sym symbol;
		site_read(&rela, p);
		uint32_t type = ELF64_R_TYPE(rela.r_info);
		if ((type != R_X86_64_GLOB_DAT && type != R_X86_64_JUMP_SLOT) ||
			ELF64_R_SYM(rela.r_info) >= table.count)
			continue;
		site_read(&symbol, table.symbol + ELF64_R_SYM(rela.r_info) * sizeof(symbol));
		uint32_t function = meant(image, &table, &symbol);
		any |= function == ASKS_IT;
		if (function != ASKS_NONE)
			add(asks, rela.r_offset, function);
	}
	return any;
}

void asks_begin(struct asks *asks, const struct image *image)
{
	*asks = (struct asks){ 0 };
	bool any = read_words(asks, image, image->file.dynamic.rela, image->file.dynamic.rela_size);
	if (read_words(asks, image, image->file.dynamic.jmprel, image->file.dynamic.jmprel_size) || any)
		qsort(asks->word, asks->count, sizeof(*asks->word), by_address);
	else
		asks->count = 0;
}

uint32_t asks_at(const struct asks *asks, uint64_t address)
{
	const struct asks_word key = { .address = address };
	const struct asks_word *word =
		asks->count ? bsearch(&key, asks->word, asks->count, sizeof(key), by_address) : NULL;

	return word ? word->function : ASKS_NONE;
}

void asks_free(struct asks *asks)
{
	free(asks->word);
	*asks = (struct asks){ 0 };
}
