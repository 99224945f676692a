/* SPDX-License-Identifier: MIT */
/*
 * An ELF file as site discovery sees it: bytes by file offset or by link-time address, sections, notes, dynamic
 * entries. Private to audit/site/, as symbol.h and frame.h: names and starts of functions.
 *
 * The file may be damaged in any way. Every offset, size and index from the file is checked where bytes are asked for
 * (site_file_bytes, site_file_at, site_file_code); a caller that gets NULL treats the table as absent. Entries of
 * tables are copied out (site_read), since they need not be aligned.
 *
 * One thread at a time per struct. Data needed only while the file is open lies in `scratch`.
 */
#ifndef XAUDIT_AUDIT_SITE_ELF_FILE_H
#define XAUDIT_AUDIT_SITE_ELF_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/site/frame.h"
#include "audit/site/site.h"
#include "audit/site/symbol.h"

/* What the dynamic segment says; 0: absent. */
struct site_dynamic {
	uint64_t rela, rela_size, jmprel, jmprel_size;
	uint64_t symtab, strtab, strtab_size, hash, gnu_hash;
	int textrel;
};

struct site_file {
	const uint8_t *base; /* the whole file, mapped */
	size_t size;
	const Elf64_Ehdr *header;
	const Elf64_Phdr *segment; /* a copy: in the file it may lie at any address */
	size_t segments;
	Elf64_Phdr few_segments[16];
	size_t sections;	     /* 0: none, or not readable */
	const uint8_t *section_text; /* their names, once asked for */
	size_t section_text_size;
	const Elf64_Phdr *last_code; /* where site_file_code() found its last result */
	struct site_dynamic dynamic;
	struct site_names names;
	struct site_frames frames;
	struct arena scratch;
};

/* Copies one entry of a table out of the file. */
#define site_read(to, from) __builtin_memcpy((to), (from), sizeof(*(to)))

/* Returns 0 or -errno as site_scan(). The fd is not used after the call. */
int site_file_open(struct site_file *file, int fd);
void site_file_close(struct site_file *file);

/* `size` bytes at an offset of the file, or NULL. */
const uint8_t *site_file_bytes(const struct site_file *file, uint64_t offset, uint64_t size);

/*
 * The bytes from a link-time address to the end of its segment in the file, and their number, at least 1; NULL: none.
 */
const uint8_t *site_file_at(const struct site_file *file, uint64_t address, size_t *size);

/* As site_file_at(), but in executable segments only. */
const uint8_t *site_file_code(struct site_file *file, uint64_t address, size_t *size);

/* Notes, one after another. */
struct site_note {
	Elf64_Nhdr head;
	const uint8_t *name, *description;
	uint64_t address; /* of the description */
	const uint8_t *next;
	uint64_t next_address, left, align;
};

/*
 * The first starts on the notes of a PT_NOTE segment: 1, or 0 when the segment is of another type. The second goes on
 * to the next note: 1, or 0 when there is none.
 */
int site_notes(const struct site_file *file, const Elf64_Phdr *segment, struct site_note *note);
int site_next_note(struct site_note *note);

/*
 * The first copies the header of section i (from 1): 1, or 0 when there is none. The second returns the section's
 * bytes, or NULL. The third: is its name this one, or (prefix) does it begin with it?
 */
int site_section(const struct site_file *file, size_t i, Elf64_Shdr *section);
const uint8_t *site_section_bytes(const struct site_file *file, const Elf64_Shdr *section);
int site_section_named(struct site_file *file, const Elf64_Shdr *section, const char *name, int prefix);

#endif
