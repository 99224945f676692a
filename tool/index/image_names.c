/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/index/image_names.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/bind/nointercept.h"
#include "audit/site/symbol.h"
#include "tool/base/memory.h"
#include "tool/index/debug.h"
#include "tool/index/image.h"
#include "tool/index/runtimes.h"

#define NAMES_PER_BYTE 16 /* of the file */

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

/* Of several names of one function: global before weak before local; without a version. */
static int rank_of(const Elf64_Sym *symbol)
{
	int bind = ELF64_ST_BIND(symbol->st_info);

	return bind == STB_GLOBAL || bind == STB_GNU_UNIQUE ? 2 : bind == STB_WEAK ? 1 : 0;
}

/* name may bear a version: "memcpy@@GLIBC_2.14". */
static void add_symbol(struct image *image, const Elf64_Sym *symbol, uint64_t address, const char *name, bool exported)
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
	}
	image_add(image, address, symbol->st_size, name, rank_of(symbol));
	image->function[image->functions - 1].exported = exported;
	image->function[image->functions - 1].resolver = type == STT_GNU_IFUNC;
}

static void exported_names(struct image *image)
{
	struct site_symtab table = site_dynsym(&image->file);

	for (size_t i = 1; i < table.count; i++) {
		Elf64_Sym symbol;
		site_read(&symbol, table.symbol + i * sizeof(symbol));
		if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_name >= table.text_size)
			continue;
		const char *name = (const char *)table.text + symbol.st_name;
		if (memchr(name, 0, table.text_size - symbol.st_name))
			add_symbol(image, &symbol, symbol.st_value, name, true);
	}
}

/* libdwfl finds and checks the debug file, and unpacks .gnu_debugdata. */
static void all_names(struct image *image, int fd, const char *path)
{
	static char *debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = debug_find,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	Dwfl *dwfl = debug_begin(&callbacks);
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	GElf_Addr bias;

	if (!dwfl || own < 0)
		goto out;
	Dwfl_Module *module = dwfl_report_offline(dwfl, path, path, own);
	if (!module)
		goto out;
	own = -1; /* libdwfl's now */
	dwfl_report_end(dwfl, NULL, NULL);
	Elf *elf = dwfl_module_getelf(module, &bias);
	int count = dwfl_module_getsymtab(module);
	for (int i = 1; elf && i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
		if (!name)
			continue;
		size_t before = image->functions;
		add_symbol(image, &symbol, address - bias, name, false);
		if (before < image->functions && ELF64_ST_BIND(symbol.st_info) == STB_LOCAL)
			image->symbols = true;
	}
out:
	if (own >= 0)
		close(own);
	dwfl_end(dwfl);
}

void image_names(struct image *image, int fd, const char *path)
{
	exported_names(image);
	all_names(image, fd, path);
	image_runtime(image);
}
