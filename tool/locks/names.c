/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
#include "tool/locks/names.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/object_file.h"
#include "tool/base/tool.h"

/* An object file. What was not found is none: of it all is 0. */
struct file {
	const struct xaudit_read_object *object;
	struct object_file *file;
	uint64_t low, high; /* addresses of what is mapped, before it is moved */
	unsigned unseen;
};

static struct file *files;
static uint32_t file_count;

/* ---- one file ---- */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_rust(Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);

	return data && data->d_buf && memmem(data->d_buf, data->d_size, "rustc version", strlen("rustc version"));
}

static void read_sections(struct file *file, Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr head;
		const char *name = gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;

		if (!name)
			continue;
		if (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".gopclntab"))
			file->unseen |= LOCKS_GO;
		else if (!strcmp(name, ".comment") && is_rust(section))
			file->unseen |= LOCKS_RUST;
	}
}

static void read_segments(struct file *file, Elf *elf)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return;
	file->low = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr head;
		if (!gelf_getphdr(elf, (int)i, &head) || head.p_type != PT_LOAD)
			continue;
		if (head.p_vaddr < file->low)
			file->low = head.p_vaddr;
		if (head.p_vaddr + head.p_memsz > file->high)
			file->high = head.p_vaddr + head.p_memsz;
	}
}

static struct file *file_of(const struct xaudit_read_object *object)
{
	for (uint32_t i = 0; i < file_count; i++)
		if (files[i].object == object)
			return &files[i];
	files = memory_grow(files, file_count, sizeof(*files));
	struct file *file = &files[file_count++];
	*file = (struct file){ .object = object, .file = object_file_open(object->path, object->build_id) };
	if (file->file) {
		read_segments(file, object_file_elf(file->file));
		read_sections(file, object_file_elf(file->file));
	}
	return file;
}

void locks_names_free(void)
{
	for (uint32_t i = 0; i < file_count; i++)
		object_file_close(files[i].file);
	free(files);
	files = NULL;
	file_count = 0;
}

/* ---- names ---- */

struct locks_name locks_name(const struct locks_reading *reading, const struct locks_lock *lock)
{
	for (uint32_t i = reading->loads; i--;) {
		const struct locks_load *load = &reading->load[i];
		if (load->process != lock->process || load->from > lock->first || load->to < lock->first)
			continue;
		const struct file *file = file_of(load->object);
		uint64_t address = lock->address - load->address, start;
		if (address < file->low || address >= file->high)
			continue;
		const char *variable = object_file_variable(file->file, address, &start);
		return (struct locks_name){
			.symbol = variable, .library = load->object->path,
			.offset = variable ? address - start : address,
		};
	}
	return (struct locks_name){ 0 };
}

/* ---- what is not seen ---- */

/* Of libraries whose files may tell nothing. Those of glibc, and of what stands on futexes, have no function. */
static const struct {
	const char *begin;
	unsigned unseen;
} libraries[] = {
	{ "libc.so", LOCKS_GLIBC },
	{ "libgomp.so", LOCKS_OPENMP },
	{ "libomp.so", LOCKS_OPENMP },
	{ "libiomp5.so", LOCKS_OPENMP },
	{ "libjvm.so", LOCKS_JAVA },
	{ "libstd-", LOCKS_RUST },
	{ "libglib-2.0.so", LOCKS_GLIB },
	{ "libQt5Core.so", LOCKS_QT },
	{ "libQt6Core.so", LOCKS_QT },
};

unsigned locks_unseen(const struct locks_reading *reading)
{
	unsigned unseen = 0;

	for (uint32_t i = 0; i < reading->loads; i++) {
		const struct xaudit_read_object *object = reading->load[i].object;
		const char *name = tool_base(object->path);

		unseen |= file_of(object)->unseen;
		for (size_t k = 0; k < sizeof(libraries) / sizeof(*libraries); k++)
			if (begins(name, libraries[k].begin))
				unseen |= libraries[k].unseen;
	}
	return unseen;
}
