/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/term/srcline.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/search.h"
#include "tool/base/build_id.h"
#include "tool/base/hash.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/plain.h"
#include "tool/base/tool.h"
#include "tool/read/api/xaudit-read-facts.h"
#include "tool/show/term/term.h"

static bool wanted;

bool srcline_take(const struct options_given *given)
{
	(void)given;
	wanted = true;
	return true;
}

bool srcline_wanted(void)
{
	return wanted;
}

struct line {
	const char *file; /* NULL: not known */
	int line;
};

struct known {
	uint64_t address;
	struct line line;
};

struct range {
	Dwarf_Addr begin, end;
	Dwarf_Die unit;
};

struct symbol {
	const char *name;
	uint64_t address;
};

struct object {
	char *path, *build_id;
	bool opened, doubtful; /* there are several of that path */
	int fd, debug_fd;
	Elf *elf, *debug_elf; /* debug_elf: NULL: none of its own */
	Dwarf *dwarf;	      /* NULL: nothing is known */
	struct range *range;  /* by address */
	size_t ranges;
	struct symbol *symbol; /* by name; made when asked for */
	size_t symbols;
	bool has_symbols;
	struct known *known; /* what was looked up */
	uint32_t knowns;
	struct hash by_address; /* of known[]; the hash is made of the address */
};

static struct object **objects;
static size_t object_count;

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

/* Takes the file if it has what we want. path is freed. */
static bool try_debug(struct object *object, char *path)
{
	Elf *elf = open_elf(path, object->build_id, &object->debug_fd);

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

static void find_debug(struct object *object)
{
	const char *roots = getenv("XAUDIT_DEBUG_PATH"), *slash = strrchr(object->path, '/');
	const char *link = dwelf_elf_gnu_debuglink(object->elf, &(GElf_Word){ 0 });
	int folder = slash ? (int)(slash - object->path) : 0;

	/* The name comes from the file: it is one, not a path. */
	if (link && (strchr(link, '/') || !slash))
		link = NULL;
	if (link && (try_debug(object, memory_format("%.*s/%s", folder, object->path, link)) ||
			    try_debug(object, memory_format("%.*s/.debug/%s", folder, object->path, link))))
		return;
	for (const char *root = roots && *roots ? roots : "/usr/lib/debug"; *root;) {
		int length = (int)strcspn(root, ":");

		if (try_debug(object, memory_format("%.*s/.build-id/%.2s/%s.debug", length, root, object->build_id,
					      object->build_id + 2)))
			return;
		if (link && try_debug(object,
				    memory_format("%.*s%.*s/%s", length, root, folder, object->path, link)))
			return;
		root += length + (root[length] == ':');
	}
}

static int by_address(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void list_ranges(struct object *object)
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
				object->range = memory_resize(object->range, room, sizeof(*object->range));
			}
			object->range[object->ranges++] = (struct range){ begin, end, die };
		}
	}
	if (object->ranges)
		qsort(object->range, object->ranges, sizeof(*object->range), by_address);
}

static void open_object(struct object *object)
{
	object->opened = true;
	if (object->doubtful || strlen(object->build_id) < 4)
		return;
	elf_version(EV_CURRENT);
	object->elf = open_elf(object->path, object->build_id, &object->fd);
	if (!object->elf)
		return;
	object->dwarf = open_dwarf(object->elf);
	if (!object->dwarf)
		find_debug(object);
	if (object->dwarf)
		list_ranges(object);
}

/* ---- objects ---- */

static struct object *object_of(const char *path)
{
	static struct object *last;

	if (last && !strcmp(last->path, path))
		return last;
	for (size_t i = 0; i < object_count; i++)
		if (!strcmp(objects[i]->path, path))
			return last = objects[i];
	return NULL;
}

static struct object *know(const char *path, const char *build_id)
{
	struct object *object = object_of(path);

	build_id = build_id ? build_id : "";
	if (object) {
		object->doubtful |= strcmp(object->build_id, build_id) != 0;
		return object;
	}
	object = memory_zeroed(1, sizeof(*object));
	object->path = memory_text(path, strlen(path));
	object->build_id = memory_text(build_id, strlen(build_id));
	objects = memory_resize(objects, object_count + 1, sizeof(*objects));
	return objects[object_count++] = object;
}

void srcline_objects(struct xaudit_read_trace *trace)
{
	struct xaudit_read_process *process;

	for (uint32_t i = 0; wanted && (process = xaudit_read_process(trace, i)); i++) {
		const struct xaudit_read_facts *facts = memory_need((void *)xaudit_read_process_facts(process));
		for (uint32_t k = 0; k < facts->objects; k++) {
			const struct xaudit_read_process_object *object = xaudit_read_process_object(process, k);
			know(object->path, object->build_id);
		}
	}
}

/* ---- lines ---- */

static struct line look_up(const struct object *object, uint64_t address)
{
	size_t low = SEARCH(i, 0, object->ranges, object->range[i].begin <= address);
	struct line line = { 0 };

	if (!low || address >= object->range[low - 1].end)
		return line;
	Dwarf_Line *found = dwarf_getsrc_die(&object->range[low - 1].unit, address);
	if (found && !dwarf_lineno(found, &line.line) && line.line > 0)
		line.file = dwarf_linesrc(found, NULL, NULL);
	return line;
}

static struct line line_at(struct object *object, uint64_t address)
{
	if (!object->opened)
		open_object(object);
	if (!object->dwarf || !address)
		return (struct line){ 0 };
	uint32_t hash = hash_key(address, 0);
	uint32_t found = HASH_FIND(i, &object->by_address, hash, object->known[i].address == address);
	if (found != HASH_NONE)
		return object->known[found].line;
	object->known = memory_grow(object->known, object->knowns, sizeof(*object->known));
	memory_hash(&object->by_address, hash, object->knowns);
	object->known[object->knowns] = (struct known){ address, look_up(object, address) };
	return object->known[object->knowns++].line;
}

static struct line line_of(const struct xaudit_read_function *function)
{
	struct object *object = wanted ? know(function->object->path, function->object->build_id) : NULL;

	return object ? line_at(object, function->offset) : (struct line){ 0 };
}

/* ---- by name ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

static void add_symbols(struct object *object, Elf *elf)
{
	for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
		GElf_Shdr head;
		Elf_Data *data;

		if (!gelf_getshdr(section, &head) || (head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM) ||
			!head.sh_entsize || !(data = elf_getdata(section, NULL)))
			continue;
		size_t count = data->d_size / head.sh_entsize;
		object->symbol = memory_resize(object->symbol, object->symbols + count + 1, sizeof(*object->symbol));
		for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
			GElf_Sym symbol;
			if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
				(GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
					GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC))
				continue;
			const char *name = elf_strptr(elf, head.sh_link, symbol.st_name);
			if (name)
				object->symbol[object->symbols++] = (struct symbol){ name, symbol.st_value };
		}
	}
}

/* Address of the function with that name; 0: there is none, or there are several. */
static uint64_t address_of(struct object *object, const char *name)
{
	size_t low = 0, high;
	uint64_t address;

	if (!object->has_symbols) {
		object->has_symbols = true;
		add_symbols(object, object->elf);
		add_symbols(object, object->debug_elf);
		if (object->symbols)
			qsort(object->symbol, object->symbols, sizeof(*object->symbol), by_name);
	}
	for (high = object->symbols; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(object->symbol[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == object->symbols || strcmp(object->symbol[low].name, name))
		return 0;
	address = object->symbol[low].address;
	for (; low < object->symbols && !strcmp(object->symbol[low].name, name); low++)
		if (object->symbol[low].address != address)
			return 0;
	return address;
}

static struct line line_named(const char *library, const char *name)
{
	struct object *object = wanted && library && name ? object_of(library) : NULL;
	struct line line = { 0 };

	if (!object)
		return line;
	if (!object->opened)
		open_object(object);
	if (!object->dwarf)
		return line;
	/* A function without a name is called by its place. */
	const char *base = tool_base(library);
	size_t length = strlen(base);
	if (!strncmp(name, base, length) && !strncmp(name + length, "+0x", 3))
		return line_at(object, strtoull(name + length + 3, NULL, 16));
	return line_at(object, address_of(object, name));
}

/* ---- output ---- */

static void print(FILE *file, struct line line)
{
	if (!line.file)
		return;
	putc(' ', file);
	term_text(file, line.file);
	fprintf(file, ":%d", line.line);
}

static void json(FILE *file, struct line line)
{
	if (!line.file)
		return;
	fputs(",\"source\":", file);
	json_string(file, line.file);
	fprintf(file, ",\"line\":%d", line.line);
}

void srcline_print(FILE *file, const struct xaudit_read_function *function)
{
	print(file, line_of(function));
}

void srcline_json(FILE *file, const struct xaudit_read_function *function)
{
	json(file, line_of(function));
}

void srcline_print_named(FILE *file, const char *library, const char *name)
{
	print(file, line_named(library, name));
}

void srcline_json_named(FILE *file, const char *library, const char *name)
{
	json(file, line_named(library, name));
}
