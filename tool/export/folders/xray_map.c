/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/xray_map.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"

/* An entry of the table, version 2: places are relative to the fields themselves. */
struct sled {
	int64_t address, function;
	uint8_t kind; /* 0: the entry of a function */
	uint8_t always, version;
	uint8_t zero[13];
};
_Static_assert(sizeof(struct sled) == 32, "XRay's sleds");

#define MAP_ADDRESS 0x10000 /* below all objects */

#define SECTIONS_MOST 60000 /* of objects: ELF has 16 bits; the last one stands for the rest */

/* Sections come in this order; those of objects follow. */
enum { SECTION_NONE, SECTION_NAMES, SECTION_MAP, SECTION_STRINGS, SECTION_SYMBOLS, SECTION_OBJECT };

struct strings {
	char *text;
	size_t size, room;
};

/* All that ends up in the file: libelf has pointers to it until it is written. */
struct map {
	struct strings section_names, names;
	struct sled *sled;
	Elf64_Sym *symbol;
	uint32_t symbols;
};

/* A harmless copy of a name, behind the others. Returns where it is. */
static uint32_t add_string(struct strings *strings, const char *text)
{
	size_t length = strlen(text) + 1, at = strings->size;

	while (strings->size + length > strings->room) {
		strings->room = strings->room ? strings->room * 2 : 4096;
		strings->text = memory_resize(strings->text, strings->room, 1);
	}
	memcpy(strings->text + at, text, length);
	strings->size = at + text_clean(strings->text + at) + 1;
	return (uint32_t)at;
}

static void add_symbol(struct map *map, const char *name, uint8_t type, uint16_t section, uint64_t address)
{
	map->symbol = memory_grow(map->symbol, map->symbols, sizeof(*map->symbol));
	map->symbol[map->symbols++] = (Elf64_Sym){ .st_name = add_string(&map->names, name),
		.st_info = ELF64_ST_INFO(STB_LOCAL, type), .st_shndx = section, .st_value = address };
}

static void make_symbols(struct map *map, struct places *places)
{
	const struct places_function *at;
	uint32_t object = UINT32_MAX;

	add_symbol(map, "", STT_NOTYPE, SHN_UNDEF, 0);
	for (uint32_t i = 0; (at = places_sorted(places, i)); i++) {
		if (at->object != object) {
			object = at->object;
			add_symbol(map, places->object[object].object->path, STT_FILE, SHN_ABS, 0);
		}
		uint32_t section = SECTION_OBJECT + (object < SECTIONS_MOST ? object : SECTIONS_MOST - 1);
		add_symbol(map, at->function->name, STT_FUNC, (uint16_t)section, at->address);
	}
}

static void make_sleds(struct map *map, struct places *places, const struct xaudit_read_function *const *function,
	uint32_t count)
{
	map->sled = memory_zeroed(count + 1, sizeof(*map->sled));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t own = MAP_ADDRESS + i * sizeof(*map->sled);
		uint64_t address = places_function(places, function[i])->address;

		map->sled[i] = (struct sled){ .address = (int64_t)(address - own),
			.function = (int64_t)(address - own - offsetof(struct sled, function)), .version = 2 };
	}
}

/* buffer NULL: the section has a size, but no bytes in the file. */
static bool add_section(Elf *elf, const GElf_Shdr *header, void *buffer, size_t size, Elf_Type type)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = section ? elf_newdata(section) : NULL;
	GElf_Shdr own = *header;

	if (!data)
		return false;
	data->d_buf = buffer;
	data->d_size = size;
	data->d_type = type;
	data->d_align = own.sh_addralign;
	data->d_version = EV_CURRENT;
	return gelf_update_shdr(section, &own);
}

static bool add_sections(Elf *elf, struct map *map, const struct places *places, uint32_t count)
{
	struct strings *names = &map->section_names;
	uint32_t own, sleds, strings, symbols, *object = memory_zeroed(places->objects + 1, sizeof(*object));
	bool good;

	add_string(names, "");
	own = add_string(names, ".shstrtab");
	sleds = add_string(names, "xray_instr_map");
	strings = add_string(names, ".strtab");
	symbols = add_string(names, ".symtab");
	for (uint32_t i = 0; i < places->objects; i++)
		object[i] = add_string(names, places->object[i].object->path);
	good = add_section(elf, &(GElf_Shdr){ .sh_name = own, .sh_type = SHT_STRTAB, .sh_addralign = 1 },
			names->text, names->size, ELF_T_BYTE) &&
		add_section(elf, &(GElf_Shdr){ .sh_name = sleds, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			.sh_addr = MAP_ADDRESS, .sh_addralign = 8 }, map->sled, count * sizeof(*map->sled),
			ELF_T_BYTE) &&
		add_section(elf, &(GElf_Shdr){ .sh_name = strings, .sh_type = SHT_STRTAB, .sh_addralign = 1 },
			map->names.text, map->names.size, ELF_T_BYTE) &&
		add_section(elf, &(GElf_Shdr){ .sh_name = symbols, .sh_type = SHT_SYMTAB, .sh_link = SECTION_STRINGS,
			.sh_info = map->symbols, .sh_addralign = 8, .sh_entsize = sizeof(*map->symbol) }, map->symbol,
			map->symbols * sizeof(*map->symbol), ELF_T_SYM);
	for (uint32_t i = 0; good && i < places->objects && i < SECTIONS_MOST; i++) {
		const struct places_object *is = &places->object[i];

		good = add_section(elf, &(GElf_Shdr){ .sh_name = object[i], .sh_type = SHT_NOBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = is->base, .sh_addralign = 16 }, NULL,
			is->end - is->base, ELF_T_BYTE);
	}
	free(object);
	return good;
}

bool xray_map_write(int fd, struct places *places, const struct xaudit_read_function *const *function, uint32_t count)
{
	struct map map = { 0 };
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_WRITE, NULL);
	GElf_Ehdr header;
	bool good = false;

	if (!elf)
		return false;
	make_sleds(&map, places, function, count);
	make_symbols(&map, places);
	if (gelf_newehdr(elf, ELFCLASS64) && gelf_getehdr(elf, &header)) {
		header.e_ident[EI_DATA] = ELFDATA2LSB;
		header.e_type = ET_DYN;
		header.e_machine = EM_X86_64;
		header.e_version = EV_CURRENT;
		header.e_shstrndx = SECTION_NAMES;
		good = gelf_update_ehdr(elf, &header) && add_sections(elf, &map, places, count) &&
			elf_update(elf, ELF_C_WRITE) >= 0;
	}
	elf_end(elf);
	free(map.section_names.text);
	free(map.names.text);
	free(map.sled);
	free(map.symbol);
	return good;
}
