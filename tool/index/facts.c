/* SPDX-License-Identifier: MIT */
#include "tool/index/facts_decode.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "audit/site/symbol.h"
#include "runtime/base/search.h"
#include "tool/index/decode.h"
#include "tool/index/frames.h"

#define TABLE_MAX 65536 /* entries of one jump table */

static int by_table(const void *a, const void *b)
{
	const struct table *x = a, *y = b;

	if (x->address != y->address)
		return x->address > y->address ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

/*
 * Marks what a distance leads to within this function from the places in it whose address it takes. Does it to
 * anything? Labels of another function no function has.
 */
static bool from_bases(struct reading *reading, uint32_t function, int32_t distance)
{
	size_t low = SEARCH(i, 0, reading->found.bases, reading->found.base[i].function < function);
	bool found = false;

	for (; low < reading->found.bases && reading->found.base[low].function == function; low++) {
		uint64_t base = reading->found.base[low].address, target = base + (uint64_t)(int64_t)distance;
		const struct image_function *own = &reading->image->function[function];
		if (base < own->address || base >= own->end || target < own->address || target >= own->end)
			continue;
		facts_mark(reading->facts, reading->facts->jumped, target);
		found = true;
	}
	return found;
}

static void read_tables(struct reading *reading)
{
	struct facts *facts = reading->facts;
	struct table *table = reading->found.table;

	if (reading->found.tables)
		qsort(table, reading->found.tables, sizeof(*table), by_table);
	for (size_t t = 0; t < reading->found.tables;) {
		uint64_t address = table[t].address, end = UINT64_MAX;
		size_t first = t;
		bool wanted = false;
		for (; t < reading->found.tables && table[t].address == address; t++)
			wanted |= table[t].function >= reading->image->functions ||
				  reading->indirect[table[t].function];
		if (t < reading->found.tables)
			end = table[t].address;
		size_t size;
		const uint8_t *p = wanted ? site_file_at(&reading->image->file, address, &size) : NULL;
		for (size_t n = 0; p && n < TABLE_MAX && size >= 4 && end - address >= 4 * (n + 1); n++) {
			int32_t distance;
			memcpy(&distance, p, 4);
			bool found = facts_in_code(facts, address + (uint64_t)(int64_t)distance);
			if (found)
				facts_mark(facts, facts->jumped, address + (uint64_t)(int64_t)distance);
			for (size_t u = first; u < t; u++)
				if (u == first || table[u].function != table[u - 1].function)
					found |= from_bases(reading, table[u].function, distance);
			if (!found)
				break;
			p += 4;
			size -= 4;
		}
	}
}

static void pad(void *arg, uint64_t address)
{
	struct facts *facts = arg;

	facts_mark(facts, facts->jumped, address);
}

static bool is_told(const struct reading *reading, uint64_t address)
{
	return address - reading->told < reading->told_end - reading->told;
}

/* Who jumps to what asks who called it, or to one of those in turn. */
static void follow_asking(struct reading *reading)
{
	bool more = reading->bound.count > 0;

	while (more) {
		more = false;
		for (size_t l = 0; l < reading->found.leaps; l++) {
			const struct leap *leap = &reading->found.leap[l];
			more |= reading->asks[leap->to] && !reading->asks[leap->from];
			reading->asks[leap->from] |= reading->asks[leap->to];
		}
	}
	for (size_t i = 0; i < reading->image->functions; i++)
		reading->image->function[i].asks = reading->asks[i];
}

static void read_relocations(struct reading *reading, uint64_t address, uint64_t length)
{
	struct image *image = reading->image;
	size_t size;
	const uint8_t *p = address ? site_file_at(&image->file, address, &size) : NULL;

	for (size = p && size > length ? length : size; p && size >= sizeof(Elf64_Rela);
		p += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
		Elf64_Rela rela;
		site_read(&rela, p);
		image->relocated |= image_section(image, rela.r_offset) != NULL;
		if (is_told(reading, rela.r_offset))
			continue;
		uint64_t target = (uint64_t)rela.r_addend;
		struct image_function *function;
		switch (ELF64_R_TYPE(rela.r_info)) {
		case R_X86_64_IRELATIVE:
			function = image_at(image, target);
			if (function)
				function->resolver = true;
			break;
		case R_X86_64_RELATIVE:
			break;
		case R_X86_64_64: {
			struct site_symtab table = site_dynsym(&image->file);
			Elf64_Sym symbol;
			if (ELF64_R_SYM(rela.r_info) >= table.count)
				continue;
			site_read(&symbol, table.symbol + ELF64_R_SYM(rela.r_info) * sizeof(symbol));
			target += symbol.st_shndx == SHN_UNDEF ? 0 : symbol.st_value;
			break;
		}
		default:
			continue;
		}
		facts_mark(reading->facts, reading->facts->pointed, target);
	}
}

static void point_word(struct reading *reading, uint64_t address)
{
	size_t size;
	const uint8_t *p = is_told(reading, address) ? NULL : site_file_at(&reading->image->file, address, &size);
	uint64_t word;

	reading->image->relocated |= image_section(reading->image, address) != NULL;
	if (!p || size < sizeof(word))
		return;
	memcpy(&word, p, sizeof(word));
	facts_mark(reading->facts, reading->facts->pointed, word);
}

/* Packed relative relocations: an address, or a bitmap of the 63 words behind the last one. */
static void read_packed(struct reading *reading)
{
	Elf64_Shdr section;
	uint64_t at = 0, entry;

	for (size_t s = 1; site_section(&reading->image->file, s, &section); s++) {
		const uint8_t *p = section.sh_type == 19 /* SHT_RELR */
					   ? site_section_bytes(&reading->image->file, &section)
					   : NULL;
		for (uint64_t i = 0; p && i + 8 <= section.sh_size; i += 8) {
			memcpy(&entry, p + i, sizeof(entry));
			if (!(entry & 1)) {
				point_word(reading, entry);
				at = entry + 8;
				continue;
			}
			for (unsigned bit = 0; entry >>= 1; bit++)
				if (entry & 1)
					point_word(reading, at + 8 * bit);
			at += 63 * 8;
		}
	}
}

/* Marks the entries of absolute jump tables. What else has the form, tables of pointers, is marked alike. */
static void read_word_tables(struct reading *reading)
{
	struct facts *facts = reading->facts;
	size_t kept = 0;

	if (reading->found.word_tables)
		qsort(reading->found.words, reading->found.word_tables, sizeof(*reading->found.words), by_table);
	for (size_t t = 0; t < reading->found.word_tables; t++) {
		const struct table *table = &reading->found.words[t];
		if (table->function < reading->image->functions && !reading->indirect[table->function])
			continue;
		if (!kept || reading->found.words[kept - 1].address != table->address)
			reading->found.words[kept++] = *table;
	}
	reading->found.word_tables = kept;
	for (size_t t = 0; t < kept; t++) {
		uint64_t address = reading->found.words[t].address, word;
		size_t size;
		const uint8_t *p = site_file_at(&reading->image->file, address, &size);
		for (; p && size >= 8 && (t + 1 == kept || address < reading->found.words[t + 1].address);
			address += 8, p += 8, size -= 8) {
			memcpy(&word, p, 8);
			if (!facts_in_code(facts, word))
				break;
			facts_mark(facts, facts->jumped, word);
		}
		reading->found.words[t].end = address;
	}
}

/* A program at fixed addresses has no relocations: any word of its data may be a pointer, but those of jump tables. */
static void read_words(struct reading *reading)
{
	struct image *image = reading->image;

	for (size_t s = 0; image->fixed && s < image->file.segments; s++) {
		const Elf64_Phdr *segment = &image->file.segment[s];
		const uint8_t *p = segment->p_type == PT_LOAD && !(segment->p_flags & PF_X)
					   ? site_file_bytes(&image->file, segment->p_offset, segment->p_filesz)
					   : NULL;
		size_t t = 0;
		for (uint64_t i = -segment->p_vaddr & 7; p && i + 8 <= segment->p_filesz; i += 8) {
			uint64_t word, address = segment->p_vaddr + i;
			while (t < reading->found.word_tables && reading->found.words[t].end <= address)
				t++;
			if ((t < reading->found.word_tables && reading->found.words[t].address <= address) ||
				is_told(reading, address))
				continue;
			memcpy(&word, p + i, sizeof(word));
			facts_mark(reading->facts, reading->facts->pointed, word);
		}
	}
}

/*
 * A nameless beginning that nobody calls or points to is a part of whoever jumps there. So is one that has no return
 * address where functions have theirs, or that conditional branches lead to, whoever points there: computed jumps do.
 */
static void find_pieces(struct reading *reading)
{
	struct image *image = reading->image;

	for (size_t i = 0; i < image->functions; i++) {
		struct image_function *function = &image->function[i];
		if (!function->name)
			function->piece =
				function->start || function->conditional ||
				(!facts_bit(reading->facts, reading->facts->called, function->address) &&
					!facts_bit(reading->facts, reading->facts->pointed, function->address));
		if (!function->piece || !function->owner)
			continue;
		struct image_function *owner = &image->function[function->owner - 1];
		owner->reads_return |= function->reads_return;
		owner->asks |= function->asks;
		owner->undecodable |= function->undecodable;
		reading->indirect[function->owner - 1] |= reading->indirect[i];
	}
	for (size_t l = 0; l < reading->found.leaps; l++) {
		struct leap *leap = &reading->found.leap[l];
		const struct image_function *from = &image->function[leap->from];
		if (!leap->bound && (leap->from == leap->to || (from->piece && from->owner == leap->to + 1)))
			image->function[leap->to].loops = true;
	}
}

/*
 * Where a jump through a register leads is told by a table, a pointer, or a call before it; or it is computed, from a
 * place in the code whose address somebody takes, other than a function's beginning: then it may lead anywhere in the
 * function of that place. A table may be there as well, for another jump; or numbers that look like one.
 */
static void find_computed(struct reading *reading)
{
	struct image *image = reading->image;

	for (size_t b = 0; b < reading->found.bases; b++) {
		const struct base *base = &reading->found.base[b];
		const struct image_function *from = &image->function[base->function];
		size_t to = image_before(image, base->address);
		size_t owner = from->piece && from->owner ? from->owner - 1 : base->function;
		if ((reading->indirect[base->function] || reading->indirect[owner]) &&
			base->address != image->function[to].address)
			image->function[to].computed = true;
	}
}

/* What a resolver calls runs as early as it does. */
static void follow_resolvers(struct image *image)
{
	uint32_t *open = NULL;
	size_t count = 0;

	for (size_t i = 0; i < image->functions; i++)
		if (image->function[i].resolver)
			APPEND(open, count, (uint32_t)i);
	for (size_t at = 0; at < count; at++) {
		const struct image_function *function = &image->function[open[at]];
		size_t size;
		const uint8_t *p = image_code_at(image, function->address, &size);
		for (uint64_t address = function->address; p && address < function->end;) {
			struct insn insn;
			size_t from = address - function->address;
			if (!insn_decode(p + from, function->end - address, address, &insn)) {
				address++;
				continue;
			}
			address += insn.length;
			struct image_function *called = insn_has_target(&insn) ? image_at(image, insn.target) : NULL;
			if (called && !called->resolver) {
				called->resolver = true;
				APPEND(open, count, (uint32_t)(called - image->function));
			}
		}
	}
	free(open);
}

void facts_read(struct facts *facts, struct image *image, unsigned jobs)
{
	struct reading *reading = memory_zeroed(1, sizeof(*reading));
	const struct image_code *last = image->codes ? &image->code[image->codes - 1] : NULL;

	*facts = (struct facts){ .low = last ? image->code[0].address : 0 };
	facts->size = last ? last->address + last->size - facts->low : 0;
	facts->jumped = memory_zeroed(facts->size / 64 + 1, 8);
	facts->called = memory_zeroed(facts->size / 64 + 1, 8);
	facts->pointed = memory_zeroed(facts->size / 64 + 1, 8);
	reading->facts = facts;
	reading->image = image;
	reading->indirect = memory_zeroed(image->functions + 1, sizeof(*reading->indirect));
	reading->asks = memory_zeroed(image->functions + 1, sizeof(*reading->asks));
	asks_begin(&reading->bound, image);
	Elf64_Shdr section;
	if (calls_section(image, CALLS_SECTION, &section) && section.sh_addr + section.sh_size >= section.sh_addr) {
		reading->told = section.sh_addr;
		reading->told_end = section.sh_addr + section.sh_size;
	}
	calls_begin(&facts->calls, image);
	words_begin(&facts->words, image);
	facts_decode(reading, jobs);
	follow_asking(reading);
	for (size_t i = 0; i < image->frames->count; i++)
		frame_pads(&image->frames->frame[i], &image->file, pad, facts);
	read_relocations(reading, image->file.dynamic.rela, image->file.dynamic.rela_size);
	read_relocations(reading, image->file.dynamic.jmprel, image->file.dynamic.jmprel_size);
	read_packed(reading);
	read_word_tables(reading);
	read_words(reading);
	for (size_t i = 0; i < image->labels; i++)
		facts_mark(facts, facts->pointed, image->label[i]);
	find_pieces(reading);
	read_tables(reading);
	find_computed(reading);
	follow_resolvers(image);
	calls_end(&facts->calls, image);
	words_end(&facts->words);
	free(reading->found.table);
	free(reading->found.words);
	free(reading->found.base);
	free(reading->found.leap);
	free(reading->indirect);
	free(reading->asks);
	asks_free(&reading->bound);
	free(reading);
}

void facts_free(struct facts *facts)
{
	free(facts->jumped);
	free(facts->called);
	free(facts->pointed);
	calls_free(&facts->calls);
	words_free(&facts->words);
	*facts = (struct facts){ 0 };
}
