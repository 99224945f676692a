/* SPDX-License-Identifier: MIT */
/* Symbols of the file (elf_file.h): names, sizes and starts of functions, of .symtab, .dynsym and .eh_frame_hdr. */
#ifndef XAUDIT_AUDIT_SITE_SYMBOL_H
#define XAUDIT_AUDIT_SITE_SYMBOL_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/site/site.h"

struct site_file;

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

/* The dynamic symbols; count is 0 when there are none. */
struct site_symtab site_dynsym(const struct site_file *file);

/* Is it a function that is defined in this file? */
bool site_is_function(const Elf64_Sym *symbol);

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

#endif
