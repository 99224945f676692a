/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/locks/names.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/search.h"
#include "tool/base/build_id.h"
#include "tool/base/memory.h"
#include "tool/base/plain.h"
#include "tool/base/tool.h"

struct variable {
	uint64_t address, size;
	const char *name;
};

/* An object file. What was not found is none: of it all is 0. */
struct file {
	const struct xaudit_read_object *object;
	int fd;
	Elf *elf;
	uint64_t low, high; /* addresses of what is mapped, before it is moved */
	struct variable *variable; /* by address */
	size_t variables;
	unsigned unseen;
};

static struct file *files;
static uint32_t file_count;

/* ---- one file ---- */

static int by_address(const void *one, const void *other)
{
	const struct variable *a = one, *b = other;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	/* The larger one holds the others; of equal ones the same is first each time. */
	return a->size != b->size ? (a->size > b->size ? -1 : 1) : strcmp(a->name, b->name);
}

static void read_symbols(struct file *file, Elf_Scn *section, const GElf_Shdr *head)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && head->sh_entsize ? data->d_size / head->sh_entsize : 0;

	for (size_t i = 1; i < count; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT ||
			symbol.st_shndx == SHN_UNDEF || !symbol.st_size)
			continue;
		const char *name = elf_strptr(file->elf, head->sh_link, symbol.st_name);
		if (!name || !*name)
			continue;
		file->variable = memory_grow(file->variable, file->variables, sizeof(*file->variable));
		file->variable[file->variables++] = (struct variable){ symbol.st_value, symbol.st_size, name };
	}
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_rust(Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);

	return data && data->d_buf && memmem(data->d_buf, data->d_size, "rustc version", strlen("rustc version"));
}

static void read_sections(struct file *file)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return;
	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr head;
		const char *name = gelf_getshdr(section, &head) ? elf_strptr(file->elf, names, head.sh_name) : NULL;

		if (!name)
			continue;
		if (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM)
			read_symbols(file, section, &head);
		else if (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".gopclntab"))
			file->unseen |= LOCKS_GO;
		else if (!strcmp(name, ".comment") && is_rust(section))
			file->unseen |= LOCKS_RUST;
	}
	if (file->variables)
		qsort(file->variable, file->variables, sizeof(*file->variable), by_address);
}

static void read_segments(struct file *file)
{
	size_t count;

	if (elf_getphdrnum(file->elf, &count))
		return;
	file->low = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr head;
		if (!gelf_getphdr(file->elf, (int)i, &head) || head.p_type != PT_LOAD)
			continue;
		if (head.p_vaddr < file->low)
			file->low = head.p_vaddr;
		if (head.p_vaddr + head.p_memsz > file->high)
			file->high = head.p_vaddr + head.p_memsz;
	}
}

/* The path comes from the trace: it may name anything. */
static void open_file(struct file *file)
{
	const void *bytes;

	elf_version(EV_CURRENT);
	file->fd = *file->object->build_id ? plain_open(AT_FDCWD, file->object->path) : -1;
	if (file->fd < 0)
		return;
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		return;
	ssize_t size = dwelf_elf_gnu_build_id(file->elf, &bytes);
	if (build_id_is(bytes, size, file->object->build_id)) {
		read_segments(file);
		read_sections(file);
	}
}

static struct file *file_of(const struct xaudit_read_object *object)
{
	for (uint32_t i = 0; i < file_count; i++)
		if (files[i].object == object)
			return &files[i];
	files = memory_grow(files, file_count, sizeof(*files));
	files[file_count] = (struct file){ .object = object };
	open_file(&files[file_count]);
	return &files[file_count++];
}

void locks_names_free(void)
{
	for (uint32_t i = 0; i < file_count; i++) {
		free(files[i].variable);
		elf_end(files[i].elf);
		if (files[i].fd >= 0)
			close(files[i].fd);
	}
	free(files);
	files = NULL;
	file_count = 0;
}

/* ---- names ---- */

/* The variable in which the address lies; of several the one that begins last. */
static const struct variable *find(const struct file *file, uint64_t address)
{
	size_t low = SEARCH(i, 0, file->variables, file->variable[i].address <= address);

	while (low--) {
		const struct variable *variable = &file->variable[low];
		if (address - variable->address < variable->size) {
			while (low && file->variable[low - 1].address == variable->address &&
				file->variable[low - 1].size == variable->size)
				variable = &file->variable[--low];
			return variable;
		}
		/* Variables that are members of others are few. */
		if (address - variable->address > 1 << 20)
			break;
	}
	return NULL;
}

struct locks_name locks_name(const struct locks_reading *reading, const struct locks_lock *lock)
{
	for (uint32_t i = reading->loads; i--;) {
		const struct locks_load *load = &reading->load[i];
		if (load->process != lock->process || load->from > lock->first || load->to < lock->first)
			continue;
		const struct file *file = file_of(load->object);
		uint64_t address = lock->address - load->address;
		if (address < file->low || address >= file->high)
			continue;
		const struct variable *variable = find(file, address);
		return (struct locks_name){
			.symbol = variable ? variable->name : NULL, .library = load->object->path,
			.offset = variable ? address - variable->address : address,
		};
	}
	return (struct locks_name){ 0 };
}

/* ---- what is not seen ---- */

unsigned locks_unseen(const struct locks_reading *reading)
{
	unsigned unseen = 0;

	for (uint32_t i = 0; i < reading->loads; i++) {
		const struct xaudit_read_object *object = reading->load[i].object;
		const char *name = tool_base(object->path);

		unseen |= file_of(object)->unseen;
		if (begins(name, "libgomp.so") || begins(name, "libomp.so") || begins(name, "libiomp5.so"))
			unseen |= LOCKS_OPENMP;
		else if (begins(name, "libjvm.so"))
			unseen |= LOCKS_JAVA;
		else if (begins(name, "libstd-"))
			unseen |= LOCKS_RUST;
	}
	return unseen;
}
