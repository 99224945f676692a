/* SPDX-License-Identifier: MIT */
#include "tool/index/asks_caller.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "audit/bind/nointercept.h"
#include "tool/base/memory.h"

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
static uint32_t meant(const struct image *image, const Elf64_Sym *symbol, const char *name)
{
	const struct image_function *own = symbol->st_shndx ? image_at(image, symbol->st_value) : NULL;

	if (name && (nointercept_watch(name) == WATCH_CALLER || !strcmp(name, "dl_iterate_phdr")))
		return ASKS_IT;
	return own ? (uint32_t)(own - image->function) : ASKS_NONE;
}

static void add(struct asks *asks, uint64_t address, uint32_t function)
{
	if (!(asks->count & (asks->count - 1)))
		asks->word = memory_resize(asks->word, asks->count ? 2 * asks->count : 1, sizeof(*asks->word));
	asks->word[asks->count++] = (struct asks_word){ address, function };
}

struct reading {
	struct asks *asks;
	const struct image *image;
	bool any; /* one word is that of one which asks */
};

static void take_slot(void *arg, const Elf64_Rela *rela, const Elf64_Sym *symbol, const char *name)
{
	struct reading *reading = arg;

	/* A pointer among data, not a word by which code calls. */
	if (ELF64_R_TYPE(rela->r_info) == R_X86_64_64)
		return;
	uint32_t function = meant(reading->image, symbol, name);
	reading->any |= function == ASKS_IT;
	if (function != ASKS_NONE)
		add(reading->asks, rela->r_offset, function);
}

void asks_begin(struct asks *asks, const struct image *image)
{
	struct reading reading = { .asks = asks, .image = image };

	*asks = (struct asks){ 0 };
	image_slots(image, take_slot, &reading);
	if (reading.any)
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
