/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/index/image_names.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "audit/bind/nointercept.h"
#include "audit/site/symbol.h"
#include "tool/base/memory.h"
#include "tool/index/debug.h"
#include "tool/index/image.h"
#include "tool/index/runtimes.h"

#define NAMES_PER_BYTE 16     /* of the file */
#define VERSION_HIDDEN 0x8000 /* in a table of versions: programs are not linked with this one */

static int grow(size_t count)
{
	return !(count & (count - 1));
}

void image_add(struct image *image, uint64_t address, uint64_t size, const char *name, int rank)
{
	size_t length = name ? strlen(name) : 0;

	/*
	 * Names may share their bytes in a file, but in no file that a linker wrote do they share that many. A function
	 * whose name would be too much keeps "": it is one that a symbol tells of.
	 */
	if (image->name_bytes + length > NAMES_PER_BYTE * (uint64_t)image->file.size)
		length = 0;
	image->name_bytes += length;
	/* One room more each time that the count is a power of two. */
	if (grow(image->functions))
		image->function = memory_resize(
			image->function, image->functions ? 2 * image->functions : 1, sizeof(*image->function));
	image->function[image->functions++] = (struct image_function){ .address = address,
		.size = size,
		.name = name && *name ? memory_text(name, length) : NULL,
		.rank = (uint8_t)(rank + 1),
		.never = name && nointercept_name(name) };
}

static void add_label(struct image *image, uint64_t address)
{
	if (grow(image->labels))
		image->label =
			memory_resize(image->label, image->labels ? 2 * image->labels : 1, sizeof(*image->label));
	image->label[image->labels++] = address;
}

/* Names of compilers for other languages than C begin so, too, whatever people call the function. */
static bool is_internal(const char *name)
{
	return name[0] == '_' && strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0;
}

/*
 * Of several names of one function the best is what people type: an exported one, without a leading '_', of the default
 * version; what is no local one; then the shortest (image.c).
 */
static int rank_of(const Elf64_Sym *symbol, const char *name, bool exported, bool old)
{
	return (exported ? 8 : 0) | (!is_internal(name) ? 4 : 0) | (!old ? 2 : 0) |
	       (ELF64_ST_BIND(symbol->st_info) != STB_LOCAL ? 1 : 0);
}

/* name may bear a version: "memcpy@@GLIBC_2.14". old: it has one that is not what programs are linked with today. */
static void add_symbol(
	struct image *image, const Elf64_Sym *symbol, uint64_t address, const char *name, bool exported, bool old)
{
	int type = ELF64_ST_TYPE(symbol->st_info);
	char plain[4096];

	if (name && symbol->st_shndx != SHN_UNDEF)
		image_runtime_symbol(image, name, address);
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || !image_section(image, address))
		return;
	if (type != STT_FUNC && type != STT_GNU_IFUNC) {
		if (type == STT_NOTYPE || type == STT_OBJECT)
			add_label(image, address);
		return;
	}
	const char *at = name ? strchr(name, '@') : NULL;
	if (at && at > name && (size_t)(at - name) < sizeof(plain)) {
		memcpy(plain, name, (size_t)(at - name));
		plain[at - name] = '\0';
		name = plain;
		old |= at[1] != '@';
	}
	image_add(image, address, symbol->st_size, name, name ? rank_of(symbol, name, exported, old) : 0);
	image->function[image->functions - 1].exported = exported;
	image->function[image->functions - 1].resolver = type == STT_GNU_IFUNC;
}

/* The versions of the dynamic symbols, as many as there are; NULL: they have none, or nobody says which. */
static const uint8_t *versions(const struct site_file *file, size_t count)
{
	Elf64_Shdr section;

	for (size_t i = 1; i < file->sections; i++)
		if (site_section(file, i, &section) && section.sh_type == SHT_GNU_versym)
			return section.sh_size / 2 < count ? NULL : site_section_bytes(file, &section);
	return NULL;
}

static void exported_names(struct image *image)
{
	struct site_symtab table = site_dynsym(&image->file);
	const uint8_t *version = versions(&image->file, table.count);

	for (size_t i = 1; i < table.count; i++) {
		Elf64_Sym symbol;
		site_read(&symbol, table.symbol + i * sizeof(symbol));
		if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_name >= table.text_size)
			continue;
		const char *name = (const char *)table.text + symbol.st_name;
		Elf64_Versym number = 0;
		if (version)
			site_read(&number, version + i * sizeof(number));
		if (memchr(name, 0, table.text_size - symbol.st_name))
			add_symbol(image, &symbol, symbol.st_value, name, true, number & VERSION_HIDDEN);
	}
}

/* libdwfl finds and checks the debug file, and unpacks .gnu_debugdata. */
static void all_names(struct image *image, int fd, const char *path)
{
	Dwfl_Module *module;
	Dwfl *dwfl = debug_open(fd, path, &module);
	GElf_Addr bias;

	if (!dwfl)
		return;
	Elf *elf = dwfl_module_getelf(module, &bias);
	int count = dwfl_module_getsymtab(module);
	for (int i = 1; elf && i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
		if (!name)
			continue;
		size_t before = image->functions;
		add_symbol(image, &symbol, address - bias, name, false, false);
		if (before < image->functions && ELF64_ST_BIND(symbol.st_info) == STB_LOCAL)
			image->symbols = true;
	}
	dwfl_end(dwfl);
}

void image_names(struct image *image, int fd, const char *path)
{
	exported_names(image);
	all_names(image, fd, path);
	image_runtime(image);
}
