/* SPDX-License-Identifier: MIT */
/*
 * Places of probes, as people write them, and where they are in a file (xaudit-probes(7)):
 *
 *	SYMBOL[+OFF][@LIB]	LIB:SYMBOL[+OFF]	an instruction of a function
 *	ADDR@LIB		LIB:ADDR		an address as nm shows it
 *	ADDR						one of a program that is no PIE
 *	SYMBOL%return[@LIB]				each return of a function
 *	FILE:LINE[@LIB]					all code of a line of source, inlined copies too
 *	usdt:PROVIDER:NAME[@LIB]			the program's own probes (.note.stapsdt)
 *
 * Numbers are octal (0NNN), decimal or hexadecimal (0xNNN). LIB is a pattern, as rules have it; a place without one is
 * looked for in each object that has it. PROVIDER and NAME may be patterns.
 *
 * Memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_VALUES_PLACES_H
#define XAUDIT_TOOL_VALUES_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_info;
struct image;
struct symbols;

enum place_kind { PLACE_SYMBOL, PLACE_ADDRESS, PLACE_RETURN, PLACE_LINE, PLACE_USDT };

struct place {
	char *text; /* as it was written */
	enum place_kind kind;
	char *library;	/* pattern; NULL: none */
	char *symbol;	/* SYMBOL, RETURN; of LINE the file; of USDT the provider */
	char *name;	/* of USDT */
	uint64_t offset; /* of SYMBOL what is added; of ADDRESS the address; of LINE its number */
};

/* Returns false, with one line of what is wrong in `wrong` (to be freed). */
bool place_read(struct place *to, const char *text, char **wrong);
void place_free(struct place *place);

/* One address of a file that a place means. */
struct place_found {
	uint64_t address;
	uint64_t semaphore;    /* USDT: link-time address; 0: none */
	const char *arguments; /* USDT: as the note has them ("8@%rdi -4@$5"), while the image stays */
};

/*
 * All addresses of the place in this file, which is of its library (else none): in ascending order, each once, to be
 * freed. symbols: of the image; debug: for LINE. Returns their number; *wrong: as place_read(), where the file should
 * have it and has not, or NULL.
 */
size_t place_find(const struct place *place, const struct image *image, struct symbols *symbols,
	struct debug_info *debug, const char *path, const char *soname, struct place_found **found, char **wrong);

#endif
