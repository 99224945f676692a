/* SPDX-License-Identifier: MIT */
#include "tool/index/words.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/index/decode.h"
#include "tool/index/image.h"

#define DISPLACEMENT 4 /* bytes, at the end of a call */

/* What has no type may be data; then it is not called. */
static bool is_function(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx == SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static void take_slot(void *arg, const Elf64_Rela *rela, const Elf64_Sym *symbol, const char *name)
{
	struct words *words = arg;
	uint32_t type = ELF64_R_TYPE(rela->r_info);

	(void)name;
	if (type == R_X86_64_JUMP_SLOT || rela->r_addend || !is_function(symbol))
		return;
	words->word = memory_grow(words->word, words->count, sizeof(*words->word));
	words->word[words->count++] = (struct index_word){
		.address = rela->r_offset,
		.flags = (type == R_X86_64_64 ? INDEX_WORD_DATA : 0) |
			 (ELF64_ST_BIND(symbol->st_info) == STB_WEAK ? INDEX_WORD_WEAK : 0),
	};
}

static int by_address(const void *a, const void *b)
{
	const struct index_word *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

void words_begin(struct words *words, const struct image *image)
{
	*words = (struct words){ 0 };
	image_slots(image, take_slot, words);
	if (words->count)
		qsort(words->word, words->count, sizeof(*words->word), by_address);
}

void words_see(struct words *words, const struct insn *insn)
{
	if (!words->count || !insn->memory || insn->base != INSN_RIP ||
		insn->target - words->word[0].address >
			words->word[words->count - 1].address - words->word[0].address)
		return;
	size_t at = SEARCH(i, 0, words->count, words->word[i].address < insn->target);
	struct index_word *word = &words->word[at];
	if (word->address != insn->target)
		return;
	bool call = (insn->flow == INSN_CALL_INDIRECT || insn->flow == INSN_JUMP_INDIRECT) && insn_is(insn, 0, 0xff) &&
		    !insn->short_address && !insn->segment && insn->displacement_at + DISPLACEMENT == insn->length;
	if (!call) {
		word->loads++;
		return;
	}
	words->call = memory_grow(words->call, words->calls, sizeof(*words->call));
	words->call[words->calls++] =
		(struct words_call){ insn->address + insn->length - DISPLACEMENT, (uint32_t)at };
}

void words_part(struct words *part, const struct words *words)
{
	*part = (struct words){ .word = memory_zeroed(words->count, sizeof(*part->word)), .count = words->count };
	if (words->count)
		memcpy(part->word, words->word, words->count * sizeof(*part->word));
}

void words_join(struct words *words, struct words *part)
{
	for (size_t i = 0; i < words->count; i++)
		words->word[i].loads += part->word[i].loads;
	for (size_t i = 0; i < part->calls; i++) {
		words->call = memory_grow(words->call, words->calls, sizeof(*words->call));
		words->call[words->calls++] = part->call[i];
	}
	words_free(part);
}

static int by_word(const void *a, const void *b)
{
	const struct words_call *x = a, *y = b;

	if (x->word != y->word)
		return x->word > y->word ? 1 : -1;
	return (x->address > y->address) - (x->address < y->address);
}

void words_end(struct words *words)
{
	if (words->calls)
		qsort(words->call, words->calls, sizeof(*words->call), by_word);
	for (size_t i = 0; i < words->calls; i++) {
		struct index_word *word = &words->word[words->call[i].word];
		if (!word->calls++)
			word->first = (uint32_t)i;
	}
}

void words_free(struct words *words)
{
	free(words->word);
	free(words->call);
}
