/* SPDX-License-Identifier: MIT */
#include "tool/index/facts.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "audit/site/symbol.h"
#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/index/asks_caller.h"
#include "tool/index/body.h"
#include "tool/index/frames.h"

#define TABLE_MAX 65536 /* entries of one jump table */

/* What may be a jump table: an address that this function loads or reads by index. */
struct table {
	uint64_t address;
	uint64_t end; /* of absolute ones, when they were read */
	uint32_t function;
};

/*
 * A place of its own that a function takes the address of. Distances of a table may count from there instead of from
 * the table: that is how computed gotos are written whose table needs no relocations.
 */
struct base {
	uint64_t address;
	uint32_t function;
};

/* A jump from one function's code to another one's beginning. */
struct leap {
	uint32_t from, to;
	bool bound; /* by way of a word that ld.so fills: a call to the end, whomever it comes to */
};

struct reading {
	struct facts *facts;
	struct image *image;
	struct table *table; /* of 32-bit distances */
	size_t tables;
	struct table *words; /* of addresses, in programs at fixed ones */
	size_t word_tables;
	struct base *base; /* by function */
	size_t bases;
	struct leap *leap;
	size_t leaps;
	bool *indirect; /* of function i: it jumps through a register */
	bool *asks;	/* of function i: it jumps to what asks its return address who called it */
	struct asks bound;
	uint64_t told, told_end; /* addresses of calls (CALLS_SECTION), which nobody jumps to */
	struct body body;
};

static void mark(struct facts *facts, uint64_t *map, uint64_t address)
{
	uint64_t at = address - facts->low;

	if (at < facts->size)
		map[at / 64] |= (uint64_t)1 << at % 64;
}

static bool in_code(const struct facts *facts, uint64_t address)
{
	return address - facts->low < facts->size;
}

#define APPEND(array, count, ...)                                                                    \
	do {                                                                                         \
		if (!((count) & ((count)-1)))                                                        \
			(array) = memory_resize(array, (count) ? 2 * (count) : 1, sizeof(*(array))); \
		(array)[(count)++] = __VA_ARGS__;                                                    \
	} while (0)

/* Behind an endbr64 is a beginning, too. */
static bool is_beginning(const struct image_function *function, uint64_t target)
{
	return target == function->address || target == function->address + function->skip;
}

/* A jump of function i that leaves it. */
static void leaves(struct reading *reading, uint32_t i, uint64_t target, bool conditional)
{
	struct image *image = reading->image;
	size_t to = image_before(image, target);

	if (to >= image->functions || target >= image->function[to].end)
		return;
	if (!image->function[to].owner)
		image->function[to].owner = i + 1;
	image->function[to].conditional |= conditional && target == image->function[to].address;
	if (is_beginning(&image->function[to], target))
		APPEND(reading->leap, reading->leaps, (struct leap){ i, (uint32_t)to, false });
}

/* Function i takes an address in the code. */
static void points(struct reading *reading, uint32_t i, uint64_t target)
{
	const struct image_function *function = i < reading->image->functions ? &reading->image->function[i] : NULL;

	mark(reading->facts, reading->facts->pointed, target);
	if (function && target >= function->address && target < function->end)
		APPEND(reading->base, reading->bases, (struct base){ target, i });
}

/* Function i ends with a jump to where the word at this address says. */
static void jumps_by(struct reading *reading, uint32_t i, uint64_t address)
{
	uint32_t to = asks_at(&reading->bound, address);

	if (to == ASKS_IT)
		reading->asks[i] = true;
	else if (to != ASKS_NONE && to != i)
		APPEND(reading->leap, reading->leaps, (struct leap){ i, to, true });
}

static void see(struct reading *reading, uint32_t i, const struct insn *insn)
{
	struct facts *facts = reading->facts;
	struct image_function *function = i < reading->image->functions ? &reading->image->function[i] : NULL;
	uint64_t slot;

	if (insn->flow == INSN_CALL || insn->flow == INSN_CALL_INDIRECT)
		calls_see(&facts->calls, reading->image, i, insn);
	words_see(&facts->words, insn);
	if (insn->relative) {
		mark(facts, insn->flow == INSN_CALL ? facts->called : facts->jumped, insn->target);
		if (!function || insn->flow == INSN_CALL)
			return;
		if (reading->bound.count && (slot = calls_slot(reading->image, insn->target)))
			jumps_by(reading, i, slot);
		if (insn->target < function->address || insn->target >= function->end)
			leaves(reading, i, insn->target, insn->flow != INSN_JUMP);
		else if (is_beginning(function, insn->target))
			APPEND(reading->leap, reading->leaps, (struct leap){ i, i, false });
		return;
	}
	if (insn->flow == INSN_JUMP_INDIRECT && function && (insn->rm != INSN_NO_REG || insn->base != INSN_RIP))
		reading->indirect[i] = true;
	if (insn->flow == INSN_JUMP_INDIRECT && function && insn->base == INSN_RIP)
		jumps_by(reading, i, insn->target);
	if (insn->base == INSN_RIP && insn->memory) {
		if (in_code(facts, insn->target))
			points(reading, i, insn->target);
		/* Tables may lie in the code, too. */
		if (insn->map == 0 && insn->opcode == 0x8d)
			APPEND(reading->table, reading->tables,
				(struct table){ .address = insn->target, .function = i });
	}
	/* An absolute table of addresses, by index, for a jump. */
	if (reading->image->fixed && insn->memory && insn->base == INSN_NO_REG && insn->index != INSN_NO_REG &&
		(insn->flow == INSN_JUMP_INDIRECT ||
			(insn->flow == INSN_NEXT && insn->map == 0 && insn->opcode == 0x8b)))
		APPEND(reading->words, reading->word_tables,
			(struct table){ .address = (uint64_t)(int64_t)insn->displacement, .function = i });
	/* An absolute table of distances, by index: movslq. */
	if (reading->image->fixed && insn->memory && insn->base == INSN_NO_REG && insn->index != INSN_NO_REG &&
		insn->map == 0 && insn->opcode == 0x63)
		APPEND(reading->table, reading->tables,
			(struct table){ .address = (uint64_t)(int64_t)insn->displacement, .function = i });
	if (reading->image->fixed && insn->has_immediate) {
		if (in_code(facts, (uint64_t)insn->immediate))
			points(reading, i, (uint64_t)insn->immediate);
		else if (insn->map == 0 && ((insn->opcode & 0xf8) == 0xb8 || insn->opcode == 0xc7))
			APPEND(reading->table, reading->tables,
				(struct table){ .address = (uint64_t)insn->immediate, .function = i });
	}
}

/* Decodes a piece of code that lies between two beginnings of functions. */
static void decode(struct reading *reading, uint32_t i, const uint8_t *p, uint64_t from, uint64_t to)
{
	struct facts *facts = reading->facts;
	struct image_function *function = i < reading->image->functions ? &reading->image->function[i] : NULL;
	uint64_t address = from;

	if (function) {
		body_begin(&reading->body, function->frame, address, function->end);
		function->start = !body_is_function(&reading->body) || address == reading->image->file.header->e_entry;
	}
	while (address < to) {
		struct insn insn;
		if (!insn_decode(p + (address - from), to - address, address, &insn)) {
			if (function && address < function->end)
				function->undecodable = true;
			address++;
			continue;
		}
		/* What is behind its end is padding, or code that nobody told us of. */
		bool own = function && address < function->end;
		see(reading, own ? i : UINT32_MAX, &insn);
		facts->instructions++;
		address += insn.length;
		if (!own)
			continue;
		body_see(&reading->body, &insn);
		/* A call that stands last does not come back. */
		function->closed = address == function->end &&
				   (insn_ends(&insn) || insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT);
	}
	facts->decoded += to - from;
	if (!function)
		return;
	body_end(&reading->body);
	function->stack = reading->body.stack;
	function->reads_return = reading->body.reads_return;
}

static void decode_all(struct reading *reading)
{
	struct image *image = reading->image;
	size_t i = 0;

	for (size_t c = 0; c < image->codes; c++) {
		const struct image_code *code = &image->code[c];
		uint64_t address = code->address, end = code->address + code->size;
		while (i < image->functions && image->function[i].address < address)
			i++;
		while (address < end) {
			bool starts = i < image->functions && image->function[i].address == address;
			uint32_t own = starts ? (uint32_t)i : UINT32_MAX;
			if (starts)
				i++;
			uint64_t next = i < image->functions && image->function[i].address < end
						? image->function[i].address
						: end;
			decode(reading, own, code->bytes + (address - code->address), address, next);
			address = next;
		}
	}
}

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
	size_t low = SEARCH(i, 0, reading->bases, reading->base[i].function < function);
	bool found = false;

	for (; low < reading->bases && reading->base[low].function == function; low++) {
		uint64_t target = reading->base[low].address + (uint64_t)(int64_t)distance;
		const struct image_function *own = &reading->image->function[function];
		if (target < own->address || target >= own->end)
			continue;
		mark(reading->facts, reading->facts->jumped, target);
		found = true;
	}
	return found;
}

static void read_tables(struct reading *reading)
{
	struct facts *facts = reading->facts;

	if (reading->tables)
		qsort(reading->table, reading->tables, sizeof(*reading->table), by_table);
	for (size_t t = 0; t < reading->tables;) {
		uint64_t address = reading->table[t].address, end = UINT64_MAX;
		size_t first = t;
		bool wanted = false;
		for (; t < reading->tables && reading->table[t].address == address; t++)
			wanted |= reading->table[t].function >= reading->image->functions ||
				  reading->indirect[reading->table[t].function];
		if (t < reading->tables)
			end = reading->table[t].address;
		size_t size;
		const uint8_t *p = wanted ? site_file_at(&reading->image->file, address, &size) : NULL;
		for (size_t n = 0; p && n < TABLE_MAX && size >= 4 && end - address >= 4 * (n + 1); n++) {
			int32_t distance;
			memcpy(&distance, p, 4);
			bool found = in_code(facts, address + (uint64_t)(int64_t)distance);
			if (found)
				mark(facts, facts->jumped, address + (uint64_t)(int64_t)distance);
			for (size_t u = first; u < t; u++)
				if (u == first || reading->table[u].function != reading->table[u - 1].function)
					found |= from_bases(reading, reading->table[u].function, distance);
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

	mark(facts, facts->jumped, address);
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
		for (size_t l = 0; l < reading->leaps; l++) {
			const struct leap *leap = &reading->leap[l];
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
		mark(reading->facts, reading->facts->pointed, target);
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
	mark(reading->facts, reading->facts->pointed, word);
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

	if (reading->word_tables)
		qsort(reading->words, reading->word_tables, sizeof(*reading->words), by_table);
	for (size_t t = 0; t < reading->word_tables; t++) {
		const struct table *table = &reading->words[t];
		if (table->function < reading->image->functions && !reading->indirect[table->function])
			continue;
		if (!kept || reading->words[kept - 1].address != table->address)
			reading->words[kept++] = *table;
	}
	reading->word_tables = kept;
	for (size_t t = 0; t < kept; t++) {
		uint64_t address = reading->words[t].address, word;
		size_t size;
		const uint8_t *p = site_file_at(&reading->image->file, address, &size);
		for (; p && size >= 8 && (t + 1 == kept || address < reading->words[t + 1].address);
			address += 8, p += 8, size -= 8) {
			memcpy(&word, p, 8);
			if (!in_code(facts, word))
				break;
			mark(facts, facts->jumped, word);
		}
		reading->words[t].end = address;
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
			while (t < reading->word_tables && reading->words[t].end <= address)
				t++;
			if ((t < reading->word_tables && reading->words[t].address <= address) ||
				is_told(reading, address))
				continue;
			memcpy(&word, p + i, sizeof(word));
			mark(reading->facts, reading->facts->pointed, word);
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
	for (size_t l = 0; l < reading->leaps; l++) {
		struct leap *leap = &reading->leap[l];
		const struct image_function *from = &image->function[leap->from];
		if (!leap->bound && (leap->from == leap->to || (from->piece && from->owner == leap->to + 1)))
			image->function[leap->to].loops = true;
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

void facts_read(struct facts *facts, struct image *image)
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
	decode_all(reading);
	follow_asking(reading);
	for (size_t i = 0; i < image->frames->count; i++)
		frame_pads(&image->frames->frame[i], &image->file, pad, facts);
	read_relocations(reading, image->file.dynamic.rela, image->file.dynamic.rela_size);
	read_relocations(reading, image->file.dynamic.jmprel, image->file.dynamic.jmprel_size);
	read_packed(reading);
	read_word_tables(reading);
	read_words(reading);
	for (size_t i = 0; i < image->labels; i++)
		mark(facts, facts->pointed, image->label[i]);
	find_pieces(reading);
	read_tables(reading);
	follow_resolvers(image);
	calls_end(&facts->calls, image);
	words_end(&facts->words);
	free(reading->table);
	free(reading->words);
	free(reading->base);
	free(reading->leap);
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
