/* SPDX-License-Identifier: MIT */
#include "audit/site/symbol.h"

#include <errno.h>  /* ENOMEM */
#include <stdbool.h>
#include <string.h> /* memchr, memset */

#include "audit/site/elf_file.h"
#include "audit/site/frame.h"
#include "runtime/base/search.h"

/*
 * Least significant byte first. Bytes that are equal in all addresses cost nothing, so a normal file takes three
 * rounds.
 */
int site_sort(struct arena *scratch, struct site_key *key, size_t count)
{
	struct site_key *from = key, *to;
	uint64_t varies = 0;
	int sorted = 1;

	for (size_t i = 1; i < count; i++) {
		varies |= key[i].address ^ key[0].address;
		sorted &= key[i - 1].address <= key[i].address;
	}
	if (sorted)
		return 0;
	to = arena_alloc(scratch, count * sizeof(*key));
	if (!to)
		return -ENOMEM;
	for (int shift = 0; shift < 64; shift += 8) {
		size_t place[256], next = 0;
		if (!(varies >> shift & 0xff))
			continue;
		memset(place, 0, sizeof(place));
		for (size_t i = 0; i < count; i++)
			place[from[i].address >> shift & 0xff]++;
		for (size_t b = 0; b < 256; b++) {
			size_t n = place[b];
			place[b] = next;
			next += n;
		}
		for (size_t i = 0; i < count; i++)
			to[place[from[i].address >> shift & 0xff]++] = from[i];
		struct site_key *swap = from;
		from = to;
		to = swap;
	}
	if (from != key)
		memcpy(key, from, count * sizeof(*key));
	return 0;
}

bool site_is_function(const Elf64_Sym *symbol)
{
	int type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_shndx != SHN_ABS && symbol->st_value;
}

static int best(const Elf64_Sym *symbol)
{
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return 2;
	case STB_WEAK:
		return 1;
	default:
		return 0;
	}
}

#define NAMES_PER_TEXT 16 /* all names together may take this many times the bytes of the string table */

const char *site_symbol_name(struct site_symtab *table, const Elf64_Sym *symbol, struct arena *arena, int *r)
{
	const char *text, *end, *name;

	if (!symbol->st_name || symbol->st_name >= table->text_size)
		return NULL;
	text = (const char *)table->text + symbol->st_name;
	end = memchr(text, 0, table->text_size - symbol->st_name);
	if (!end || end == text)
		return NULL;
	/* The linker may let names share their ends. In a forged file, all names may be ends of one text. */
	table->given += (uint64_t)(end - text);
	if (table->given / NAMES_PER_TEXT > table->text_size)
		return NULL;
	name = arena_string(arena, text, (size_t)(end - text));
	if (!name)
		*r = -ENOMEM;
	return name;
}

static struct site_symtab symtab_of_section(const struct site_file *file, uint32_t type)
{
	struct site_symtab table = {0};

	for (size_t i = 1; i < file->sections; i++) {
		Elf64_Shdr section, text;
		if (!site_section(file, i, &section) || section.sh_type != type)
			continue;
		table.symbol = site_section_bytes(file, &section);
		if (!table.symbol || !site_section(file, section.sh_link, &text))
			break;
		table.count = section.sh_size / sizeof(Elf64_Sym);
		table.text = site_section_bytes(file, &text);
		table.text_size = table.text ? text.sh_size : 0;
		return table;
	}
	return (struct site_symtab){0};
}

/*
 * The dynamic segment does not tell the number of symbols; the hash tables do. Finds the highest index in DT_GNU_HASH.
 */
static size_t count_gnu_hash(const struct site_file *file)
{
	uint32_t head[4], last = 0, word; /* buckets, first symbol, words of the filter, shift */
	size_t size;
	const uint8_t *p = site_file_at(file, file->dynamic.gnu_hash, &size);

	if (!p || size < sizeof(head))
		return 0;
	site_read(&head, p);
	p += sizeof(head);
	size -= sizeof(head);
	if (head[2] > size / 8 || head[0] > (size - head[2] * 8ul) / 4)
		return 0;
	p += head[2] * 8ul;
	size -= head[2] * 8ul;
	for (uint32_t b = 0; b < head[0]; b++) {
		site_read(&word, p + b * 4ul);
		if (word > last)
			last = word;
	}
	p += head[0] * 4ul;
	size -= head[0] * 4ul;
	if (last < head[1])
		return head[1];
	/* The chain of the bucket that begins last ends at the word with bit 0. */
	for (size_t i = last - head[1]; i < size / 4; i++) {
		site_read(&word, p + i * 4);
		if (word & 1)
			return head[1] + i + 1;
	}
	return 0;
}

static size_t count_hash(const struct site_file *file)
{
	uint32_t head[2];
	size_t size;
	const uint8_t *p = site_file_at(file, file->dynamic.hash, &size);

	if (!p || size < sizeof(head))
		return 0;
	site_read(&head, p);
	return head[1];
}

struct site_symtab site_dynsym(const struct site_file *file)
{
	struct site_symtab table = symtab_of_section(file, SHT_DYNSYM);
	size_t size;

	if (table.count || !file->dynamic.symtab)
		return table;
	table.symbol = site_file_at(file, file->dynamic.symtab, &size);
	if (!table.symbol)
		return (struct site_symtab){0};
	table.count = file->dynamic.hash ? count_hash(file) : 0;
	if (!table.count && file->dynamic.gnu_hash)
		table.count = count_gnu_hash(file);
	if (table.count > size / sizeof(Elf64_Sym))
		table.count = size / sizeof(Elf64_Sym);
	table.text = file->dynamic.strtab ? site_file_at(file, file->dynamic.strtab, &size) : NULL;
	if (table.text)
		table.text_size = size < file->dynamic.strtab_size ? size : file->dynamic.strtab_size;
	return table;
}

static int load_table(struct site_file *file, struct site_symtab table)
{
	struct site_names *names = &file->names;
	Elf64_Sym symbol, before;
	size_t n = 0;
	int r;

	names->table = table;
	names->count = 0;
	if (!table.count)
		return 0;
	names->key = arena_alloc(&file->scratch, table.count * sizeof(*names->key));
	if (!names->key)
		return -ENOMEM;
	for (size_t i = 0; i < table.count && i < UINT32_MAX; i++) {
		site_read(&symbol, table.symbol + i * sizeof(symbol));
		if (site_is_function(&symbol))
			names->key[n++] = (struct site_key){symbol.st_value, (uint32_t)i};
	}
	r = site_sort(&file->scratch, names->key, n);
	if (r)
		return r;
	for (size_t i = 0; i < n; i++) {
		struct site_key *last = names->count ? &names->key[names->count - 1] : NULL;
		if (last && last->address == names->key[i].address) {
			site_read(&symbol, table.symbol + names->key[i].index * sizeof(symbol));
			site_read(&before, table.symbol + last->index * sizeof(before));
			if (best(&symbol) > best(&before))
				*last = names->key[i];
		} else {
			names->key[names->count++] = names->key[i];
		}
	}
	return 0;
}

int site_names_load(struct site_file *file)
{
	int r;

	if (file->names.loaded)
		return 0;
	site_frames_load(file);
	r = load_table(file, symtab_of_section(file, SHT_SYMTAB));
	file->names.all = file->names.count > 0;
	if (!r && !file->names.all)
		r = load_table(file, site_dynsym(file));
	file->names.loaded = !r;
	return r;
}

/* Index of the first named function at or after the address; names.count when there is none. */
static size_t name_at(struct site_file *file, uint64_t address)
{
	size_t low = 0, high = file->names.count, near = file->names.last;

	/* Callers ask for functions in order of address, so look after the last result, in growing steps. */
	if (near < high && file->names.key[near].address < address) {
		size_t step = 1;
		while (low = near + 1, step < high - near && file->names.key[near + step].address < address) {
			near += step;
			step *= 2;
		}
		if (step < high - near)
			high = near + step;
	} else if (near < high && (!near || file->names.key[near - 1].address < address)) {
		return near;
	}
	low = SEARCH(i, low, high, file->names.key[i].address < address);
	file->names.last = low;
	return low;
}

uint64_t site_start(struct site_file *file, uint64_t from, uint64_t to)
{
	size_t i = name_at(file, from);
	uint64_t start = i < file->names.count ? file->names.key[i].address : 0;

	if (start > to)
		start = 0;
	if (start == from || file->names.all)
		return start;
	i = site_frame_at(file, from);
	if (i < file->frames.count) {
		uint64_t frame = site_frame(file, i);
		/* The table may be out of order in a damaged file. */
		if (frame >= from && frame <= to && (!start || frame < start))
			start = frame;
	}
	return start;
}

static const uint8_t *symbol_of_key(const struct site_names *names, size_t i)
{
	return names->table.symbol + names->key[i].index * sizeof(Elf64_Sym);
}

/*
 * Symbols and strings of neighbouring functions lie far apart (linkers order global symbols by hash); waiting for
 * memory took 40 % of a scan of 40 000 functions. Callers go on to the next functions: fetch the symbols of these, and
 * the strings of functions whose symbols were fetched before.
 */
static void fetch_ahead(const struct site_names *names, size_t i)
{
	Elf64_Sym symbol;

	if (i + 16 >= names->count)
		return;
	__builtin_prefetch(symbol_of_key(names, i + 16));
	site_read(&symbol, symbol_of_key(names, i + 8));
	if (symbol.st_name < names->table.text_size)
		__builtin_prefetch(names->table.text + symbol.st_name);
}

/*
 * Does a function of this start and size hold the address? If its size is unknown: yes, unless another function begins
 * in between.
 */
static int holds(struct site_file *file, uint64_t start, uint64_t size, uint64_t address)
{
	if (start > address || (size && address - start >= size))
		return 0;
	return size || start == address || !site_start(file, start + 1, address);
}

int site_holder(struct site_file *file, struct arena *arena, uint64_t address, struct site_function *function, int *r)
{
	size_t i = name_at(file, address);
	Elf64_Sym symbol;

	if (i && (i == file->names.count || file->names.key[i].address != address))
		i--;
	if (i < file->names.count) {
		site_read(&symbol, symbol_of_key(&file->names, i));
		if (holds(file, symbol.st_value, symbol.st_size, address)) {
			function->address = symbol.st_value;
			function->size = symbol.st_size;
			function->name = site_symbol_name(&file->names.table, &symbol, arena, r);
			return 1;
		}
	}
	i = site_frame_at(file, address);
	if (i && (i == file->frames.count || site_frame(file, i) != address))
		i--;
	if (i < file->frames.count && holds(file, site_frame(file, i), site_frame_size(file, i), address)) {
		function->address = site_frame(file, i);
		function->size = site_frame_size(file, i);
		return 1;
	}
	return 0;
}

int site_describe(struct site_file *file, struct arena *arena, struct site_function *function)
{
	size_t i = name_at(file, function->address);
	Elf64_Sym symbol;
	int r = 0;

	if (i < file->names.count && file->names.key[i].address == function->address) {
		fetch_ahead(&file->names, i);
		site_read(&symbol, symbol_of_key(&file->names, i));
		function->size = symbol.st_size;
		function->name = site_symbol_name(&file->names.table, &symbol, arena, &r);
	}
	if (!function->size) {
		i = site_frame_at(file, function->address);
		if (i < file->frames.count && site_frame(file, i) == function->address)
			function->size = site_frame_size(file, i);
	}
	return r;
}
