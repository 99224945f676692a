/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/base/object_file.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/search.h"
#include "tool/base/build_id.h"
#include "tool/base/plain.h"

struct range {
	Dwarf_Addr begin, end;
	Dwarf_Die unit;
};

struct symbol {
	const char *name;
	uint64_t address, size;
};

struct object_file {
	char *path, *build_id;
	int fd, debug_fd;
	Elf *elf, *debug_elf; /* debug_elf: NULL: none of its own */
	Dwarf *dwarf;	      /* NULL: nothing is known of lines */
	struct range *range;  /* by address */
	size_t ranges;
	bool has_dwarf;	      /* it was looked for */
	struct symbol *symbol, *named; /* functions by address, and by name; made when asked for, as: */
	size_t symbols;
	bool has_symbols;
	struct symbol *variable; /* by address, of equal ones the larger one first */
	size_t variables;
	bool has_variables;
};

/* ---- files ---- */

static bool has_build_id(Elf *elf, const char *build_id)
{
	const void *bytes;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);

	return build_id_is(bytes, size, build_id);
}

/* Opens an ELF file with that build-id. The path comes from a trace: it may name anything. */
static Elf *open_elf(const char *path, const char *build_id, int *fd)
{
	*fd = plain_open(AT_FDCWD, path);
	if (*fd < 0)
		return NULL;
	Elf *elf = elf_begin(*fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && has_build_id(elf, build_id))
		return elf;
	elf_end(elf);
	close(*fd);
	return NULL;
}

/* Its debug information, if it has lines of a unit. */
static Dwarf *open_dwarf(Elf *elf)
{
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	Dwarf_CU *unit = NULL;

	if (dwarf && !dwarf_get_units(dwarf, NULL, &unit, NULL, NULL, NULL, NULL))
		return dwarf;
	dwarf_end(dwarf);
	return NULL;
}

static __attribute__((format(printf, 1, 2))) char *path_of(const char *format, ...)
{
	va_list list;
	char *path;

	va_start(list, format);
	if (vasprintf(&path, format, list) < 0)
		path = NULL;
	va_end(list);
	return path;
}

/* Takes the file if it has what we want. path is freed; NULL: no memory. */
static bool try_debug(struct object_file *object, char *path)
{
	Elf *elf = path ? open_elf(path, object->build_id, &object->debug_fd) : NULL;

	free(path);
	object->dwarf = open_dwarf(elf);
	if (object->dwarf) {
		object->debug_elf = elf;
		return true;
	}
	if (elf) {
		elf_end(elf);
		close(object->debug_fd);
	}
	return false;
}

static void find_debug(struct object_file *object)
{
	const char *roots = getenv("XAUDIT_DEBUG_PATH"), *slash = strrchr(object->path, '/');
	const char *link = dwelf_elf_gnu_debuglink(object->elf, &(GElf_Word){ 0 });
	int folder = slash ? (int)(slash - object->path) : 0;

	/* The name comes from the file: it is one, not a path. */
	if (link && (strchr(link, '/') || !slash))
		link = NULL;
	if (link && (try_debug(object, path_of("%.*s/%s", folder, object->path, link)) ||
			    try_debug(object, path_of("%.*s/.debug/%s", folder, object->path, link))))
		return;
	for (const char *root = roots && *roots ? roots : "/usr/lib/debug"; *root;) {
		int length = (int)strcspn(root, ":");

		if (try_debug(object, path_of("%.*s/.build-id/%.2s/%s.debug", length, root, object->build_id,
					      object->build_id + 2)))
			return;
		if (link && try_debug(object,
				    path_of("%.*s%.*s/%s", length, root, folder, object->path, link)))
			return;
		root += length + (root[length] == ':');
	}
}

static int by_address(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void list_ranges(struct object_file *object)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	size_t room = 0;

	while (!dwarf_get_units(object->dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		Dwarf_Addr base, begin, end;
		for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;) {
			if (begin >= end)
				continue;
			if (object->ranges == room) {
				room = room ? 2 * room : 64;
				struct range *more = reallocarray(object->range, room, sizeof(*more));
				if (!more)
					return;
				object->range = more;
			}
			object->range[object->ranges++] = (struct range){ begin, end, die };
		}
	}
	if (object->ranges)
		qsort(object->range, object->ranges, sizeof(*object->range), by_address);
}

struct object_file *object_file_open(const char *path, const char *build_id)
{
	struct object_file *object = strlen(build_id) < 4 ? NULL : calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	elf_version(EV_CURRENT);
	object->path = strdup(path);
	object->build_id = strdup(build_id);
	if (object->path && object->build_id)
		object->elf = open_elf(path, build_id, &object->fd);
	if (!object->elf) {
		object_file_close(object);
		return NULL;
	}
	return object;
}

/* Finds debug information, and the file that has it, when it is asked for. */
static void need_dwarf(struct object_file *object)
{
	if (object->has_dwarf)
		return;
	object->has_dwarf = true;
	object->dwarf = open_dwarf(object->elf);
	if (!object->dwarf)
		find_debug(object);
	if (object->dwarf)
		list_ranges(object);
}

void object_file_close(struct object_file *object)
{
	if (!object)
		return;
	dwarf_end(object->dwarf);
	if (object->debug_elf) {
		elf_end(object->debug_elf);
		close(object->debug_fd);
	}
	if (object->elf) {
		elf_end(object->elf);
		close(object->fd);
	}
	free(object->range);
	free(object->symbol);
	free(object->named);
	free(object->variable);
	free(object->path);
	free(object->build_id);
	free(object);
}

Elf *object_file_debug(const struct object_file *object)
{
	return object->debug_elf;
}

/* ---- lines ---- */

bool object_file_line(struct object_file *object, uint64_t address, const char **source, int *line)
{
	need_dwarf(object);
	size_t low = SEARCH(i, 0, object->ranges, object->range[i].begin <= address);

	if (!low || address >= object->range[low - 1].end)
		return false;
	Dwarf_Line *found = dwarf_getsrc_die(&object->range[low - 1].unit, address);
	if (!found || dwarf_lineno(found, line) || *line <= 0)
		return false;
	*source = dwarf_linesrc(found, NULL, NULL);
	return *source != NULL;
}

/* ---- symbols ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

/* Of one place the name that comes first in the alphabet, so that it is the same one in each reading. */
static int by_place(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1) : by_name(a, b);
}

static bool is_function(const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_FUNC || GELF_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
}

static bool is_variable(const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size;
}

static void add_symbols(struct symbol **list, size_t *count, Elf *elf, bool (*is_wanted)(const GElf_Sym *symbol))
{
	for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
		GElf_Shdr head;
		Elf_Data *data;

		if (!gelf_getshdr(section, &head) || (head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM) ||
			!head.sh_entsize || !(data = elf_getdata(section, NULL)))
			continue;
		size_t all = data->d_size / head.sh_entsize;
		struct symbol *more = reallocarray(*list, *count + all + 1, sizeof(*more));
		if (!more)
			return;
		*list = more;
		for (size_t i = 0; i < all && i <= INT32_MAX; i++) {
			GElf_Sym symbol;
			if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF || !is_wanted(&symbol))
				continue;
			const char *name = elf_strptr(elf, head.sh_link, symbol.st_name);
			if (name && *name)
				more[(*count)++] = (struct symbol){ name, symbol.st_value, symbol.st_size };
		}
	}
}

static void list_symbols(struct object_file *object)
{
	if (object->has_symbols)
		return;
	object->has_symbols = true;
	need_dwarf(object);
	add_symbols(&object->symbol, &object->symbols, object->elf, is_function);
	add_symbols(&object->symbol, &object->symbols, object->debug_elf, is_function);
	object->named = calloc(object->symbols + 1, sizeof(*object->named));
	if (!object->named || !object->symbols) {
		object->symbols = 0;
		return;
	}
	memcpy(object->named, object->symbol, object->symbols * sizeof(*object->named));
	qsort(object->named, object->symbols, sizeof(*object->named), by_name);
	qsort(object->symbol, object->symbols, sizeof(*object->symbol), by_place);
}

const char *object_file_function(struct object_file *object, uint64_t address, uint64_t *start)
{
	list_symbols(object);
	size_t i = SEARCH(k, 0, object->symbols, object->symbol[k].address <= address);
	const struct symbol *found = NULL;

	/* Of those at the nearest place below the first one that reaches to here. */
	for (; i && (!found || object->symbol[i - 1].address == found->address); i--) {
		const struct symbol *symbol = &object->symbol[i - 1];
		if (found && address - symbol->address >= symbol->size)
			continue;
		found = symbol;
	}
	if (!found || (found->size ? address - found->address >= found->size : address != found->address))
		return NULL;
	*start = found->address;
	return found->name;
}

uint64_t object_file_address(struct object_file *object, const char *name)
{
	list_symbols(object);
	size_t low = SEARCH(i, 0, object->symbols, strcmp(object->named[i].name, name) < 0);

	if (low == object->symbols || strcmp(object->named[low].name, name))
		return 0;
	uint64_t address = object->named[low].address;
	for (; low < object->symbols && !strcmp(object->named[low].name, name); low++)
		if (object->named[low].address != address)
			return 0;
	return address;
}

static int by_extent(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->size != y->size ? (x->size > y->size ? -1 : 1) : by_name(a, b);
}

static void list_variables(struct object_file *object)
{
	if (object->has_variables)
		return;
	object->has_variables = true;
	need_dwarf(object);
	add_symbols(&object->variable, &object->variables, object->elf, is_variable);
	add_symbols(&object->variable, &object->variables, object->debug_elf, is_variable);
	if (object->variables)
		qsort(object->variable, object->variables, sizeof(*object->variable), by_extent);
}

const char *object_file_variable(struct object_file *object, uint64_t address, uint64_t *start)
{
	list_variables(object);
	size_t low = SEARCH(i, 0, object->variables, object->variable[i].address <= address);

	while (low--) {
		const struct symbol *variable = &object->variable[low];
		if (address - variable->address < variable->size) {
			/* Of several names the first one. */
			for (; low && variable[-1].address == variable->address && variable[-1].size == variable->size;
				low--)
				variable--;
			*start = variable->address;
			return variable->name;
		}
		/* Variables that are members of others are few. */
		if (address - variable->address > 1 << 20)
			break;
	}
	return NULL;
}

struct Elf *object_file_elf(const struct object_file *object)
{
	return object->elf;
}
