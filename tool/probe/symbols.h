/* SPDX-License-Identifier: MIT */
/*
 * The functions of a file by their names, for many places: a name that is no pattern is looked up, as the linker has it
 * and as people write names of C++ (audit/match/cxx.h); and its lines of source. Tables are made when they are first
 * asked.
 *
 * Memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_PROBE_SYMBOLS_H
#define XAUDIT_TOOL_PROBE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/base/hash.h"

struct image;

struct symbols_row {
	const char *name;  /* of the table's kind */
	uint32_t function; /* index in the image */
	uint32_t next;	   /* the next row of the same name; HASH_NONE: none */
};

/* Of one kind of names. */
struct symbols_table {
	struct symbols_row *row;
	size_t rows;
	struct hash by_name;
	bool made;
};

/* Where a statement of a line begins. */
struct symbols_line {
	uint32_t file; /* hash of the file's name without folders */
	uint32_t number;
	const char *path; /* the debug information's */
	uint64_t address; /* as that has it */
	uint64_t unit;	  /* offset of its DIE */
};

struct symbols {
	const struct image *image;
	struct symbols_table own;     /* names of symbols */
	struct symbols_table written; /* of C++, without the first "::" */
	struct symbols_table cold;    /* of parts NAME.cold, by NAME */
	char **text; /* of `written` and `cold` */
	size_t texts;
	struct symbols_line *line; /* of source, in order; lines.c makes and uses them */
	size_t lines;
	bool lines_made;
};

/* The image stays. */
void symbols_begin(struct symbols *symbols, const struct image *image);
void symbols_end(struct symbols *symbols);

/*
 * The functions that a pattern names by any of their names: their indexes, each once, ascending, to be freed. Returns
 * how many.
 */
size_t symbols_find(struct symbols *symbols, const char *pattern, uint32_t **function);

/* The parts NAME.cold and NAME.cold.N of a function of that name, likewise. */
size_t symbols_cold(struct symbols *symbols, const char *name, uint32_t **function);

#endif
