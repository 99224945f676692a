/* SPDX-License-Identifier: MIT */
#include "audit/model/object.h"

#include <sys/mman.h> /* PROT_READ */

#include "x86_64/patch.h"
#include "x86_64/sys.h"

struct object *objects;
struct load *loads;
int object_selected;
uint32_t object_count;
const struct rules *object_rules;
const char *object_program;

uint32_t object_hash(const char *name)
{
	uint32_t h = 2166136261u;

	while (*name)
		h = (h ^ (uint8_t)*name++) * 16777619u;
	return h ^ h >> 15;
}

static int protection(const struct load *load, uint64_t address)
{
	for (unsigned i = 0; i < load->phnum; i++) {
		const Elf64_Phdr *p = &load->phdr[i];
		if (p->p_type == PT_LOAD && address - (load->base + p->p_vaddr) < p->p_memsz)
			return (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
			       (p->p_flags & PF_X ? PROT_EXEC : 0);
	}
	return 0;
}

int object_write(const struct load *load, const void *at, const void *bytes, size_t size)
{
	struct patch patch = { .address = (uint64_t)(uintptr_t)at, .size = (uint8_t)size };

	sys_copy(patch.bytes, bytes, size);
	return object_write_all(load, &patch, 1);
}

int object_write_all(const struct load *load, const struct patch *patch, size_t count)
{
	size_t done;

	return patch_at_load(patch, count, protection(load, patch->address), &done);
}

int object_stat(struct object *object)
{
	struct stat st;

	if (sys_stat(object->file ? object->file : object->path, &st))
		return 0;
	object->dev = st.st_dev;
	object->ino = st.st_ino;
	object->size = (uint64_t)st.st_size;
	object->mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	object->ctime_ns = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
	return 1;
}
