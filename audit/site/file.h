/* SPDX-License-Identifier: MIT */
/*
 * An ELF file as site discovery sees it: bytes by file offset or by link-time address, sections, dynamic entries, names
 * and starts of functions. Private to audit/site/.
 *
 * The file may be damaged in any way. Every offset, size and index from the file is checked where bytes are asked for
 * (site_file_bytes, site_file_at, site_file_code); a caller that gets NULL treats the table as absent. Entries of
 * tables are copied out (site_read), since they need not be aligned.
 *
 * One thread at a time per struct. Data needed only while the file is open lies in `scratch`.
 */
#ifndef XAUDIT_AUDIT_SITE_FILE_H
#define XAUDIT_AUDIT_SITE_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/site/site.h"

/* Anything that has an address: a symbol, a table entry, a site. */
struct site_key {
	uint64_t address;
	uint32_t index;
};

/* A table of Elf64_Sym and its strings. */
struct site_symtab {
	const uint8_t *symbol;
	size_t count;
	const uint8_t *text;
	size_t text_size;
	uint64_t given; /* bytes of the names that callers have asked for */
};

/* Functions by name: of .symtab when it has any, else of .dynsym. */
struct site_names {
	int loaded;
	struct site_symtab table;
	struct site_key *key; /* function symbols by address; each address once, with its best symbol */
	size_t count;
	size_t last; /* what the last search found: the next result is nearly always near */
	int all;     /* from .symtab: it knows local functions too */
};

/* Starts of functions in the search table of .eh_frame_hdr: pairs of 32 bits (start, place of its FDE), by start. */
struct site_frames {
	int loaded;
	const uint8_t *table;
	size_t count;
	size_t last;	  /* as in struct site_names */
	uint64_t address; /* what the pairs are relative to */
};

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

/* ---- audit/site/file.c ---- */

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

/* ---- audit/site/relocation.c ---- */

/*
 * Applies the object's own relocations, as far as the file alone decides them, to a copy of its words at this address.
 */
void site_relocate(const struct site_file *file, uint64_t address, uint64_t *word, size_t count);

/* Number of JUMP_SLOT relocations. */
size_t site_jump_slots(const struct site_file *file);

/* ---- audit/site/symbol.c ---- */

/* The dynamic symbols; count is 0 when there are none. */
struct site_symtab site_dynsym(const struct site_file *file);

/* Is it a function that is defined in this file? */
int site_is_function(const Elf64_Sym *symbol);

/*
 * The symbol's name in the arena, or NULL: it has none, or the names asked for so far are many times as long as the
 * strings of the file. *r becomes -ENOMEM when there is no memory.
 */
const char *site_symbol_name(struct site_symtab *table, const Elf64_Sym *symbol, struct arena *arena, int *r);

/* Fills file->names and file->frames. Returns 0 or -ENOMEM. To be called before the next three functions. */
int site_names_load(struct site_file *file);

/*
 * The function that holds the address, with its name and size as far as known. Returns 1, or 0 when no function is
 * known there: *function stays as it was. *r becomes -ENOMEM when there is no memory.
 */
int site_holder(struct site_file *file, struct arena *arena, uint64_t address, struct site_function *function, int *r);

/* First known start of a function in [from, to]; 0: none. */
uint64_t site_start(struct site_file *file, uint64_t from, uint64_t to);

/* Fills in name and size of the function at function->address, as far as known. Returns 0 or -ENOMEM. */
int site_describe(struct site_file *file, struct arena *arena, struct site_function *function);

/* Sorts by address; equal addresses keep their order. Returns 0 or -ENOMEM (of scratch). */
int site_sort(struct arena *scratch, struct site_key *key, size_t count);

/* ---- audit/site/frame.c ---- */

/* Fills file->frames; count is 0 when there is no table that we can read. */
void site_frames_load(struct site_file *file);

/* Address of start i (< frames.count). */
uint64_t site_frame(const struct site_file *file, size_t i);

/* Size of the code that its FDE covers; 0: unknown. */
uint64_t site_frame_size(const struct site_file *file, size_t i);

/* Index of the first start at or after the address; frames.count when there is none. */
size_t site_frame_at(struct site_file *file, uint64_t address);

/* ---- the kinds ---- */

/* One map: a table of entries. */
struct site_map {
	struct site_map *next;
	const uint8_t *bytes;
	uint64_t address;
	size_t count; /* of entries */
};

/* All maps of a kind. */
struct site_maps {
	struct site_map *first, *last;
	size_t count;	/* of entries; there are at most as many functions, and sites */
	uint64_t bytes; /* of sections */
	int damaged;	/* a map that the file announces is missing */
};

#define SITE_XRAY_ENTRY_SIZE	  32
#define SITE_PATCHABLE_ENTRY_SIZE 8

/* Adds a map. Returns 0 or -ENOMEM (of scratch). */
int site_add_map(struct site_file *file, struct site_maps *maps, const uint8_t *bytes, uint64_t address, size_t count);

/*
 * Each appends functions and sites of the kind to the set, whose arrays have room for maps->count, and sets
 * kind_reason[kind]. set->of[kind] tells where they begin; the caller fills in their numbers afterwards. Return 0 or
 * -ENOMEM.
 */
int site_scan_xray(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps);
int site_scan_patchable(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps);
int site_scan_guards(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps);

/* Adds the tables that notes name; allocates nothing when there are none. Returns 0 or -ENOMEM. */
int site_find_guards(struct site_file *file, struct site_maps *maps);

/* The calls of the file that -finstrument-functions made; their functions, which have no sites. As above. */
int site_find_cyg(struct site_file *file, struct site_maps *maps);
int site_scan_cyg(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps);

/* Fills set->event, once all sites are known. Returns 0 or -ENOMEM. */
int site_read_events(struct site_set *set, struct site_file *file);

#endif
