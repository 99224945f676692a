/* SPDX-License-Identifier: MIT */
#include "audit/site/elf_file.h"

#include <errno.h>    /* ENOEXEC */
#include <stdbool.h>
#include <string.h>   /* memcmp, strlen */
#include <sys/mman.h> /* PROT_READ */
#include <sys/stat.h> /* S_ISREG */

#include "x86_64/elf.h"
#include "x86_64/sys.h" /* sys_mmap */

static void read_dynamic(struct site_file *file)
{
	struct site_dynamic *dynamic = &file->dynamic;

	for (size_t s = 0; s < file->segments; s++) {
		const Elf64_Phdr *segment = &file->segment[s];
		if (segment->p_type != PT_DYNAMIC)
			continue;
		const uint8_t *p = site_file_bytes(file, segment->p_offset, segment->p_filesz);
		if (!p)
			return;
		for (uint64_t i = 0; i + sizeof(Elf64_Dyn) <= segment->p_filesz; i += sizeof(Elf64_Dyn)) {
			Elf64_Dyn entry;
			site_read(&entry, p + i);
			switch (entry.d_tag) {
			case DT_NULL:
				return;
			case DT_RELA:
				dynamic->rela = entry.d_un.d_ptr;
				break;
			case DT_RELASZ:
				dynamic->rela_size = entry.d_un.d_val;
				break;
			case DT_JMPREL:
				dynamic->jmprel = entry.d_un.d_ptr;
				break;
			case DT_PLTRELSZ:
				dynamic->jmprel_size = entry.d_un.d_val;
				break;
			case DT_SYMTAB:
				dynamic->symtab = entry.d_un.d_ptr;
				break;
			case DT_STRTAB:
				dynamic->strtab = entry.d_un.d_ptr;
				break;
			case DT_STRSZ:
				dynamic->strtab_size = entry.d_un.d_val;
				break;
			case DT_HASH:
				dynamic->hash = entry.d_un.d_ptr;
				break;
			case DT_GNU_HASH:
				dynamic->gnu_hash = entry.d_un.d_ptr;
				break;
			case DT_TEXTREL:
				dynamic->textrel = 1;
				break;
			case DT_FLAGS:
				dynamic->textrel |= !!(entry.d_un.d_val & DF_TEXTREL);
				break;
			}
		}
		return;
	}
}

/* The first section header: it holds the numbers that are too large for the ELF header. */
static int first_section(const struct site_file *file, Elf64_Shdr *section)
{
	const uint8_t *p = file->header->e_shoff && file->header->e_shentsize == sizeof(*section)
				   ? site_file_bytes(file, file->header->e_shoff, sizeof(*section))
				   : NULL;

	if (p)
		site_read(section, p);
	return p != NULL;
}

static void read_sections(struct site_file *file)
{
	Elf64_Shdr first;

	if (!first_section(file, &first))
		return;
	uint64_t count = file->header->e_shnum ? file->header->e_shnum : first.sh_size;
	if (count <= (file->size - file->header->e_shoff) / sizeof(first))
		file->sections = count;
}

static int read_segments(struct site_file *file)
{
	Elf64_Phdr *copy = file->few_segments;
	uint64_t count = file->header->e_phnum, size;
	Elf64_Shdr first;

	if (count == PN_XNUM && first_section(file, &first))
		count = first.sh_info;
	const uint8_t *p = NULL;
	if (file->header->e_phoff && file->header->e_phentsize == sizeof(*copy) &&
		!__builtin_mul_overflow(count, sizeof(*copy), &size))
		p = site_file_bytes(file, file->header->e_phoff, size);
	if (!p || !count)
		return 0;
	if (count > sizeof(file->few_segments) / sizeof(*file->few_segments))
		copy = arena_alloc(&file->scratch, size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, p, size);
	file->segment = copy;
	file->segments = count;
	return 0;
}

/* Is this the header of a file that we support? 32-bit files, x32 among them, are not. */
static bool is_known(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) && header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_ident[EI_VERSION] == EV_CURRENT &&
	       header->e_machine == MACHINE_ELF && (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

int site_file_open(struct site_file *file, int fd)
{
	struct stat stat;
	int r = (int)sys_fstat(fd, &stat);

	*file = (struct site_file){0};
	if (r)
		return r;
	r = -ENOEXEC;
	if (!S_ISREG(stat.st_mode) || (uint64_t)stat.st_size < sizeof(*file->header))
		return -ENOEXEC;
	const void *p = sys_mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (sys_is_error(p))
		return (int)(intptr_t)p;
	file->base = p;
	file->size = (size_t)stat.st_size;
	file->header = p;
	if (!is_known(file->header))
		goto out;
	r = read_segments(file);
	if (r)
		goto out;
	read_sections(file);
	read_dynamic(file);
	return 0;
out:
	site_file_close(file);
	return r;
}

void site_file_close(struct site_file *file)
{
	if (file->base) {
		/* perf learns of no unmapping: this ends the mapping for it (tool/perf/anonymous_maps.h). */
		sys_mmap((void *)(uintptr_t)file->base, file->size, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
		sys_munmap((void *)(uintptr_t)file->base, file->size);
	}
	arena_free(&file->scratch);
	*file = (struct site_file){0};
}

const uint8_t *site_file_bytes(const struct site_file *file, uint64_t offset, uint64_t size)
{
	if (offset > file->size || size > file->size - offset)
		return NULL;
	return file->base + offset;
}

static const uint8_t *in_segment(
	const struct site_file *file, const Elf64_Phdr *segment, uint64_t address, size_t *size)
{
	uint64_t from = address - segment->p_vaddr;
	uint64_t offset;

	if (address < segment->p_vaddr || from >= segment->p_filesz)
		return NULL;
	if (__builtin_add_overflow(segment->p_offset, from, &offset) || offset >= file->size)
		return NULL;
	*size = segment->p_filesz - from;
	if (*size > file->size - offset)
		*size = file->size - offset;
	return file->base + offset;
}

const uint8_t *site_file_at(const struct site_file *file, uint64_t address, size_t *size)
{
	for (size_t s = 0; s < file->segments; s++) {
		const uint8_t *p;
		if (file->segment[s].p_type == PT_LOAD && (p = in_segment(file, &file->segment[s], address, size)))
			return p;
	}
	return NULL;
}

const uint8_t *site_file_code(struct site_file *file, uint64_t address, size_t *size)
{
	const uint8_t *p;

	if (file->last_code && (p = in_segment(file, file->last_code, address, size)))
		return p;
	for (size_t s = 0; s < file->segments; s++) {
		const Elf64_Phdr *segment = &file->segment[s];
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		p = in_segment(file, segment, address, size);
		if (p) {
			file->last_code = segment;
			return p;
		}
	}
	return NULL;
}

int site_notes(const struct site_file *file, const Elf64_Phdr *segment, struct site_note *note)
{
	const uint8_t *p =
		segment->p_type == PT_NOTE ? site_file_bytes(file, segment->p_offset, segment->p_filesz) : NULL;

	*note = (struct site_note){.next = p, .next_address = segment->p_vaddr, .left = p ? segment->p_filesz : 0};
	note->align = segment->p_align == 8 ? 8 : 4;
	return p != NULL;
}

int site_next_note(struct site_note *note)
{
	if (note->left < sizeof(note->head))
		return 0;
	site_read(&note->head, note->next);
	uint64_t name = sizeof(note->head);
	uint64_t description = (name + note->head.n_namesz + note->align - 1) & -note->align;
	uint64_t end = (description + note->head.n_descsz + note->align - 1) & -note->align;
	if (description + note->head.n_descsz > note->left)
		return 0;
	note->name = note->next + name;
	note->description = note->next + description;
	note->address = note->next_address + description;
	/* The last note's padding may be missing. */
	if (end > note->left)
		end = note->left;
	note->next += end;
	note->next_address += end;
	note->left -= end;
	return 1;
}

int site_section(const struct site_file *file, size_t i, Elf64_Shdr *section)
{
	if (i >= file->sections)
		return 0;
	/* All section headers lie in the file. */
	memcpy(section, file->base + file->header->e_shoff + i * sizeof(*section), sizeof(*section));
	return 1;
}

const uint8_t *site_section_bytes(const struct site_file *file, const Elf64_Shdr *section)
{
	/* We can't use compressed bytes. The sections that we read are never compressed. */
	if (section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED)
		return NULL;
	return site_file_bytes(file, section->sh_offset, section->sh_size);
}

int site_section_named(struct site_file *file, const Elf64_Shdr *section, const char *name, int prefix)
{
	size_t length = strlen(name) + !prefix; /* with its NUL */
	size_t index = file->header->e_shstrndx;

	if (!file->section_text) {
		Elf64_Shdr names;
		if (index == SHN_XINDEX && first_section(file, &names))
			index = names.sh_link;
		if (!index || !site_section(file, index, &names) ||
			!(file->section_text = site_section_bytes(file, &names)))
			return 0;
		file->section_text_size = names.sh_size;
	}
	return section->sh_name < file->section_text_size && length <= file->section_text_size - section->sh_name &&
	       !memcmp(file->section_text + section->sh_name, name, length);
}
