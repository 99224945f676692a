/* SPDX-License-Identifier: MIT */
#include "tool/perf/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/labels.h"
#include "tool/base/memory.h"
#include "tool/base/whole.h"
#include "tool/perf/bytes.h"

/* Sections, in their order. */
enum { NONE, TEXT, EH_FRAME, EH_FRAME_HDR, SYMTAB, STRTAB, SHSTRTAB, SECTIONS };

static const char names[] = "\0.text\0.eh_frame\0.eh_frame_hdr\0.symtab\0.strtab\0.shstrtab";

struct image {
	struct perf_bytes bytes; /* from LABELS_BEHIND on */
	Elf64_Shdr section[SECTIONS];
};

/* A CIE: CFA = rsp+8, return address at CFA-8; addresses in 4 bytes, from their own place. */
static const uint8_t cie[] = { 20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0,
	0 };
_Static_assert(sizeof(cie) == 24, "its length is its first word, and 4");

/* The return address stands in the label's entry: val_expression of 16: *((breg16 & -16) - LABELS_CALL). CFA = rsp. */
static const uint8_t by_entry[] = { 0x0e, 0, 0x16, 16, 12, 0x80, 0, 0x09, 0xf0, 0x1a, 0x0d, LABELS_CALL & 0xff,
	LABELS_CALL >> 8 & 0xff, LABELS_CALL >> 16 & 0xff, LABELS_CALL >> 24, 0x1c, 0x06 };

static uint64_t end_of(const struct image *image)
{
	return LABELS_BEHIND + image->bytes.size;
}

static void begin(struct image *image, unsigned section, Elf64_Word type, Elf64_Xword flags)
{
	static const uint8_t zeros[16];
	Elf64_Shdr *s = image->section + section;

	perf_add(&image->bytes, zeros, -image->bytes.size & 15);
	s->sh_type = type;
	s->sh_flags = flags;
	s->sh_offset = end_of(image);
	s->sh_addr = flags & SHF_ALLOC ? s->sh_offset : 0;
	s->sh_addralign = 8;
}

static void end(struct image *image, unsigned section)
{
	image->section[section].sh_size = end_of(image) - image->section[section].sh_offset;
}

static void add_word(struct image *image, uint64_t word)
{
	perf_add(&image->bytes, &(uint32_t){ (uint32_t)word }, 4);
}

/* An FDE for some bytes of the labels. Returns where it is. */
static uint64_t add_fde(struct image *image, uint64_t start, uint64_t size, const uint8_t *row, size_t row_size)
{
	static const uint8_t zeros[8];
	uint64_t at = end_of(image);
	size_t padding = -(17 + row_size) & 7;

	add_word(image, 13 + row_size + padding);
	add_word(image, at + 4 - image->section[EH_FRAME].sh_offset);
	add_word(image, start - (at + 8));
	add_word(image, size);
	perf_add(&image->bytes, zeros, 1); /* no augmentation */
	perf_add(&image->bytes, row, row_size);
	perf_add(&image->bytes, zeros, padding); /* DW_CFA_nop */
	return at;
}

static size_t fde_size(size_t row_size)
{
	return (17 + row_size + 7) & ~(size_t)7;
}

/* One FDE for each label; if the room, of which unwinders know where it is, is too small, one for all. */
static void add_frames(
	struct image *image, const struct perf_label *label, size_t labels, const struct perf_bytes *rows)
{
	size_t room = LABELS_MAPPED - LABELS_BEHIND, need = sizeof(cie) + 4 + 16 + 12 + 16;
	uint64_t *fde = memory_zeroed(labels + 1, sizeof(*fde));
	bool one;

	for (size_t i = 0; i < labels; i++)
		need += 8 + fde_size(label[i].row_size ? label[i].row_size : sizeof(by_entry));
	one = need > room || !labels;
	begin(image, EH_FRAME, SHT_PROGBITS, SHF_ALLOC);
	perf_add(&image->bytes, cie, sizeof(cie));
	if (one)
		fde[0] = add_fde(image, LABELS_CODE_AT, LABELS_TABLE, by_entry, sizeof(by_entry));
	for (size_t i = 0; i < labels && !one; i++)
		fde[i] = label[i].row_size
				 ? add_fde(image, label[i].at, LABELS_ENTRY, rows->at + label[i].row, label[i].row_size)
				 : add_fde(image, label[i].at, LABELS_ENTRY, by_entry, sizeof(by_entry));
	add_word(image, 0);
	end(image, EH_FRAME);

	begin(image, EH_FRAME_HDR, SHT_PROGBITS, SHF_ALLOC);
	uint64_t at = image->section[EH_FRAME_HDR].sh_offset;
	perf_add(&image->bytes, (const uint8_t[]){ 1, 0x1b, 0x03, 0x3b }, 4);
	add_word(image, image->section[EH_FRAME].sh_offset - (at + 4));
	add_word(image, one ? 1 : labels);
	for (size_t i = 0; i < (one ? 1 : labels); i++) {
		add_word(image, (one ? LABELS_CODE_AT : label[i].at) - at);
		add_word(image, fde[i] - at);
	}
	end(image, EH_FRAME_HDR);
	free(fde);
}

static void add_symbols(struct image *image, const struct perf_label *label, size_t labels)
{
	struct perf_bytes strings = { 0 };
	Elf64_Sym symbol = { 0 };

	perf_add(&strings, "", 1);
	begin(image, SYMTAB, SHT_SYMTAB, 0);
	perf_add(&image->bytes, &symbol, sizeof(symbol));
	for (size_t i = 0; i < labels; i++) {
		symbol = (Elf64_Sym){ .st_name = (Elf64_Word)strings.size,
			.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
			.st_shndx = TEXT,
			.st_value = label[i].at,
			.st_size = LABELS_ENTRY };
		perf_add(&image->bytes, &symbol, sizeof(symbol));
		perf_add(&strings, label[i].name, strlen(label[i].name) + 1);
	}
	end(image, SYMTAB);
	image->section[SYMTAB].sh_link = STRTAB;
	image->section[SYMTAB].sh_info = (Elf64_Word)labels + 1;
	image->section[SYMTAB].sh_entsize = sizeof(symbol);
	begin(image, STRTAB, SHT_STRTAB, 0);
	perf_add(&image->bytes, strings.at, strings.size);
	end(image, STRTAB);
	perf_bytes_free(&strings);
}

static void name_sections(struct image *image)
{
	const char *name = names;

	begin(image, SHSTRTAB, SHT_STRTAB, 0);
	perf_add(&image->bytes, names, sizeof(names));
	end(image, SHSTRTAB);
	for (unsigned i = 0; i < SECTIONS; i++, name += strlen(name) + 1)
		image->section[i].sh_name = (Elf64_Word)(name - names);
}

int perf_image_write(int fd, const struct perf_label *label, size_t labels, const struct perf_bytes *rows)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment[2];
	} first = { 0 };
	struct image image = { 0 };
	int error;

	image.section[TEXT] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = LABELS_CODE_AT, .sh_offset = LABELS_CODE_AT, .sh_size = LABELS_TABLE, .sh_addralign = 16 };
	add_frames(&image, label, labels, rows);
	add_symbols(&image, label, labels);
	name_sections(&image);
	static const uint8_t zeros[8];
	perf_add(&image.bytes, zeros, -image.bytes.size & 7);
	uint64_t sections = end_of(&image);
	perf_add(&image.bytes, image.section, sizeof(image.section));

	first.head = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr), .e_shoff = sections, .e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2, .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS, .e_shstrndx = SHSTRTAB };
	/* From the file's beginning on, where the lowest mapping begins: perf reckons with that. */
	first.segment[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = LABELS_MAPPED,
		.p_memsz = LABELS_MAPPED, .p_align = 4096 };
	const Elf64_Shdr *hdr = image.section + EH_FRAME_HDR;
	first.segment[1] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_offset = hdr->sh_offset,
		.p_vaddr = hdr->sh_addr, .p_paddr = hdr->sh_addr, .p_filesz = hdr->sh_size, .p_memsz = hdr->sh_size,
		.p_align = 4 };
	_Static_assert(sizeof(first) <= LABELS_HEAD_AT, "the head lies behind");
	/* Never smaller than what processes have mapped. */
	error = ftruncate(fd, (off_t)(end_of(&image) < LABELS_MAPPED ? LABELS_MAPPED : end_of(&image))) ? errno : 0;
	if (!error)
		error = whole_write(fd, image.bytes.at, image.bytes.size, LABELS_BEHIND);
	if (!error)
		error = whole_write(fd, &first, sizeof(first), 0);
	perf_bytes_free(&image.bytes);
	return error;
}
