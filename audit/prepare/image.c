/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/prepare/image.h"

#include <stdbool.h>
#include <string.h>	/* memcmp */
#include <sys/auxv.h>	/* getauxval */

#include "audit/match/kinds.h"
#include "runtime/api/table.h" /* API_OWNER */
#include "x86_64/elf.h"
#include "x86_64/mirror.h"
#include "x86_64/sys.h"

#define PAGE 4096ul

/* Bytes of ld.so's struct link_map, at least. It has 1100 to 1200 from glibc 2.31 on. */
#define LINK_MAP_SIZE 1024

static void find_range(struct image *image)
{
	image->start = ~0ull;
	for (unsigned i = 0; i < image->phnum; i++) {
		const Elf64_Phdr *p = &image->phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		uint64_t low = (image->base + p->p_vaddr) & ~(PAGE - 1);
		uint64_t high = (image->base + p->p_vaddr + p->p_memsz + PAGE - 1) & ~(PAGE - 1);
		if (low < image->start)
			image->start = low;
		if (high > image->end)
			image->end = high;
	}
}

/*
 * Are these bytes mapped from the file, and may they be read? ld.so checks only the segments that it maps; headers of
 * others may hold anything.
 */
static bool is_readable(const struct image *image, uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < image->phnum; i++) {
		const Elf64_Phdr *p = &image->phdr[i];
		uint64_t start = image->base + p->p_vaddr;
		if (p->p_type == PT_LOAD && p->p_flags & PF_R && address >= start && size <= p->p_filesz &&
			address - start <= p->p_filesz - size)
			return true;
	}
	return false;
}

/*
 * A note is: name size, description size, type, name, description, all padded to 4. After a damaged note, the rest of
 * the segment is ignored.
 */
int image_next_note(const struct image *image, struct image_note *note)
{
	for (;;) {
		uint64_t left = (uint64_t)(note->end - note->next);
		if (left >= sizeof(Elf64_Nhdr)) {
			const Elf64_Nhdr *head = (const Elf64_Nhdr *)note->next;
			uint64_t name = (head->n_namesz + 3ul) & ~3ul, description = (head->n_descsz + 3ul) & ~3ul;
			if (name + description <= left - sizeof(*head)) {
				note->type = head->n_type;
				note->name_size = head->n_namesz;
				note->size = head->n_descsz;
				note->name = note->next + sizeof(*head);
				note->description = note->name + name;
				note->next = note->description + description;
				return 1;
			}
		}
		while (note->segment < image->phnum && image->phdr[note->segment].p_type != PT_NOTE)
			note->segment++;
		if (note->segment == image->phnum)
			return 0;
		const Elf64_Phdr *p = &image->phdr[note->segment++];
		if (!is_readable(image, image->base + p->p_vaddr, p->p_filesz))
			continue;
		note->next = (const uint8_t *)(uintptr_t)(image->base + p->p_vaddr);
		note->end = note->next + p->p_filesz;
	}
}

bool image_is_writable(const struct image *image, uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < image->phnum; i++) {
		const Elf64_Phdr *p = &image->phdr[i];
		uint64_t start = image->base + p->p_vaddr;
		if (p->p_type == PT_LOAD && p->p_flags & PF_W && address >= start && size <= p->p_memsz &&
			address - start <= p->p_memsz - size)
			return true;
	}
	return false;
}

bool image_note_is(const struct image_note *note, const char *owner, uint32_t type)
{
	return note->type == type && note->name_size == sys_length(owner) + 1 &&
	       sys_same(note->name, owner, note->name_size);
}

static void read_notes(struct image *image)
{
	struct image_note note = { 0 };

	while (image_next_note(image, &note)) {
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
			if (kind_has(kind, KIND_BY_NOTE) && image_note_is(&note, API_OWNER, kind_rows[kind].note))
				image->noted |= 1u << kind;
		if (!image->build_id && image_note_is(&note, "GNU", NT_GNU_BUILD_ID) && note.size <= 64) {
			image->build_id = note.description;
			image->build_id_len = note.size;
		}
	}
}

/* Does a string begin there that ends within its segment? */
static bool is_text(const struct image *image, uint64_t address)
{
	for (; is_readable(image, address, 1); address++)
		if (!*(const char *)(uintptr_t)address)
			return true;
	return false;
}

static void read_dynamic(struct image *image, const Elf64_Dyn *dynamic)
{
	const char *strings = NULL;
	uint64_t soname = 0;

	for (const Elf64_Dyn *d = dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
		else if (d->d_tag == DT_SONAME)
			soname = d->d_un.d_val;
		else if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && (d->d_un.d_val & DF_TEXTREL)))
			image->textrel = 1;
	}
	if (strings && soname && is_text(image, (uint64_t)(uintptr_t)strings + soname))
		image->soname = strings + soname;
}

/*
 * Where ld.so's struct link_map has address and number of the program headers: bytes from its start, 0: not known. It
 * is no public member, but behind the address lies that of the program's first instruction; of the program the kernel
 * tells all three. Written for the program, which comes before all other objects.
 */
static uint32_t headers_at;

static void look_for_headers(const struct link_map *map)
{
	const uint64_t *word = (const uint64_t *)map;

	for (unsigned i = sizeof(*map) / 8; i + 2 < LINK_MAP_SIZE / 8 && !headers_at; i++)
		if (word[i] == getauxval(AT_PHDR) && word[i + 1] == getauxval(AT_ENTRY) &&
			(uint16_t)word[i + 2] == getauxval(AT_PHNUM))
			headers_at = i * 8;
}

/*
 * Program headers as ld.so knows them; it has a copy of those that no segment holds (patchelf moves them to the end of
 * the file).
 */
static void ask_headers(struct image *image, const struct link_map *map)
{
	const uint64_t *word = (const uint64_t *)((const char *)map + headers_at);

	if (!headers_at)
		return;
	image->phdr = (const Elf64_Phdr *)word[0];
	image->phnum = (uint16_t)word[2];
}

/* Program headers at the place where most files have them. */
static void find_headers(struct image *image, const struct link_map *map)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)map->l_addr;

	if (!map->l_addr || !mirror_is_readable(map->l_addr) || !sys_same(header->e_ident, ELFMAG, SELFMAG) ||
		header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr) > PAGE)
		return;
	image->phdr = (const Elf64_Phdr *)(map->l_addr + header->e_phoff);
	image->phnum = header->e_phnum;
}

/* The linker's name for where our own file's head lies in memory. */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

int image_read(struct image *image, const struct link_map *map, int main)
{
	*image = (struct image){ .base = map->l_addr };
	if (main)
		look_for_headers(map);
	ask_headers(image, map);
	if (!image->phdr && main) {
		image->phdr = (const Elf64_Phdr *)getauxval(AT_PHDR);
		image->phnum = (unsigned)getauxval(AT_PHNUM);
	} else if (!image->phdr) {
		find_headers(image, map);
	}
	if (!image->phdr || !image->phnum)
		return 0;
	find_range(image);
	read_notes(image);
	read_dynamic(image, map->l_ld);
	return image->start < image->end;
}

int image_read_own(struct image *image)
{
	*image = (struct image){
		.base = (uint64_t)(uintptr_t)&__ehdr_start,
		.phdr = (const Elf64_Phdr *)((uintptr_t)&__ehdr_start + __ehdr_start.e_phoff),
		.phnum = __ehdr_start.e_phnum,
	};
	find_range(image);
	read_notes(image);
	return image->start < image->end;
}

static uint64_t mix(uint64_t print, const void *p, uint64_t size)
{
	uint64_t word;

	for (const uint8_t *at = p; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		print = (print ^ word) * 0x9e3779b97f4a7c15ull;
		print ^= print >> 29;
	}
	return print;
}

uint64_t image_print(const struct image *image, const struct link_map *map)
{
	uint64_t print = mix(0, image->phdr, image->phnum * sizeof(*image->phdr)), table = 0;

	for (const Elf64_Dyn *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_GNU_HASH || (d->d_tag == DT_HASH && !table))
			table = d->d_un.d_ptr;
	for (uint64_t size = PAGE; table && size >= 8; size /= 2)
		if (is_readable(image, table, size))
			return mix(print, (const void *)(uintptr_t)table, size);
	return print;
}
